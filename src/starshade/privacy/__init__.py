"""Check whether a table, original or released, satisfies a privacy model.

A model is a frozen dataclass with the model's parameters; ``.check(data)`` returns a `Verdict`::

    Release or Ratings ──check──▶ Verdict: satisfied or not, how many records fail, the worst

The code here shares nothing with the code that makes releases: a checker that reused an
anonymizer's grouping would repeat its mistakes. So a check reads cells only, in whatever layout
they are, works out from scratch which records are equal, and never trusts what a release says
about itself. One search is shared: who is within ε of whom (`starshade.ratings.proximity`) is
asked by models and methods alike. It has three ways that must agree; ``search="pairwise"`` is the
one that compares every pair.

Null is a value with a meaning, stated by each model. For k-anonymity a null equals a null and
nothing else, and "null or 4" is a content of its own: two records are alike only if whoever
reads the release sees the same in every cell.
"""
