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

#: interventions, phrased to follow "holds"
WAYS = {
    "tuples-k": "when k tuples join each nucleus, as Algorithm 2 prints",
    "mean": "when leftover records join the class with the least mean distance",
    "range": "when leftover records join where ranges grow least",
    "furthest": "when each nucleus is the record furthest from the previous one",
    "apart": "when a null is far from every rating in distances",
    "arbitrary": "when k-Member grows from random records, as §5 describes",
    "algorithms": "in part: when NDGH is the only variant of k-Likeness",
    "sizes": "when the sentence means the size of classes, not their number",
    "divisible": "when k divides the number of users, so that no record is left over",
    "ignored": "when a null is as close as possible to every rating in distances",
    "rated": "when GenILoss charges nothing for a null",
    "sets": "when both release NDGH and GenILoss charges nothing for a null",
    "sets+furthest": "when both release NDGH, GenILoss charges nothing for a null and each nucleus "
    "is the record furthest from the previous one",
    "members": "when both release NDGH and a cell is charged by its number of members",
    "four": "in part: up to four attributes, as beyond nearly every condition matches one person",
    "groups": "when groups count as formed, although some are released identically",
    "filled": "when every null is filled with a rating of its item",
    "thinned": "when half of the ratings are left out",
    "few": "with a random quarter of the users",
    "anew": "when k-Member recomputes a group's ranges from its members each time",
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
    Claim("kl-01", "§1.1, Queries 1 to 8", "the queries single out a person and reveal the salary",
          "answers on Table 1 that equal the paper's, of 8", 8, 8,
          "each is a number or a word in the text", "as-read",
          _counted(lambda _: answers_as_printed()), decided_by="example"),
    Claim("kl-02", "§1.1, Definitions 4 and 6", "aggregate answers alone breach privacy",
          "share of users that a count with up to four conditions singles out", 0.01, None,
          "the paper shows one person of ten; one in a hundred is more than chance", "as-read",
          lambda bench, _: bench.singled_out()),
    Claim("kl-03", "Definition 9, Algorithm 1", "every record is in a class of at least k equal "
          "records",
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
          "proofs that are right", 1, None, "no run decides it", "as-read",
          lost="no run decides what every algorithm needs; others have proven that suppression for "
          "k-anonymity is NP-hard from k = 3"),
    Claim("kl-08", "§3.3, proof", "an exact cover solves the table built from it, and vice versa",
          "share of all instances with six elements, two to four triples and a cover where the "
          "groupings of least loss are the exact covers", 1.0, 1.0,
          "an equivalence has no exception", "as-read",
          _counted(lambda _: covers_are_best()), decided_by="example"),
    Claim("kl-09", "§2.1, of [18]", "local generalization often loses less than global",
          "a global method's GenILoss over a local one's", 1.001, None, "a direction", "as-read",
          lost="cited from [18]; no global method is described or run here"),
    Claim("kl-10", "§4.1.3", "local generalization takes longer than global",
          "a local method's cells over a global one's", 1.001, None, "a direction", "as-read",
          lost="no global method is described or run in the paper"),
    Claim("kl-11", "§2.1, of [21]", "l-diversity often has larger classes than k-anonymity",
          "an l-diverse release's mean class over a k-anonymous one's", 1.001, None,
          "a direction", "as-read",
          lost="cited from [21]; no l-diverse method is described or run here"),
    Claim("kl-12", "§4.1.1", "records within a class are more similar than records across classes",
          "mean distance within a class over that to all other records, greatest over k",
          None, 0.999, "a direction", "as-read", greatest("alike", [LIKENESS]),
          ways=("filled", "thinned")),
    Claim("kl-13", "§5.1", "the data have 943 users, 1,682 movies and 100,000 ratings; each "
          "movie is rated, each user has at least 20 ratings", "true statements, of five", 5, 5,
          "counts", "as-read", _counted(_whole), about=_PAPER),
    Claim("kl-14", "§5.1", "the ten most rated movies leave 4,863 ratings by 927 users",
          "true counts, of three", 3, 3, "counts", "as-read", _counted(_selection),
          about=_PAPER),
    Claim("kl-15", "§5.1", "the trends remain visible with ten movies",
          "pairs of k-Likeness, k-Member and Mondrian whose order at k = 5 is the same on the 50 "
          "most rated items, of 3 by GenILoss and 3 by cells touched", 6, 6,
          "“both effectiveness and efficiency”; a reversed trend is a different one", "as-read",
          lambda bench, _: bench.same_order(50)),
)  # fmt: skip

CLAIMS = (*_DEFINED, *EXPERIMENTS)
