"""Sun & Sun's paper (SR), and Sun, Wang & Li's short form (SQ), on any ratings.

Their figures are lost pictures; a claim on one rests on the sentences about its curves. Each such
sentence has a criterion and a verdict by what is counted or measured here; sentences that only cite
other papers are not claims. A way, which searches a cause, changes one thing alone.

::

    ratings ──measured──▶ the most rated items and all of them; seconds of checks (Figs 5, 6)
              ├ work       the cells that a search touches, record by record
              ├ bench      each measurement once: work, releases (Fig 7), predictions (Fig 8)
              │             └ prediction, attribute: naive Bayes on a personal attribute
              ├ measures, graphs   the statistics of the claims
              ├ configurations, claims   readings, and the claims with their criteria
              ├ charted, grids, worked   figures, open questions, tables worked by hand
              └ study, sq   all of it

Under the paper's null rule two records are proximate only if they rated the same items, and on all
of MovieLens no two users did: every check fails at once. So the most rated items are tested too,
under three null rules. The paper treats "ratings on others" as sensitive and does not say
which; here it is the last of the most rated items, or what the caller names.

**Our slicing and the paper's.** Both papers take the records between two planes ε to either side of
the point on the first attribute, trim this list attribute by attribute until a cube of side 2ε is
left, and then compare exhaustively within the cube. Ours does the first two to the letter: records
are sorted by the first attribute, so that its slab is read off and no record outside it is touched,
and the list is trimmed axis by axis. It omits the third, since a ball needs no pair within it;
``KEpsAnonymity(groups="clique")`` does that search, greedily (SQ's Algorithm 1 is lost, and a
largest set is hard to find). The difference is the baseline. The paper's pairwise baseline fills a
matrix of all distances. Ours gives a pair up at the first attribute that sets it apart, and touches
the very cells that trimming touches, plus one for each record outside the slab: compared with it,
slicing saves the first attribute and no more. So "far more efficient" is true of the matrix and
false of a comparison that stops early, with any compiler. Work is therefore counted in cells for
both; no claim rests on seconds. The order of attributes, which the paper leaves open, is random for
each seed. Our tree looks at words of many attributes at once, each of which counts as all its
cells: where a null is near nulls alone it touches next to none, and where nulls cost nothing more
than a comparison that stops early.

The work of slicing rises with ε from the start, on every reading tried. Where records that are in
an earlier group are not searched, it falls further on; where ε reaches R, and the search is not
left out, comparing within the cubes makes it rise steeply, as the paper's curve does.
"""
