"""Make small changes that should make the code wrong, and see whether the tests notice them.

``make mutants`` draws a seeded sample of such mutants from the code where a wrong answer hurts
most. Each is tried in a copy of the checkout, first on the nearest tests, then on those of its
room. A survivor lacks a test, or changes nothing that can be observed.
"""
