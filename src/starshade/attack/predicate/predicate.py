"""Predicates written from the release alone that isolate one person."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from starshade.arguments import typed
from starshade.attack.knowledge import Knowledge
from starshade.attack.predicate.choice import choose_predicates, distinct, levels_of
from starshade.attack.predicate.isolation import People, blind
from starshade.attack.predicate.result import (
    LIGHT,
    Forced,
    OfWeight,
    PredicateResult,
    Tried,
)
from starshade.attack.settings import PredicateAttackSettings
from starshade.attack.targets import Attack, Request, nobody_rated
from starshade.attack.view import View, look, truth_on
from starshade.errors import ConfigError
from starshade.naming import aside, named
from starshade.progress import task
from starshade.ratings.table import Ratings
from starshade.release.cells import Cells
from starshade.release.folder.digest import digest_of
from starshade.release.profiles import Profiles, refuse_large
from starshade.release.table import Link, Release
from starshade.rng import Rng, generator, resolve_seed
from starshade.stats import share

Ints = NDArray[np.int64]
_BYTES = 32  # for each cell
_MOST = 2000  # classes tested by default


@dataclass(frozen=True)
class PredicateAttack(PredicateAttackSettings, Attack[PredicateResult]):
    """Write, for each class, one predicate that exactly one real person should satisfy.

    The adversary has the release alone. For a class they write "matches all its cells, and rated
    item i with v" (or: did not rate it). A predicate *isolates* when exactly one person of the
    original satisfies it. The baseline is the expected share for predicates of the same weight
    that do not use the release.

    Parameters
    ----------
    classes : int or None
        Classes to test, at least 1; more are sampled. None: at most 2,000.

    Raises
    ------
    ConfigError
        A value outside its range.

    Notes
    -----
    Predicate singling out is Cohen & Nissim's (2020, *Towards formalizing the GDPR's notion of
    singling out*), who show that k-anonymity does not prevent it; Cohen (2022, *Attacks on
    deidentification's defenses*) does it to generalized releases. Item and value are chosen by the
    greatest chance of exactly one holder in the class, times that of no holder who fits in another
    class. Members are taken as independent, drawn by how often each value is held (estimated from
    the release by expectation and maximization), given what a cell promises: with the hierarchy
    ``ndgh`` every value of a set is held by some member, with ``range`` both ends are, a single
    value and both of a set of two always. The model only chooses; whether a predicate isolates is
    counted.

    The weight w is the larger of the product of the shares of people who fit item by item, and of
    the share of non-members who satisfy the predicate, where some are given. A predicate
    that does not use the release isolates with n·w·(1 − w)^(n − 1), n the people of the original.
    Only predicates of low weight, n·w far below 1, single out in the sense of the definition.

    A release needs its original, no link. Cells of profiles are means, not sets, so nobody matches
    them, and they are refused. Knowledge has no influence, and no targets are chosen; `rng` draws
    the classes.

    Examples
    --------
    Two classes of two people each; an item rated differently within a class singles out both.

    >>> from starshade.anonymize.k_likeness import KLikeness
    >>> from starshade.ratings.table import Ratings
    >>> users, items = list("aabbccdd"), list("xyxyxyxy")
    >>> ratings = Ratings.from_arrays(users, items, [5, 1, 5, 2, 1, 5, 1, 4], scale="1:5:1")
    >>> release = KLikeness(k=2).anonymize(ratings, rng=0)
    >>> PredicateAttack().run(release, original=ratings, rng=0).singling_out.rate
    1.0
    """

    name: ClassVar[str] = "predicate"

    @typed
    def run(
        self,
        data: Ratings | Release,
        knowledge: Knowledge | None = None,
        *,
        original: Ratings | None = None,
        targets: int | None = None,
        rng: Rng = None,
        link: Link | None = None,
        outsiders: Ratings | None = None,
    ) -> PredicateResult:
        """Write predicates from a release, and count the people who satisfy them.

        Parameters
        ----------
        data : Ratings or Release
            Data that the adversary sees.
        knowledge : Knowledge, optional
            Has no influence.
        original : Ratings, optional
            The people behind a release (required there).
        targets : None
            Must be None: classes are attacked, not single users.
        rng : int, Generator or None
            Draws the classes, where there are more than are tested.
        link : Link, optional
            Has no influence, but must belong to the release.
        outsiders : Ratings, optional
            Non-members: people similar to those of the original but not among them. The share of
            them who satisfy a predicate is a second measure of its weight.

        Raises
        ------
        ConfigError
            Arguments that contradict each other, or no people to attack.
        """
        with task(f"attacking: {self.name}"):
            return self._attack(data, Request(original, targets, rng, link), outsiders)

    def _attack(
        self, data: Ratings | Release, request: Request, outsiders: Ratings | None
    ) -> PredicateResult:
        request.refuse_targets(
            "predicates are written for classes, not for single users",
            f"Omit {named('targets')}; {named('classes')} sets the number of classes.",
        )
        started, seed = perf_counter(), resolve_seed(request.rng)
        _refuse_means(data)
        view = look(data, request.original, request.link)
        linked = int((view.row_of_user >= 0).sum())
        attacked = linked if view.credit == "linked" else view.cells.n_records
        if not attacked:
            raise nobody_rated()
        assert isinstance(view.cells, Cells)  # profiles were refused
        classes = distinct(view.cells)
        tried = written(view, classes, promise_of(data), outsiders, most=self.classes, seed=seed)
        seconds = perf_counter() - started
        return PredicateResult(
            attack=self.name,
            records=view.cells.n_records,
            classes=classes.n_groups,
            classes_tested=len(tried.row),
            targets=attacked,
            ineligible=max(0, view.original.n_users - attacked),
            credit=view.credit,
            people=view.original.n_users,
            non_members=None if outsiders is None else outsiders.n_users,
            singling_out=share(tried.isolates),
            baseline=float(tried.blind.mean()),
            expected=float(tried.chance.mean()),
            low_weight=tuple(OfWeight.of(most, tried, view.original.n_users) for most in LIGHT),
            forced=_forced(data, view.cells, classes),
            seconds=seconds,
            postings_per_second=len(tried.row) * len(classes.columns) / max(seconds, 1e-9),
            config=asdict(self),
            seed=seed,
            digest=digest_of(view.original),
            per_class=tried,
        )


def _refuse_means(data: Ratings | Release) -> None:
    if isinstance(data, Release) and isinstance(data.classes, Profiles):
        raise ConfigError(
            f"predicate: the release has layout {data.manifest.layout!r}; its cells are means, "
            "from which no predicate can be written",
            advice="Singling out was not measured, which proves nothing. Use the attacks label, "
            "link-existence and padding for means.",
        )


def promise_of(data: Ratings | Release) -> str:
    """Return which values of a cell some member must hold, as `levels_of` takes it."""
    told = data.manifest.config.get("hierarchy") if isinstance(data, Release) else "ndgh"
    return told if isinstance(told, str) else ""


def _strangers(outsiders: Ratings | None, view: View) -> People | None:
    if outsiders is None:
        return None
    among = int((view.original.users.indices(outsiders.users) >= 0).sum())
    if among or not outsiders.n_users:
        found = f"{among:,} of them are members (people of the original)" if among else "empty"
        raise ConfigError(
            f"outsiders: {found}",
            advice="Give non-members (people without a part in the release), or None.",
        )
    items = view.cells.items
    return People(truth_on(outsiders, items, items.indices(outsiders.items).astype(np.int32)))


def written(
    view: View,
    classes: Cells,
    promise: str,
    outsiders: Ratings | None,
    *,
    most: int | None = None,
    seed: int,
) -> Tried:
    """Write predicates for the distinct `classes` of a view, and count who satisfies them.

    `promise`: as `promise_of` returns it. `outsiders`, `most`, `seed`: as the attack's `outsiders`,
    `classes` and `rng`.

    Raises
    ------
    ConfigError
        The view has no ratings, there are no non-members, or not enough memory.
    """
    people, strangers = People(view.truth()), _strangers(outsiders, view)
    if not people.table.n_ratings:
        raise nobody_rated()
    # what is laid out beside the cells: their kinds, numbered and sorted, and the true ratings
    needed = _BYTES * (view.cells.n_cells + people.table.n_ratings)
    refuse_large("predicate", needed, 0, f", or attack fewer items{aside('items', 'top:N')}")
    rows = _drawn(classes.n_groups, most or _MOST, seed)
    chosen = choose_predicates(classes, levels_of(classes.symbols, promise), rows)
    predicates = chosen.predicates
    satisfying, holders = people.satisfying(predicates, classes)
    weight = people.chance(predicates, holders, classes)
    among = None
    if strangers is not None:
        among, _ = strangers.satisfying(predicates, classes)
        weight = np.maximum(weight, among / strangers.table.n_users)
    return Tried(
        row=rows,
        item=predicates.item,
        rating=predicates.rating,
        satisfying=satisfying,
        weight=weight,
        blind=blind(weight, people.table.n_users),
        chance=chosen.chance,
        among=among,
    )


def _drawn(n: int, most: int, seed: int) -> Ints:
    if n <= most:
        return np.arange(n)
    return np.sort(generator(seed, "predicate classes").choice(n, most, replace=False))


def _forced(data: Ratings | Release, rows: Cells, classes: Cells) -> Forced | None:
    """Count the cells that leave no doubt how many hold each value; None where they may be false.

    Rows of a release that are equal differ in quasi-identifiers, and each keeps its promise alone.
    """
    if isinstance(data, Release):
        if data.manifest.layout != "generalized":
            return None
        classes = rows
    symbols, named_in = classes.symbols, levels_of(classes.symbols, promise_of(data)).named
    values = np.diff(named_in.offsets) + (named_in.last >= named_in.first)
    held = np.add.reduceat(np.append(named_in.held, 0), named_in.offsets)[: len(values)]
    of = np.repeat(np.arange(classes.n_groups), np.diff(classes.indptr))
    single = symbols.is_single[classes.codes]
    nobody = (~symbols.has_rating)[classes.codes]
    size = classes.sizes[of]
    once = (values[classes.codes] == size) & (held[classes.codes] == size) & (size > 1)
    cells = classes.n_groups * classes.n_items

    def of_people(which: NDArray[np.bool_]) -> NDArray[np.bool_]:
        some = np.bincount(of, which, classes.n_groups) > 0
        return np.repeat(some, classes.sizes)

    return Forced(
        cells=cells,
        one_value=int(single.sum()),
        no_member=cells - len(single) + int(nobody.sum()),
        each_once=int(once.sum()),
        people_one_value=share(of_people(single)),
        people_each_once=share(of_people(once)),
        people=share(of_people(single | once)),
    )
