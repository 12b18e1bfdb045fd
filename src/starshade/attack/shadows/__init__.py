"""Shadow releases: what a release says because of somebody, found by leaving them out.

::

    shadows      ten folds of people; release j without fold j, its reference without j and j + 1
    seen         how well the rows of one of them fit what is known of people, and what they answer
    resampled    intervals over people and rounds
    membership   is this person in it?
    inference    what does it tell of somebody because they are in it?

The releases are made by the method that made the release under attack, at nine tenths of the
people: what is measured is the method at that size. Who makes them is not known here: an attack is
given the method.
"""
