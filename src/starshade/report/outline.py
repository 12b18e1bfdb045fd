"""The headings of the internal report from page 2 on, by template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """A heading and the blocks below it, by the names of their templates.

    Attributes
    ----------
    key : str
        Names the section in links.
    title : str
    blocks : tuple of str
    """

    key: str
    title: str
    blocks: tuple[str, ...]


@dataclass(frozen=True)
class Outline:
    """The sections of a report and the document that they follow."""

    name: str
    source: str
    sections: tuple[Section, ...]


#: template → its outline; each block stands once in each
OUTLINES: Mapping[str, Outline] = {
    each.name: each
    for each in (
        Outline(
            "iso27559",
            "Headings by ISO/IEC 27559:2022, clauses 6 to 9.",
            (
                Section("context", "Context assessment", ("context",)),
                Section("data", "Data assessment", ("variables", "data")),
                Section("threats", "Threats and attacks tried", ("adversaries", "attacks")),
                Section(
                    "identifiability",
                    "Identifiability assessment",
                    ("risks", "stand_out", "claims"),
                ),
                Section(
                    "mitigation",
                    "Mitigation and utility",
                    ("steps", "method", "useful", "losses"),
                ),
                Section("governance", "Governance", ("governance", "files", "again")),
            ),
        ),
        Outline(
            "ema",
            "Headings by the anonymisation report of EMA Policy 0070 and Health Canada's guidance.",
            (
                Section(
                    "methodology",
                    "Anonymisation methodology",
                    ("context", "method", "steps"),
                ),
                Section("variables", "Identification of data variables", ("variables", "data")),
                Section(
                    "adversaries",
                    "Adversaries and attack simulation",
                    ("adversaries", "attacks"),
                ),
                Section(
                    "risk",
                    "Assessment of the risk of re-identification",
                    ("risks", "stand_out", "claims"),
                ),
                Section("utility", "Impact on data utility", ("useful", "losses")),
                Section("conclusion", "Conclusion and records", ("governance", "files", "again")),
            ),
        ),
    )
}
DEFAULT = "iso27559"
