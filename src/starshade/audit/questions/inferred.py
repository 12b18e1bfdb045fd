"""What can be inferred about somebody because they are in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from starshade.attack.shadows.inference_result import InferenceResult
from starshade.attack.shadows.membership_result import HEADLINE, WORST, MembershipResult
from starshade.audit.original.original import Knowable
from starshade.audit.questions.attribute import FIGURES, AttributeDisclosure
from starshade.audit.questions.limits import Limit
from starshade.audit.questions.question import Measured, Question, unmeasured
from starshade.audit.shadows import BeingInIt
from starshade.figure import Rate
from starshade.plain import counted, percent
from starshade.release.figures import EXACT_LISTED, EXACT_NAMED

KNOWN = 8  # ratings of each person, where so many can be known
_ENOUGH = 100  # people who gave so many and one more


def enough_of(knowable: Knowable, *, beside: int) -> int:
    """Return how many ratings are known of each person: 8, or fewer where too few gave so many.

    `beside`: further ratings that each must have given.
    """
    for known in (KNOWN, KNOWN // 2):
        if int(knowable.people[knowable.cells >= known + beside].sum()) >= _ENOUGH:
            return known
    return KNOWN // 4


def inferred(
    being: BeingInIt,
    shown: float | None,
    limits: Mapping[str, float],
    exists: float | None = None,
    listed: float | None = None,
    *,
    fine: bool = False,
    attribute: AttributeDisclosure | None = None,
) -> Question:
    """Answer whether being in it tells something.

    `shown`: people of whom a rating is shown; `exists`: of whom it is, that they rated something;
    `listed`: people whose class lists exact ratings. On a `fine` scale that is what is limited.
    `attribute`: of averaged profiles, which show no rating plainly.
    """

    def limit(name: str) -> Limit | None:
        return Limit(limits[name], "the owner") if name in limits else None

    disclosed: tuple[Measured, ...] = ()
    if shown is not None:
        measured = _disclosed(shown, exists, limit("disclosed"))
        if listed is not None:
            measured = _with_listed(measured, listed, fine=fine)
        disclosed = (measured,)
    elif attribute is not None:
        disclosed = (_certain(attribute, limit("disclosed")),)
    elif "disclosed" in limits:
        why = "its cells are averaged, and which are somebody's rating is not counted"
        what = "Of how many people a rating is shown"
        disclosed = (unmeasured("disclosed", what, why, limit("disclosed")),)
    return Question(
        "inferred",
        (
            _membership(being.membership, limit("membership")),
            _inference(being.inference, limit("inference")),
            *disclosed,
        ),
    )


def most_gained(found: InferenceResult) -> Rate | None:
    """Return how much more often an answer is right; of two kinds of questions the larger."""
    some = [rate for rate in (found.rated_gained, found.value_gained) if rate is not None]
    return max(some, key=lambda rate: rate.high, default=None)


def _membership(found: MembershipResult | str, limit: Limit | None) -> Measured:
    if isinstance(found, str):
        return unmeasured("membership", "Whether somebody is in it", found, limit)
    tried = {each.known: each for each in found.by_known if each.auc is not None}
    at = next((tried[m] for m in (KNOWN, KNOWN // 2) if m in tried), found.everything)
    if at.auc is None or found.auc is None:
        return unmeasured("membership", "Whether somebody is in it", at.reason, limit)
    alarm, most = at.at(HEADLINE), found.everything.at(HEADLINE)
    assert alarm is not None
    assert most is not None
    text = (
        f"An adversary who compares a release of half of the people with "
        f"{counted(found.shadows, 'release')} of other random halves finds {alarm} of its "
        f"members at 1 % false alarms with {at.title} (of "
        f"{counted(at.members, 'person', 'people')} so much can be known), and {most} with "
        "all ratings known. These are lower bounds: more shadow releases usually find more. "
        f"Of a member and a non-member, the member is named in {at.auc} of the cases with "
        f"{at.title} and in {found.auc} with all (50% is guessing)."
    )
    if alarm.rough:
        # first what a limit would be on
        missing = "How many members are found at 1 % false alarms was not measured: fewer than ten "
        missing += "false alarms are behind it"
        unmet = ", so no limit on it is shown to hold" * bool(limit)
        text = f"{missing}{unmet}; what follows is rough. {text}"
    return Measured(
        "membership",
        text,
        attack=found.attack,
        knew=at.title.removesuffix(" known"),
        rate=None if alarm.rough else alarm.found,
        guessing=HEADLINE,
        limit=limit,
        beside=(
            ("Found with all ratings known", most.found),
            (f"AUC, {at.title} (50% is guessing)", at.auc),
            ("AUC, all ratings known", found.auc),
        ),
        by_itself=at.auc.high <= 0.5,
        note=f"With all ratings known {most}{_worst(found)}. Lower bounds, by "
        f"{counted(found.shadows, 'shadow release')}: more usually find more. Of a member and a "
        f"non-member, the member is named in {at.auc} of the cases with {at.title} (AUC; 50% is "
        f"guessing), in {percent(found.auc.rate)} with all.",
        people=at.members,
    )


def _worst(found: MembershipResult) -> str:
    """Name the share found of the tenth of people, by activity, that is found most."""
    own = found.everything.own
    worst = None if own is None else own.groups.get(WORST)
    if worst is None:
        return ""
    return f"; of the tenth by number of ratings that is found most, {percent(worst[0])}"


def _inference(found: InferenceResult | str, limit: Limit | None) -> Measured:
    if isinstance(found, str):
        return unmeasured("inference", "What is told of somebody's other ratings", found, limit)
    best = most_gained(found)
    if best is None:
        why = "nobody left an item unrated, and ratings without steps are not named"
        return unmeasured("inference", "What is told of somebody's other ratings", why, limit)
    # of three adversaries two were asked two kinds of questions
    low = best.rate - _WIDER * (best.rate - best.low)
    high = best.rate + _WIDER * (best.high - best.rate)
    rate = Rate(best.rate, max(-1.0, low), min(1.0, high))  # a difference of two shares
    text = (
        f"Who knows {found.known} ratings of somebody (of "
        f"{counted(found.targets, 'person', 'people')}) is right about their other ratings "
        f"{100 * rate.rate:+.1f} points [{100 * rate.low:+.1f}, {100 * rate.high:+.1f}] more often "
        f"than by a release without this person ({_question(found, best)})."
    )
    if found.error_saved is not None:
        text += f" Error of a rating saved: {found.error_saved}."
    return Measured(
        "inference",
        text,
        attack=found.attack,
        knew=f"{found.known} ratings",
        rate=rate,
        guessing=0.0,
        limit=limit,
        by_itself=rate.high <= 0,
        note=f"In points, gained over releases without them: {_question(found, best)}.",
        people=found.targets,
    )


def _question(found: InferenceResult, best: Rate) -> str:
    """Say which kind of question a gain is of."""
    rated = best == found.rated_gained
    return "which of two items they rated" if rated else "which rating they gave"


_WIDER = 1.314  # 99 % beside 95 % of a normal: five intervals that hold together


def _disclosed(shown: float, exists: float | None, limit: Limit | None) -> Measured:
    return Measured(
        "disclosed",
        f"Of {percent(shown)} of the people a rating can be read once their class is found.",
        attack="reading",
        knew="the class",
        rate=Rate(shown, shown, shown),  # everybody was counted
        limit=limit,
        note="" if exists is None else f"That they rated some item is shown of {percent(exists)}.",
    )


def _certain(found: AttributeDisclosure, limit: Limit | None) -> Measured:
    share = found.attribute_disclosure
    if share is None:
        what = "Of how many people a rating is certain"
        return unmeasured("disclosed", what, found.reason, limit)
    return Measured(
        "disclosed",
        str(found),
        attack="reading",
        knew="the class, and that they rated the item",
        rate=Rate(share, share, share),  # everybody was counted
        limit=limit,
        of=FIGURES[0].title,
    )


def _with_listed(disclosed: Measured, listed: float, *, fine: bool) -> Measured:
    """Add exact values listed; on a fine scale they lead, and hold every rating that is shown."""
    assert disclosed.rate is not None
    rate = Rate(listed, listed, listed)
    text = f"{percent(listed)} of the people are {EXACT_NAMED}"
    if not fine:
        both = f"{disclosed.text} {text}."
        return replace(disclosed, text=both, beside=((EXACT_LISTED.title, rate),))
    shown = f"of {percent(disclosed.rate.rate)} it shows one rating as theirs"
    return replace(
        disclosed,
        text=f"{text}; {shown}.",
        rate=rate,
        beside=(("People of whom a rating is disclosed", disclosed.rate),),
        of=EXACT_LISTED.title,
    )
