"""Composition (intersection) attack on several releases of the same people."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.attack.composition.cells import Together
from starshade.attack.composition.composed import Composed, composition_of
from starshade.attack.composition.people import Part, link_of
from starshade.attack.composition.result import CompositionResult, Named, result_of
from starshade.attack.knowledge import Knowledge, Known
from starshade.attack.likelihood.informed import Model
from starshade.attack.likelihood.sought import Sought
from starshade.attack.settings import CompositionSettings
from starshade.attack.targets import Attack, Request, choose_targets, on_release, usable
from starshade.attack.view import View, view_of
from starshade.errors import ConfigError
from starshade.naming import called
from starshade.ratings.table import Ratings
from starshade.ratings.vocabulary import Vocabulary
from starshade.release.cells import Cells, Symbols
from starshade.release.folder.digest import digest_of
from starshade.release.table import Release
from starshade.rng import resolve_seed
from starshade.stats import bootstrap


@dataclass(frozen=True)
class Composition(CompositionSettings, Attack[CompositionResult]):
    """Intersect the classes and the cells of several releases of the same people.

    An adversary who knows a person's class in each release knows that the person is one of those
    in all of them: a *joint class*, which may have a single member. Their cells are intersected as
    well: a rating that is 3 or 4 in one release and 4 or 5 in the other is a 4, if it did not
    change.

    Parameters
    ----------
    earlier : sequence of Release
        Earlier releases, oldest first, each with its private key file (read with ``private=``, or
        just made). None: the release by itself.
    changes : {"none", "added", "revised"}
        Changes from one release to the next: none; ratings were added; ratings were added and
        others revised. Ratings are never withdrawn.

    Raises
    ------
    ConfigError
        A value outside its range, or a value that is not a release.

    Notes
    -----
    Ganta, Kasiviswanathan & Smith 2008 (intersection attacks); m-invariance, which
    sequential releases would need, is by Xiao & Tao (2007). People are known by their original
    ids. A person may be missing from some of the releases: absence is a class of its own, and
    says nothing of their ratings. Cells that hold the true rating of everybody in a class are
    intersected: those of layout "generalized", and those of layout "record" that no method moved.
    Means and moved ratings only distinguish classes.

    A cell is certain where the intersection leaves one rating, with known classes. Where classes
    are unknown, the likelihood of the known ratings is computed once, over the intersected
    cells of the joint classes; the sum of two releases' likelihoods would count facts twice.

    Examples
    --------
    >>> from starshade.anonymize.k_likeness import KLikeness
    >>> from starshade.ratings.synth.synth import synthesize
    >>> ratings = synthesize(n_users=60, n_items=6, rng=0)
    >>> first, second = (KLikeness(k=5).anonymize(ratings, rng=seed) for seed in (1, 2))
    >>> known = Knowledge(known=2)
    >>> result = Composition(earlier=[first]).run(second, known, original=ratings, rng=0)
    >>> result.k, result.smallest < 5
    (5, True)
    """

    name: ClassVar[str] = "composition"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(isinstance(each, Release) for each in self.earlier):
            raise ConfigError(
                f"{called('earlier')}: must be releases",
                advice="Read each with its private key file: read_release(folder, private=file).",
                setting="earlier",
            )

    def _run(
        self, data: Ratings | Release, knowledge: Knowledge, request: Request
    ) -> CompositionResult:
        if isinstance(data, Ratings):
            raise ConfigError(
                "composition: the data are ratings, not a release",
                advice="Give a release and its earlier releases.",
            )
        if request.original is None:
            raise ConfigError(
                "an attack on a release needs the original ratings",
                advice="They provide the known ratings and identify the private key file.",
            )
        original, started, seed = request.original, perf_counter(), resolve_seed(request.rng)
        link = link_of(data, request.link)
        found = composition_of([*self.earlier, data], original, self.changes, link=link)
        view = _joint_view(found, original)
        if found.together is not None:
            view, _ = on_release(view)
        original = view.original
        knowledge = usable(knowledge, view)
        users, ineligible = choose_targets(view, knowledge, request.targets, seed)
        known = knowledge.draw(original, users, seed)
        named = [
            _named(_view_of(part, original, found.together), knowledge, known, seed)
            for part in found.parts
        ]
        together = None if found.together is None else view
        return result_of(
            found,
            [*named, _named(together, knowledge, known, seed)],
            attack=self.name,
            records=data.n_records,
            targets=len(users),
            ineligible=ineligible,
            config={
                "earlier": len(self.earlier),
                "changes": self.changes,
                "targets": request.targets,
            },
            knowledge={"name": knowledge.name} | asdict(knowledge),
            known_from="all items" if found.together is None else "released items",
            seed=seed,
            digest=digest_of(request.original),
            seconds=perf_counter() - started,
        )


def _joint_view(found: Composed, original: Ratings) -> View:
    """Return the joint classes as an adversary sees them; without cells that hold no truth."""
    joint, together = found.joint, found.together
    if together is not None:
        cells = together.cells
    else:
        nothing = np.zeros(len(joint.sizes) + 1, dtype=np.int64)
        cells = Cells(
            Vocabulary(np.empty(0, dtype=np.int64)),
            joint.sizes,
            nothing,
            np.empty(0, dtype=np.int32),
            np.empty(0, dtype=np.uint8),
            Symbols.exact(original.scale, np.empty(0)),
        )
    return view_of(original, cells, _rows(joint.people, joint.of_person, original), "linked")


def _view_of(part: Part, original: Ratings, together: Together | None) -> View | None:
    """Return one release as an adversary sees it; None where no cell holds the truth."""
    if together is None or part.cells is None or not part.tells(together.cells.symbols.scale):
        return None
    return view_of(original, part.cells, _rows(part.users, part.class_of_user, original), "linked")


def _rows(users: Vocabulary, row: NDArray[np.int64], original: Ratings) -> NDArray[np.int64]:
    """Return the row of each user of the original; -1 where they have none."""
    place = users.indices(original.users)
    return np.where(place < 0, -1, row[place])


def _named(view: View | None, knowledge: Knowledge, known: Known, seed: int) -> Named | None:
    """Compute the likelihood of the known ratings over the rows of a view, once."""
    if view is None:
        return None
    # classes that cannot be told apart by their cells are several all the same
    of_rows = Sought(view, class_of=np.arange(view.cells.n_groups))
    found = Model(view, knowledge).weigh(known, of_rows)
    of_class = found["right_class"] / np.maximum(found["classes"], 1)
    of_record = found["right_tied"] / np.maximum(found["tied"], 1)
    return Named(bootstrap(of_class, seed=seed), bootstrap(of_record, seed=seed))
