"""Every claim of Riyana & Natwichai's paper, once; what would count as true."""

from __future__ import annotations

from starshade.audit.reproduction.kl.claims_figures import OF_FIGURES
from starshade.audit.reproduction.kl.claims_text import OF_TEXT

CLAIMS = (*OF_TEXT, *OF_FIGURES)

#: what was changed, and nothing else: words that go on after "holds …"
WAYS = {
    "three": "with the class of four counted as three",
    "of S": "where a class must be one of S, which the table does not tell",
    "widened": "with cells widened to {0, 1} in place of overwritten",
    "lower": "read the other way round, of the three algorithms: a lower number",
    "small k": "at k up to 10, which is practice (§5.2.1)",
    "mean": "on average over k",
    "algorithms": "among k-Likeness with NDGH, k-Member and Mondrian alone",
    "printed": "as printed, with k tuples beside the nucleus",
    "farthest": "with nuclei furthest from the last one",
    "apart": "with a null further from every rating than ratings are from each other",
    "smallest": "where tuples left over join the smallest class",
    "arbitrary": "with k-Member's groups grown from arbitrary tuples (§5)",
    "joined": "with k-Member's groups grown from the tuple furthest from the last that joined",
    "both": "with arbitrary tuples in k-Member and furthest nuclei in k-Likeness",
    "level": "where a set costs its level |S| − 1 (Def. 8) in place of its range (Def. 12)",
    "filled": "with every null filled by a rating drawn from the item's own",
    "thinned": "with half of the ratings left out at random",
    "users": "with half of the users drawn at random",
    "of truth": "with errors over the truth in place of the answer",
    "few items": "with up to five items",
    "nuclei": "without tuples left over, which the paper says make it uneven (§5.2.3)",
    "members": "where a class's range is looked up in its members anew at each comparison",
}
