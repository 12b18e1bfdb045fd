"""SQ's claims: its short text, with SR's measurements."""

from __future__ import annotations

from starshade.audit.reproduction.claims import Claim
from starshade.audit.reproduction.sr import graphs as g
from starshade.audit.reproduction.sr import measures as m
from starshade.audit.reproduction.sr.claims import WAYS as WAYS
from starshade.audit.reproduction.sr.claims import WORK as _WORK

_PRINTED, _READ = "as-printed", "as-read"

CLAIMS: tuple[Claim, ...] = (
    Claim("sq-01", "§1", "Netflix published 100,480,507 ratings", "ratings", 100_480_507,
          100_480_507, "a count", _READ, m.size("ratings"), about="the Netflix Prize's ratings"),
    Claim("sq-02", "§1", "rating data are sparse", "share of empty cells", 0.9, None,
          "nine of ten is plainly so", _READ, m.sparsity),
    Claim("sq-03", "§2", "(k, ε) alone lets sensitive ratings be read",
          "records of Table 1, at (2, 1), whose group has one sensitive rating", 1, None,
          "one is enough", _READ, g.homogeneous),
    Claim("sq-04", "§3", "for small ε few records lie in the cube",
          "mean size of a ball as a share of the records, ε = 1 star", None, 0.1,
          "a tenth is still few", _READ, g.mean_ball, ("most rated", "zero", "ignore")),
    Claim("sq-05", "§3", "what is near all of a set lies in each one's cube",
          "groups found within cubes that reach beyond one", None, 0, "a theorem", _PRINTED,
          g.groups_beyond_balls),
    Claim("sq-06", "Fig. 1(a)", "the cost rises with the share of the data",
          "least ratio of the work at a share to that at the share before", 1.05, None,
          "half of what a linear cost would gain in the last step", _PRINTED, m.over_share, _WORK),
    Claim("sq-07", "Fig. 1(b)", "the cost falls at first with ε and then rises",
          "greatest of least inner work over the first, and of each work after it over the next",
          None, 0.99, "each step by 1 % at least", _PRINTED, m.dip,
          ("ball", "most rated", "ignore", "zero", "first failing", "covered", "short cut")),
    Claim("sq-08", "§4", "at large ε the exhaustive search costs most",
          "its share of the cells touched, ε = R", 0.5, None, "most: more than half", _PRINTED,
          m.exhaustive_at_end, ("ball",)),
    Claim("sq-09", "Fig. 2(a), §5", "slicing is “far more efficient” than comparing every pair",
          "work of every pair over that of slicing, all data, ε = 1 star", 2, None,
          "far more: twice at the least", _PRINTED, m.times_as_fast, _WORK),
    Claim("sq-10", "Fig. 2(a)", "… above all when there are more data",
          "that ratio on all data over that on a tenth", 1.05, None, "5 % more at the least",
          _PRINTED, m.gain_with_data, _WORK),
    Claim("sq-11", "Fig. 2(b)", "much the same over ε",
          "least ratio of the work of every pair to that of slicing over ε", 2, None,
          "as far as over the data", _PRINTED, m.least_over_eps, (*_WORK, "below R")),
    Claim("sq-12", "§4", "comparing every pair suffers most from more dimensions",
          "that ratio on all items over that on a tenth of them", 1.05, None,
          "5 % more at the least", _PRINTED, m.gain_with_items, ("zero", "ignore")),
    Claim("sq-13", "§5", "slicing is fast in practice", "seconds of a check on MovieLens",
          None, 60, "a minute", _READ,
          lost="it names no time, and no claim here rests on seconds"),
)  # fmt: skip
