"""KL's claims of §§1-5.1: its examples, Theorem 1, what its algorithm promises, its data."""

from __future__ import annotations

from typing import Any

from starshade.audit.reproduction.claims import Claim
from starshade.audit.reproduction.kl.configurations import READ
from starshade.audit.reproduction.kl.measures import MEASURES

ML100K = "MovieLens 100K"


def of(
    number: str,
    place: str,
    says: str,
    statistic: str,
    *,
    why: str,
    least: float | None = None,
    most: float | None = None,
    configuration: str = READ,
    **beside: Any,
) -> Claim:
    """Return a claim with what it is judged by."""
    own = (least, most, why, configuration, MEASURES.get(number))
    return Claim(number, place, says, statistic, *own, **beside)


_EXAMPLES = (
    of(
        "kl-01",
        "§1.1",
        "eight queries for averages and counts single a person out and tell the salary",
        "of the eight queries on Table 1, those that answer as printed",
        least=8,
        why="answers are exact",
    ),
    of(
        "kl-02",
        "§3.1, Table 2",
        "the DM of Table 2 is 34",
        "DM of the three classes of Table 2",
        least=34,
        most=34,
        why="a count",
    ),
    of(
        "kl-03",
        "§3.1, Table 2",
        "its C_AVG is 1.11",
        "C_AVG of Table 2",
        least=1.105,
        most=1.115,
        why="as printed, to two digits",
    ),
    of(
        "kl-04",
        "§3.1, Table 2",
        "its GenILoss is 0.348",
        "GenILoss of Table 2",
        least=0.3475,
        most=0.3485,
        why="as printed, to three digits",
        ways=("three",),
    ),
)
_THEOREM = (
    of(
        "kl-05",
        "Theorem 1",
        "the problem is NP-hard for k ≥ 3",
        "–",
        why="",
        configuration="",
        lost="a statement on all sizes: no count on small tables decides it, only a proof",
    ),
    of(
        "kl-06",
        "Theorem 1, its proof",
        "a table built from sets S splits into classes of k equals exactly where S covers",
        "of all collections of four triples of six elements, those where both agree, as a share",
        least=1,
        why="an equivalence has no exception",
        configuration="as-printed",
        ways=("of S",),
    ),
    of(
        "kl-07",
        "Tables 5 and 6",
        "they are generalizations of Table 4",
        "share of cells that hold what Table 4 has there",
        least=1,
        why="Definitions 7 to 9 only widen",
        configuration="as-printed",
        ways=("widened",),
    ),
)
_ALGORITHM = (
    of(
        "kl-08",
        "Def. 9, §4.2",
        "every record equals at least k − 1 others",
        "records of the smallest class over k, least over k",
        least=1,
        why="a guarantee",
    ),
    of(
        "kl-09",
        "§1, §4.2",
        "a class holds tuples that are more alike than those of other classes",
        "share of records that are nearer on average to their class than to all others, least "
        "over k",
        least=0.95,
        why="for all but a twentieth; those who are left at the end take what there is",
        ways=("small k", "filled"),
    ),
    of(
        "kl-10",
        "§4.1.2, §6",
        "NDGH costs less than DGH",
        "GenILoss with NDGH over that with each DGH, greatest over k",
        most=1,
        why="a direction",
    ),
    of(
        "kl-11",
        "§2.1, §4.1.3",
        "local recoding often loses less than global",
        "–",
        why="",
        configuration="",
        lost="said of others' work: the paper recodes nothing globally",
    ),
    of(
        "kl-12",
        "§2.1",
        "l-diversity often leads to larger classes than k-anonymity",
        "–",
        why="",
        configuration="",
        lost="said of others' work: the paper measures no l-diversity",
    ),
)
_DATA = (
    of(
        "kl-13",
        "§5.1",
        "943 users, 1,682 movies, 100,000 ratings; at least 20 a user and one a movie",
        "of these five figures, those that the data have",
        least=5,
        why="counts",
        about=ML100K,
    ),
    of(
        "kl-14",
        "§5.1",
        "the ten most rated have 4,863 ratings of 927 users",
        "of these two figures, those that the ten have",
        least=2,
        why="counts",
        about=ML100K,
    ),
    of(
        "kl-15",
        "§5.1",
        "ten movies show the trends",
        "share of pairs of k-Likeness, k-Member, Mondrian that GenILoss orders as with twenty",
        least=1,
        why="every order is a trend",
        ways=("small k",),
    ),
)
OF_TEXT = (*_EXAMPLES, *_THEOREM, *_ALGORITHM, *_DATA)
