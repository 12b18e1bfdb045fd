"""Every key of release.json and of the receipt is held by what the reference says, or by nobody."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from starshade.anonymize.k_likeness import KLikeness
from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
from starshade.anonymize.suppress import SuppressAnonymizer
from starshade.audit.dossier.dossier import compile_dossier
from starshade.audit.verdict import Audit
from starshade.errors import ConfigError, ReleaseError
from starshade.ratings.scale import Scale
from starshade.release.folder.read import read_release
from starshade.release.folder.receipt import _FIELDS
from starshade.release.manifest import Manifest
from tests.house.floors import SRC
from tests.policies import NO_LIMITS
from tests.strategies import table
from tests.unit.release.damage import signed

FORMAT = (SRC.parents[1] / "docs" / "release-format.md").read_text(encoding="utf-8")
QUICK = Audit(threshold=NO_LIMITS, known=(2,), targets=5, shadows=0)
_RNG = np.random.default_rng(0)
_ROWS = [{i: float(_RNG.integers(1, 6)) for i in range(4) if (u + i) % 3} for u in range(24)]
_PEOPLE = {"sex": ["f", "m"] * 12, "job": ["a", "b", "c"] * 8}
RATINGS = table([*_ROWS, *_ROWS], Scale(1, 5, 1)).annotate(
    attributes=pa.table({name: values * 2 for name, values in _PEOPLE.items()}), lineage="a" * 32
)
ASKED: dict[str, Any] = {"attributes": "generalized", "quasi_identifiers": ["sex"], "l": 2}
METHODS: dict[str, Any] = {
    "grouped": KLikeness(k=3, sensitive_attributes=["job"], **ASKED),
    "averaged": PredictiveAnonymizer(k=3, factors=2, profile="pooled"),
    "left": SuppressAnonymizer(k=2, eps=1, sensitive=["1"]),
}


def held(title: str) -> dict[str, str]:
    """Return key → by what the reference says that it is held."""
    (rows,) = re.findall(r"\n\|---.*?\n((?:\|.*\n)+)", FORMAT[FORMAT.index(title) :])[:1]
    cells = [row.split("|") for row in rows.splitlines()]
    return {key: row[-2].strip() for row in cells for key in re.findall(r"`(\w+)`", row[1])}


MANIFEST = held("## The keys of `release.json`")
RECEIPT = held("## The private key file")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("held")
    for name, method in METHODS.items():
        method.anonymize(RATINGS, rng=0).save(place / name, private=place / f"{name}.json")
    return place


@pytest.fixture
def forge(made: Path):
    """Change files of the standing releases as a careful forger would; put them back behind."""
    before = {path: path.read_bytes() for path in made.rglob("*.json")}

    def change(name: str, said: dict[str, Any], told: dict[str, Any]) -> Path:
        place, receipt = made / name / "release.json", made / f"{name}.json"
        facts = json.loads(place.read_text())
        config = facts["config"] | said.get("config", {})
        place.write_text(signed(facts | said | {"config": config}))
        own = json.loads(receipt.read_text())
        own["release"] = hashlib.sha256(place.read_bytes()).hexdigest()
        config = own["config"] | told.get("config", {})
        receipt.write_text(signed(own | told | {"config": config}))
        return made / name

    yield change
    for path, raw in before.items():
        path.write_bytes(raw)


def passes(folder: Path, receipt: Path | None) -> bool:
    try:
        return QUICK.run(RATINGS, folder, private=receipt, rng=1).passed
    except (ReleaseError, ConfigError):
        return False


#: key of release.json → release, and what is said in place of the truth
LIES: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "format": [("grouped", {"format": 5})],
    "starshade": [("grouped", {"starshade": "0.0.0"})],
    "method": [("grouped", {"method": "k-member"})],
    "config": [
        ("grouped", {"config": {"hierarchy": "range"}}),
        ("grouped", {"config": {"noise": 1}}),
        ("averaged", {"config": {"biases": 1}}),
        ("averaged", {"config": {"factors": 20}}),
        ("grouped", {"config": {"l": 3}}),
        ("left", {"config": {"eps": 0.5}}),
        ("left", {"config": {"sensitive": ["1", "2"]}}),
        ("left", {"config": {"sensitive": []}}),
        ("grouped", {"config": {"item_support": "10%"}}),
    ],
    "layout": [("grouped", {"layout": "record"})],
    "audience": [("grouped", {"audience": "query"})],
    "lineage": [("grouped", {"lineage": None}), ("averaged", {"lineage": "b" * 32})],
    "scale": [("grouped", {"scale": {"minimum": 1, "maximum": 7, "step": 1}})],
    "profile_step": [
        ("grouped", {"profile_step": 0.5}),
        ("averaged", {"profile_step": 0.025}),
        ("averaged", {"profile_step": 0.025, "config": {"step": 0.025}}),
    ],
    "profile": [
        ("grouped", {"profile": "simple"}),
        ("averaged", {"profile": "model", "config": {"profile": "model"}}),
    ],
    "rare_items": [("grouped", {"rare_items": "keep"}), ("left", {"rare_items": "keep"})],
    "attributes": [("grouped", {"attributes": "none"})],
    "attribute_columns": [("grouped", {"attribute_columns": ["job", "sex"]})],
    "quasi_identifiers": [("grouped", {"quasi_identifiers": []})],
    "sensitive_attributes": [("grouped", {"sensitive_attributes": ["sex", "job"]})],
    "claims": [
        ("grouped", {"claims": []}),
        ("grouped", {"claims": [{"model": "k-anonymity", "parameters": {"k": 2}, "verified": {}}]}),
    ],
    "files": [("grouped", {"files": {}})],
    **{name: [("grouped", {name: 1})] for name in ("records", "items", "classes")},
    **{
        name: [("grouped", {name: "under 5 %"}), ("averaged", {name: "under 5 %"})]
        for name in ("users_without_rating", "users_deleted", "rare_items_dropped")
    },
    **{
        name: [("grouped", {name: "none"}), ("averaged", {name: "under 1 %"})]
        for name in ("imputed_cells", "single_rater_cells")
    },
    "dummy_records": [("grouped", {"dummy_records": "under 5 %"})],
    **{
        name: [("grouped", {name: 0.123})]
        for name in (
            "users_rating_disclosed",
            "users_exact_values_listed",
            "users_rating_exists",
        )
    },
    "records_alone_with_sensitive": [("grouped", {"records_alone_with_sensitive": 0.123})],
}
#: key of the receipt → what is said in place of the truth, of "grouped"
TALES: dict[str, dict[str, Any]] = {
    "key_file": {"key_file": 5},
    "release": {"release": "0" * 64},
    "starshade": {"starshade": "0.0.0"},
    "method": {"method": "k-member"},
    "lineage": {"lineage": None},
    "config": {"config": {"k": 50}},
    "groups": {"groups": 0},
    "ratings": {"ratings": "0" * 64},
    "users": {"users": [str(i) for i in range(48)]},
    "records": {"records": list(range(48))},
    **{name: {name: 30} for name in ("users_without_rating", "users_deleted")},
    "rare_items_dropped": {"rare_items_dropped": 30},
    **{name: {name: 0.5} for name in ("imputed_cells", "single_rater_cells")},
    "dummy_records": {"dummy_records": 3},
    "chain": {
        "chain": {
            "after": "0" * 64,
            "groups": [0] * 48,
            "left_before": [],
            "left_before_groups": [],
            "dummies": [],
        }
    },
    "erased": {"erased": [3]},
}
UNHELD = {
    "partitions": [24, 48],
    "seed": 987_654_321_123,
    "source": "/some/other/place",
    "digest": "f" * 64,
}


def test_every_key_has_its_place() -> None:
    assert set(MANIFEST) == {*Manifest.model_fields, "checksum"} == {*LIES, "checksum"}
    assert set(MANIFEST.values()) == {"files", "ratings", "key file"}
    assert set(RECEIPT) == {*_FIELDS, "checksum"} == {*TALES, *UNHELD, "checksum"}
    assert {key for key, by in RECEIPT.items() if by.startswith("nothing: ")} == set(UNHELD)


@pytest.mark.parametrize("name", METHODS)
def test_the_truth_passes(made: Path, name: str) -> None:
    assert QUICK.run(RATINGS, made / name, private=made / f"{name}.json", rng=1).reasons == ()


LIED = [(key, *lie) for key, lies in LIES.items() for lie in lies]


@pytest.mark.parametrize(("key", "name", "said"), LIED)
def test_no_false_fact_passes(made: Path, forge: Any, key: str, name: str, said: Any) -> None:
    folder = forge(name, said, {})
    assert not passes(folder, made / f"{name}.json")
    if name == "grouped" and MANIFEST[key] != "key file":
        assert passes(folder, None) is False


@pytest.mark.parametrize("key", TALES)
def test_no_false_fact_of_the_receipt_passes(made: Path, forge: Any, key: str) -> None:
    assert not passes(forge("grouped", {}, TALES[key]), made / "grouped.json")


def test_what_nobody_holds_is_shown_nowhere(made: Path, forge: Any) -> None:
    lies = UNHELD | {"config": {"item_keys": ["some other item"]}}
    folder, receipt = forge("grouped", {}, lies), made / "grouped.json"
    found = compile_dossier(RATINGS, folder, private=receipt, audit=QUICK, rng=1)
    shown = json.dumps([found.internal(), found.public()], default=str)
    for lie in (*UNHELD.values(), "some other item"):
        assert str(lie) not in shown


def test_it_is_said_what_differs_and_never_how(made: Path, forge: Any) -> None:
    folder = forge("left", {"config": {"item_keys": ["x"], "eps": 0.5}}, {"source": "/secret"})
    with pytest.raises(ReleaseError) as caught:
        read_release(folder, private=made / "left.json")
    text = caught.value.message
    assert "release.json and the key file differ in config: eps, config: item_keys; one" in text
    assert "secret" not in text


def test_a_receipt_from_before_the_lineage_is_read(made: Path, forge: Any) -> None:
    folder, receipt = forge("grouped", {}, {}), made / "grouped.json"
    own = json.loads(receipt.read_text())
    del own["lineage"]
    receipt.write_text(signed(own))
    assert passes(folder, receipt)
