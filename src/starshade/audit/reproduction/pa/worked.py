"""PA's small examples, computed: Fig. 1's graph, what Fig. 2 knows, sim, the bounds of §6.2."""

from __future__ import annotations

from math import isqrt, nan

import numpy as np

from starshade.anonymize.predictive.homogenize import simple_profiles
from starshade.attack.candidates.candidates import Hunt, judge
from starshade.attack.knowledge import Known
from starshade.attack.link_existence.link_existence import link_existence_bound
from starshade.attack.view import look
from starshade.audit.reproduction.study import NETFLIX_ITEMS, NETFLIX_USERS
from starshade.audit.reproduction.worked import Worked, small_table
from starshade.kernels.attack.candidates import Thresholds
from starshade.kernels.attack.postings import NO_DAY
from starshade.privacy.item_diversity import Diversity
from starshade.privacy.k_anonymity import ReviewGraph
from starshade.ratings.scale import Scale
from starshade.ratings.table import Ratings
from starshade.recommend.padded import dissimilarities
from starshade.release.build import Provenance
from starshade.release.profile_release import profile_release
from starshade.release.profiles import Profiles
from starshade.release.table import Release

_STARS = Scale(1, 5, 1)
_MOVIES = ("Star Wars", "Godfather", "English Patient", "Pretty in Pink")
#: Fig. 1 (a) as far as the text tells it: who reviewed what; low is 1, high 5, unsaid 4
_RATED = {
    "0001": {"Star Wars": 4, "Godfather": 4},
    "0002": {"Godfather": 4, "English Patient": 5},
    "0003": {"English Patient": 1},
    "0004": {"Pretty in Pink": 4, "Star Wars": 5},
}
_GROUPS = (("0001", "0002"), ("0003", "0004"))
_LABELS_UNSAID = "The picture is lost: ratings missing from the text are ours."


def worked_tables() -> tuple[Worked, ...]:
    """Return every small example of the paper, with our cells."""
    ratings = _ratings()
    release = _released(ratings)
    return (
        _attacks(ratings, release), _union(release), _models(ratings, release), _sim(), _bounds(),
        _sizes(),
    )  # fmt: skip


def _ratings() -> Ratings:
    cells = [(user, item, r) for user, own in _RATED.items() for item, r in own.items()]
    return small_table(cells, _STARS)


def _released(ratings: Ratings) -> Release:
    ids = list(ratings.users)
    groups = np.array([next(g for g, own in enumerate(_GROUPS) if user in own) for user in ids])
    members = np.array([0, 2, 4]), np.argsort(groups, kind="stable")
    return profile_release(
        ratings, simple_profiles(ratings, members, 0.5), groups,
        Provenance(method="by hand", seed=0, rare_items="keep"), step=0.5, profile="simple",
    )  # fmt: skip


def _candidates(
    data: Ratings | Release, ratings: Ratings, user: str, known: dict[str, float]
) -> int:
    view = look(data, ratings if isinstance(data, Release) else None, None)
    ids = list(ratings.users)
    names = list(ratings.items)
    items = [names.index(name) for name in known]
    about = Known(
        np.array([ids.index(user)]),
        np.array([items], np.int32),
        np.array([list(known.values())], np.float64),
        np.full((1, len(items)), NO_DAY, np.int32),
    )
    exact = not np.isnan(list(known.values())).all()
    found, _ = judge(Hunt.of(view, about, Thresholds(0.0 if exact else np.inf, -1)))
    return int(found.candidates[0])


def _attacks(ratings: Ratings, release: Release) -> Worked:
    cases = (
        ("§1.1: Alice watched Pretty in Pink", "0004", {"Pretty in Pink": nan}, "1"),
        (
            "Fig. 2 (a): Ben watched Godfather and English Patient", "0002",
            {"Godfather": nan, "English Patient": nan}, "1",
        ),
        ("Fig. 2 (b): Tim rated English Patient low", "0003", {"English Patient": 1.0}, "1"),
        ("the same without the rating", "0003", {"English Patient": nan}, "2"),
    )  # fmt: skip
    rows = [
        (
            words,
            str(_candidates(ratings, ratings, user, known)),
            str(_candidates(release, ratings, user, dict.fromkeys(known, nan))),
        )
        for words, user, known, _ in cases
    ]
    return Worked(
        "Figs 1, 2",
        "Candidates given the adversary's knowledge",
        (
            "knowledge",
            "users in Fig. 1 (a)",
            "records once anonymized with k = 2 (items alone)",
        ),
        tuple((words, theirs, "") for words, _, _, theirs in cases),
        tuple(rows),
        f"{_LABELS_UNSAID} Alone, a record of k = 2 would be one of at least two.",
    )


