"""KL Table 1 read as a wide table, and the answers KL gives on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from starshade.ratings.read import read_ratings
from starshade.ratings.table import Ratings

KL_TABLE_1 = """\
id,Warcross,Joy Ride,Egomaniac,Pachinko,Geekerella,Salary,Age,Marital status,City,Education
1,4,,4,1,3,42000,25,Married,New York,Bachelor
2,5,,4,,3,45000,23,Married,Los Angeles,Bachelor
3,4,,3,,4,50000,27,Single,New York,Master
4,,5,5,1,2,35000,31,Married,San Antonio,Bachelor
5,,5,5,1,2,40000,35,Single,New York,Doctoral
6,,5,4,2,1,50000,25,Single,Los Angeles,Master
7,1,5,4,,2,45000,32,Married,Los Angeles,Bachelor
8,2,4,3,,,47000,29,Married,Los Angeles,Doctoral
9,2,4,3,,,49000,24,Single,Columbus,Master
10,2,4,3,,,51000,29,Married,Columbus,Doctoral
"""
PERSONAL = ("Salary", "Age", "Marital status", "City", "Education")


@pytest.fixture
def kl(tmp_path: Path) -> Ratings:
    path = tmp_path / "kl.csv"
    path.write_text(KL_TABLE_1)
    return read_ratings(path, wide=True, attribute_cols=PERSONAL, scale="1:5:1")


def test_shape_and_order(kl: Ratings) -> None:
    assert (kl.n_users, kl.n_items, kl.n_ratings) == (10, 5, 35)
    assert list(kl.users) == [str(i) for i in range(1, 11)]
    assert list(kl.items) == ["Egomaniac", "Geekerella", "Joy Ride", "Pachinko", "Warcross"]
    assert kl.report.format == "wide"
    assert kl.report.mapping["user"] == "id"


def test_cells(kl: Ratings) -> None:
    null = np.nan
    expected = {
        "Warcross": [4, 5, 4, null, null, null, 1, 2, 2, 2],
        "Joy Ride": [null, null, null, 5, 5, 5, 5, 4, 4, 4],
        "Egomaniac": [4, 4, 3, 5, 5, 4, 4, 3, 3, 3],
        "Pachinko": [1, null, null, 1, 1, 2, null, null, null, null],
        "Geekerella": [3, 3, 4, 2, 2, 1, 2, null, null, null],
    }
    dense = kl.dense()
    for name, column in expected.items():
        np.testing.assert_array_equal(dense[:, kl.items.index(name)], column)


def test_personal_attributes(kl: Ratings) -> None:
    attributes = kl.attributes.to_pydict()
    assert list(attributes) == list(PERSONAL)
    assert attributes["Salary"][:3] == [42000.0, 45000.0, 50000.0]
    assert attributes["City"][8:] == ["Columbus", "Columbus"]


def test_the_papers_queries_on_the_original(kl: Ratings) -> None:
    dense = kl.dense()
    columns = {name: dense[:, i] for i, name in enumerate(kl.items)}
    age = np.array(kl.attributes["Age"].to_pylist())
    salary = np.array(kl.attributes["Salary"].to_pylist())
    assert age[columns["Egomaniac"] == 5].mean() == 33
    rated = {name: ~np.isnan(column) for name, column in columns.items()}
    second = rated["Warcross"] & rated["Egomaniac"] & rated["Pachinko"] & rated["Geekerella"]
    third = rated["Warcross"] & rated["Joy Ride"] & rated["Egomaniac"] & rated["Geekerella"]
    assert np.flatnonzero(second).tolist() == [0]
    assert np.flatnonzero(third).tolist() == [6]
    assert (age[second].mean(), age[third].mean()) == (25, 32)
    assert salary[second].mean() == 42000
