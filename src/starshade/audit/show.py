"""A verdict for a notebook: findings in a table, the attacks before and after in a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starshade.chart import Chart
from starshade.chart.shapes import Axis, Dot, Level, dot_chart
from starshade.markup import block, paragraph, table
from starshade.plain import counted, percent

if TYPE_CHECKING:
    from starshade.audit.result import AuditResult

__all__ = ["audit_chart", "audit_html"]


def audit_html(result: AuditResult) -> str:
    """Say whether the release may be published, why, and what the attacks found."""
    findings = [
        (finding.name, "yes" if finding.passed else "NO", finding.text)
        for finding in result.findings
    ]
    attacks = [
        (
            each.title,
            percent(each.before.expected_top1.rate),
            percent(each.after.expected_top1.rate),
            percent(each.after.disclosed.rate),
        )
        for each in result.evidence
    ]
    return block(
        "PASS" if result.passed else "FAIL",
        paragraph(str(result)),
        table(("asked", "met", "what was found"), findings, caption="Why"),
        table(
            ("attack", "right in the ratings", "right in the release", "disclosed"),
            attacks,
            caption="The same attacks, before and after",
            numbers=(1, 2, 3),
        ),
        *(paragraph(f"To know: {warning}") for warning in result.warnings),
    )


def audit_chart(result: AuditResult) -> Chart:
    """Draw how often each attack is right, on the ratings and on the release."""
    dots = []
    for each in result.evidence:
        for series, attack in (("the ratings", each.before), ("the release", each.after)):
            rate = attack.expected_top1
            dots.append(Dot(each.title, rate.rate, rate.low, rate.high, series))
    return dot_chart(
        "How often an attack points at the right record",
        f"{counted(result.records, 'record')}, {counted(result.items, 'item')}; far left is safe",
        dots,
        Axis("right when it must answer, share of the targets", share=True),
        None if result.k is None else Level(1 / result.k, f"1 in {result.k}"),
    )
