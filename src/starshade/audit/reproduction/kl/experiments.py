"""What Riyana & Natwichai claim of Figures 10 to 16, and what we promise of k-exchange."""

from __future__ import annotations

from collections.abc import Sequence

from starshade.audit.reproduction.claims import Claim
from starshade.audit.reproduction.kl.lines import (
    ALGORITHMS,
    DGH_A,
    DGH_B,
    DGH_C,
    EXCHANGE,
    LIKENESS,
    MEMBER,
    MONDRIAN,
    PAPERS,
    QUERY_KS,
    RELAXED,
)
from starshade.audit.reproduction.kl.statistics import (
    Measure,
    agreeing,
    asked,
    asked_course,
    asked_ratio,
    away,
    course,
    curves,
    ends,
    greatest,
    least,
    over,
    rising,
    several,
    spread,
    summed,
    wider,
    worked,
)

_DGHS = (DGH_A, DGH_B, DGH_C)
_DATA = ("filled", "thinned", "few")
_READ = (
    "rated",
    "sets",
    "sets+furthest",
    "members",
    "tuples-k",
    "mean",
    "range",
    "furthest",
    "apart",
    "ignored",
    "arbitrary",
)
_ANY = (*_READ, *_DATA)
_QUERIED = (LIKENESS, DGH_B, MEMBER, MONDRIAN)
_RISES = "share of pairs of k in which the greater k has the greater {}, least over methods"
_TREND = "one or two steps may go the other way"
_SIDE = (
    "a direction: one line lies above another when it does in sum over all k, even where they cross"
)
_FIVE = "“close”, “comparable” and “the same” are taken as 5 %"
_WIDER = "GenILoss of a release of all items minus that of the most rated item alone, at k = 2"
_ANEW = (
    "a direction; more queried items leave the release unchanged, so the attributes are those of "
    "the database"
)
_KINDS = ("or", "and", "range")
_METRICS = ("dm", "c_avg", "gen_iloss")

