"""Narayanan & Shmatikov's attack as printed, as we read it, and ours: what differs, and why."""

from __future__ import annotations

from typing import Final

from starshade.audit.reproduction.configurations import Choice

PRINTED: Final = "as-printed"
READ: Final = "as-read"
OURS: Final = "ours"

CHOICES = (
    Choice("similarity", "similarity of a cell to its known value (Scoreboard-RH)", "signed",
           "distance", "distance", "§5, Score",
           "signed: e^((ρ−ρ′)/ρ0) + e^((d−d′)/d0), which grows without end with a lower rating "
           "and an earlier day; distance: e^(−|ρ−ρ′|/ρ0) + e^(−|d−d′|/d0)", "§4, Scoreboard-RH"),
    Choice("strict", "an eccentricity of exactly φ is no match", True, False, False,
           "§5; §4 has it the other way", "", "§4 against §5"),
    Choice("one_rater", "raters that an item with one rater counts as: wt(i) = 1/ln|supp(i)|",
           "1 (run with 2)", 2, 2, "§4; §5, footnote 5",
           "1/ln 1 is undefined; the paper's data had no such item",
           "§4, footnote 5"),
    Choice("rho0", "ρ0, in stars of five", 1.5, 1.5, 1.5, "§5", "a share 0.375 of other scales"),
    Choice("d0", "d0, in days", 30.0, 30.0, 30.0, "§5"),
    Choice("phi", "φ, least eccentricity of a match", 1.5, 1.5, 1.5, "§5"),
    Choice("alpha", "Score that a record must exceed (Scoreboard)", "1 − ε", "0.5", "0.5", "§4.1",
           "Sim is 0 or 1 there: any α from 0 to below 1 has the same effect",
           "§4, Theorem 1's algorithm"),
    Choice("sim", "Sim of two cells", "threshold",
           "threshold for Scoreboard, distance for Scoreboard-RH",
           "threshold for Scoreboard, distance for Scoreboard-RH", "§5",
           "both are printed; the grid has Scoreboard-RH with thresholds", "§5"),
    Choice("answer", "whether the adversary is also made to answer (Definition 2)", False, False,
           True, "§3, Def. 2",
           "ours: right with 1/t where t records share the highest score; the paper's figures "
           "name no record unless one stands out"),
    Choice("neighbours", "whose similarity makes a record crowded (Definition 1)",
           "every other record's", "some other record's", "some other record's", "§3, Def. 1", "",
           "Def. 1"),
    Choice("covered", "measure of agreement in Theorems 1 to 4",
           "Sim, which divides by what either rated", "Sim, which divides by what either rated",
           "the share of the target's own cells", "§4.1, Lemma 1",
           "a long record can cover a short one and be dissimilar to it", "Lemma 1"),
    Choice("activity", "what Figs 2 and 3 count", "users with at least X ratings",
           "users with exactly X ratings", "users with exactly X ratings", "§5, Figs 2–3", "",
           "Figs 2–3"),
    Choice("figure_9", "items known in Fig. 9", "any",
           "any; not in the top 100; not in the top 500",
           "any; not in the top 100; not in the top 500", "§5, table of the experiments", "",
           "Fig. 9"),
    Choice("figure_11", "auxiliary knowledge in Fig. 11",
           "as in Fig. 6: exact ratings, days ±3 and ±14, any items",
           "exact ratings, no days, not in the top 100 or 500",
           "exact ratings, no days, not in the top 100 or 500", "§5, Fig. 11", "", "Fig. 11"),
    Choice("wrong", "a completely wrong rating or date", "not said",
           "drawn from the data's values, further off than the error",
           "drawn from the data's values, further off than the error", "§5",
           "as printed is run the same way"),
    Choice("about", "candidates when the number of ratings is known within 50 %", "not said",
           "records with n′/1.5 to n′/0.5 ratings, n′ the number known to the adversary",
           "records with n′/1.5 to n′/0.5 ratings, n′ the number known to the adversary",
           "§5, Fig. 12",
           "as printed is run the same way"),
)  # fmt: skip
