"""Measure what a release is still good for.

A measure is a frozen dataclass; ``.measure(release, original=ratings)`` returns a
`UtilityResult`, a flat dict of named figures with a sentence on what high and low mean.

Two kinds of figure are here. Some look at the classes alone: how large they are (discernibility,
average class size), and so how much a release blurs at most. Others look into the cells: how wide
they became compared with the column they stand in (generalized information loss), and how many
people a cell still speaks about plainly (the disclosure shares, which belong to risk as much as
to utility: the more a cell says, the more it gives away).

A figure that does not apply is None, never 0.
"""