_LOSSES = (
    Claim("kl-16", "§5.2.1, Fig. 10", "DM rises with k", _RISES.format("DM"), 0.95, None, _TREND,
          "as-read", course("dm", PAPERS, min), (*_DATA, "algorithms")),
    Claim("kl-17", "§5.2.1, Fig. 10", "Mondrian has a higher DM than the other algorithms",
          "its DM over that of k-Likeness with NDGH or k-Member, over all k, the lesser", 1.001,
          None, _SIDE, "as-read", summed("dm", [MONDRIAN], [LIKENESS, MEMBER]), _DATA),
    Claim("kl-18", "§5.2.1, Fig. 10", "k-Likeness with NDGH has the lowest DM",
          "another line's DM over its DM, over all k, the least", 0.999, None,
          "a thousandth is no difference: the paper calls k-Member comparable", "as-read",
          summed("dm", [MEMBER, MONDRIAN, *_DGHS], [LIKENESS]), _ANY),
    Claim("kl-19", "§5.2.1, Fig. 10", "k-Likeness with NDGH has a DM comparable to k-Member's",
          "greatest relative difference of the two", None, 0.05, _FIVE, "as-read",
          away("dm", LIKENESS, MEMBER), _ANY),
    Claim("kl-20", "§5.2.1, Fig. 10", "DGH (c), the lowest hierarchy, has a higher DM",
          "its DM over that of k-Likeness with another hierarchy, over all k, the lesser", 1.001,
          None, _SIDE, "as-read", summed("dm", [DGH_C], [LIKENESS, DGH_A, DGH_B]), _DATA),
    Claim("kl-21", "§5.2.1, Fig. 10", "DGH (b), with wider ranges, has a lower DM",
          "the DM of (a) or (c) over that of (b), over all k, the lesser", 1.001, None, _SIDE,
          "as-read", summed("dm", [DGH_A, DGH_C], [DGH_B]), _DATA),
    Claim("kl-22", "§5.2.1, Fig. 11", "C_AVG is rather stable over k",
          "an algorithm's greatest C_AVG over its least, greatest over algorithms", None, 1.25,
          "“rather”: a quarter", "as-read", spread("c_avg", ALGORITHMS), ("groups", *_DATA)),
    Claim("kl-23", "§5.2.1, Fig. 11", "all algorithms form more classes as k rises",
          _RISES.format("number of classes"), 0.95, None, _TREND, "as-read",
          course("classes", ALGORITHMS, min), ("sizes", *_DATA)),
    Claim("kl-24", "§5.2.1, Fig. 11", "k-Likeness and k-Member are very close in C_AVG",
          "greatest relative difference of the two", None, 0.05, _FIVE, "as-read",
          away("c_avg", LIKENESS, MEMBER), _ANY),
    Claim("kl-25", "§5.2.1, Fig. 11", "Mondrian has a rather high C_AVG",
          "its C_AVG over that of k-Likeness or k-Member, over all k, the lesser", 1.1, None,
          "“rather high”: a tenth", "as-read", summed("c_avg", [MONDRIAN], [LIKENESS, MEMBER]),
          _DATA),
    Claim("kl-26", "§5.2.1, Fig. 11", "k-Likeness (NDGH and DGH (b)) and k-Member are close to "
          "the best C_AVG, 1", "the greatest C_AVG of any of them at any k", None, 1.1,
          "a tenth above the best; leftover records alone may cost 5 % at k = 20",
          "as-read", greatest("c_avg", [LIKENESS, DGH_B, MEMBER]), ("groups", *_DATA)),
    Claim("kl-27", "§5.2.1, Fig. 11", "almost all classes of k-Likeness and k-Member have k "
          "records",
          "share of records in classes of k, least over both and all k", 0.9, None,
          "“almost all”: nine in ten", "as-read", least("exact", [LIKENESS, MEMBER]),
          ("divisible", "tuples-k", *_DATA)),
    Claim("kl-28", "§5.2.1, Fig. 12", "GenILoss rises with k", _RISES.format("GenILoss"), 0.95,
          None, _TREND, "as-read", course("gen_iloss", PAPERS, min), (*_DATA, "algorithms")),
    Claim("kl-29", "§5.2.1, Fig. 12", "NDGH's sets grow with k",
          "members of a cell with NDGH at the greatest k over those at the least", 1.05, None,
          "more than a twentieth", "as-read", ends("members", [LIKENESS]), _DATA),
    Claim("kl-30", "§5.2.1, Fig. 12", "k-Member loses less than the other algorithms",
          "another algorithm's GenILoss over its GenILoss, over all k, the least", 1.001, None,
          _SIDE, "as-read", summed("gen_iloss", [LIKENESS, MONDRIAN], [MEMBER]), _ANY),
    Claim("kl-31", "§5.2.1, Fig. 12", "k-Likeness with NDGH loses least after k-Member",
          "Mondrian's GenILoss, or that of a DGH, over its GenILoss, over all k, the least",
          1.001, None,
          _SIDE, "as-read", summed("gen_iloss", [MONDRIAN, *_DGHS], [LIKENESS]), _ANY),
    Claim("kl-32", "§5.2.1, Fig. 12", "from k = 2 to 7 k-Likeness loses as much as k-Member",
          "greatest relative difference of the two", None, 0.05, _FIVE, "as-read",
          away("gen_iloss", LIKENESS, MEMBER, range(2, 8)), _ANY),
    Claim("kl-33", "§5.2.1, summary", "a lower DGH (c) or one with narrow ranges (a) loses more",
          "the value of (a) or (c) over that of (b), over all k, the least of DM, C_AVG and "
          "GenILoss", 1.001, None, _SIDE, "as-read",
          several([summed(each, [DGH_A, DGH_C], [DGH_B]) for each in _METRICS], min), _DATA),
    Claim("kl-34", "§4.1.2, §6", "NDGH loses less than DGH",
          "the GenILoss of a DGH over that of NDGH, over all k, the least", 1.001, None, _SIDE,
          "as-read", summed("gen_iloss", list(_DGHS), [LIKENESS]), _DATA),
)  # fmt: skip

