"""Make a release: put records together, then say of each group only what all of them share.

The work of a method has three parts, and each has its place here::

    Ratings ──prepare──▶ Ratings ──groups──▶ group of each user ──cells──▶ Cells ──▶ Release
             prepare.py            k_likeness.py                generalize.py    release/build.py

*Prepare* chooses the items, leaves out those that fewer than k users rated (that an item is
listed says that somebody rated it) and the users who then have no rating; both are counted.

*Groups* is what methods differ in. k-Likeness (Riyana & Natwichai 2018, Algorithms 1-3) takes
the records one after the other in a seeded order; each in turn becomes a *nucleus*, to which the
k-1 records least away from it are added; what remains at the end joins the group it is nearest
to. A null counts as the level below the scale, so having rated at all is one step away from the
worst rating. Its rivals k-Member and Mondrian work on the same records, and *k-exchange*, our
own, begins with what all of them find and loses least. *Personal attributes* may be part of it:
quasi-identifiers become columns beside the items, and groups in which sensitive attributes vary
too little are merged (`personal/`).

*Cells* generalizes: each cell of a group becomes one statement that is true of all its members.
A hierarchy (`hierarchy/`) says which statements there are: a **DGH** has levels of disjoint
intervals and takes the lowest level where one interval holds all values of the group; the
**NDGH** takes the set of values itself.

Two methods are for (k, ε) and (k, ε, l) (Sun & Sun 2013) and publish a rating per cell:
*interval* moves ratings, *suppress* changes nothing and leaves people out. *Predictive* releases
a mean profile for each group.

What is in the release, and in which order, is no longer the method's business: groups that
became equal are one class, sorted by content, and records carry numbers that say nothing.
"""
