"""Releases whose records differ: every attack and measure on them, linked and unlinked; audits."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from starshade.anonymize.registry import ENTRIES as METHODS
from starshade.attack.knowledge import Knowledge
from starshade.attack.registry import ENTRIES as ATTACKS
from starshade.audit.make import make_release
from starshade.audit.measure import measure_all
from starshade.audit.verdict import Audit
from starshade.errors import ConfigError
from starshade.ratings.table import Ratings
from starshade.registry import Entry
from starshade.release.folder.read import read_release
from starshade.release.table import Release
from starshade.utility.registry import ENTRIES as MEASURES
from tests.contract.cast import CAST
from tests.contract.make import Stored, make, stored
from tests.policies import NO_LIMITS

ONE = Knowledge(known=1)
NEAR = [entry for entry in METHODS if entry.name in ("interval", "suppress")]
near = pytest.mark.parametrize("method", NEAR, ids=lambda entry: entry.name)
attacks = pytest.mark.parametrize(
    "entry",
    # padding is of averaged profiles; to the others the method must be told
    [e for e in ATTACKS if e.name not in ("fake-edges", "padding", "inference", "membership")],
    ids=lambda entry: entry.name,
)
measures = pytest.mark.parametrize("entry", MEASURES, ids=lambda entry: entry.name)
NAMES = ["ordinary", "real scale", "empty users", "duplicate records", "full rows", "all alike"]
somebody = pytest.mark.parametrize("name", NAMES)
VOLATILE = ("seconds", "read_seconds", "postings_per_second")


def loose(method: Entry) -> Any:
    """Build a method so that small tables meet it."""
    return replace(make(method), nulls="ignore", eps=2.0, rare_items="keep")


def figures(result: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(result.to_dict()))
    return {key: value for key, value in found.items() if key not in VOLATILE}


@cache
def made(method: Entry, name: str) -> Stored:
    """Return a release that no test changes."""
    release = loose(method).anonymize(CAST[name], rng=0)
    assert isinstance(release, Release)
    assert release.manifest.layout == "record"
    return stored(release)


@attacks
@near
@somebody
def test_every_attack_runs(entry: Entry, method: Entry, name: str) -> None:
    release = made(method, name)
    linked = make(entry).run(release.made, ONE, original=CAST[name], rng=0)
    assert linked.records == release.made.n_records
    assert str(linked)
    assert linked._repr_html_()
    back = make(entry).run(release.linked, ONE, original=CAST[name], rng=0)
    assert figures(back) == figures(linked)
    alone = release.alone
    if entry.name in ("link-existence", "composition"):
        with pytest.raises(ConfigError, match=r"needs the private key file"):
            make(entry).run(alone, ONE, original=CAST[name])
        return
    assert linked.credit == "linked"
    compatible = make(entry).run(alone, ONE, original=CAST[name], rng=0)
    assert compatible.credit == "compatible"
    for found in (linked, compatible):
        if entry.name == "tracker":
            assert 0 <= found.at_risk.low <= found.at_risk.rate <= found.at_risk.high <= 1
            continue
        if entry.name == "predicate":
            assert (
                0
                <= found.singling_out.low
                <= found.singling_out.rate
                <= found.singling_out.high
                <= 1
            )
            assert found.forced is None
            continue
        assert 0 <= found.expected_top1.low <= found.expected_top1.rate <= found.expected_top1.high


@measures
@near
@somebody
def test_every_measure_is_plain(entry: Entry, method: Entry, name: str) -> None:
    release = made(method, name)
    result = make(entry).measure(release.made, original=CAST[name])
    found = json.loads(json.dumps(result.to_dict()))
    assert all(v is None or math.isfinite(v) for v in found.values())
    back = make(entry).measure(release.linked, original=CAST[name])
    assert back.to_dict() == result.to_dict()


@near
@somebody
def test_an_audit_with_and_without_the_receipt(method: Entry, name: str, tmp_path: Path) -> None:
    ratings = CAST[name]
    out, receipt = tmp_path / "out", tmp_path / "receipt"
    told = make_release(ratings, loose(method), out=out, private=receipt, rng=0)
    assert "look the same" not in str(told)
    assert told.to_dict()["distortion"] is not None
    audit = Audit(threshold=NO_LIMITS, known=(1,), targets=50, shadows=0)
    found = audit.run(ratings, out, private=receipt, rng=0)
    named = {finding.name: finding for finding in found.findings}
    assert named["claims"].passed
    assert named["k-eps"].passed
    check = found.check("re-identification")
    assert check.rate is not None
    differ = told.figures["smallest_class"] < found.k
    assert check.rate.high >= max(e.after.expected_top1.rate for e in found.evidence)
    if not differ:  # then it holds for each target
        assert check.rate.high <= 1 / found.k + 1e-9
    assert ("Records differ," in check.text) == differ
    assert ("(records that are equal" in str(found)) == (not differ)
    alone = audit.run(ratings, out, rng=0)
    if method.name == "interval":
        assert alone.check("re-identification").rate is None
        assert any("understate" in warning for warning in alone.warnings)
        assert "without the private key file" in alone.check("re-identification").text


@near
def test_a_foreign_table_is_refused(method: Entry, tmp_path: Path) -> None:
    """Other people's ratings under the same ids: with the receipt nothing passes."""
    ratings = CAST["ordinary"]
    out, receipt = tmp_path / "out", tmp_path / "receipt"
    make_release(ratings, loose(method), out=out, private=receipt, rng=0)
    foreign = turned(ratings)
    back = read_release(out, private=receipt)
    for refused in (
        lambda: measure_all(back, foreign),
        lambda: Audit(threshold=NO_LIMITS, known=(1,), shadows=0).run(
            foreign, out, private=receipt, rng=0
        ),
        lambda: make(ATTACKS[0]).run(back, ONE, original=foreign, rng=0),
    ):
        with pytest.raises(ConfigError):
            refused()


def turned(ratings: Ratings) -> Ratings:
    """Return everybody with somebody else's ratings."""
    order = np.roll(np.arange(ratings.n_users), 1)
    return replace(ratings.keep_users(order), users=ratings.users)
