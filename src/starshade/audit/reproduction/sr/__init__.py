"""Sun & Sun's paper (SR), and Sun, Wang & Li's short form (SQ), on any ratings.

Their figures are pictures that nobody has; a claim on one rests on the sentences that say how its
curves run. Each such sentence has a criterion, held against what is counted or measured here; what
only cites other papers is none. A way, which seeks a cause, changes one thing alone.

::

    ratings ──measured──▶ the most rated items and all of them; seconds of checks (Figs 5, 6)
              ├ work       the cells that a search touches, record by record
              ├ bench      each measurement once: work, releases (Fig 7), predictions (Fig 8)
              │             └ prediction, attribute: naive Bayes on a personal attribute
              ├ measures, graphs   the statistics of the claims
              ├ configurations, claims   readings, and the claims with their criteria
              ├ charted, grids, worked   figures, open questions, tables worked by hand
              └ study, sq   all of it

Under the paper's null rule two records are alike only when they rated the same items, and on all
of MovieLens no two users did: every check fails at once. So the most rated items are looked at
too, under three null rules. The paper treats "ratings on others" as sensitive and does not say
which; here it is the last of the most rated items, or what the caller names.

**Is the slicing that we run the paper's?** Both papers take the records between two planes ε to
either side of the point on the first attribute, trim this list attribute by attribute until a cube
of side 2ε is left, and then compare exhaustively within the cube. Ours does the first two to the
letter: records are sorted by the first attribute, so that its slab is read off and nobody outside
it is touched, and the list is trimmed axis by axis. It leaves the third out, since a ball needs no
pair within it; ``KEpsAnonymity(groups="clique")`` seeks one, greedily (SQ's Algorithm 1 is lost,
and a largest set is hard to find). What differs is the other side. The paper's pairwise baseline
fills a matrix of all distances. Ours gives a pair up at the first attribute that sets it apart,
and touches the very cells that trimming touches, plus one for each record outside the slab: beside
it, slicing saves the first attribute and no more. So "far more efficient" is true of the matrix
and false of a comparison that stops early, whoever compiles them. Work is therefore counted in
cells for both; no claim rests on seconds. The order of attributes, which the paper leaves open, is
drawn anew for each seed. Our tree looks at words of many attributes at once, each of which counts
as all its cells: where a null is near nulls alone it touches next to none, and where nulls cost
nothing more than a comparison that stops early.

The work of slicing rises with ε from the start, on every reading tried. Where records that are in
a group found before do not ask, it falls further on; where ε reaches R, and the search is not left
out, comparing within the cubes makes it rise steeply, as the paper's curve does.
"""
