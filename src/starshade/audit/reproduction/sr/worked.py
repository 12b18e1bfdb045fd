"""SR's tables and examples worked by hand, cell by cell."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.audit.reproduction.sr.graphs import SENSITIVE, survey, tables
from starshade.audit.reproduction.sr.prediction import released_values
from starshade.audit.reproduction.worked import Worked
from starshade.privacy.k_eps import KEpsAnonymity, KEpsLAnonymity
from starshade.privacy.proximity.balls import prepare
from starshade.privacy.proximity.graph_result import ProximityGraph
from starshade.ratings.proximity.balls import ball_members
from starshade.ratings.table import Ratings

_Rows = tuple[tuple[str, ...], ...]


def worked_tables() -> tuple[Worked, ...]:
    """Return every table and example of the paper."""
    return (
        _samples(),
        _groups(),
        _spread(),
        _verdicts(),
        _figure_2(),
        _distortion(),
        _intervals("Table 4", (3, 4, 5, 6, 7, 7, 8, 8), 2, 8, _TABLE_4),
        _intervals("Table 5, issue 1", (6, 3, 4, 2), 1, 6, _TABLE_5A, _NAMED),
        _intervals("Table 5, issue 2", (1, 6, 5, 5), 1, 6, _TABLE_5B, _NAMED),
    )


def _samples() -> Worked:
    """Tables 1-3, and what a linker finds in the first."""
    first = tables()[0]
    unique = [u + 1 for u, ball in enumerate(_balls(first, 1)) if len(ball) == 1]
    same = [ball for ball in _balls(first, 1) if len(ball) > 1 and _one_rating(first, ball)]
    return Worked(
        "Table 1",
        "Linked records: alone (Alice), and in a group with one sensitive rating (Bob)",
        ("who", "records"),
        (("alone", "t1"), ("one sensitive rating", "t2, t3")),
        (
            ("alone", ", ".join(f"t{u}" for u in unique)),
            ("one sensitive rating", _words(same[0]) if same else ""),
        ),
    )


def _one_rating(ratings: Ratings, ball: tuple[int, ...]) -> bool:
    return len({ratings.dense()[u - 1, 3] for u in ball}) == 1


def _balls(ratings: Ratings, eps: float) -> list[tuple[int, ...]]:
    space = prepare(ratings, eps, SENSITIVE, "strict").space
    indptr, members = ball_members(space, np.arange(ratings.n_users))
    return [tuple(int(m) + 1 for m in members[a:b]) for a, b in pairwise(indptr.tolist())]


def _words(ball: tuple[int, ...]) -> str:
    return ", ".join(f"t{u}" for u in ball)


def _groups() -> Worked:
    first = tables()[0]
    paper = (("5", "t1, t2, t3"), ("5", "t4, t5"), ("1", "t4, t5"), ("1", "t2, t3"))
    found: list[tuple[str, str]] = []
    for eps, named in paper:
        groups = {_words(ball) for ball in _balls(first, float(eps))}
        found.append((eps, named if named in groups else ""))
    return Worked("§4.1, examples", "Groups of Table 1", ("ε", "group"), paper, tuple(found))


def _spread() -> Worked:
    column = [row[3] for row in tables()[0].dense().tolist()]
    worst = KEpsLAnonymity(5, 6, 2.4, SENSITIVE).check(tables()[0]).worst[0]
    return Worked(
        "Eq. 3, example",
        "Issue 4 of Table 1",
        ("figure", "value"),
        (("mean", "2.8"), ("standard deviation", "2.23")),
        (("mean", f"{np.mean(column):g}"), ("standard deviation", f"{worst['sd']:.2f}")),
    )


def _verdicts() -> Worked:
    first, second, third = tables()

    def told(holds: bool) -> str:
        return "yes" if holds else "no"

    rows = (
        ("Table 1", "(2, 5)", "yes", KEpsAnonymity(2, 5, SENSITIVE).check(first).satisfied),
        ("t4, t5 of Table 1", "(2, 1, 2)", "yes",
         KEpsLAnonymity(2, 1, 2, SENSITIVE).check(first.keep_users(np.array([3, 4]))).satisfied),
        ("Table 2", "(2, 2)", "yes", KEpsAnonymity(2, 2, SENSITIVE).check(second).satisfied),
        ("Table 2", "(2, 2, 2)", "", KEpsLAnonymity(2, 2, 2, SENSITIVE).check(second).satisfied),
        ("Table 3", "(2, 2)", "", KEpsAnonymity(2, 2, SENSITIVE).check(third).satisfied),
        ("Table 3", "(3, 2)", "", KEpsAnonymity(3, 2, SENSITIVE).check(third).satisfied),
    )  # fmt: skip
    return Worked(
        "Tables 1-3",
        "Whether they are (k, ε) or (k, ε, l)-anonymous",
        ("data", "property", "holds"),
        tuple((data, asked, paper) for data, asked, paper, _ in rows),
        tuple((data, asked, told(holds)) for data, asked, _, holds in rows),
        "Issue 4 alone is sensitive: §4.1 calls t4 and t5 near by 5 and 6, their ratings of issue "
        "3. "
        "Table 2 has a 7 on a six-point scale: read as seven points.",
    )


def _figure_2() -> Worked:
    paper, found = [], []
    for number, ratings in (("2(a)", tables()[1]), ("2(b)", tables()[2])):
        graph = ProximityGraph(2, SENSITIVE).of(ratings).decomposed(2)
        assert graph.decomposition is not None
        edges = [
            f"t{u + 1}-t{int(v) + 1}"
            for u in range(graph.records)
            for v in graph.members[graph.indptr[u] : graph.indptr[u + 1]]
            if u < v
        ]
        decomposes = "yes" if graph.decomposition.outcome == "found" else "no"
        paper.append((number, "", "yes" if number == "2(a)" else ""))
        found.append((number, " ".join(edges), decomposes))
    return Worked(
        "Figure 2", "Graphs of Tables 2 and 3 at ε = 2",
        ("figure", "edges", "falls into cliques of 2 or more"),
        tuple(paper), tuple(found),
        "The figure itself is lost: its edges follow from the table, and no cell holds them.",
    )  # fmt: skip


def _distortion() -> Worked:
    before = ((5, 6, 0), (2, 5, 0), (4, 7, 0), (5, 6, 0))
    after = ((5, 5, 0), (3, 5, 0), (3, 7, 0), (5, 7, 0))
    own = np.abs(survey(before, 7).dense() - survey(after, 7).dense())
    costs = np.nansum(own, axis=1)
    names = [*(f"t{u}" for u in range(1, 5)), "all"]
    paper = ["1", "1", "1", "1", "4"]
    ours = [*(f"{cost:g}" for cost in costs), f"{costs.sum():g}"]
    return Worked(
        "Def. 4 and 5, examples", "Distortion of a tuple and of a table", ("tuple", "distortion"),
        tuple(zip(names, paper, strict=True)), tuple(zip(names, ours, strict=True)),
        "Null is written 0 there.",
    )  # fmt: skip


_TABLE_4 = (
    ("(3, 5)", "3, 4, 5, 5, 5, 5, 5, 5", "11", ""),
    ("(4, 6)", "4, 4, 5, 6, 6, 6, 6, 6", "7", ""),
    ("(5, 7)", "5, 5, 5, 6, 7, 7, 7, 7", "5", "yes"),
    ("(6, 8)", "6, 6, 6, 6, 7, 7, 8, 8", "6", ""),
)
_TABLE_5A = (
    ("(2, 3)", "3, 3, 3, 2", "4", ""),
    ("(3, 4)", "4, 3, 4, 3", "3", "yes"),
    ("(4, 5)", "5, 4, 4, 4", "4", ""),
    ("(5, 6)", "6, 5, 5, 5", "6", ""),
)
_TABLE_5B = (
    ("(1, 2)", "1, 2, 2, 2", "10", ""),
    ("(2, 3)", "2, 3, 3, 3", "8", ""),
    ("(3, 4)", "3, 4, 4, 4", "6", ""),
    ("(4, 5)", "4, 5, 5, 5", "4", ""),
    ("(5, 6)", "5, 6, 5, 5", "4", ""),
)
_NAMED = "The table's title names Table 1(a); its columns are no table's (see the errata). "


def _intervals(
    number: str, values: tuple[int, ...], eps: int, maximum: int, paper: _Rows, note: str = ""
) -> Worked:
    """Every interval of a column by itself, and which ones the anonymizer takes over seeds."""
    column = np.array(values, float)
    taken = {_clipped(values, eps, maximum, seed) for seed in range(20)}
    ours = []
    for start in range(min(values), max(values) - eps + 1):
        moved = np.clip(column, start, start + eps)
        words = ", ".join(f"{value:g}" for value in moved)
        cost = f"{np.abs(moved - column).sum():g}"
        ours.append((f"({start}, {start + eps})", words, cost, "yes" if words in taken else ""))
    if sum(row[3] == "yes" for row in ours) > 1:
        note += "Two have the same cost: the choice is random, and over seeds both occur."
    head = ("interval", "anonymized", "distortion", "taken")
    return Worked(number, f"({', '.join(map(str, values))}), ε = {eps}", head, paper,
                  tuple(ours), note)  # fmt: skip


def _clipped(values: tuple[int, ...], eps: int, maximum: int, seed: int) -> str:
    ratings = survey(tuple((value,) for value in values), maximum)
    release = IntervalAnonymizer(2, eps, partition="whole").anonymize(ratings, rng=seed)
    rows, moved = released_values(release, ratings)
    order = np.argsort([int(ratings.users[int(row)]) for row in rows])
    return ", ".join(f"{value:g}" for value in moved[order, 0])
