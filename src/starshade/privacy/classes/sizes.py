"""Judge classes of equal records by their size: what k-anonymity comes down to."""

from __future__ import annotations

import numpy as np

from starshade.privacy.classes.classes import Classes
from starshade.privacy.verdict import SHOWN, Verdict

__all__ = ["judged_by_size"]


def judged_by_size(model: str, k: int, classes: Classes) -> Verdict:
    """Judge by the fewest records that a class may have."""
    row, size = classes.row, classes.size
    failing = size < k
    order = np.lexsort([row, size])[: min(SHOWN, int(failing.sum()))]
    return Verdict(
        model=model,
        parameters={"k": int(k)},
        satisfied=not failing.any(),
        records=len(classes.of_record),
        failing_records=int(size[failing].sum()),
        smallest_group=int(size.min()),
        worst=tuple({"row": int(row[c]), "size": int(size[c])} for c in order),
        numbered=classes.numbered,
    )
