"""Should this release be published? Claims, attacks and shares, joined into one answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from starshade.arguments import typed
from starshade.attack.shadows.halves import shadows_for
from starshade.audit.evidence import (
    Tracked,
    attack_both,
    best_of,
    knowledge_to_try,
    track_both,
)
from starshade.audit.findings import (
    judge_audience,
    judge_claims,
    judge_identifying,
    judge_k,
    judge_limits,
    judge_model,
    judge_questions,
    judge_rare_values,
    judge_scale,
    judge_tracker,
    models_of,
)
from starshade.audit.original.shards import InShards
from starshade.audit.original.table import OneTable, refuse_missing_attributes
from starshade.audit.profile_disclosure import what_it_gives_away
from starshade.audit.questions.inferred import enough_of, inferred
from starshade.audit.questions.limits import limit_texts, limits_of
from starshade.audit.questions.linked import linked
from starshade.audit.questions.question import Question
from starshade.audit.questions.singled_out import predicates_of, singled_out, with_intervals
from starshade.audit.result import AuditResult, Finding
from starshade.audit.settings import WITHOUT_RECEIPT, AuditSettings
from starshade.audit.shadows import BeingInIt, being_in_it
from starshade.audit.shares import SHARES
from starshade.audit.to_know import Earlier, judge_alone, judge_earlier, to_know
from starshade.engine.job import Engine
from starshade.engine.local import Local
from starshade.errors import ConfigError
from starshade.progress import announced, task
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.release.folder.read import read_release
from starshade.release.manifest import sensitive_of
from starshade.release.table import Release
from starshade.rng import Rng, resolve_seed
from starshade.setting import check
from starshade.utility.held_out.sharded import takes_one_table as probe_takes_one_table


def takes_one_table(release: Release, earlier: Sequence[Any], probe: Any = None) -> str:
    """Say of which audit ratings are taken as one table even where they lie in shards; else "".

    `earlier`, `probe`: what is given of them.
    """
    manifest, private = release.manifest, release.private
    if manifest.layout != "profile" or manifest.attribute_columns:
        return "of a release that is not of profiles alone"
    if any(claim.model == "diversity" for claim in manifest.claims):
        return "of a release that claims diversity"
    if private is None:
        return WITHOUT_RECEIPT
    if private.nobodys:
        return "of a release with records that are nobody's"
    if earlier:
        return "with earlier releases"
    return "" if probe is None else probe_takes_one_table(release)


@dataclass(frozen=True)
class Audit(AuditSettings):
    """Judge whether a release may be published.

    It answers three questions: can a person be singled out, can records be linked, can something
    be inferred about somebody because they are in it? Each is answered by the strongest of what
    was tried, beside guessing and the limit. No limit but those of the model, 1 in k on records
    and k people on joint classes, is there unless the owner sets it: what nobody judged is no no.

    A release may be published when every limit that is set was shown to hold, every claim is found
    again on the files, the independent check agrees, the k and the scale that are stated are those
    of claims and ratings, the audience is ``publish``, and no personal attribute is as good as a
    name or has a value that fewer than k people have (definitions, "audit").

    Parameters
    ----------
    known : sequence of int
        Cells that the adversary is tried with, each at least 1. The usual ones are cut to what
        somebody has; others that nobody has are refused.
    targets : int
        Users attacked at most, at least 1.
    shadows : int, optional
        Releases of random halves of the people that each is compared with, for the third question;
        0: none; None: 16, and 4 above 20 million ratings.
    limit : mapping of str to float, or sequence of str
        Largest shares allowed, in [0, 1], by name or as ``NAME=VALUE``: ``record`` (otherwise
        1/k), ``predicate``, ``class``, ``halves``, ``joint-class`` (otherwise 0), ``membership``,
        ``inference``, ``disclosed``. A limit holds where the upper end of an interval over all
        that was tried keeps to it.
    judge : {"set", "all"}
        Whether the limits that are set must hold, or nothing may be left to judge or to measure.

    Raises
    ------
    ConfigError
        A parameter is out of its range.

    Examples
    --------
    >>> result = Audit(targets=500).run(ratings, "out/", rng=0)  # doctest: +SKIP
    >>> [question.answer for question in result.questions]  # doctest: +SKIP
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", limit_texts(self.limit))
        check(self)
        limits_of(self.limit)

    @typed
    def run(
        self,
        ratings: Ratings | Shards,
        release: str | Path,
        *,
        private: str | Path | None = None,
        earlier: Sequence[str | Path] = (),
        earlier_private: Sequence[str | Path] = (),
        probe: Ratings | None = None,
        rng: Rng = None,
        engine: Engine | None = None,
    ) -> AuditResult:
        """Look at the files of a release as they lie there.

        Parameters
        ----------
        ratings : Ratings or Shards
            What the release was made of, read as it was read then. In shards: beside a release of
            profiles, with its receipt; no earlier one is looked at then, and releases are made
            again shard by shard.
        release : path
            A release folder.
        private : path, optional
            The owner's receipt. With it attacks are scored against the truth, on the people who
            were released, and every original cell is looked up in its class; without it an
            answer counts when it is compatible with the truth, which can only overstate the
            attack's ``expected_top1``. Where ratings were moved (layout "record") or people left
            out it can also understate it, and the verdict is no.
        earlier : sequence of path
            Releases published before. One of the same data, one that fits the same ratings and one
            of which neither can be told is a no, unless the receipts of all show that together
            they leave everybody among k or more; this very release is none.
        earlier_private : sequence of path
            Receipts of earlier releases, in any order.
        probe : Ratings, optional
            Ratings held out of `ratings` (`hold_out`), for the measures of recommenders; it
            takes the receipt.
        rng : int, Generator or None
        engine : Engine, optional
            Who works on shards; None: this process, without a journal.

        Raises
        ------
        ReleaseError
            A folder is no release, or not whole.
        ConfigError
            The release was not made of these ratings, nobody has as many ratings as `known` says,
            or what was asked for takes one table.
        """
        seed, released = resolve_seed(rng), read_release(release, private=private)
        if isinstance(ratings, Shards):
            if why := takes_one_table(released, earlier, probe):
                raise ConfigError(
                    f"an audit {why} takes one table, and these ratings are in shards",
                    advice="Where memory holds them, read them as one (starshade.read_ratings).",
                )
            return self.judge_shards(
                ratings,
                released,
                Path(release),
                probe=probe,
                engine=engine or Local(),
                seed=seed,
            )
        return self.judge_release(
            ratings,
            released,
            Path(release),
            earlier=earlier,
            earlier_private=earlier_private,
            probe=probe,
            engine=engine,
            seed=seed,
        )

    @announced("auditing")
    def judge_release(
        self,
        ratings: Ratings,
        released: Release,
        folder: Path,
        *,
        earlier: Sequence[str | Path] = (),
        earlier_private: Sequence[str | Path] = (),
        probe: Ratings | None = None,
        engine: Engine | None = None,
        seed: int,
    ) -> AuditResult:
        """Do the same with a release that was read from `folder`; arguments as in `run`."""
        refuse_missing_attributes(released, ratings)
        original = OneTable(ratings, released, engine)
        _ = original.part  # refused if the release was not made of it
        limits = limits_of(self.limit, earlier=bool(earlier))
        beside = judge_earlier(
            released, earlier, ratings, earlier_private, limits.get("joint-class", 0.0)
        )
        return self._judge_original(original, folder, beside, limits, seed, probe)

    @announced("auditing")
    def judge_shards(
        self,
        shards: Shards,
        released: Release,
        folder: Path,
        *,
        probe: Ratings | None = None,
        engine: Engine,
        seed: int,
    ) -> AuditResult:
        """Do the same with ratings in shards and a release of profiles that has its receipt.

        No earlier release is looked at. Releases are made again shard by shard.
        """
        original = InShards(shards, released, engine)
        _ = original.part
        limits, beside = limits_of(self.limit, earlier=False), judge_alone(released)
        return self._judge_original(original, folder, beside, limits, seed, probe)

    def _judge_original(
        self,
        original: OneTable | InShards,
        folder: Path,
        beside: Earlier | None,
        limits: dict[str, float],
        seed: int,
        probe: Ratings | None,
    ) -> AuditResult:
        started, released = perf_counter(), original.release
        claims = released.manifest.claims
        most = original.knowable(sensitive_of(claims)).most
        tries = knowledge_to_try(released.scale, most, self.known, claims)
        with task("verifying"):
            counted = original.verified(folder)
        evidence = with_intervals(
            attack_both(original, tries, targets=self.targets, seed=seed), released, seed
        )
        table = original.part if isinstance(original, OneTable) else None
        tracked = None if table is None else track_both(table, released)
        being = self._being_in_it(original, seed)
        given = what_it_gives_away(
            original, tries, evidence=evidence, targets=self.targets, seed=seed, ends=being.ends
        )
        composed = None if beside is None else beside.found
        predicates = predicates_of(released, table, seed)
        questions = (
            singled_out(released, evidence, predicates, being.singled_out, limits, seed),
            linked(released, evidence, being.linkability, composed, limits, seed),
            inferred(
                being,
                counted["users_rating_disclosed"],
                limits,
                counted["users_rating_exists"],
                counted["users_exact_values_listed"],
                fine=released.scale.fine,
                attribute=None if given is None else given.attribute,
            ),
        )
        return AuditResult(
            findings=(
                *self._judge(released, table, counted, tracked, questions),
                *filter(
                    None,
                    (
                        judge_k(released),
                        judge_scale(released, original.given),
                        None if beside is None else beside.finding,
                    ),
                ),
            ),
            questions=questions,
            warnings=to_know(original, evidence, best_of(evidence), self.known),
            claims=tuple(counted["claims"]),
            evidence=tuple(evidence),
            tracker=tracked,
            profile_disclosure=given,
            profile=released.manifest.profile,
            alike_by=released.manifest.alike_by,
            fine=released.scale.fine,
            utility=original.measured(probe),
            disclosure={name: counted[name] for name in SHARES},
            audience=released.manifest.audience,
            k=released.manifest.claimed_k,
            records=released.n_records,
            items=released.classes.n_items,
            seed=seed,
            config={
                **asdict(self),
                "known": list(self.known),
                "limit": limits,
                "shadows": shadows_for(self.shadows, original.ratings.n_ratings),
            },
            digest=original.digest(),
            seconds=perf_counter() - started,
        )

    def _being_in_it(self, original: OneTable | InShards, seed: int) -> BeingInIt:
        if self.shadows == 0:
            return BeingInIt.unmeasured("no shadow releases were requested")
        hidden = sensitive_of(original.release.manifest.claims)
        knowable = original.knowable(hidden)
        return being_in_it(
            original.release,
            original.ratings,
            shadows=self.shadows,
            known=enough_of(knowable, beside=1),
            linked=enough_of(knowable, beside=0) // 2,
            targets=self.targets,
            except_items=hidden,
            engine=original.engine,
            seed=seed,
        )

    def _judge(
        self,
        release: Release,
        original: Ratings | None,
        counted: dict[str, Any],
        tracked: Tracked | None,
        questions: Sequence[Question],
    ) -> tuple[Finding, ...]:
        findings = [
            judge_claims(counted["claims"]),
            *(judge_model(release, claim, original) for claim in models_of(release)),
            *judge_limits(questions),
            judge_tracker(tracked, release.classes.n_items),
            judge_audience(release),
            judge_identifying(release),
            judge_rare_values(release, counted["few_have"]),
            *(judge_questions(questions) if self.judge == "all" else ()),
        ]
        return tuple(finding for finding in findings if finding is not None)
