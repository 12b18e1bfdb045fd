"""`starshade anonymize` with personal attributes."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from starshade.ratings.read import read_ratings
from tests.policies import as_options
from tests.system.conftest import call, refused, told
from tests.unit.release.samples import covering, generalized

ASKED = ("--attributes", "generalized", "--quasi", "age", "--quasi", "town")
JOB = ("--sensitive-attribute", "job")


def test_attributes_are_generalized(ratings_csv: Path, people_csv: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    told(
        *(
            "anonymize",
            ratings_csv,
            "--method",
            "k-exchange",
            "--users",
            people_csv,
            "--k",
            3,
            "--out",
            out,
            "--seed",
            1,
        ),
        *(*ASKED, *JOB, "--l", 2),
    )
    facts = json.loads((out / "release.json").read_text())
    assert facts["attributes"] == "generalized"
    assert facts["quasi_identifiers"] == ["age", "town"]
    assert facts["sensitive_attributes"] == ["job"]
    jobs: dict[int, set[str | None]] = {}
    ends: set[float] = set()
    for row in pq.read_table(out / "records.parquet").to_pylist():
        jobs.setdefault(row["group"], set()).add(row["job"])
        ends.update((row["age"]["low"], row["age"]["high"]))
        assert set(row["town"]) <= {"A", "B"}
    assert {math.fmod(end, 2) for end in ends - {-math.inf, math.inf}} == {0}  # steps of two years
    assert {-math.inf, math.inf} < ends
    assert min(map(len, jobs.values())) >= 2
    assert facts["config"]["rare_values"] == "refuse"
    assert 0 < facts["records_alone_with_sensitive"] < 1
    assert told("check", out, "--model", "l-diversity")["parameters"] == {
        "l": 2,
        "attribute": "job",
        "kind": "distinct",
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([*ASKED, "--sensitive-attribute", "jobs"], "'jobs' not among the personal attributes"),
        ([*ASKED, "--sensitive-attribute", "age"], "age named both"),
        ([*ASKED, *JOB, "--l", "4"], "has 3 different values"),
        ([*ASKED, *JOB, "--t", "2"], "t = 2"),
        ([*ASKED, "--l", "2"], "--sensitive-attribute NAME"),
        (["--quasi", "age"], "--attributes generalized"),
        ([*ASKED, "--attribute", "age"], "NAME=RECIPE"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_refused(
    ratings_csv: Path, people_csv: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    code = 1 if "--l 4" in " ".join(options) else 2
    place = (
        "anonymize",
        ratings_csv,
        "--method",
        "k-exchange",
        "--users",
        people_csv,
        "--k",
        3,
        "--out",
        tmp_path / "out",
    )
    assert said in refused(*place, *options, code=code)
    assert list(tmp_path.iterdir()) == []


def test_values_of_few_are_refused_or_blanked(
    ratings_csv: Path, people_csv: Path, tmp_path: Path
) -> None:
    people = tmp_path / "people.csv"
    lines = people_csv.read_text().splitlines()
    people.write_text(
        "\n".join([*lines[:-2], *(f"{n.rsplit(',', 1)[0]},clown" for n in lines[-2:])])
    )
    make = (
        "anonymize",
        ratings_csv,
        "--method",
        "k-exchange",
        "--users",
        people,
        "--k",
        3,
        "--seed",
        1,
        *ASKED,
        *JOB,
    )
    said = refused(*make, "--out", tmp_path / "no", code=1)
    assert "attribute 'job': 1 value that fewer than k = 3 people have (2 people)" in said
    assert "clown" not in said
    assert "--rare-values blank" in said
    assert not (tmp_path / "no").exists()
    out, receipt = tmp_path / "out", tmp_path / "receipt"
    found = told(*make, "--rare-values", "blank", "--out", out, "--private", receipt)
    alone = found["records_alone_with_sensitive"]
    assert 0 < alone < 1
    assert b"clown" not in b"".join(f.read_bytes() for f in out.iterdir())
    audit = ("audit", ratings_csv, out, "--users", people, "--private", receipt)
    audited = told(*audit, *as_options())
    assert audited["pass"], audited["reasons"]
    assert audited["disclosure"]["records_alone_with_sensitive"] == alone
    assert audited["utility"]["records_alone_with_sensitive"] == alone


def test_an_audit_that_finds_values_of_few_or_addresses_fails(
    ratings_csv: Path, people_csv: Path, tmp_path: Path
) -> None:
    """Releases as another program may have written them: one job is one person's, or an address."""
    ratings = read_ratings(ratings_csv, users=people_csv)
    jobs = ratings.attributes.column("job").to_pylist()
    for name, job, n in (("rare-values", "clown", 1), ("identifying", "a@b.org", 30)):
        people = ratings.attributes.set_column(2, "job", pa.array([job] * n + jobs[n:]))
        original = ratings.annotate(attributes=people)
        made = covering(original, np.arange(ratings.n_users) // 4, ranges=False)
        generalized(made, ("town",), ("job",)).save(tmp_path / name)
        result = call(
            *(
                "audit",
                ratings_csv,
                "--users",
                people_csv,
                tmp_path / name,
                "--targets",
                5,
                "--json",
            )
        )
        assert result.exit_code == 1
        failed = [f["name"] for f in json.loads(result.stdout)["findings"] if not f["pass"]]
        assert failed == [name]


def said(*args: object) -> tuple[str, str]:
    """Return what a person reads on stdout, lines joined, and on stderr."""
    result = call(*args)
    assert result.exit_code == 0, result.stderr
    return " ".join(result.stdout.split()), " ".join(result.stderr.split())


def test_the_summary_names_what_is_released(
    ratings_csv: Path, people_csv: Path, tmp_path: Path
) -> None:
    make = (
        "anonymize",
        ratings_csv,
        "--method",
        "k-exchange",
        "--users",
        people_csv,
        "--k",
        3,
        "--seed",
        1,
    )
    shown, _ = said(*make, *ASKED, *JOB, "--l", 2, "--t", 0.99, "--out", tmp_path / "a")
    assert "age, town as quasi-identifiers (equal within a class)" in shown
    facts = json.loads((tmp_path / "a" / "release.json").read_text())
    found = {c["model"]: c["verified"] for c in facts["claims"]}
    assert (
        "job as a sensitive attribute (unchanged), "
        f"at least {found['l-diversity']['smallest_l']} different values in every class, "
        f"within {found['t-closeness']['largest_t']:.4g} of the overall distribution"
    ) in shown
    shown, _ = said(*make, "--out", tmp_path / "b")
    assert "Also released" not in shown


def test_few_groups_are_told(ratings_csv: Path, people_csv: Path, tmp_path: Path) -> None:
    make = (
        "anonymize",
        ratings_csv,
        "--method",
        "k-exchange",
        "--users",
        people_csv,
        "--k",
        3,
        "--seed",
        1,
    )
    shown, noted = said(*make, *ASKED, *JOB, "--t", 0, "--out", tmp_path / "a")
    assert "in 1 class of at least 3" in shown
    assert "1 class is left of 40; smaller l or larger t" in noted


def test_an_exact_release_is_for_queries(
    ratings_csv: Path, people_csv: Path, tmp_path: Path
) -> None:
    out = tmp_path / "a"
    shown, _ = said(
        *(
            "anonymize",
            ratings_csv,
            "--method",
            "k-exchange",
            "--users",
            people_csv,
            "--k",
            3,
            "--out",
            out,
        ),
        *("--attributes", "exact"),
    )
    assert "Not for publication: the release holds exact personal attributes" in shown
    assert "(age, town, job)" in shown
    assert "only you can read the folder" in shown
    assert out.stat().st_mode & 0o077 == 0
    assert "starshade audit" not in shown
    assert shown.endswith(f"starshade query {out} 'SELECT COUNT(*) WHERE \"1\" >= 1'")
    assert told("query", out, 'SELECT COUNT(*) WHERE "1" >= 1')["records"] > 0


def test_lists_of_rare_values_are_told(
    ratings_csv: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("zips")
    zips = [f"{u},0{1000 + (u - 1) // 3},{'AB'[u % 2]}" for u in range(1, 121)]
    (place / "p.csv").write_text("\n".join(["userId,zip,town", *zips]) + "\n")
    (place / "zip.csv").write_text("\n".join(f"0{1000 + u};*" for u in range(121)))
    make = (
        "anonymize",
        ratings_csv,
        "--method",
        "k-exchange",
        "--users",
        place / "p.csv",
        "--k",
        3,
        "--seed",
        1,
    )
    make = (*make, "--attributes", "generalized", "--method", "mondrian")
    _, noted = said(*make, "--out", place / "a")
    assert "'zip' has 40 different values, more than there are classes" in noted
    assert re.search(r"A class lists [23]\.\d on average", noted)
    assert "--attribute zip=RECIPE" in noted
    assert "'town'" not in noted
    _, noted = said(*make, "--out", place / "b", "--attribute", f"zip={place}/zip.csv")
    assert "different values" not in noted


def test_recipes_say_how_finely_attributes_are_told(
    ratings_csv: Path, people_csv: Path, tmp_path: Path
) -> None:
    out, receipt = tmp_path / "out", tmp_path / "receipt"
    make = (
        "anonymize",
        ratings_csv,
        "--method",
        "k-exchange",
        "--users",
        people_csv,
        "--k",
        3,
        "--seed",
        1,
        *ASKED,
    )
    told(*make, "--attribute", "age=bands:10", "--out", out, "--private", receipt)
    ages = {age for row in pq.read_table(out / "records.parquet")["age"].to_pylist() for age in row}
    assert all(re.fullmatch(r"\d+0-\d+9|\*", age) for age in ages)
    assert json.loads(receipt.read_text())["config"]["attribute_hierarchies"] == {"age": "bands:10"}
    assert json.loads((out / "release.json").read_text())["config"]["attribute_hierarchies"] == [
        "age"
    ]
    told("check", out, "--model", "k-anonymity", "--k", 3)
    wrong = refused(*make, "--attribute", "town=year", "--out", tmp_path / "no")
    assert "attribute 'town': 2 of 2 values cannot be read as a year" in wrong
    wrong = refused(*make, "--attribute", "age=band:10", "--out", tmp_path / "no")
    assert "Recipes are prefix:3, bands:10, month, year or rare:5" in wrong
    assert not (tmp_path / "no").exists()
