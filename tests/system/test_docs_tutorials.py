"""The tutorials run as they are, and what they say of their results is so."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.system.pages import DOCS

nbformat = pytest.importorskip("nbformat", reason="pip install 'starshade[dev]'")
nbclient = pytest.importorskip("nbclient", reason="pip install 'starshade[dev]'")

FOLDER = DOCS / "tutorials"
NAMES = ("publish", "survey", "red-team", "train")


def test_every_tutorial_is_run() -> None:
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_no_output_is_stored(name: str) -> None:
    for cell in json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_to_pages(name: str) -> None:
    text = "\n".join(
        "".join(cell["source"])
        for cell in json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    )
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    assert links
    for link in links:
        assert (FOLDER / link).exists(), link


@pytest.fixture(scope="module", params=NAMES)
def tutorial(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    name = request.param
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    place = tmp_path_factory.mktemp(name)
    client = nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(place)}}
    )
    client.execute()
    return name, notebook


@pytest.mark.slow
def test_it_runs_and_holds_what_it_says(tutorial: tuple[str, Any], tmp_path: Path) -> None:
    name, notebook = tutorial
    printed = "\n".join(_printed(notebook))
    pages = "\n".join(_shown(notebook, "text/html"))
    checks = {"publish": _publish, "survey": _survey, "red-team": _red_team, "train": _train}
    checks[name](printed, pages)
    assert len(list(_shown(notebook, "application/vnd.vegalite.v5+json"))) >= 1


def _publish(printed: str, pages: str) -> None:
    assert "PASS: policy partner v1" in printed
    assert "PASS" in pages
    assert "FAIL" not in pages
    assert len(re.findall(r"^item \d+ → ", printed, re.M)) >= 5  # one group, as published


def _survey(printed: str, pages: str) -> None:
    exact, rough = (float(share) for share in _must_answer(pages)[:2])
    assert exact > 75 > 10 > rough  # in most cases; many others fit
    verdicts = re.findall(r"(PASS|FAIL)[^<]*\(policy partner v1\)", pages)
    assert (verdicts[0], verdicts[-1]) == ("FAIL", "PASS")


def _red_team(printed: str, pages: str) -> None:
    counts = [
        tuple(map(int, found))
        for found in re.findall(
            r"right: (\d+) of 20 members; false positives: (\d+) of 20 non-members", printed
        )
    ]
    first, at_15, at_2, at_3, released, profiles = counts
    assert first == at_15
    assert first[0] >= 18  # nearly all members
    assert first[1] == 1  # a non-member
    assert at_2[0] >= at_3[0] > 10  # more than half
    assert at_3[1] == 0  # no non-member any more
    assert released == profiles == (0, 0)
    classes, smallest = re.findall(r"stands out for (\d+) of 40 .*has (\d+) people", printed)[0]
    assert int(classes) > 0
    assert int(smallest) >= 5
    for share in re.findall(r"before, ([\d.]+)%.* after$", printed, re.M):
        assert float(share) <= 20


def _train(printed: str, pages: str) -> None:
    errors = {each: float(error) for each, error in re.findall(r"^(.*): ([\d.]+)$", printed, re.M)}
    means = errors.pop("item means, learned from the ratings")
    assert len(errors) == 4
    assert all(error < means for error in errors.values())
    for library in ("scikit-learn", "SciPy"):
        of = [errors[f"{library}, learned from the {source}"] for source in ("release", "ratings")]
        assert of[0] < of[1] + 0.02  # about as much


def _must_answer(pages: str) -> list[str]:
    return re.findall(r"identifies ([\d.]+)% of targets\. Tested", pages)


def _printed(notebook: Any) -> list[str]:
    return [o["text"] for cell in notebook.cells for o in cell.get("outputs", []) if "text" in o]


def _shown(notebook: Any, kind: str) -> list[Any]:
    return [
        output["data"][kind]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if kind in output.get("data", {})
    ]
