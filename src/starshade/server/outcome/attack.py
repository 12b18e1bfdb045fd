"""What an attack found: of whom, by whom, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starshade.plain import counted, percent
from starshade.server.context.parts import Chart, Figure, Outcome

__all__ = ["attack_outcome", "facts_known", "top1_of"]

Result = Mapping[str, Any]


def attack_outcome(result: Result) -> Outcome:
    """Say what an attack found."""
    success, records = top1_of(result), result.get("records") or 0
    figures = sorted(result.get("figures") or (), key=lambda figure: figure["unit"] != "share")
    first, *rest = [*map(_figure, figures)] or [
        Figure("Right when it must answer", percent(success))
    ]
    guess = Figure(
        "Guessing without the data",
        "not known" if not records else f"1 in {records:,}",
        "What somebody achieves who knows nothing.",
        1 / records if records else None,
    )
    headline = (
        f"Somebody who knows {facts_known(result.get('knowledge') or {})} finds the right record "
        f"in {percent(success)} of the cases{_attacked(result)}."
    )
    chart = result.get("chart")
    return Outcome(
        headline=headline,
        text=str(result.get("text") or ""),
        figures=(first, guess, *rest),
        chart=chart and Chart("What the attack found", chart, f"{headline} The figures are below."),
        reading_help=f"{_rests_on(result)} The range in brackets is where the figure of many such "
        "people lies, in 19 of 20 cases. An attacker who knows more, or other things, may find "
        "more.",
    )


def facts_known(knowledge: Mapping[str, Any]) -> str:
    """Say what an attacker knows (fields of `Knowledge`), after “somebody who knows”.

    Examples
    --------
    >>> facts_known({"known": 8, "ratings": True, "wrong": 2, "dates": True, "day_error": 14})
    "8 of a person's ratings (exactly, dates to within 14 days, 2 of them wrong)"
    """
    of = knowledge.get
    known, wrong, error = of("known") or 0, of("wrong") or 0, of("rating_error") or 0
    how = [f"to within {error:g}" if error else "exactly"] if of("ratings", True) else []
    days = of("day_error") if of("dates", True) else None
    if days is None:
        how.append("no dates")
    else:
        how.append(f"dates to within {counted(int(days), 'day')}" if days else "dates exactly")
    if wrong:
        never = of("wrong_kind") == "item"
        how.append(f"{wrong:,} of them " + ("items that were never rated" if never else "wrong"))
    if outside := of("outside_top"):
        how.append(f"none of the {counted(outside, 'most rated item')}")
    if of("about_count"):
        how.append("and about how many there are")
    what = "a person's ratings" if of("ratings", True) else "the items that a person rated"
    return f"{known:,} of {what} ({', '.join(how)})"


def top1_of(result: Result) -> float | None:
    """Return how often the attacker who must answer is right."""
    rate = result.get("expected_top1")
    value = rate.get("rate") if isinstance(rate, Mapping) else rate
    return None if value is None else float(value)


def _attacked(result: Result) -> str:
    """Say of whom the figure is, and of whom it says nothing."""
    tried, left_out = result.get("targets"), result.get("ineligible")
    if tried is None or left_out is None:
        return ""
    able = max((result.get("records") or 0) - left_out, tried)
    drawn = f"{tried:,} drawn from the " if tried < able else "the "
    if not left_out:
        return f", among {drawn if tried < able else 'all '}{counted(able, 'person', 'people')}"
    enough, fewer = _enough(result.get("knowledge") or {})
    return (
        f", among {drawn}{counted(able, 'person', 'people')} {enough}; {left_out:,} "
        f"{'has' if left_out == 1 else 'have'} {fewer} and "
        f"{'was' if left_out == 1 else 'were'} not tried"
    )


def _enough(knowledge: Mapping[str, Any]) -> tuple[str, str]:
    if knowledge.get("wrong") and knowledge.get("wrong_kind") == "item":  # unrated ones are needed
        return "of whom so much can be known", "too few ratings, or too many,"
    outside = knowledge.get("outside_top") or 0
    rare = f" outside the {counted(outside, 'most rated item')}" if outside else ""
    return f"with {counted(knowledge.get('known') or 0, 'rating')} or more{rare}", "fewer"


def _rests_on(result: Result) -> str:
    tried, left_out = result.get("targets") or 0, result.get("ineligible") or 0
    if tried < (result.get("records") or 0) - left_out:
        return "The people were drawn at random, and so were the facts known of each."
    return "Everybody of whom so much can be known was tried; the facts were drawn at random."


def _figure(row: Mapping[str, Any]) -> Figure:
    share = row["value"] if row["unit"] == "share" else None
    return Figure(row["title"], row["text"], row["meaning"], share)
