"""The utility round: how well a release made of 90 % of the ratings predicts the others.

Only the owner can measure it, with the link from people to records. `utility_round_of` is a
function of ratings, their release and the method; `starshade.audit.original.utility_round` reads
the method from the private key file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from textwrap import wrap
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from starshade._version import __version__
from starshade.errors import ConfigError, UserError
from starshade.figure import Figure, Shown, payload
from starshade.plain import counted, percent
from starshade.progress import silence
from starshade.ratings.holdout import hold_out
from starshade.ratings.table import Ratings
from starshade.recommend.means import Means
from starshade.recommend.registry import Recommender
from starshade.release.cells import Cells
from starshade.release.table import Release
from starshade.rng import generator
from starshade.utility.held_out.probe import Probe, linked_probe
from starshade.utility.held_out.recommender_error import chosen, errors_of, fitting, refit
from starshade.utility.remaining import Said
from starshade.utility.what_remains import WhatRemains

Floats = NDArray[np.float64]
#: makes a release of other ratings as it was made of its own
Remake: TypeAlias = Callable[[Ratings], Release]

HELD_OUT = 0.1  # of the ratings
MOST_HELD_OUT = 2_000_000
LEARNED = 30_000_000  # cells of the release that a model is trained on; of more, some rows are
ENOUGH = 0.5  # of the held-out ratings covered, for a release to be useful
WIDTH = 80  # columns of a line of text

_ERROR = "Root mean square error of predictions of held-out ratings."
ERRORS = (
    Figure(
        "held_out_read",
        "Held-out RMSE, read from the release",
        "error",
        True,
        _ERROR,
        short="held-out RMSE",
    ),
    Figure("held_out_original", "Held-out RMSE, model of the original", "error", True, _ERROR),
    Figure(
        "held_out_trained", "Held-out RMSE, model trained on the release", "error", True, _ERROR
    ),
    Figure("held_out_user_item_means", "Held-out RMSE, user + item means", "error", None, _ERROR),
    Figure("held_out_item_means", "Held-out RMSE, item means", "error", None, _ERROR),
    Figure("held_out_global_mean", "Held-out RMSE, mean of all ratings", "error", None, _ERROR),
)
COVERED = Figure(
    "held_out_covered",
    "Held-out ratings covered",
    "share",
    False,
    "Share of held-out ratings of people and items in the release of the rest; errors are on "
    "these.",
)
_REMAINS = tuple(
    figure
    for figure in WhatRemains.FIGURES
    if figure.key
    in ("recoverable_within_step", "item_means_within_step", "utility_suppressed", "imputed_share")
)
FIGURES = (
    *_REMAINS,
    Figure("users_left_out", "Users left out", "count", True, "They have no record."),
    Figure("held_out_ratings", "Held-out ratings", "count", None, "A tenth, at most 2 million."),
    COVERED,
    *ERRORS,
)


@dataclass(frozen=True, kw_only=True)
class UtilityRound(Shown):
    """What a release is still good for, beside what means alone are.

    Attributes
    ----------
    recoverable_within_step, item_means_within_step : float or None
        Share of all original ratings recoverable within one step, from the release and from item
        means (`WhatRemains`); None without the private key file.
    utility_suppressed : float or None
        Share of all original ratings that are suppressed.
    imputed_share : float or None
        Share of the unrated cells that are imputed.
    users_left_out : int or None
    held_out_ratings : int
        How many ratings were held out; 0 where no error was measured.
    held_out_covered : float or None
        Share of them whose person and item are in the release of the rest.
    held_out_read, held_out_original, held_out_trained : float or None
        RMSE over these: the value read from the release; the model of the original, trained on the
        rest; the same model trained on the release.
    held_out_user_item_means, held_out_item_means, held_out_global_mean : float or None
        RMSE of predictions from means of the rest.
    share_of_people : float
        That the round was run on: 1, or a tenth above 20 million ratings.
    not_measured : str
        Why there is no held-out error; empty where there is one.
    seed : int
        Of the ratings held out.
    version : str
    """

    recoverable_within_step: float | None = None
    item_means_within_step: float | None = None
    utility_suppressed: float | None = None
    imputed_share: float | None = None
    users_left_out: int | None = None
    held_out_ratings: int = 0
    held_out_covered: float | None = None
    held_out_read: float | None = None
    held_out_original: float | None = None
    held_out_trained: float | None = None
    held_out_user_item_means: float | None = None
    held_out_item_means: float | None = None
    held_out_global_mean: float | None = None
    share_of_people: float = 1.0
    not_measured: str = ""
    seed: int
    version: str = field(default=__version__)

    @property
    def useful(self) -> bool | None:
        """Whether reading the release is at least as good as user + item means.

        And at least half of the held-out ratings are covered; None where this was not measured.
        """
        read, means = self.held_out_read, self.held_out_user_item_means
        if read is None or means is None or self.held_out_covered is None:
            return None
        return read <= means and self.held_out_covered >= ENOUGH

    @property
    def found(self) -> tuple[Figure, ...]:
        """Every figure."""
        return self._of(*FIGURES)

    @property
    def lines(self) -> tuple[str, ...]:
        """The round in two lines of at most 80 columns; more only where a reason takes them."""
        first, *more = self._parts()
        indent = " " * len(_HEAD)
        more = [line for part in more for line in part.split("\n")]
        every = [f"{_HEAD}{first}", *(f"{indent}{line}" for line in more)]
        return tuple(line for each in every for line in _wrapped(each, indent))

    def _parts(self) -> Iterator[str]:
        if self.recoverable_within_step is None:
            yield "not measured: it takes the private key file"
            return
        yield (
            f"{percent(self.recoverable_within_step)} of ratings recoverable within one step "
            f"(item means {percent(self.item_means_within_step)})"
        )
        if self.recoverable_within_step < (self.item_means_within_step or 0.0):
            gone = percent(self.utility_suppressed)
            yield f"fewer than a list of item means recovers; {gone} of the ratings are gone"
        if self.held_out_read is None:
            yield f"held-out RMSE not measured: {self.not_measured}"
            return
        share = self.held_out_covered or 0.0
        read, original, means = map(
            error_text,
            (self.held_out_read, self.held_out_original, self.held_out_user_item_means),
        )
        error = f"{'' if self.useful else 'not useful: '}held-out RMSE {read}"
        rivals = f"{f'original {original}, ' if self.useful else ''}user + item means {means}"
        if share == 1:
            yield f"{error}: {rivals}"
        else:
            covered = percent(min(share, 0.999))  # 100.0% would be false
            yield f"{error} (covers {covered} of held-out ratings):\n{rivals}"
        if self.share_of_people < 1:
            yield f"(held-out RMSE on a random {self.share_of_people:.0%} of the people)"

    def to_dict(self) -> dict[str, Any]:
        """Return every field, and the verdict on usefulness."""
        return {**payload(self), "useful": self.useful}

    def __str__(self) -> str:
        parts = (part.replace("\n", " ") for part in self._parts())
        return " ".join(f"{part[:1].upper()}{part[1:]}." for part in parts)

    def _headline(self) -> str:
        return "Utility"


_HEAD = "Utility  "


def _wrapped(line: str, indent: str) -> list[str]:
    return wrap(line, WIDTH, subsequent_indent=indent) or [line]


def error_text(error: float | None) -> str:
    """Write an error in four characters, without a zero before the point.

    >>> error_text(0.9036), error_text(0.9996), error_text(12.345), error_text(None)
    ('.904', '1.00', '12.3', '–')
    """
    if error is None:
        return "–"
    texts = (f"{error:.{digits}f}".removeprefix("0") for digits in (3, 2, 1))
    return next((text for text in texts if len(text) <= 4), f"{error:,.0f}")


def utility_round_of(
    ratings: Ratings,
    release: Release,
    remake: Remake,
    *,
    seed: int,
    remains: Mapping[str, float | int | None],
    share_of_people: float = 1.0,
) -> UtilityRound:
    """Hold out ratings, release the others by the same method, and predict those held out.

    Parameters
    ----------
    ratings : Ratings
        All ratings of the people that the round is run on.
    release : Release
        What was made of them, or of all people; with its private facts.
    remake : callable
        Makes a release of other ratings, as `release` was made.
    seed : int
        Of the ratings held out.
    remains : mapping
        Figures of `WhatRemains` over all ratings of the original.
    share_of_people : float
        Whose ratings these are.

    Returns
    -------
    UtilityRound
        With the reason where no error could be measured.
    """
    try:
        errors = held_out_errors(ratings, remake, seed)
    except UserError as error:
        return without_errors(release, remains, seed, error.message)
    known = without_errors(release, remains, seed)
    return replace(known, share_of_people=share_of_people, **errors)


def without_errors(
    release: Release, remains: Mapping[str, float | int | None], seed: int, reason: str = ""
) -> UtilityRound:
    """Return what is known of a release without holding out ratings."""
    exact = release.exact
    shown: dict[str, Any] = {figure.key: remains.get(figure.key) for figure in _REMAINS}
    return UtilityRound(
        **shown,
        users_left_out=None if exact is None else exact.users_without_rating + exact.users_deleted,
        not_measured=reason,
        seed=seed,
    )


def held_out_errors(ratings: Ratings, remake: Remake, seed: int) -> dict[str, Any]:
    """Return the errors of a round, by key of `UtilityRound`.

    Raises
    ------
    UserError
        There are too few ratings, the release cannot be made of the rest, or it covers none of
        those held out.
    """
    share = min(HELD_OUT, MOST_HELD_OUT / max(1, ratings.n_ratings))
    with silence():
        rest, held = hold_out(ratings, share, rng=seed)
        return predict_held_out(remake(rest), rest, held, seed)


def predict_held_out(
    release: Release,
    rest: Ratings,
    held: Ratings,
    seed: int,
    recommender: Recommender | None = None,
) -> dict[str, Any]:
    """Predict `held`, the ratings held out of `rest`, from `rest` and from its `release`.

    `recommender`: None: the one that the release was made with, or the regularized SVD.

    Raises
    ------
    UserError
        None of them is covered, or nothing can be learned of the rest.
    """
    probe = linked_probe(release, rest, held)
    if probe is None:
        raise ConfigError("the release of the rest has no key file")
    if not len(probe.values):
        raise ConfigError(
            f"none of {counted(held.n_ratings, 'held-out rating')} is of a person and on an item "
            "that the release of the rest has"
        )
    recommender = recommender or chosen(None, release)
    model, means = fitting(recommender, rest).fit(rest, rng=seed), Means.of(rest)
    predictions = {
        "read": read_cells(release, probe.rows, probe.columns),
        "original": model.predict(probe.users, probe.items),
        "user_item_means": means.by_user_and_item(probe.users, probe.items),
        "item_means": means.items[probe.items],
        "global_mean": np.full(len(probe.values), means.overall),
    }
    return {
        "held_out_ratings": held.n_ratings,
        "held_out_covered": len(probe.values) / held.n_ratings,
        **{f"held_out_{name}": _rmse(each, probe.values) for name, each in predictions.items()},
        "held_out_trained": _trained(release, probe, recommender, seed),
    }


def read_cells(release: Release, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Floats:
    """Read cells as predictions: their mean rating, or that of the item where they have none.

    `rows`, `columns` (n,): of the release.
    """
    said = Said.of(release)
    read = said.read(rows, columns)
    empty = np.flatnonzero(np.isnan(read))
    items, place = np.unique(columns[empty], return_inverse=True)
    read[empty] = said.item_means(items)[place]
    return read


def _trained(release: Release, probe: Probe, recommender: Recommender, seed: int) -> float | None:
    """Train on the release, or on some of its rows where it has very many cells.

    None where that takes more memory than there is. On some rows, the error is over the people
    whom they stand for.
    """
    classes = release.classes
    cells = len(classes.codes) if isinstance(classes, Cells) else classes.levels.size
    place = np.arange(classes.n_groups)
    if cells > LEARNED:
        some = max(1, classes.n_groups * LEARNED // cells)
        rng = generator(seed, "rows to learn from")
        rows = np.sort(rng.choice(classes.n_groups, some, replace=False))
        release = replace(release, classes=classes.keep_rows(rows))
        place = np.full(classes.n_groups, -1)
        place[rows] = np.arange(len(rows))
    here = np.flatnonzero(place[probe.rows] >= 0)
    again = refit(recommender, release, seed)
    predicted = again.predict(place[probe.rows[here]], probe.columns[here])
    return _rmse(predicted, probe.values[here]) if len(here) else None


def _rmse(predicted: Floats | None, true: Floats) -> float | None:
    errors = errors_of(predicted, true)
    return errors and errors[0]
