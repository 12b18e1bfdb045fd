"""Recommenders: predictions of ratings that users have not given.

The padding of predictive anonymization stands on this room, and so does the measure that trains
a recommender on a release.

A *recommender* (`registry.Recommender`) is a small frozen dataclass of settings; fitting it to
ratings gives something that predicts (`registry.Fitted`). Ours is the `RegularizedSVD`. Its
result, `Factors`, is a low-rank matrix plus biases::

    rating(u, i)  ~  mean + user_bias[u] + item_bias[i] + user_factors[u] . item_factors[i]

which is a matrix of users × items that nobody ever has to write down: 480,189 × 17,770 cells are
34 GB in single precision, their factors 130 MB.

Three things set it apart from what other libraries do:

- *One answer.* Every row is solved by one thread in one order, with arithmetic of our own
  instead of a linear algebra library's: the same seed gives the same bits at any number of
  threads. A release that is made from it can be reproduced byte for byte.
- *Defaults that generalize.* How strongly a row is held back grows with the number of its
  ratings, all in units of the ratings' own spread; and how long to fit is found on a share of the
  ratings held out, before everything is fitted (see `regularized_svd`).
- *Finite for all input.* Users and items without ratings get the mean and no factors; a rank
  that the data do not have is left out, not divided by.

Other libraries stand behind the same interface (`adapting`: implicit, Surprise, LensKit). They
are loaded when they are used, and named by the extra that installs them.
"""
