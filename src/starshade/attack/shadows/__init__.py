"""Attacks by shadow releases: what a release discloses of people because they take part.

::

    halves       releases of random halves of the people, on one catalogue
    seen         fit of the rows of one of them to known ratings, and inferences from them
    facts        known ratings of people
    play         attacks on the same releases, one after the other, with a journal
    resampled    figures over people, or releases, with intervals

    membership   membership inference (lira: comparison of the fits to all releases)
    inference    attribute inference attributable to participation
    linkability  linkability: two sources with different ratings of one person find one class
    predicates   singling out: isolating predicates (profile_predicates)
    ends         correctness of cells at an end of the scale

The releases are made by the method of the attacked release, which is given to the attack.
"""