_QUERIES = (
    Claim("kl-35", "§5.2.2, Fig. 13", "under OR the error falls with more attributes",
          "share of pairs of sizes in which the greater size has the greater error, greatest "
          "over methods", None, 0.05, _TREND, "as-read", asked_course("or", _QUERIED, max),
          (*_DATA, "algorithms")),
    Claim("kl-36", "§5.2.2, Fig. 13", "more attributes give the algorithm more options (the "
          "reason for kl-35)",
          _WIDER, None, -0.001, _ANEW, "as-read", wider(LIKENESS), _DATA),
    Claim("kl-37", "§5.2.2, Fig. 13", "k-Likeness with NDGH errs less than k-Member, above all "
          "with 1 to 5 attributes", "k-Member's error over its error, over 1 to 5", 1.001, None,
          _SIDE, "as-read", asked_ratio("or", [MEMBER], [LIKENESS], sizes=range(1, 6)), _ANY),
    Claim("kl-38", "§5.2.2, Fig. 13", "its classes are smaller than k-Member's (the reason for "
          "kl-37)",
          "k-Member's C_AVG over its C_AVG, at k = 2", 1.001, None, _SIDE, "as-read",
          curves("c_avg", [MEMBER, LIKENESS], lambda c: over(c[MEMBER][0], c[LIKENESS][0]), [2]),
          _ANY),
    Claim("kl-39", "§5.2.2, Fig. 13", "k-Likeness with NDGH errs by less than 4 % under OR",
          "its greatest error, in per cent", None, 4.0, "the printed number", "as-read",
          asked("or", [LIKENESS], lambda c: float(c[LIKENESS].max())), _DATA,
          about="MovieLens 100K"),
    Claim("kl-40", "§5.2.2, Fig. 14", "under AND the error rises with more attributes",
          "share of pairs of sizes in which the greater size has the greater error, least over "
          "methods", 0.95, None, _TREND, "as-read", asked_course("and", _QUERIED, min),
          (*_DATA, "four", "algorithms")),
    Claim("kl-41", "§5.2.2, Fig. 14", "with many attributes the algorithm must go to higher "
          "levels (the reason for kl-40)", _WIDER, 0.001, None, _ANEW, "as-read", wider(LIKENESS),
          _DATA),
    Claim("kl-42", "§5.2.2, Fig. 14", "k-Likeness with NDGH errs least under AND",
          "another line's error over its error, over all sizes, the least", 1.001, None, _SIDE,
          "as-read", asked_ratio("and", [MEMBER, MONDRIAN, DGH_B], [LIKENESS]),
          (*_ANY, "algorithms")),
    Claim("kl-43", "§5.2.2, Fig. 15", "the larger the range, the smaller the error",
          "share of pairs of widths in which the greater width has the greater error, greatest "
          "over methods", None, 0.05, _TREND, "as-read", asked_course("range", _QUERIED, max),
          (*_DATA, "algorithms")),
    Claim("kl-44", "§5.2.2, Fig. 15", "k-Likeness with NDGH errs least over ranges",
          "another algorithm's error over its error, over all widths, the least", 1.001, None,
          _SIDE, "as-read", asked_ratio("range", [MEMBER, MONDRIAN], [LIKENESS]), _ANY),
    Claim("kl-45", "§5.2.2, Fig. 15", "k-Likeness with NDGH errs by less than 1.0 % above a range "
          "of 1",
          "its greatest error at widths of 2 or more, in per cent", None, 1.0,
          "the printed number", "as-read",
          asked("range", [LIKENESS], lambda c: float(c[LIKENESS].max()), range(2, 6)), _DATA,
          about="MovieLens 100K"),
)  # fmt: skip

_WORK = (
    Claim("kl-46", "§5.2.3, Fig. 16", "k-Likeness and Mondrian take less time as k rises",
          "share of pairs of k in which the greater k touches more cells, the greater of both",
          None, 0.1, "the paper calls the curve inconsistent: a tenth of the pairs", "as-read",
          worked(lambda w: max(rising([x.likeness for x in w]), rising([x.mondrian for x in w]))),
          ("divisible", "tuples-k", *_DATA)),
    Claim("kl-47", "§5.2.3, Fig. 16", "larger classes mean fewer rounds of the outer loop (the "
          "reason for kl-46)",
          "share of pairs of k in which the greater k has more rounds or cuts, the greater of both",
          None, 0.05, _TREND, "as-read",
          worked(lambda w: max(rising([x.rounds for x in w]), rising([x.cuts for x in w])))),
    Claim("kl-48", "§5.2.3, Fig. 16", "k-Member takes more time as k rises",
          "share of pairs of k in which the greater k touches more cells", 0.95, None, _TREND,
          "as-read", worked(lambda w: rising([x.member for x in w])), ("anew", *_DATA)),
    Claim("kl-49", "§5.2.3, Fig. 16", "Mondrian is the most efficient",
          "cells of k-Likeness or k-Member over its cells, over all k, the lesser", 1.1, None,
          "a tenth", "as-read",
          worked(lambda w: min(sum(x.likeness for x in w), sum(x.member for x in w))
                 / sum(x.mondrian for x in w)), ("tuples-k", *_DATA)),
    Claim("kl-50", "abstract, §5.2.3, Fig. 16", "k-Likeness is more than three times as fast as "
          "k-Member", "cells of k-Member over its cells, over all k", 3.0, None,
          "the printed number; Fig. 16 has seconds of both in the same kind of code",
          "as-read",
          worked(lambda w: sum(x.member for x in w) / sum(x.likeness for x in w)),
          ("anew", "tuples-k", *_DATA), about="MovieLens 100K"),
    Claim("kl-51", "§5.2.3", "leftover records take 69.23 % of the time on average",
          "their share of all distances, mean over k", 0.6, 0.78,
          "within an eighth of the printed share, which was a time", "as-read",
          worked(lambda w: sum(x.joining / (x.joining + x.forming) for x in w) / len(w)),
          ("tuples-k", *_DATA), about="MovieLens 100K"),
    Claim("kl-52", "§5.2.3", "more leftover records take longer, which explains the inconsistency",
          "share of pairs of k in which the one with more leftover records computes more "
          "distances for them", 0.95, None, _TREND, "as-read",
          worked(lambda w: agreeing([x.left for x in w], [x.joining for x in w]))),
    Claim("kl-53", "§5.2.3", "k-Likeness's efficiency follows Mondrian's trend",
          "share of pairs of k where both rise or both fall", 0.9, None,
          "nine of ten: the paper calls its curve inconsistent", "as-read",
          worked(lambda w: agreeing([x.mondrian for x in w], [x.likeness for x in w])),
          ("divisible", "tuples-k", *_DATA)),
)  # fmt: skip