def _union(release: Release) -> Worked:
    profiles = release.classes
    assert isinstance(profiles, Profiles)
    names = list(profiles.items)
    values = profiles.values()
    row = values[0 if not np.isnan(values[0][names.index("Godfather")]) else 1]
    shown = {name: not np.isnan(row[names.index(name)]) for name in _MOVIES}
    true = {user: _RATED[user] for user in _GROUPS[0]}

    def cell(user: str, movie: str) -> str:
        if not shown[movie]:
            return "no edge"
        return "edge" if movie in true[user] else "fake edge"

    ours = tuple((user, *(cell(user, movie) for movie in _MOVIES)) for user in true)
    paper = (
        ("0001", "edge", "edge", "fake edge", "no edge"),
        ("0002", "fake edge", "edge", "edge", "no edge"),
    )
    title = "The first group, k = 2: its union, completed"
    return Worked("Fig. 1 (b)", title, ("user", *_MOVIES), paper, ours, _LABELS_UNSAID)


def _models(ratings: Ratings, release: Release) -> Worked:
    tables = (ratings, release)
    anonymous = [ReviewGraph(2).check(data).satisfied for data in tables]
    diverse = [Diversity(1, 2).check(data, original=ratings).satisfied for data in tables]
    names = "2-anonymous (Def. 3.3)", "(1, 2)-diverse (Def. 5.2)"
    rows = [
        (name, *("yes" if holds else "no" for holds in found))
        for name, found in zip(names, (anonymous, diverse), strict=True)
    ]
    return Worked(
        "Fig. 1",
        "Properties before and after",
        ("model", "Fig. 1 (a)", "Fig. 1 (b)"),
        (("2-anonymous (Def. 3.3)", "no", "yes"), ("(1, 2)-diverse (Def. 5.2)", "", "")),
        tuple(rows),
    )


def _sim() -> Worked:
    pairs = ((("1, 5, 1", "1, 5, 1"), "0"), (("1, 5, 1", "5, 1, 5"), "1"))

    def away(x: str, y: str) -> str:
        one, other = (np.array([[float(v) for v in each.split(",")]]) for each in (x, y))
        return f"{dissimilarities(one, other, 'weighted-sq', _STARS)[0, 0]:g}"

    return Worked(
        "§4.2",
        "sim of equal rows and of opposite ones",
        ("u1", "u2", "sim"),
        tuple((*rows, theirs) for rows, theirs in pairs),
        tuple((*rows, away(*rows)) for rows, _ in pairs),
        "Called a similarity: it is a dissimilarity.",
    )


def _bounds() -> Worked:
    rows, theirs = [], []
    for k in (5, 10, 50):
        bounds = [float(link_existence_bound(p, k)) for p in (1 / k, 0.0)]
        rows.append((str(k), *(f"{bound:g}" for bound in bounds)))
        theirs.append((str(k), f"{2 / k:g}", f"{1 / k:g}"))
    return Worked(
        "§6.2",
        "The bound of Theorem 6.3 at both ends",
        ("k", "p = 1/k: 2/k", "p → 0: 1/k"),
        tuple(theirs),
        tuple(rows),
    )


def _sizes() -> Worked:
    users, items = NETFLIX_USERS, NETFLIX_ITEMS
    ours = (
        ("padded table, four bytes a cell, GB", f"{4e-9 * users * items:.0f}"),
        ("bins, √m rounded down", str(isqrt(users))),
        ("groups at k = 50, at most", f"{users // 50:,}"),
    )
    paper = tuple((row[0], theirs) for row, theirs in zip(ours, ("36", "", "9,294"), strict=True))
    return Worked(
        "§7",
        "Netflix: sizes that follow from 480,189 users and 17,770 movies",
        ("what", "value"),
        paper,
        ours,
        "Groups of at least k: some are larger, so there are fewer than m/k. A GB of 2³⁰ bytes "
        "would make the table 32; the paper's files hold more than cells.",
    )
