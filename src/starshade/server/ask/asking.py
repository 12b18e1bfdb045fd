"""What the pages ask the worker for, and the forms in which people ask it.

The settings of each kind of job are plain JSON values:

=========== ============================================================================
job         ``JobRow.settings``
=========== ============================================================================
``read``    keyword arguments of `starshade.read_ratings` (those given, all text as it was typed:
            ``user_col``, ``item_col``, ``rating_col``, ``day_col``, ``id_col``, ``scale``,
            ``delimiter``, ``format``, ``on_duplicate``, ``users``, ``item_names`` (paths),
            ``wide``, ``header``, ``dates`` (bool), ``attribute_cols``, ``null_values`` (lists)); a
            data set's ``options`` are the same, and become these once it has been read. Of
            made-up data: ``{"like", "n_users", "n_items", "n_ratings", "seed"}``, those given.
``attack``  ``{"attack": NAME, "config": {fields of the attack}, "knowledge": {fields of
            Knowledge}, "targets": N, "seed": N or None}``
``compare`` ``{"methods": [NAME], "ks": [N], "items": "top:N" or None, "eps": x or None,
            "profile": NAME or None, "known": N, "targets": N, "held_out": x, "seed": N or None}``:
            arguments of `starshade.audit.compare.compare.compare`
``release`` ``{"method": NAME, "config": {fields of the method but ``items``}, "items": "top:N" or
            None, "known": [N], "targets": N, "held_out": x, "seed": N or None}``; ``known`` and
            ``targets`` are those of the audit
=========== ============================================================================

and the pages read these answers (what is missing is left out on the page):

=========== ============================================================================
``read``    ``DataRow.facts``: `Description.to_dict`, and ``columns``, the names found (if any)
``attack``  ``JobRow.result``: the attack's ``to_dict``, and ``text``, its paragraph
``compare`` `Comparison.to_dict`, ``text``, and ``chart``, the frontier as a Vega-Lite spec
``release`` ``figures``: `Made.figures`; ``text``; and of `Dossier.internal` the ``verdict``,
            ``claims``, ``findings``, ``warnings``, ``attacks``, ``losses``, ``disclosure``,
            ``method``, ``files``
=========== ============================================================================

A setting that was left alone is not in ``config``, so that the class's own default holds. The
server does not load the classes (they bring the kernels along): what stands of them here is held
against them by a test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from starshade.server.context.forms import Form
from starshade.server.forms import Sent, Setting, fields, prefilled, read

__all__ = ["SEED", "Asking", "Facts", "as_sent", "form", "given_only", "job_settings"]

#: what is known of a data set (`DataRow.facts`); empty before it was read
Facts = Mapping[str, Any]

SEED = Setting(
    "seed",
    "Seed",
    "A number that makes the same draws again. Leave it empty to draw one; it is kept with the "
    "result.",
    "integer",
    least=0,
    more=True,
)


@dataclass(frozen=True, kw_only=True)
class Asking(Form):
    """One form, and how what it says becomes the settings of a job."""

    settings: Callable[[Facts], tuple[Setting, ...]]  # facts → what can be set
    # values, facts → the job's settings, and what is wrong by the name of the field
    ask: Callable[[dict[str, Any], Facts], tuple[dict[str, Any], dict[str, str]]]


def form(asking: Asking, action: str, facts: Facts, given: Sent, *, unfold: bool = False) -> Form:
    """Make a form as it is offered; `given` (of the address) may fill some of it in."""
    settings = asking.settings(facts)
    filled = fields(settings, prefilled(settings, given))
    return replace(asking, action=action, fields=filled, open=unfold)


def as_sent(
    asking: Asking,
    action: str,
    facts: Facts,
    sent: Sent,
    errors: Mapping[str, str],
    error: str = "",
) -> Form:
    """Make a form that was refused: what was sent is in it, and what is wrong beside it."""
    made = fields(asking.settings(facts), sent, errors)
    if errors and not error:
        wrong = ", ".join(field.label for field in made if field.error)
        error = f"Not started. Please look at: {wrong}."
    return replace(asking, action=action, fields=made, error=error, open=True)


def job_settings(asking: Asking, facts: Facts, sent: Sent) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the settings of the job that was asked for, and what is wrong by field."""
    values, errors = read(asking.settings(facts), sent, asking.chooser)
    if errors:
        return {}, errors
    return asking.ask(values, facts)


def given_only(values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what was left alone."""
    return {name: value for name, value in values.items() if value not in (None, "", (), [])}
