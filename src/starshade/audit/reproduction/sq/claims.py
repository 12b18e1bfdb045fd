"""SQ's claims: those that SR repeats are SR's, with their criteria, at their places in SQ."""

from __future__ import annotations

from dataclasses import replace

from starshade.audit.reproduction.claims import Claim
from starshade.audit.reproduction.sr import measures as m
from starshade.audit.reproduction.sr.claims import CLAIMS as _OF_SR
from starshade.audit.reproduction.sr.claims import WAYS as WAYS
from starshade.audit.reproduction.sr.claims import WORK

#: SR's claim, its number and place in SQ, and what SQ says where that reads otherwise
_SAME = (
    ("sr-01", "sq-01", "§1", ""),
    ("sr-05", "sq-02", "§1", ""),
    ("sr-11", "sq-03", "§2", ""),
    ("sr-15", "sq-04", "§3", ""),
    ("sr-17", "sq-05", "§3", ""),
    ("sr-23", "sq-06", "§4 on Fig. 1(a)", ""),
    ("sr-24", "sq-07", "§4 on Fig. 1(b)", "the cost first falls with ε and then rises"),
    ("sr-25", "sq-08", "§4", ""),
    ("sr-30", "sq-09", "§4 on Fig. 2(a), §5", ""),
    ("sr-31", "sq-10", "§4 on Fig. 2(a)", ""),
    ("sr-32", "sq-12", "§4", ""),
    ("sr-46", "sq-14", "§4", ""),
    ("sr-47", "sq-15", "§5", ""),
)
_BY_NUMBER = {claim.number: claim for claim in _OF_SR}
_OWN = (
    Claim("sq-11", "§4 on Fig. 2(b)", "slicing is far more efficient over ε as well",
          "work of comparing every pair over that of slicing, least over ε", 2, None,
          "as far as over the data", "as-printed", m.least_over_eps, (*WORK, "below R")),
    Claim("sq-13", "§5", "slicing is fast in practice", "seconds of a check on MovieLens",
          None, 60, "a minute", "as-read",
          lost="the paper names no time, and no claim here rests on seconds"),
    Claim("sq-16", "§4", "the neighbour search takes less time as ε grows",
          "work of slicing, without the search within the cube, at an ε over that at the "
          "previous ε, greatest", None, 1, "never more", "as-printed", m.search_over_eps,
          ("most rated", "ignore", "zero", "first failing", "below R")),
)  # fmt: skip
_REPEATED = (
    replace(claim, number=number, place=place, says=says or claim.says, same=claim.number)
    for of, number, place, says in _SAME
    for claim in [_BY_NUMBER[of]]
)
CLAIMS: tuple[Claim, ...] = tuple(sorted((*_REPEATED, *_OWN), key=lambda claim: claim.number))
