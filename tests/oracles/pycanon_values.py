"""What pyCANON says of KL Tables 2 and 3; `make oracles` runs this and stores the values beside it.

pyCANON pins the versions of what it stands on, so it lives in an environment of its own, which
has no starshade: the tables are typed in here once more, cell by cell, from the paper. A blank
cell of the paper is written as the text "null", a value like the others.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

ARTIFACTS = ["Warcross", "Joy Ride", "Egomaniac", "Pachinko", "Geekerella"]
ATTRIBUTES = ["Salary", "Age", "Marital status", "City", "Education"]

TABLE_2 = [
    *3 * [("[3,5]", "", "[3,5]", "[0,2]", "[3,5]")],
    *4 * [("[0,2]", "5", "[3,5]", "[0,2]", "[0,2]")],
    *3 * [("2", "4", "3", "", "")],
]
TABLE_3 = [
    *3 * [("{4,5}", "", "{3,4}", "{0,1}", "{3,4}")],
    *4 * [("{0,1}", "5", "{4,5}", "{0,1,2}", "{1,2}")],
    *3 * [("2", "4", "3", "", "")],
]
PEOPLE = [
    (42000, 25, "Married", "New York", "Bachelor"),
    (45000, 23, "Married", "Los Angeles", "Bachelor"),
    (50000, 27, "Single", "New York", "Master"),
    (35000, 31, "Married", "San Antonio", "Bachelor"),
    (40000, 35, "Single", "New York", "Doctoral"),
    (50000, 25, "Single", "Los Angeles", "Master"),
    (45000, 32, "Married", "Los Angeles", "Bachelor"),
    (47000, 29, "Married", "Los Angeles", "Doctoral"),
    (49000, 24, "Single", "Columbus", "Master"),
    (51000, 29, "Married", "Columbus", "Doctoral"),
]


def values(cells: list[tuple[str, ...]]) -> dict[str, object]:
    """Ask pyCANON about one table."""
    import pandas as pd
    from pycanon import anonymity

    people = pd.DataFrame(PEOPLE, columns=ATTRIBUTES)
    artifacts = pd.DataFrame(cells, columns=ARTIFACTS).replace("", "null")
    table = pd.concat([artifacts, people], axis=1)
    found: dict[str, object] = {"k": int(anonymity.k_anonymity(table, ARTIFACTS))}
    for name in ATTRIBUTES:
        alpha, k = anonymity.alpha_k_anonymity(table, ARTIFACTS, [name])
        found[name] = {
            "l": int(anonymity.l_diversity(table, ARTIFACTS, [name])),
            "entropy_l": int(anonymity.entropy_l_diversity(table, ARTIFACTS, [name])),
            "alpha": float(alpha),
            "alpha_k": int(k),
            "t": float(anonymity.t_closeness(table, ARTIFACTS, [name])),
        }
    return found


def main() -> None:
    """Write the values of both tables."""
    found = {
        "pycanon": version("pycanon"),
        "Table 2": values(TABLE_2),
        "Table 3": values(TABLE_3),
    }
    place = Path(__file__).with_suffix(".json")
    place.write_text(json.dumps(found, indent=2) + "\n")
    print(f"{place.name}: written with pyCANON {found['pycanon']}")


if __name__ == "__main__":
    main()
