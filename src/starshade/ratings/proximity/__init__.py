"""Which records are ε-proximate, and how many (Sun & Sun 2013, Def. 1, 2; definitions, "k-eps").

Two records are ε-proximate when on *every* non-sensitive item their ratings lie within ε of each
other; what a null costs is settled by a rule. The *ball* of a record is the record with all its
neighbours. Check, anonymizers and graph all ask the same three questions of the same object::

    Ratings ──space_of──▶ Space ──ball_sizes──▶ how many records are in each ball
     items, ε, nulls             ──ball_sums───▶ sums over each ball, e.g. of sensitive ratings
                                 ──ball_members▶ who is in the balls of a few records

- `rule` turns ε and the null rule into a table: which codes are near which.
- `space` joins equal records (they have equal balls) and, where the rule says that a null is near
  nulls alone, cuts the table into patterns: records that rated the same items. No ball crosses
  two patterns, which is why the paper's own rule makes the check nearly linear.
- `balls` asks the kernels.
- `sensitive` finds the items that the distance leaves out.
"""
