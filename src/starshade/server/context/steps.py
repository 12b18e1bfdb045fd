"""How far a job is: what is done, and one bar for what goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starshade.plain import percent
from starshade.server.jobs.rows import JobRow, Step
from starshade.server.words import duration

__all__ = ["StepView", "steps_of"]


@dataclass(frozen=True)
class StepView:
    """One part of the work that a job does."""

    label: str
    percent: int | None  # 0 to 100; None: nobody knows how much there is
    text: str  # how far and how long still, e.g. ``40 %, about 20 seconds more``
    done: bool = False
    within: str = ""  # what of it is worked on; empty: it says so itself


def steps_of(job: JobRow) -> tuple[StepView, ...]:
    """Return the steps that are over, and the one that goes on or in which the work broke off."""
    over = [step for step in job.progress if step.over]
    now = [step for step in job.progress if not step.over]
    if job.ended and job.state != "done":
        # a step in which something went wrong ends like any other
        broken = now[0] if now else over.pop() if over else None
        ended = () if broken is None else (StepView(broken.label, None, "not finished"),)
        return (*map(_done, over), *ended)
    return (*map(_done, over), *_current(now))


def _done(step: Step) -> StepView:
    return StepView(step.label, 100, f"done, in {duration(step.seconds)}", done=True)


def _current(now: Sequence[Step]) -> tuple[StepView, ...]:
    """Return one bar, of the outermost step that says how far it is, and what goes on inside."""
    if not now:
        return ()
    shown = next((step for step in now if _share(step) is not None), now[0])
    inmost, share = now[-1], _share(shown)
    within = ""
    if inmost is not shown:
        far = _share(inmost)
        within = inmost.label if far is None else f"{inmost.label}: {percent(far)}"
    if share is None:
        return (StepView(shown.label, None, f"for {duration(shown.seconds)}", within=within),)
    left = shown.seconds_left
    still = "" if left is None or share >= 1 else f", about {duration(left)} more"
    return (StepView(shown.label, int(100 * share), f"{percent(share)}{still}", within=within),)


def _share(step: Step) -> float | None:
    if not step.total or step.total <= 0:
        return None
    return min(max(step.done / step.total, 0.0), 1.0)
