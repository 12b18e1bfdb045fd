"""KL Table 1 in the classes of its Tables 2 and 3, released as the sets of values present.

The cells and shares were worked out by hand from Table 1.
"""

from __future__ import annotations

import numpy as np

from starshade.ratings.scale import Scale
from starshade.release.folder.read import read_release
from starshade.release.verify.verify import verify_folder
from tests.strategies import table
from tests.unit.release.samples import NULL, covering, plain_rows

# Warcross, Joy Ride, Egomaniac, Pachinko, Geekerella
TABLE_1 = [
    {0: 4, 2: 4, 3: 1, 4: 3},
    {0: 5, 3: 4, 4: 3},
    {0: 4, 2: 3, 4: 4},
    {1: 5, 2: 5, 3: 1, 4: 2},
    {1: 5, 2: 5, 3: 1, 4: 2},
    {1: 5, 2: 4, 3: 2, 4: 1},
    {0: 1, 1: 5, 2: 4, 4: 2},
    {0: 2, 1: 4, 2: 3},
    {0: 2, 1: 4, 2: 3},
    {0: 2, 1: 4, 2: 3},
]


def one_of(*members: float) -> tuple:
    return ("set", tuple(float(m) for m in members))


def test_kl_table_3(tmp_path):
    groups = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2])
    release = covering(table(TABLE_1, Scale(1, 5, 1)), groups, ranges=False).release()
    release.save(tmp_path / "out")
    back = read_release(tmp_path / "out")
    assert back.classes.sizes.tolist() == [4, 3, 3]  # {4, 5, 6, 7} has the only null at Warcross
    assert plain_rows(back.classes) == [
        [one_of(NULL, 1), one_of(5), one_of(4, 5), one_of(NULL, 1, 2), one_of(1, 2)],
        [one_of(2), one_of(4), one_of(3), None, None],
        [one_of(4, 5), None, one_of(NULL, 3, 4), one_of(NULL, 1, 4), one_of(3, 4)],
    ]
    counted = verify_folder(tmp_path / "out", release.private)
    assert counted["smallest_class"] == 3
    # Joy Ride = 5 for 4, 5, 6, 7; all of 8, 9, 10; nobody of 1, 2, 3
    assert counted["users_rating_disclosed"] == 0.7
    assert counted["users_rating_exists"] == 1.0
    assert release.private.link.record.tolist() == [7, 8, 9, 0, 1, 2, 3, 4, 5, 6]
