"""Whether ratings belong to a release, cell by cell: `match.Match`.

A release names nobody, so that it can be held beside the wrong ratings, or the wrong link; a
figure that is then counted would be of nothing. Whoever compares the two asks a `Match` for
what they need (the ratings that were released, the row of each user, what became of each cell),
and is refused where something is found not to belong. How much can be found depends on what
there is to go by:

- the release alone (`users`): generalized cells hold the truth of everybody in them, so each
  user fits some class (`cells`); of moved records only what was never moved can be looked for.
- its receipt (`ratings`), which knows the very ratings again, and alone can on layout "profile".
- a link of layout "record" (`changes`). It puts each record beside its user's ratings, which shows
  what was changed, left out or made up, and refutes a link that shows too much of it.

The ratings may be of more users and items than were released. Nobody outside imports the others.
"""
