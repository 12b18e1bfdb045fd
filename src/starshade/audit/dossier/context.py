"""`Context`: what only the owner of the data can state on a release, for its reports."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from starshade.setting import check, date_of, settable, settings_of

NOT_STATED = "not stated"
#: release model → what it means
MODELS = {
    "public": "public: anyone can obtain the release",
    "agreement": "under agreement: only recipients who sign an agreement obtain the release",
    "controlled": "controlled access: recipients work in a secure environment of the custodian",
}
#: what would help an adversary; it stays in the internal report
INTERNAL = ("other_data", "controls", "direct_identifiers")

_stated = partial(settable, default=None, unset=NOT_STATED)


@dataclass(frozen=True)
class Context:
    """Context of a release, as its owner states it: nothing of it is measured.

    Every setting is optional; the reports print "not stated" for the others. The public report
    leaves out `other_data`, `controls` and `direct_identifiers`.

    Parameters
    ----------
    purpose : str, optional
        Purpose of the release.
    release_model : {"public", "agreement", "controlled"}, optional
        Access: public, under agreement, or controlled (in a secure environment).
    recipient : str, optional
        Who receives the release.
    other_data : str, optional
        Who else holds data on the same people, and other publications of them.
    controls : str, optional
        Contractual, technical and organisational controls at the recipient.
    custodian : str, optional
        Organisation responsible for the data.
    responsible : str, optional
        Person or role that decides on the release.
    direct_identifiers : str, optional
        Direct identifiers removed before the ratings were read, and how.
    review : str or date, optional
        Date of the next review.
    complaints : str, optional
        Contact for complaints and suspected re-identifications.

    Raises
    ------
    ConfigError
        A value is not a text, the release model is unknown, or the review is not a date.

    Examples
    --------
    >>> context = Context(purpose="Research on recommenders", release_model="agreement")
    >>> context.rows["purpose"]
    {'title': 'Purpose of the release', 'value': 'Research on recommenders'}
    >>> context.rows["recipient"]["value"]
    'not stated'
    """

    purpose: str | None = _stated(
        "Purpose of the release", "Purpose for which the data are released."
    )
    release_model: Literal["public", "agreement", "controlled"] | None = _stated(
        "Release model",
        "Access: public, under agreement, or controlled (in a secure environment).",
    )
    recipient: str | None = _stated("Recipient", "Organisation or group that gets the release.")
    other_data: str | None = _stated(
        "Other data on the same people",
        "Who else holds data on the same people, and other publications of such data.",
    )
    controls: str | None = _stated(
        "Controls at the recipient",
        "Contractual, technical and organisational controls at the recipient.",
    )
    custodian: str | None = _stated("Data custodian", "Organisation responsible for the data.")
    responsible: str | None = _stated(
        "Responsible person", "Person or role that decides on the release."
    )
    direct_identifiers: str | None = _stated(
        "Direct identifiers removed",
        "Direct identifiers removed before the ratings were read, and how.",
    )
    review: str | None = _stated(
        "Next review", "Date of the next review, such as 2027-06-30.", kind="date"
    )
    complaints: str | None = _stated(
        "Contact for complaints", "Contact for complaints and suspected re-identifications."
    )

    def __post_init__(self) -> None:
        check(self)

    @property
    def stated(self) -> dict[str, str]:
        """What is stated, by setting; white space is collapsed."""
        values = {each.name: getattr(self, each.name) for each in settings_of(Context)}
        texts = {name: " ".join((value or "").split()) for name, value in values.items()}
        return {name: text for name, text in texts.items() if text}

    @property
    def rows(self) -> dict[str, dict[str, str]]:
        """For the internal report: setting → ``{title, value}``, texts."""
        stated = self.stated
        if "release_model" in stated:
            stated["release_model"] = MODELS[stated["release_model"]]
        return {
            each.name: {"title": each.label, "value": stated.get(each.name, NOT_STATED)}
            for each in settings_of(Context)
        }

    @property
    def public_rows(self) -> dict[str, dict[str, str]]:
        """For the public report: the same without what would help an adversary."""
        return {name: row for name, row in self.rows.items() if name not in INTERNAL}

    @property
    def notices(self) -> list[str]:
        """What a reader must know first: that the date of the review has passed."""
        review = date_of(self.review)
        passed = review is not None and review < datetime.date.today()
        return [f"The review date {review} has passed."] * passed


def context_of(values: Mapping[str, str]) -> Context:
    """Return the context of values by setting, as a project file or a form has them."""
    return Context(**values)  # type: ignore[arg-type]
