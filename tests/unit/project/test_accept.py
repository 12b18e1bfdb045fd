"""Accepted risks: read by line, and when they count."""

from __future__ import annotations

import datetime
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from starshade.audit.checks.check import Check, verdict_of
from starshade.audit.checks.policy import read_policy
from starshade.errors import ConfigError
from starshade.figure import Rate
from starshade.project.accept import Acceptance, Decision, expired
from starshade.project.file import NAME, Project, parse_project
from starshade.project.inputs import inputs_of
from starshade.project.write import add_acceptance

PARTNER = read_policy("partner")
TODAY = datetime.date.today()
ENTRY = """[data]
ratings = "u.csv"
[release]
k = 5
[[accept]]
risk = "membership"
up-to = "12%"
policy = "partner v1"
reason = "a contract"
by = "Jane Doe, DPO"
until = 2999-12-31
"""
SAID = {"risk": "membership", "up-to": "12%", "reason": "a contract", "by": "Jane"}
SAID |= {"until": "2999-12-31"}


def wrong(text: str) -> list[str]:
    return [str(each) for each in parse_project(text, {})[1]]


def test_an_entry_is_read() -> None:
    project, problems = parse_project(ENTRY, {})
    assert not problems
    (accepted,) = project.accepted
    assert accepted.up_to == Fraction(12, 100)
    assert accepted.until == datetime.date(2999, 12, 31)
    assert accepted.to_dict()["up_to"] == "12%"


@pytest.mark.parametrize(
    ("line", "instead", "says"),
    [
        (6, 'risk = "member"', "risk = 'member': unknown check"),
        (7, "up-to = 2", "up-to = 2: must be a share"),
        (7, 'up-to = "12 %"', "up-to = '12 %': must be a share"),
        (9, 'reason = " "', "reason = ' ': must be a text"),
        (10, "by = 3", "by = 3: must be a text"),
        (11, 'until = "soon"', "until = 'soon': must be a date"),
        (11, 'until = "29991231"', "until = '29991231': must be a date"),
        (11, "until = 2027-06-30T12:00:00", "must be a date"),
        (10, 'owner = "Jane"', "owner"),
    ],
)
def test_what_is_wrong_is_said_by_line(line: int, instead: str, says: str) -> None:
    lines = ENTRY.split("\n")
    lines[line - 1] = instead
    found = wrong("\n".join(lines))
    assert any(each.startswith(f"{NAME}, line {line}: ") and says in each for each in found), found


@pytest.mark.parametrize("key", ["risk", "up-to", "policy", "reason", "by", "until"])
def test_every_key_must_be_there(key: str) -> None:
    lines = [line for line in ENTRY.split("\n") if not line.startswith(f"{key} =")]
    found = wrong("\n".join(lines))
    assert f"{NAME}, line 5: [[accept]] lacks {key}" in found


def test_the_second_entry_has_its_own_lines() -> None:
    second = ENTRY[ENTRY.index("[[accept]]") :].replace('"12%"', "7")
    found = wrong(f"{ENTRY}\n{second}")
    (problem,) = found
    assert problem.startswith(f"{NAME}, line 15: up-to = 7: must be a share such as 0.12")


def test_a_table_is_no_list() -> None:
    assert "accept: must be a list of sections" in wrong(ENTRY.replace("[[accept]]", "[accept]"))[0]


def check(**more: Any) -> Check:
    fields = {"rate": Rate(0.11, 0.1, 0.115), "threshold": PARTNER.thresholds["membership"]} | more
    return Check("membership", "Text.", **fields)


def accepting(**more: Any) -> Acceptance:
    right = Acceptance("membership", Fraction(12, 100), "partner v1", "reason", "by", TODAY)
    return replace(right, **more)


def decided(checks: list[Check], *accepted: Acceptance, holds: bool = True) -> Decision:
    findings = [SimpleNamespace(passed=holds)]
    verdict = verdict_of(checks, [holds])
    open_ = [each for each in checks if each.fails or each.status == "not measured"]
    audit: Any = SimpleNamespace(
        checks=checks, findings=findings, policy=PARTNER, passed=verdict == "PASS", decisive=open_
    )
    return Decision.of(audit, accepted)


@pytest.mark.parametrize(
    ("other", "gap"),
    [
        ({}, ""),
        ({"up_to": Fraction(115, 1000)}, ""),
        ({"up_to": Fraction(114, 1000)}, "it covers up to 11.4%; the value reaches 11.5%"),
        ({"up_to": None}, "it covers not measured; the check was measured"),
        ({"policy": "partner v2"}, "it covers partner v2; the policy is partner v1"),
        ({"policy": "public v1"}, "it covers public v1"),
        ({"until": TODAY - datetime.timedelta(1)}, "it expired on"),
    ],
)
def test_it_counts_while_all_of_it_holds(other: dict[str, Any], gap: str) -> None:
    found = decided([check()], accepting(**other))
    assert found.published_by == ("" if gap else "acceptance")
    assert gap in " ".join(found.gaps)
    assert len(found.accepted) == (not gap)


def test_what_was_not_measured_is_accepted_as_such_alone() -> None:
    missing = check(rate=None)
    assert decided([missing], accepting(up_to=None)).published_by == "acceptance"
    assert decided([missing], accepting(up_to=Fraction(1))).published_by == ""


