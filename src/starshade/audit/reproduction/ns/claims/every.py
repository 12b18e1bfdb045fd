"""Every claim of Narayanan & Shmatikov's paper, once; what would count as true."""

from __future__ import annotations

from starshade.audit.reproduction.ns.claims.of_attacks import OF_ATTACKS
from starshade.audit.reproduction.ns.claims.of_data import OF_DATA
from starshade.audit.reproduction.ns.claims.of_figures import OF_FIGURES

CLAIMS = tuple(sorted((*OF_DATA, *OF_ATTACKS, *OF_FIGURES), key=lambda claim: claim.number))

#: what was changed, and nothing else: words that go on after "holds …"
WAYS = {
    "answer": "when the adversary must answer (Def. 2: 1/t where t records tie)",
    "threshold": "with thresholds in place of exponentials (§5: Sim “is a threshold function”)",
    "top-share": "where the most rated are as large a share of all items as the paper's",
    "quarter": "with Sim above 0.25, which far more records have",
    "equal-phi": "with the φ at which both errors are equal",
    "all-right": "where all that is known is right",
    "no-dates": "where no day is known",
    "dealt-days": "with the days dealt anew among all ratings",
    "half": "with half of the ratings left out at random",
    "fifth": "with a fifth of the users drawn at random",
    "hundredth": "where the most common are the most rated hundredth of the items",
    "upper-half": "among the more rated half of the items",
    "rejected": "where a record that stands out is rejected when it does not fit the rest",
    "off-100": "outside the 100 most rated items",
    "cover": "with the share of the target's own cells in place of Sim",
    "caption": "with what the caption says is known (as printed): as in Fig. 6",
}
