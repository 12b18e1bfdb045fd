"""Measure what a release is still good for.

A measure is a frozen dataclass; ``.measure(release, original=ratings)`` returns a
`UtilityResult`, a flat dict of named figures with a sentence on what high and low mean.

Two kinds of figure are here. Some look at the classes alone: how large they are (discernibility,
average class size), and so how much a release blurs at most. Others look into the cells: how wide
they became compared with the column they stand in (generalized information loss), and how many
people a cell still speaks about plainly (the disclosure shares, which belong to risk as much as
to utility: the more a cell says, the more it gives away).

A third kind asks what a recommender makes of a release. These take a *probe*:
ratings that were held out before the release was made, so that nothing has learned from them, and
the link from people to rows, which only the owner has::

    probe ── linked_probe ──▶ the cells asked for: user, item, released row, released item
    release ─ ReleasedRows ─▶ rows as ratings, on any layout: the mean of what a cell leaves open
            └ refit ────────▶ a recommender trained on these rows, each a user
    original ─ trained ─────▶ the same recommender trained on what the release was made of

`release` always means that the released cell itself is the prediction (null counts as the level
below the scale), `refit` that a recommender trained on the release predicts. Training is done
once for all measures of the same ratings or release (`training`). Where all people would have to
be compared with all profiles, a seeded sample is, and the figures say how many were asked.

A figure that does not apply is None, never 0.
"""
