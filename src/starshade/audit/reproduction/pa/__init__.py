"""Chang, Thompson, Wang & Yao's study (PA) on any ratings.

::

    configurations ─▶ to the letter, as read, ours, and one change at a time: `CHOICES`, `LINES`
    bench          ─▶ a tenth held out, the rest anonymized by a line; what was measured of a
                      release (`released`) or in another way (`looks`, `padding`) is a part
    measures, facts ─▶ what `claims` are judged by: pure functions of the bench
    figures, grids, questions, worked
                   ─▶ Tables 1-3, Figs 3-5; what each change is worth; the open question of
                      Tables 1 and 3; the paper's small examples
    reproduce      ─▶ all of it, as a `PredictiveStudy`

There are two readings of "predicted from the release": `release` takes the released cell, a null
as 0; `refit` trains a recommender on the release, as a person who downloads it would. The padding
model also gives the original's error. Every experiment has several runs with their own seeds, each
holding out other ratings.
"""