def test_a_figure_that_shows_no_more_than_a_lower_bound_needs_a_bound() -> None:
    """By too few shadow releases, or with too few false positives."""
    for shadowy in ({"undecided": "there are fewer"}, {"rough": True}):
        some = check(rate=Rate(0.08, 0.05, 0.115), **shadowy)
        assert some.status == "not measured"
        assert decided([some], accepting(up_to=None)).published_by == ""
        assert decided([some], accepting()).published_by == "acceptance"


def test_a_check_that_fails_without_a_figure_is_accepted_as_unmeasured_alone() -> None:
    """As joint classes are with an earlier release whose key file is not there."""
    joint = check(rate=None, failed=True)
    assert joint.status == "fail"
    assert decided([joint], accepting(up_to=None)).published_by == "acceptance"
    assert decided([joint], accepting(up_to=Fraction(1))).published_by == ""


def test_every_check_that_is_no_pass_needs_one() -> None:
    both = [check(), replace(check(), name="inference")]
    assert decided(both, accepting()).published_by == ""
    assert decided(both, accepting(), accepting(risk="inference")).published_by == "acceptance"
    twice = [check(known=8), check(known=3, rate=Rate(0.3, 0.2, 0.4))]  # both of one name
    assert decided(twice, accepting()).published_by == ""


def test_a_condition_cannot_be_accepted() -> None:
    assert decided([check()], accepting(), holds=False).published_by == ""


def test_a_pass_needs_none() -> None:
    assert decided([check(rate=Rate(0, 0, 0))]).published_by == "policy"


def test_it_is_added_to_the_file(tmp_path: Path) -> None:
    file = tmp_path / NAME
    file.write_text('[data]\nratings = "u.csv"\n[release]\nk = 5\n[audit]\npolicy = "public"')
    file.chmod(0o640)
    add_acceptance(tmp_path, {**SAID, "reason": 'a "contract"'})
    add_acceptance(tmp_path, {**SAID, "risk": "inference", "up-to": "not measured"})
    project, problems = parse_project(file.read_text(), {})
    assert not problems
    assert [(each.risk, each.up_to_text, each.policy) for each in project.accepted] == [
        ("membership", "12%", "public v1"),
        ("inference", "not measured", "public v1"),
    ]
    assert project.accepted[0].reason == 'a "contract"'
    assert file.stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in tmp_path.iterdir()) == [".starshade", NAME]


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"until": "2020-01-01"}, "until 2020-01-01: is in the past"),
        ({"risk": "none"}, "unknown check"),
        ({"up-to": "120%"}, "must be a share"),
        ({"reason": ""}, "must be a text"),
        ({"by": "a\nb"}, "must be a text"),
    ],
)
def test_what_cannot_be_added_changes_nothing(
    tmp_path: Path, said: dict[str, str], says: str
) -> None:
    file = tmp_path / NAME
    file.write_text("[release]\nk = 5\n")
    with pytest.raises(ConfigError, match=says):
        add_acceptance(tmp_path, {**SAID, **said})
    assert file.read_text() == "[release]\nk = 5\n"


def test_the_name_of_an_older_limit_is_taken(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("[release]\nk = 5\n")
    assert add_acceptance(tmp_path, {**SAID, "risk": "record"}).risk == "re-identification"


def test_nothing_is_added_to_a_list_within_a_line(tmp_path: Path) -> None:
    file = tmp_path / NAME
    file.write_text("accept = []\n[release]\nk = 5\n")
    with pytest.raises(ConfigError, match="accept is an inline list"):
        add_acceptance(tmp_path, SAID)
    assert file.read_text() == "accept = []\n[release]\nk = 5\n"


def test_what_a_run_depends_on_changes_when_an_acceptance_ends(tmp_path: Path) -> None:
    ratings = tmp_path / "u.csv"
    ratings.write_text("user,item,rating\n1,1,5\n2,1,4\n")
    day = datetime.timedelta(1)
    inputs = [
        inputs_of(Project({"ratings": str(ratings)}, {}, {}, {}, accepted=accepted))
        for accepted in ((), (accepting(),), (accepting(until=TODAY - day),))
    ]
    assert all(inputs)
    assert len(set(inputs)) == 3  # the reports say that one has ended


def test_an_acceptance_that_ended_is_a_notice_unless_another_replaces_it() -> None:
    ended = accepting(until=datetime.date(2025, 1, 1))
    assert expired([ended, accepting(risk="inference")]) == [
        "The acceptance of membership expired on 2025-01-01."
    ]
    assert expired([ended, replace(ended, until=datetime.date(2024, 1, 1))]) == expired([ended])
    assert expired([ended, accepting()]) == []
    assert expired([ended, accepting(policy="public v1")]) == expired([ended])
    assert expired([accepting()]) == []


def test_what_counts_is_listed_where_another_check_prevents_publication() -> None:
    both = [check(), replace(check(), name="inference")]
    found = decided(both, accepting())
    assert (found.published_by, [row["risk"] for row in found.rows]) == ("", ["membership"])
    twice = [check(known=8), check(known=3, rate=Rate(0.3, 0.2, 0.4))]
    assert decided(twice, accepting()).rows == []  # it does not cover the risk


def test_a_second_one_of_the_same_is_refused(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("[release]\nk = 5\n")
    add_acceptance(tmp_path, SAID)
    with pytest.raises(ConfigError, match="already has membership for partner v1"):
        add_acceptance(tmp_path, SAID)
    with pytest.raises(ConfigError, match="no such file in this folder"):
        add_acceptance(tmp_path / "elsewhere", SAID)
