"""A chain is judged as a whole, in the order in which it was published, or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.attack.composition.composed import composition_of
from starshade.audit.to_know import Earlier, judge_earlier
from starshade.errors import ConfigError
from starshade.ratings.synth.synth import synthesize
from starshade.release.folder.read import read_release

RATINGS = synthesize(n_users=60, n_items=4, rng=0)


@pytest.mark.parametrize("alike", [False, True], ids=["other bytes", "the same bytes"])
def test_a_chain_out_of_order_is_not_measured(tmp_path: Path, alike: bool) -> None:
    places = [(tmp_path / str(year), tmp_path / f"{year}.json") for year in range(3)]
    last = None
    for year, (folder, receipt) in enumerate(places):
        stay = range(1, 60) if alike and year else range(year, 40 + 10 * year)
        table = RATINGS.keep_users(np.array(stay))
        KLikeness(k=3).anonymize(table, rng=0, after=last).save(folder, private=receipt)
        last = read_release(folder, private=receipt)
    names = [read_release(place[0]).manifest.files["cells.parquet"] for place in places]
    assert (names[1] == names[2]) == alike
    assert last is not None

    def judged(*order: int) -> Earlier:
        folders = [places[year][0] for year in order]
        receipts = [places[year][1] for year in order]
        found = judge_earlier(last, folders, table, receipts)
        assert found is not None
        return found

    assert judged(0, 1).holds
    assert "are releases of the same people; people who share a class here" in judged(0, 1).text
    first, second = (read_release(folder, private=own) for folder, own in places[:2])
    for part, place in (([second, first, last], 1), ([first, last], 2), ([second, last], 1)):
        broken = f"number {place} of {len(part)} continues a release that is not listed before it"
        with pytest.raises(ConfigError, match=broken):
            composition_of(part, table, "revised")
    assert not judged(2).holds
    missing = judged(0)  # the last one continues the second
    assert not missing.holds
    assert "This release continues a release that is not named" in missing.text
    assert f"{places[1][0]} continues a release that is not named" in judged(1).text
    swapped = judged(1, 0)
    assert not swapped.holds
    assert "the oldest first" in swapped.text
    assert "among fewer than" not in swapped.text
    unread = read_release(places[2][0])
    for earlier in ([], [places[2][0]]):
        alone = judge_earlier(unread, earlier, table)
        assert alone is not None
        assert not alone.holds


def test_absences_are_counted_set_by_set(tmp_path: Path) -> None:
    """Groups of five: two leave, one of them returns while a third leaves. By hand: 2, 1, 1, 1."""
    people = [*RATINGS.users][:20]
    last, places, tables = None, [], []
    groups: dict[str, list[str]] = {}
    for year in range(3):
        gone: set[str] = set()
        for members in groups.values():
            gone |= set(members[:2] if year == 1 else [members[0], members[2]])
        stay = np.array([i for i, person in enumerate(people) if person not in gone])
        table = RATINGS.keep_users(stay)
        folder, receipt = tmp_path / str(year), tmp_path / f"{year}.json"
        KLikeness(k=5).anonymize(table, rng=0, after=last).save(folder, private=receipt)
        last = read_release(folder, private=receipt)
        places.append((folder, receipt))
        tables.append(table)
        if year == 0:
            assert last.private is not None
            of = last.class_of_record[last.private.link.record]
            for person, row in zip(last.private.link.users, of.tolist(), strict=True):
                groups.setdefault(row, []).append(person)
    assert last is not None
    sizes = [len(members) for members in groups.values()]
    folders, receipts = zip(*places[:2], strict=True)
    found = judge_earlier(last, list(folders), tables[-1], list(receipts))
    assert found is not None
    assert found.holds  # of those who were told nothing
    assert not isinstance(found.composed, str | None)
    # gone the second year and back: one; gone in both: one; gone the third: one; the rest stayed
    alone, rest = 3 * len(sizes), [size - 3 for size in sizes if size - 3 < 5]
    assert found.composed.by_absence == (1, alone + sum(rest))
    assert "(minimum 1," in found.text
    assert f"{alone + sum(rest)} of these people down to fewer than 5" in found.text
