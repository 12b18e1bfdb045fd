"""The mutants of `make mutants`: which there are, which are drawn, and what kills them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.__main__ import PARTS, SRC, copied, sample, try_mutants
from tests.mutants.changes import Mutant, changes_of, mutant_of

TOY = '''\
"""A toy: 1 < 2."""

Size = int | None


def enough(people: int, k: int = 2) -> bool:
    """Tell whether people are k or more: not 1."""
    if people < 0:
        raise ValueError("less than 0")
    return people >= k


def half(people: int) -> float:
    return people / 2
'''
TEST = """\
from starshade.audit.toy import enough, half

def test_enough():
    assert [enough(people) for people in (1, 2, 3)] == [False, True, True]

def test_half():
    assert half(0) == 0
"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A checkout of one module and one test file."""
    files = {
        "src/starshade/__init__.py": "",
        "src/starshade/audit/__init__.py": "",
        "src/starshade/audit/toy.py": TOY,
        "tests/unit/audit/test_toy.py": TEST,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def contents(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def toy_mutants(root: Path) -> list[Mutant]:
    return mutants_of(root, SRC / "audit" / "toy.py")


def mutants_of(root: Path, path: Path) -> list[Mutant]:
    return [mutant_of(root, change) for change in changes_of(root, path)]


def test_docstrings_messages_and_annotations_have_no_mutants(toy: Path) -> None:
    assert [(each.line, each.before, each.after) for each in toy_mutants(toy)] == [
        (6, "2", "3"),
        (8, "people < 0", "people <= 0"),
        (8, "people < 0", "people >= 0"),
        (8, "0", "1"),
        (10, "people >= k", "people > k"),
        (10, "people >= k", "people < k"),
        (14, "people / 2", "people * 2"),
        (14, "2", "3"),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = a and not b", ["a or not b", "b"]),
        ("x = f(a, b, key=c)", ["f(a, b)", "f(b, a, key=c)"]),
        ("x = min(a, b)", ["max(a, b)"]),
        ("x = sorted(a)", ["sorted(a, reverse=True)"]),
        ("x = a[::-1]", ["1", "2"]),  # of 1 in -1
        ("x = 1 if a else b", ["not a", "2"]),
        ("x = [y for y in z if y]", ["not y"]),
        ("x = a < b <= c", ["a <= b <= c", "a >= b <= c", "a < b < c", "a < b > c"]),
        ("x += 1", ["x -= 1", "2"]),
        ("work(a)", ["pass"]),
        ("note('a')", []),
        ("x = 'a' + b", []),
        ("x = zip(a, b, strict=True)", ["zip(b, a, strict=True)", "False"]),
        ("class A:\n    def __repr__(self): return f(1)", []),
    ],
)
def test_each_kind_of_change(tmp_path: Path, before: str, after: list[str]) -> None:
    (tmp_path / "é.py").write_text(f"é = 'ä'; {before}\n" if "class" not in before else before)
    mutants = mutants_of(tmp_path, Path("é.py"))
    assert sorted(each.after for each in mutants) == sorted(after)
    for mutant in mutants:
        source = (tmp_path / "é.py").read_bytes()
        mutant.apply(tmp_path)
        compile((tmp_path / "é.py").read_bytes(), "é.py", "exec")
        (tmp_path / "é.py").write_bytes(source)


def test_a_copy_holds_every_module(toy: Path) -> None:
    names = "reproduction/page.html", "src/starshade/audit/reproduction/claims.py", ".git/HEAD"
    for name in names:
        (toy / name).parent.mkdir(parents=True)
        (toy / name).write_text("")
    with copied(toy) as place:
        assert contents(toy).keys() - contents(place).keys() == {names[0], names[2]}


def test_a_seed_draws_the_same_mutants_of_every_part(tmp_path: Path) -> None:
    folders = [patterns[0].split("/*")[0] for patterns in PARTS.values()]
    for folder in folders:
        (tmp_path / SRC / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / SRC / folder / "toy.py").write_text(TOY)
    drawn = sample(tmp_path, 1, 10)
    assert drawn == sample(tmp_path, 1, 10)
    assert drawn != sample(tmp_path, 2, 10)
    found = [str(Path(each.path).parent.relative_to(SRC)) for each in drawn]
    assert [found.count(folder) for folder in folders] == [2, 2, 3, 3]
    assert len(set(drawn)) == 10
    assert len(sample(tmp_path, 1, 1000)) == 4 * 8  # all that there are


@pytest.mark.slow
def test_a_mutant_is_killed_by_a_test_or_survives(toy: Path) -> None:
    before, wanted = contents(toy), {"people > k", "people * 2"}
    mutants = [each for each in toy_mutants(toy) if each.after in wanted]
    with copied(toy) as place:
        killed, survived = try_mutants(toy, place, mutants, 60)
        assert contents(place) == before
    assert (killed.outcome, survived.outcome) == ("nearest", "survived")
    assert killed.killer == "tests/unit/audit/test_toy.py::test_enough"
    assert contents(toy) == before
    assert str(survived.mutant) == "src/starshade/audit/toy.py:14: people / 2 → people * 2"
