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
worst rating. Its rivals work on the same records: *k-Member* (Byun et al. 2007) grows each group
by the record that widens it least, starting far from the last one; *Mondrian* (LeFevre et al.
2006) cuts all records in two at the median of the item where they are widest, and again, while
both sides keep k.

*k-exchange* is our own, and loses least. What all of these lose is the range of each group in each
column, so it works on that alone, with every column on a grid of whole numbers
(`k_exchange_rows.py`). Groups are formed greedily in parts of near records, the wider half of them
again in other parts (`k_exchange.py`); then records move to other groups or change places, at
first even where that costs a little, in the end only where it helps
(`kernels/exchange/anneal.py`), and groups that are one too many where copies are many are given up
(`kernels/exchange/dissolve.py`). Rows that occur k times begin as groups, and on small tables what
the other methods find is improved as well, so that none of them loses less
(`k_exchange_starts.py`). Effort is settled by the table's shape (`k_exchange_plan.py`), and
parts are cut out of the sparse table, so the items may be many.

*Personal attributes* may be part of all this (`personal.py`). Quasi-identifiers become columns
beside the items, so that every method groups on them, and are generalized like items (`quasi.py`);
sensitive attributes stay as they are, and groups in which they vary too little are merged until
they do not (`diversity.py`).

*Cells* generalizes: each cell of a group becomes one statement that is true of all its members.
A hierarchy (`hierarchy.py`) says which statements there are: a **DGH** has levels of disjoint
intervals and takes the lowest level where one interval holds all values of the group; the
**NDGH** takes the set of values itself.

Two methods are for (k, ε) and (k, ε, l) (Sun & Sun 2013) and publish a rating per cell. The
*interval* method moves ratings: records with the same items rated are cut into clusters of at
least k (`interval_groups.py`), and each item of a cluster is clipped into the interval of width ε
that moves it least (`interval_table.py`); where sensitive ratings agree too much, clusters are
merged (`interval_spread.py`). *Suppress* changes nothing and leaves people out: whoever has fewer
than k records in their ball can be in no table that satisfies (k, ε), and leaving them out until
nobody falls short ends in the one largest table that does (`suppress_core.py`); for l there is a
greedy search (`suppress_spread.py`).

What is in the release, and in which order, is no longer the method's business: groups that
became equal are one class, sorted by content, and records carry numbers that say nothing.
"""
