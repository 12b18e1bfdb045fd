"""A release of the same people once more, beside which nobody stands alone.

Whoever holds two releases intersects their classes, and where people were put together anew each
time nearly everybody is alone in the intersection. So groups are *kept*::

    release, receipt ──▶ who was with whom ──keep.py──▶ who stays, who is new, who is invented
                         what it said of them ──hold.py──▶ what the next one must still allow

Three things can give somebody away between two releases that keep their groups. *Newcomers* who
join an old group are those who are in one release and not in the other: they form groups of their
own, or wait. *Those who leave*: what a group's cells said before, and say no more without them, was
theirs; so the cells of a group that somebody left never say less than before, though nobody may be
left who rated so. *Those who stay* in a group that too many have left: beside fewer than k people;
records of nobody are *invented* to fill it up, which hides them from everybody who does not know
who left, and where fewer than half of k are left, nobody of it is released again.

After m-invariance (Xiao & Tao, SIGMOD 2007), which invents records for the same reason.
"""
