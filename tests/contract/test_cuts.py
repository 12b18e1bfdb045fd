"""No result depends on the pieces that work is cut into: every such constant is tried small."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys

import pytest

from tests.contract.cuts import WORK
from tests.house.floors import SRC

ROOT = SRC.parents[1]
#: names that say how much is done at once
NAMES = re.compile(
    r"_?(BLOCK|CHUNKS?|BATCH|PIECE|PART|TILE|TRAY|TOGETHER|AT_ONCE|MEMBERS|ROWS|CELLS|PAIRS|ITEMS"
    r"|ENTRIES|BUFFER|WRITTEN|RUN|STEP|LANES|COUNTERS|WINDOW|LEAF|NODE|USERS|TABLE|BUCKETS"
    r"|WORTH_(IT|THREADS)|PROFILE_BYTES|ROWS_PER_GROUP)"
)
#: the work that each is reached by; where nothing else is said, it is tried with 1
REACHED = {
    "generalizing": """
        kernels.csr:_AT_ONCE kernels.arrays:_COUNTERS kernels.arrays:_LANES
        kernels.arrays:_WORTH_IT kernels.likeness.likeness:_BATCH kernels.likeness.blocks:BLOCK
        kernels.likeness.blocks:TRAY kernels.likeness.search:_CHUNK
        kernels.likeness.search:_WORTH_THREADS kernels.likeness.sparse:_CHUNK
        kernels.likeness.sparse:_WORTH_THREADS kernels.baselines:_BLOCK
        release.folder.write:ROWS_PER_GROUP
        release.verify.rows:_BATCH release.verify.truth:_BLOCK release.verify.claims:_BLOCK""",
    "averaging": """
        anonymize.predictive.bins:_ROWS anonymize.predictive.bins:_TOGETHER
        anonymize.predictive.clusters:_BATCH
        anonymize.predictive.clusters:_WRITTEN anonymize.predictive.homogenize:_BLOCK
        anonymize.predictive.clusters:_TABLE audit.reproduction.pa.padding:_BLOCK
        kernels.padded.padded:_ROWS kernels.padded.padded:_TILE
        kernels.predictive.homogenize:_CHUNK kernels.predictive.homogenize:_TILE
        kernels.predictive.diversity_repair:_BLOCK kernels.padded.padded:_CHUNK
        kernels.padded.centres:_CHUNK kernels.padded.centres:_TILE
        kernels.padded.centres:_CHUNK kernels.predictive.homogenize:_CHUNK
        kernels.predictive.homogenize:_CHUNKS release.folder.columns:PROFILE_BYTES
        release.folder.read:_BUFFER release.folder.read:_TOGETHER
        release.verify.profiles:_BLOCK release.verify.profiles:_BUFFER""",
    "moving": "anonymize.interval.groups:_NODE anonymize.interval.table:_CHUNK",
    "leaving_out": """
        anonymize.suppress_core:_MEMBERS kernels.balls.fields:_BUCKETS kernels.balls.tree:LEAF
        ratings.proximity.balls:_STEP release.verify.proximity:_LEAF release.verify.proximity:_PAIRS
        release.verify.proximity:_TOGETHER release.verify.records:_BLOCK""",
    "attacking": """
        attack.candidates.candidates:_BATCH attack.likelihood.informed:_BATCH
        attack.likelihood.informed:_TABLE attack.likelihood.plain:_BATCH
        attack.link_existence.link_existence:_BLOCK kernels.arrays:_CHUNK
        attack.shadows.resampled:_BLOCK attack.shadows.seen:_BLOCK kernels.ranking:_BATCH
        attack.shadows.seen:_TABLE attack.shadows.seen:_ENTRIES
        attack.composition.cells:_BLOCK attack.composition.cells:_TABLE
        attack.scoreboard_rh.scoring:_BATCH attack.scoreboard_rh.scoring:_TABLE
        kernels.attack.candidates:CHUNK kernels.attack.postings:WINDOW
        kernels.attack.postings:_TOGETHER kernels.attack.postings:_ENTRIES
        kernels.attack.predicate:_TABLE kernels.attack.summary:_RUN
        kernels.columns:_RUN kernels.columns:_TILE
        release.match.evidence:_CELLS""",
    "searching": """
        attack.auxiliary.auxiliary:_AT_ONCE attack.risk:_BLOCK
        attack.sparsity.nearest:_BATCH kernels.attack.neighbours:_BLOCK
        ratings.readers.text:_BLOCK""",
    "asking": "query.plan:_BLOCK",
    "measuring": """
        kernels.padded.als:_ITEMS kernels.padded.als:_PAIRS
        kernels.averages:_BLOCK utility.held_out.pairwise_dissimilarity:_CELLS
        utility.held_out.nearest:_CELLS utility.held_out.top_n:_CELLS release.profiles:_BLOCK""",
    "checking": "privacy.classes:_BLOCK privacy.k_m:_AT_ONCE",
    "reading": """
        kernels.counting:_BUCKETS kernels.counting:_PART
        ratings.readers.recognise.inputs:_BLOCK ratings.readers.formats.netflix:_BLOCK
        ratings.readers.formats.plain:_BLOCK ratings.readers.formats.tables:_ROWS
        ratings.staging:_PIECE ratings.places.checked:_CHUNK
        ratings.write:_USERS""",
    "drawing": """
        kernels.synth:_USERS kernels.synth:_CHUNK ratings.synth.drawing:_BLOCK""",
}
SMALL = {
    "kernels.attack.postings:WINDOW": 64,  # of which scratch space has a bit each
    "ratings.readers.text:_BLOCK": 64,  # no row may be longer
}
#: what must be small as well for the constant to be looked at
BESIDE = {
    "anonymize.suppress_core:_MEMBERS": {"anonymize.suppress_core:_FULL": 1 << 20},
    # small tables are grouped and sorted without kernels
    "kernels.baselines:_BLOCK": {"kernels.small:_FEW": 0},
    "kernels.likeness.likeness:_BATCH": {"kernels.small:_FEW": 0},
    "kernels.likeness.blocks:BLOCK": {"kernels.small:_FEW": 0},
    "kernels.likeness.blocks:TRAY": {"kernels.small:_FEW": 0},
    "kernels.likeness.search:_WORTH_THREADS": {"kernels.small:_FEW": 0},
    "kernels.likeness.search:_CHUNK": {
        "kernels.likeness.search:_WORTH_THREADS": 0,
        "kernels.small:_FEW": 0,
    },
    "kernels.counting:_BUCKETS": {"kernels.small:FEW_CELLS": 0},
    "kernels.counting:_PART": {"kernels.small:FEW_CELLS": 0},
    "kernels.likeness.sparse:_CHUNK": {"kernels.likeness.sparse:_WORTH_THREADS": 0},
}
#: tried small by a test of their own
ELSEWHERE = {
    "audit.reproduction.ns.of_data:_AT_ONCE": "tests/unit/audit/test_ns_parts.py",
    **dict.fromkeys(
        [
            "anonymize.sharded.merge:_BUFFER",
            "anonymize.sharded.merge:_CELLS",
            "anonymize.sharded.merge:_PIECE",
            "ratings.shards.kept:_AT_ONCE",
            "release.verify.truth:_TOGETHER",
        ],
        "tests/unit/anonymize/test_sharded.py",
    ),
    "audit.reproduction.pa.looks:_CELLS": "tests/unit/audit/test_pa.py",
    "audit.reproduction.pa.questions:_CELLS": "tests/unit/audit/test_pa.py",
    "release.verify.proximity:_AT_ONCE": "tests/unit/release/test_verify_record.py",
    "anonymize.interval.groups:_AT_ONCE": "tests/unit/anonymize/test_interval.py",
    "attack.shadows.profile_predicates:_BLOCK": "tests/unit/attack/test_profile_predicates.py",
    "attack.sharded.fake_edges:_AT_ONCE": "tests/unit/attack/test_sharded_fake_edges.py",
    "attack.sparsity.nearest:_TOGETHER": "tests/unit/attack/test_sharded_sparsity.py",
    "privacy.sharded.order:_AT_ONCE": "tests/unit/privacy/test_sharded.py",
    "ratings.frames:ROWS": "tests/unit/ratings/test_frames.py",
    "ratings.readers.addresses.buckets:_BLOCK": "tests/system/sources/test_same_bytes.py",
    "ratings.readers.addresses.databases:_ROWS": "tests/unit/ratings/test_sources.py",
    "server.uploads:_CHUNK": "tests/unit/server/test_uploads.py",
    "utility.remaining:_BLOCK": "tests/unit/utility/test_what_remains.py",
}
#: how much is looked at, not at once: the result may well depend on it
NO_CUTS = {
    "anonymize.k_exchange:_LEAF": "a leaf: the groups follow it",
    "anonymize.k_exchange:_CELLS": "what is tried on so large a table",
    "anonymize.k_exchange:_PAIRS": "what is tried on so large a table",
    "anonymize.points:_ITEMS": "from which on raters are walked",
    "anonymize.suppress_core:_PART": "of those who fail, how many go in a round",
    "audit.checks.inference:_PAIRS": "how many a rate needs, which is advised",
    "release.readable.examples:_ITEMS": "of a table to be looked at",
    "audit.reproduction.pa.padding:_CELLS": "more users are sampled",
    "kernels.padded.als:_AT_ONCE": "written out in the code: another number does not fit it",
    "kernels.exchange.exchange:_LANES": "columns come in multiples of it",
    "kernels.fingerprint:_BUCKETS": "as many as there are highest bits",
    "server.tasks.release:_CHUNK": "handed to shutil.copyfileobj",
    "release.folder.digest:_BLOCK": "a part of what the digest is: another gives another digest",
    "ratings.readers.preview:_ROWS": "what a look at a file reads",
    "ratings.readers.recognise.sniff:_ROWS": "what a format is guessed from",
    "server.page.first:_ROWS": "what a page shows",
    "ratings.synth.survey:_BLOCK": "questions on one topic",
}


def numbers(source: str) -> list[str]:
    """Return the names of whole numbers that a module defines."""
    found = []
    for node in ast.parse(source).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(target, ast.Name) and NAMES.fullmatch(target.id):
            try:
                value = eval(compile(ast.Expression(node.value), "", "eval"), {"__builtins__": {}})  # type: ignore[attr-defined]
            except (NameError, TypeError):
                continue
            if type(value) is int:
                found.append(target.id)
    return found


def constants() -> set[str]:
    return {
        f"{'.'.join(file.relative_to(SRC).with_suffix('').parts)}:{name}"
        for file in SRC.rglob("*.py")
        for name in numbers(file.read_text(encoding="utf-8"))
    }


def test_every_constant_that_cuts_work_is_tried() -> None:
    tried = {constant for listed in REACHED.values() for constant in listed.split()}
    known = tried | set(ELSEWHERE) | set(NO_CUTS)
    assert sorted(constants() - known) == [], "say in this file which work reaches them"
    assert sorted(known - constants()) == [], "these are no more"
    assert set(REACHED) == set(WORK)
    assert len(tried) + len(ELSEWHERE) + len(NO_CUTS) == len(known), "one is said twice"


def test_a_new_one_is_seen() -> None:
    source = "_CHUNK = 1 << 20  # rows\nOTHER = 3\n_BLOCK = _CHUNK\n_ROWS = 7\n_TILE = (1, 2)\n"
    assert numbers(source) == ["_CHUNK", "_ROWS"]


@pytest.mark.parametrize(("constant", "file"), ELSEWHERE.items())
def test_a_test_of_their_own_sets_them(constant: str, file: str) -> None:
    module, name = constant.split(":")
    text = (ROOT / file).read_text(encoding="utf-8")
    assert "setattr" in text
    assert f'"{name}"' in text or f".{name}" in text
    assert module.rpartition(".")[2] in text


@pytest.fixture(scope="module")
def judged() -> dict[str, dict[str, str]]:
    """Do all work interpreted, in one process, so that a kernel reads its constants each time."""
    cuts = {
        work: {c: {c: SMALL.get(c, 1)} | BESIDE.get(c, {}) for c in constants.split()}
        for work, constants in REACHED.items()
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.contract.cuts", json.dumps(cuts)],
        cwd=ROOT,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(json.loads(line) for line in done.stdout.splitlines())


@pytest.mark.parametrize("work", REACHED)
def test_small_pieces_give_the_same(work: str, judged: dict[str, dict[str, str]]) -> None:
    assert judged[work] == dict.fromkeys(REACHED[work].split(), "same")
