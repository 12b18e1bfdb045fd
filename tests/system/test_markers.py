"""Marks planted in ratings are found neither in a release nor in the public report on it."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from starshade.audit.dossier.dossier import compile_dossier
from starshade.audit.verdict import Audit
from starshade.ratings.read import read_ratings
from tests.system.conftest import told

SEED = 918_273_645
SOME = 48
FIRST = datetime(2031, 7, 19, tzinfo=UTC)
ZIP = "zip-qx{:03d}-mark"
NAME = "Wilhelmina Mark{:03d}"
USER = "person-{:03d}-zqmark"
TITLE = "<img src=x onerror=alert({})> title-zqmark"


@dataclass(frozen=True)
class Planted:
    """Files whose every private thing is a mark, and what these are."""

    ratings: Path
    people: Path
    titles: Path

    @property
    def marks(self) -> list[str]:
        """What may be in no release and in no public report."""
        people = [mark.format(i) for i in range(SOME) for mark in (USER, NAME, ZIP)]
        days = [FIRST.timestamp() + 86_400 * day for day in range(60)]
        dates = [datetime.fromtimestamp(at, UTC).date().isoformat() for at in days]
        return [
            *people,
            *dates,
            *(str(int(at)) for at in days),
            str(SEED),
            "secret-folder",
            "zqmark-ratings",
        ]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    folder = tmp_path_factory.mktemp("secret-folder")
    rng = np.random.default_rng(0)
    rows = ["userId,movieId,rating,timestamp"]
    for i in range(SOME):
        for item in np.flatnonzero(rng.random(9) < 0.6):
            at = int(FIRST.timestamp()) + 86_400 * int(rng.integers(0, 60))
            rows.append(f"{USER.format(i)},{item},{rng.integers(1, 6)},{at}")
    (folder / "zqmark-ratings.csv").write_text("\n".join(rows) + "\n")
    people = [
        f"{USER.format(i)},{NAME.format(i)},{ZIP.format(i)},{20 + i % 30}" for i in range(SOME)
    ]
    (folder / "people.csv").write_text("\n".join(["userId,name,zip,age", *people]) + "\n")
    titles = [f"{item},{TITLE.format(item)}" for item in range(9)]
    (folder / "titles.csv").write_text("\n".join(["movieId,title", *titles]) + "\n")
    return Planted(folder / "zqmark-ratings.csv", folder / "people.csv", folder / "titles.csv")


def everything_in(release: Path) -> str:
    """Return all that a release says, tables spelled out."""
    text = []
    for path in sorted(release.iterdir()):
        raw = path.read_bytes()
        text.append(raw.decode("latin-1"))
        if path.suffix == ".parquet":
            text.append(str(pq.read_table(path).to_pylist()))
            text.append(str(pq.read_metadata(path).metadata))
    return "\n".join(text)


METHODS = {
    "generalized": ("--method", "k-likeness"),
    "with ages": ("--method", "k-exchange", "--attributes", "generalized", "--quasi", "age"),
    "records": ("--method", "suppress", "--eps", 3, "--nulls", "ignore"),
    "profiles": ("--method", "predictive", "--profile", "pooled"),
}


@pytest.mark.parametrize(
    ("method", "linked"), [*((method, True) for method in METHODS), ("generalized", False)]
)
def test_nothing_private_gets_out(
    method: str, linked: bool, planted: Planted, tmp_path: Path
) -> None:
    page = pytest.importorskip("starshade.report.page")
    pytest.importorskip("jinja2")
    pytest.importorskip("vl_convert")
    out, receipt = tmp_path / "out", tmp_path / "receipt.json"
    reading = ("--users", planted.people, "--item-names", planted.titles)
    told(
        *("anonymize", planted.ratings, *reading, "--k", 4, *METHODS[method]),
        *("--seed", SEED, "--out", out, "--private", receipt),
    )
    ratings = read_ratings(planted.ratings, users=planted.people, item_names=planted.titles)
    dossier = compile_dossier(
        ratings,
        out,
        private=receipt if linked else None,
        audit=Audit(known=(2,), targets=SOME, shadows=0),
        rng=SEED,
        command=f"starshade report {planted.ratings} --seed {SEED}",
    )
    release, public = everything_in(out), json.dumps(dossier.public(), ensure_ascii=False)
    shown = page.render_report(dossier, public=True)
    digests = [dossier.audit.digest, json.loads(receipt.read_text())["digest"]]
    for mark in (*planted.marks, *digests):
        assert mark not in release
        assert mark not in public
        assert mark not in shown
        assert html.escape(mark) not in shown
    assert "<img src=x" not in shown  # titles are released, and no markup
    # the internal report leaves people to a list of its own, and shows no markup of others
    own = page.render_report(dossier, public=False)
    assert dossier.internal()["people"]["rows"][0]["user"] not in own
    assert str(SEED) in own
    assert "<img src=x" not in own


def test_the_marks_are_there_to_be_found(planted: Planted) -> None:
    raw = planted.ratings.read_text() + planted.people.read_text()
    found = [mark in raw for mark in planted.marks]
    assert sum(found) > 3 * SOME
