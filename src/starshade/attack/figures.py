"""The figures that several attacks find."""

from __future__ import annotations

from starshade.figure import Figure

__all__ = [
    "BITS",
    "BITS_MEDIAN",
    "CREDIT",
    "DISCLOSED",
    "EXPECTED_TOP1",
    "FALSE_MATCH",
    "FALSE_MATCH_ABSENT",
    "INELIGIBLE",
    "NO_ANSWER",
    "RECORDS",
    "SUCCESS",
    "TARGETS",
]

RECORDS = Figure("records", "Records", "count", False, "That the adversary sees.")
TARGETS = Figure("targets", "People attacked", "count", None, "What the shares rest on.")
INELIGIBLE = Figure(
    "ineligible",
    "People of whom too little can be known",
    "count",
    None,
    "They are not among those attacked.",
)
EXPECTED_TOP1 = Figure(
    "expected_top1",
    "Right when it must answer",
    "share",
    True,
    "High: records are found.",
    "NS §3; definitions, record found",
    short="record found",
)
SUCCESS = Figure(
    "success", "The right record stands out", "share", True, "High: found beyond doubt.", "NS §4"
)
DISCLOSED = Figure(
    "disclosed",
    "Profile disclosed",
    "share",
    True,
    "High: what the record says is known, even where several share it.",
    "definitions, profile disclosed",
    short="disclosed",
)
FALSE_MATCH = Figure(
    "false_match", "A wrong record stands out", "share", False, "High: the adversary errs.", "NS §4"
)
FALSE_MATCH_ABSENT = Figure(
    "false_match_absent",
    "A record stands out though the target is absent",
    "share",
    False,
    "High: to find somebody proves little.",
    "NS §5",
)
NO_ANSWER = Figure(
    "no_answer",
    "No answer",
    "share",
    False,
    "People for whom the attack names nobody. High is good for them.",
)
BITS = Figure(
    "entropy_bits",
    "Bits still missing",
    "bits",
    False,
    "Yes-or-no questions that still separate the adversary from a record that says what is true "
    "of the target, on average; none where that record is known.",
    "NS §3",
)
BITS_MEDIAN = Figure(
    "entropy_bits_median",
    "Bits still missing, median",
    "bits",
    False,
    "Half of the targets miss fewer.",
)
CREDIT = Figure(
    "credit",
    "Answers are credited as",
    "text",
    None,
    "linked: the record is the target's own; compatible: it says what is true of the target.",
)
