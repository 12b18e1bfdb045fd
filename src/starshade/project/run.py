"""Run a project: nothing where nothing has changed since the last run, else `work`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from starshade.progress import note
from starshade.project.file import Project
from starshade.project.inputs import inputs_of
from starshade.project.ran import Ran, again
from starshade.project.refuse import identity, refuse_changed
from starshade.project.settings import PublishSettings
from starshade.project.state import Keep, State, kept, left
from starshade.ratings.places.place import refuse_in_release

if TYPE_CHECKING:
    from starshade.project.work import Remake


def run(
    project: Project,
    folder: Path,
    *,
    seed: Callable[[], int],
    remake: Remake = lambda release, name, after: None,
    dry: bool = False,
) -> Ran:
    """Do the job of a project, or what is left of it.

    Parameters
    ----------
    project : Project
    folder : Path
        Where its file lies; paths in it are relative to this, the working folder.
    seed : callable
        Draws a seed; asked once a job.
    remake : callable
        Says to a release the command that makes it again, for the owner's report.
    dry : bool
        Read the data and say what would be done, or why it cannot be.

    Raises
    ------
    ConfigError
        The file says no ratings, or its settings do not fit the data.
    UnmetError
        The data cannot be released so.
    OutputError
        Another run is at work, or a published place holds something else.
    """
    to = _published_place(project)
    with kept(folder) as keep:
        state = _settled(keep, keep.read())
        inputs = inputs_of(project)
        if inputs and state.last is not None and state.last.inputs == inputs:
            note("nothing has changed since the last run")
            return again(keep, state.last)
        from starshade.project.work import work  # takes a second to load

        return work(project, keep, state, to, inputs=inputs, seed=seed, remake=remake, dry=dry)


def _published_place(project: Project) -> Path:
    to = Path(str(project.publish.get("to", PublishSettings().to)))
    refuse_in_release(Path(os.path.realpath(to)), to)
    return to


def _settled(keep: Keep, state: State) -> State:
    """Finish what a kill left on its way out, and refuse where what is out has changed."""
    if state.leaving is not None:
        out = Path(state.leaving.folder)
        if out.exists() and identity(out) == state.leaving.release:
            state = left(keep, state)
        else:
            state = replace(state, leaving=None, last=None)
            keep.write(state)
    for each in state.published:
        refuse_changed(each, keep.receipt(each.name))
    return state
