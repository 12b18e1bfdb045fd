"""Shadow releases: what a release tells of people because they are in it.

::

    halves       releases of random halves of the people, on one catalogue
    seen         how well the rows of one of them fit what is known of people, and what they answer
    facts        what is known of people
    play         attacks that ask the same releases, one after the other; what each comes to is kept
    resampled    figures over people, or releases, with intervals

    membership   is this person in it? (lira: how the fits to all releases are compared)
    inference    what does it tell of somebody because they are in it?
    linkability  do two sources that know different ratings of somebody find one class?
    predicates   does it tell a condition that exactly one of its people meets? (profile_predicates)
    ends         are cells at an end of the scale right?

The releases are made by the method that made the release under attack. Who makes them is not known
here: an attack is given the method.
"""
