"""Personal attributes in the classes of KL Tables 2 and 3; values by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from starshade.errors import ConfigError
from starshade.privacy.attribute import AlphaK, LDiversity, TCloseness
from starshade.privacy.class_values import values_in_classes
from starshade.release.table import Release
from tests.golden import kl
from tests.naive.generalized_release import content
from tests.unit.release.samples import Grouping

#: class {1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10}
DISTANCE = {
    "Marital status": (0.0667, 0.1, 0.0667),
    "City": (0.3667, 0.25, 0.4667),
    "Education": (0.3, 0.1, 0.4),
    "Age": (0.2476, 0.2286, 0.1524),
    "Salary": (0.1, 0.1714, 0.2333),
}
DISTINCT = {"City": (2, 3, 2), "Education": (2, 3, 2), "Age": (3, 4, 2)}
LARGEST = {"City": (0.6667, 0.5, 0.6667)}


def published(name: str) -> Release:
    """KL Table 2 or 3, personal attributes as they are."""
    original = replace(kl.ratings(), attributes=kl.people())
    rows = kl.TABLE_2 if name == "Table 2" else kl.TABLE_3
    contents = [
        [None if cell == {None} else content(sorted(cell - {None}), None in cell) for cell in row]
        for row in rows
    ]
    return Grouping(original, kl.CLASSES, contents).release(attributes="exact")


@pytest.fixture(scope="module", params=["Table 2", "Table 3"])
def release(request: pytest.FixtureRequest) -> Release:
    return published(request.param)


def by_class(release: Release, found: np.ndarray) -> list[float]:
    """Values in the order of the paper's classes."""
    link = release.private.link.record
    classes = values_in_classes(release, "City").classes.of_record
    return [found[classes[link[user]]] for user in (0, 3, 7)]


@pytest.mark.parametrize("attribute", DISTANCE)
def test_distances(release: Release, attribute: str) -> None:
    found = values_in_classes(release, attribute).distances()
    assert by_class(release, found) == pytest.approx(DISTANCE[attribute], abs=5e-5)


@pytest.mark.parametrize("attribute", DISTINCT)
def test_distinct_values(release: Release, attribute: str) -> None:
    found = values_in_classes(release, attribute).distinct()
    assert by_class(release, found) == list(DISTINCT[attribute])


def test_largest_shares(release: Release) -> None:
    values = values_in_classes(release, "City")
    found = values.largest() / values.classes.size
    assert by_class(release, found) == pytest.approx(LARGEST["City"], abs=5e-5)


def test_entropy(release: Release) -> None:
    """Two of one value and one of another: exp(H) = 3 / 2^(2/3); 1, 1, 2 of four: 2^1.5."""
    found = values_in_classes(release, "City").effective()
    assert by_class(release, found) == pytest.approx([3 / 2 ** (2 / 3), 2**1.5, 3 / 2 ** (2 / 3)])


def test_verdicts(release: Release) -> None:
    verdict = TCloseness(0.4, "City").check(release)
    assert (verdict.satisfied, verdict.failing_records) == (False, 3)
    assert verdict.figures["largest_t"] == pytest.approx(0.4667, abs=5e-5)
    assert TCloseness(0.4667, "City").check(release).satisfied
    assert LDiversity(2, "City").check(release).satisfied
    verdict = LDiversity(3, "City").check(release)
    assert (verdict.failing_records, verdict.figures["smallest_l"]) == (6, 2)
    assert AlphaK(2 / 3, 3, "City").check(release).satisfied
    verdict = AlphaK(0.5, 3, "City").check(release)
    assert (verdict.failing_records, verdict.figures["failing_by_size"]) == (6, 0)
    assert AlphaK(2 / 3, 4, "City").check(release).failing_records == 6


def test_the_attributes_that_there_are_are_named(release: Release) -> None:
    with pytest.raises(ConfigError, match="Salary, Age, Marital status, City, Education"):
        LDiversity(2, "Town").check(release)
