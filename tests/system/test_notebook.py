"""A real kernel: what a notebook is shown, and what stays in it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

nbclient = pytest.importorskip("nbclient", reason="pip install nbclient ipykernel")
nbformat = pytest.importorskip("nbformat", reason="pip install nbclient ipykernel")
pytest.importorskip("ipykernel", reason="pip install nbclient ipykernel")

VEGALITE = "application/vnd.vegalite.v5+json"
CELLS = {
    "long": """
from time import sleep
from starshade.progress import silence, task
with task("counting <stars>", 8) as step:
    for _ in range(8):
        sleep(0.2)
        step(1)
with task("resting"):
    sleep(1)
""",
    "quick": """
from starshade.progress import notebook
patience, notebook.PATIENCE = notebook.PATIENCE, 60  # however busy the machine is
with task("quick", 1) as step:
    step(1)
notebook.PATIENCE = patience
""",
    "silent": "with silence(), task('unseen'): sleep(0.8)",
    "ratings": """
import starshade as ss
ratings = ss.synthesize("movielens-100k", n_users=60, n_items=30, n_ratings=900, rng=1)
ratings
""",
    "histogram": "ratings.plot()",
    "attack": "ss.ScoreboardRH().run(ratings, ss.Knowledge(known=4), rng=0)",
    "attack plot": "ss.ScoreboardRH().run(ratings, ss.Knowledge(known=4), rng=0).plot()",
    "release": """
release = ss.KLikeness(k=3, items=ss.top_items(5)).anonymize(ratings, rng=0)
release
""",
    "verdict": "ss.KAnonymity(k=3).check(release)",
    "measure": "ss.GeneralizationLoss().measure(release, original=ratings)",
}


@pytest.fixture(scope="module")
def ran() -> tuple[dict[str, list[Any]], dict[str, list[str]]]:
    """Run the cells; return what each has left, and every text that its displays went through."""
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    client = nbclient.NotebookClient(
        nbformat.v4.new_notebook(cells=cells), timeout=120, kernel_name="python3"
    )
    went: dict[str, list[str]] = {name: [] for name in CELLS}
    receive = client.process_message

    def watched(message: Any, cell: Any, index: int) -> Any:
        if message["msg_type"] in ("display_data", "update_display_data"):
            went[list(CELLS)[index]].append(message["content"]["data"]["text/plain"])
        return receive(message, cell, index)

    client.process_message = watched
    client.execute()
    return {name: cell.outputs for name, cell in zip(CELLS, cells, strict=True)}, went


def test_the_page_on_notebooks_runs_as_it_stands(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "notebooks.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    cells = [nbformat.v4.new_code_cell(source) for source in blocks]
    nbclient.NotebookClient(
        nbformat.v4.new_notebook(cells=cells),
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": os.fspath(tmp_path)}},
    ).execute()
    chart = json.loads((tmp_path / "found.vl.json").read_text())
    assert chart["$schema"].endswith("/vega-lite/v5.json")
    assert not [o for o in cells[-1].outputs if any(getattr(o, "data", {}).values())]


def result_of(outputs: list[Any]) -> dict[str, Any]:
    (result,) = (output for output in outputs if output.output_type == "execute_result")
    return dict(result.data)


def test_bars_come_and_go_without_a_trace(ran: Any) -> None:
    left, went = ran
    shown = went["long"]
    assert any(text.startswith("counting <stars>: ") and " left" in text for text in shown)
    assert any(text.startswith("resting: ") for text in shown)
    (output,) = left["long"]  # one for all bars of the cell, and empty
    assert output.data == {"text/html": "", "text/plain": ""}


def test_what_is_quick_or_silenced_shows_nothing(ran: Any) -> None:
    left, went = ran
    assert (left["quick"], went["quick"]) == ([], [])
    assert (left["silent"], went["silent"]) == ([], [])


def test_nothing_but_results_stays(ran: Any) -> None:
    for outputs in ran[0].values():
        for output in outputs:
            assert output.output_type == "execute_result" or not any(output.data.values())


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("ratings", "60 users, 30 items, 900 ratings"),
        ("attack", "Re-identification (best guess correct)"),
        ("release", "Claims"),
        ("verdict", "k-anonymity holds"),
        ("measure", "Generalization loss (GenILoss)"),
    ],
)
def test_results_are_tables(ran: Any, cell: str, words: str) -> None:
    data = result_of(ran[0][cell])
    assert words in data["text/html"]
    assert "<table" in data["text/html"]
    assert data["text/plain"]


@pytest.mark.parametrize("cell", ["histogram", "attack plot"])
def test_plots_are_vega_lite_svg_and_words(ran: Any, cell: str) -> None:
    pytest.importorskip("vl_convert", reason="pip install 'starshade[report]'")
    data = result_of(ran[0][cell])
    assert data[VEGALITE]["$schema"].endswith("/vega-lite/v5.json")
    assert data["image/svg+xml"].startswith("<svg")
    assert data["text/plain"] == data[VEGALITE]["description"]
