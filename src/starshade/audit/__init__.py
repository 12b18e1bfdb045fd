"""Attack, check and measure, joined: the one floor that knows all four verbs.

::

    make      ratings ──method──▶ release, saved and verified, with its figures
    measure   release + ratings ──▶ every measure there is, as one flat dict
    verdict   release + ratings ──▶ claims, attacks before and after, measures ──▶ may it leave?
    compare   methods × k on any ratings: loss, query error, attack, time, side by side
    demo      made-up ratings through all of it, as a story
"""