def _utility(tops: Sequence[str], bottoms: Sequence[str]) -> list[Measure]:
    return [summed(each, tops, bottoms) for each in _METRICS]


def _wrong(tops: Sequence[str], bottoms: Sequence[str]) -> list[Measure]:
    return [asked_ratio(kind, tops, bottoms) for kind in _KINDS]


_OTHERS = (MEMBER, MONDRIAN)
_SUMS = (
    Claim("kl-54", "§5.2.3, last paragraph", "k-Likeness's effectiveness is comparable to "
          "k-Member's, if not better", "its value over k-Member's, the greatest of DM, C_AVG, "
          "GenILoss and the three kinds of error", None, 1.05, _FIVE, "as-read",
          several(_utility([LIKENESS], [MEMBER]) + _wrong([LIKENESS], [MEMBER]), max), _ANY),
    Claim("kl-55", "§5.2.3, last paragraph", "k-Likeness's effectiveness is much higher than "
          "Mondrian's",
          "Mondrian's value over its value, the least of the six", 1.1, None, "“much”: a tenth",
          "as-read", several(_utility([MONDRIAN], [LIKENESS]) + _wrong([MONDRIAN], [LIKENESS]),
                             min), _ANY),
    Claim("kl-56", "abstract", "k-Likeness impairs data utility less than the compared "
          "algorithms", "k-Member's or Mondrian's value over its value, over all k, the least of "
          "DM, C_AVG and GenILoss", 1.001, None, _SIDE, "as-read",
          several(_utility(_OTHERS, [LIKENESS]), min), _ANY),
    Claim("kl-57", "abstract", "k-Likeness has smaller query errors than the compared algorithms",
          "k-Member's or Mondrian's error over its error, over all sizes at k = 2, the least of "
          "OR, AND and ranges", 1.001, None, _SIDE, "as-read",
          several(_wrong(_OTHERS, [LIKENESS]), min), _ANY),
)  # fmt: skip

_OURS = (
    Claim("kl-o1", "ours", "k-exchange loses less than every other method",
          "another line's GenILoss over its GenILoss, over all k, the least", 1.001, None, _SIDE,
          "ours", summed("gen_iloss", [*ALGORITHMS, RELAXED], [EXCHANGE]), ours=True),
    Claim("kl-o2", "ours", "k-exchange keeps classes small", "its greatest C_AVG at any k", None,
          1.1, "as for the others", "ours", greatest("c_avg", [EXCHANGE]), ours=True),
    Claim("kl-o3", "ours", "k-exchange errs less in queries",
          "another line's error over its error, least over OR, AND and ranges, at k = 2 and 5",
          1.0, None, _SIDE, "ours",
          several([asked_ratio(kind, ALGORITHMS, [EXCHANGE], k=k)
                   for kind in _KINDS for k in QUERY_KS], min), ours=True),
)  # fmt: skip

EXPERIMENTS = (*_LOSSES, *_QUERIES, *_WORK, *_SUMS, *_OURS)
