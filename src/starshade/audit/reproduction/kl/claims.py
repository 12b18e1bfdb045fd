"""What Riyana & Natwichai claim of definitions, data and proof; `experiments` has the rest.

Every claim has its criterion from before the first run. Where the paper gives no margin: "close"
and "comparable" are 5 %, a curve rises when 95 % of its pairs of points do (the paper itself calls
one curve inconsistent), one line is above another when it is over all k together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from starshade.audit.reproduction.claims import Claim
from starshade.audit.reproduction.estimates import Estimate
from starshade.audit.reproduction.kl.experiments import EXPERIMENTS
from starshade.audit.reproduction.kl.lines import ALGORITHMS, LIKENESS
from starshade.audit.reproduction.kl.statistics import Measure, greatest, least
from starshade.audit.reproduction.kl.theorem import covers_are_best
from starshade.audit.reproduction.kl.worked import answers_as_printed, loss_of_table_2, table_2

if TYPE_CHECKING:
    from starshade.audit.reproduction.kl.bench import Bench

_PAPER = "MovieLens 100K"

#: interventions, in words that go on after "holds"
WAYS = {
    "tuples-k": "when k tuples join a nucleus, as Algorithm 2 prints it",
    "mean": "when the rest joins the class of the least mean distance",
    "range": "when the rest joins where ranges grow least",
    "furthest": "when a nucleus is furthest from the one before",
    "apart": "when a null is apart from every rating in distances",
    "arbitrary": "when k-Member grows from drawn records, as §5 describes it",
    "algorithms": "in part: when k-Likeness stands with NDGH alone",
    "sizes": "when the size of classes is meant, not their number",
    "divisible": "when k divides the number of users, so that nobody is left over",
    "ignored": "when a null is as near as can be to every rating in distances",
    "rated": "when a null is charged nothing by GenILoss",
    "sets": "when both release NDGH and a null is charged nothing by GenILoss",
    "sets+furthest": "when both release NDGH, a null is charged nothing by GenILoss and a nucleus "
    "is furthest from the one before",
    "members": "when both release NDGH and a cell is charged its members",
    "four": "in part: up to four attributes, beyond which nearly every condition is one person's",
    "groups": "when groups count as they were formed, though some are released alike",
    "filled": "when every null is filled with a rating that its item has",
    "thinned": "when half of the ratings are left out",
    "few": "when a quarter of the users is drawn",
    "anew": "when k-Member reckons what a group spans from its members each time",
    "miscounted": "when the class of four is counted as three",
}


def _counted(of: Callable[[Bench], float]) -> Measure:
    return lambda bench, _: Estimate.exact(of(bench))


def _selection(bench: Bench) -> float:
    table = bench.table
    return sum(
        (table.n_users == 927, table.n_items == 10, table.n_ratings == 4_863)
    )  # the paper's numbers


def _whole(bench: Bench) -> float:
    ratings = bench.ratings
    return sum(
        (
            ratings.n_users == 943,
            ratings.n_items == 1_682,
            ratings.n_ratings == 100_000,
            int(ratings.item_support.min()) >= 1,
            int(ratings.user_support.min()) >= 20,
        )
    )


def _loss(bench: Bench, way: str) -> Estimate:
    return Estimate.exact(loss_of_table_2((3, 3, 3) if way == "miscounted" else (3, 4, 3)))


_DEFINED = (
    Claim("kl-01", "§1.1, Queries 1 to 8", "the queries single a person out and tell the salary",
          "answers on Table 1 that are as the paper gives them, of 8", 8, 8,
          "each is a number or a word in the text", "as-read",
          _counted(lambda _: answers_as_printed()), decided_by="example"),
    Claim("kl-02", "§1.1, Definitions 4 and 6", "aggregate answers alone breach privacy",
          "share of users whom a count with up to four conditions singles out", 0.01, None,
          "the paper shows one person of ten; one in a hundred is no accident", "as-read",
          lambda bench, _: bench.singled_out()),
    Claim("kl-03", "Definition 9, Algorithm 1", "every record is among at least k that are equal",
          "the smallest class of any release, over k", 1.0, None,
          "that is the definition; releases of k-Likeness, k-Member and Mondrian", "as-read",
          least("smallest", ALGORITHMS), decided_by="proof"),
    Claim("kl-04", "Definition 10", "Table 2 has a DM of 34", "DM of Table 2", 34, 34,
          "the printed number", "as-read", _counted(lambda _: table_2()["dm"]),
          decided_by="example"),
    Claim("kl-05", "Definition 11", "Table 2 has a C_AVG of 1.11", "C_AVG of Table 2",
          1.105, 1.115, "the printed number, as it is rounded", "as-read",
          _counted(lambda _: table_2()["c_avg"]), decided_by="example"),
    Claim("kl-06", "Definition 12", "Table 2 has a GenILoss of 0.348", "GenILoss of Table 2",
          0.3475, 0.3485, "the printed number, as it is rounded", "as-read", _loss,
          ways=("miscounted",), decided_by="example"),
    Claim("kl-07", "§3.3, Theorem 1", "the problem is NP-hard for k of 3 or more",
          "proofs that are right", 1, None, "nothing that is run decides it", "as-read",
          lost="no run decides what every algorithm needs; that suppression for k-anonymity is "
          "NP-hard from k = 3 on was proven elsewhere"),
    Claim("kl-08", "§3.3, proof", "an exact cover solves the table made of it, and the other way",
          "share of all instances of six elements and two to four triples, with a cover, in which "
          "the groupings of least loss are the exact covers", 1.0, 1.0,
          "an equivalence has no exception", "as-read",
          _counted(lambda _: covers_are_best()), decided_by="example"),
    Claim("kl-09", "§2.1, of [18]", "local generalization often loses less than global",
          "a global method's GenILoss over a local one's", 1.001, None, "more is more", "as-read",
          lost="cited from [18]; no global method is described or run here"),
    Claim("kl-10", "§4.1.3", "local generalization takes longer than global",
          "a local method's cells over a global one's", 1.001, None, "more is more", "as-read",
          lost="no global method is described or run in the paper"),
    Claim("kl-11", "§2.1, of [21]", "l-diversity often has larger classes than k-anonymity",
          "an l-diverse release's mean class over a k-anonymous one's", 1.001, None,
          "more is more", "as-read",
          lost="cited from [21]; no l-diverse method is described or run here"),
    Claim("kl-12", "§4.1.1", "records of a class are more alike than records of other classes",
          "mean distance within a class over that to all other records, at its greatest over k",
          None, 0.999, "less is less", "as-read", greatest("alike", [LIKENESS]),
          ways=("filled", "thinned")),
    Claim("kl-13", "§5.1", "the data have 943 users, 1,682 movies, 100,000 ratings, each movie "
          "rated and each user with at least 20", "of the five statements true", 5, 5,
          "counts", "as-read", _counted(_whole), about=_PAPER),
    Claim("kl-14", "§5.1", "the ten most rated movies leave 4,863 ratings by 927 users",
          "of the three counts true", 3, 3, "counts", "as-read", _counted(_selection),
          about=_PAPER),
    Claim("kl-15", "§5.1", "with ten movies the trends can still be seen",
          "pairs of k-Likeness, k-Member and Mondrian whose order at k = 5 is the same on the 50 "
          "most rated, of 3 by GenILoss and 3 by cells touched", 6, 6,
          "“both effectiveness and efficiency”; a trend that turns is another one", "as-read",
          lambda bench, _: bench.same_order(50)),
)  # fmt: skip

CLAIMS = (*_DEFINED, *EXPERIMENTS)
