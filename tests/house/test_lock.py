"""What is installed for the suite is locked, and is what users may have."""

from __future__ import annotations

import re
import tomllib

from packaging.requirements import Requirement

from tests.house.floors import SRC

ROOT = SRC.parents[1]
FACTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCKED = (ROOT / "constraints.txt").read_text("utf-8")
VERSIONS: dict[str, list[str]] = {}
for _name, _version in re.findall(r"^([\w.-]+)==([\w.+!-]+)", LOCKED, re.MULTILINE):
    VERSIONS.setdefault(_name, []).append(_version)


def test_every_version_has_hashes() -> None:
    pinned = re.split(r"^(?=\w)", LOCKED, flags=re.MULTILINE)[1:]
    assert len(pinned) > 100
    assert [each for each in pinned if "--hash=sha256:" not in each] == []
    assert "://" not in LOCKED  # from where they are installed is each reader's own


def test_locked_versions_are_allowed_ones() -> None:
    extras = FACTS["project"]["optional-dependencies"]
    wanted = [Requirement(each) for each in FACTS["project"]["dependencies"] + extras["dev"]]
    for extra in next(each for each in wanted if each.name == "starshade").extras:
        wanted += map(Requirement, extras[extra])
    named = {each.name: each for each in wanted if each.name != "starshade"}
    assert named.keys() <= VERSIONS.keys(), "make lock"
    wrong = {
        f"{name} {version}"
        for name, each in named.items()
        for version in VERSIONS[name]
        if version not in each.specifier
    }
    assert not wrong, "make lock"
