"""`Audit`: claims, attacks and measures of a release, compared with a policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

from starshade.arguments import older_names, typed
from starshade.attack.shadows.resampled import FEWEST
from starshade.audit.checks.check import Check
from starshade.audit.checks.inference import (
    attribute,
    inference_gain,
    membership,
    numbers_known,
    single_valued,
)
from starshade.audit.checks.linking import class_linkage, composition, linkability
from starshade.audit.checks.policy import (
    Policy,
    read_policy,
    threshold_texts,
    thresholds_of,
)
from starshade.audit.checks.singling_out import (
    class_size,
    key_file,
    predicates_of,
    re_identification,
    singling_out,
    with_intervals,
)
from starshade.audit.evidence import (
    Evidence,
    Tracked,
    attack_both,
    best_of,
    knowledge_to_try,
    numbers_to_try,
    track_both,
)
from starshade.audit.findings import (
    judge_audience,
    judge_claims,
    judge_identifying,
    judge_k,
    judge_model,
    judge_profiles,
    judge_rare_values,
    judge_scale,
    judge_tracker,
    models_of,
)
from starshade.audit.original.shards import InShards
from starshade.audit.original.table import OneTable, refuse_missing_attributes
from starshade.audit.original.utility_round import utility_round
from starshade.audit.profile_disclosure import ProfileDisclosure, what_it_gives_away
from starshade.audit.result import AuditResult, Finding
from starshade.audit.settings import WITHOUT_RECEIPT, AuditSettings
from starshade.audit.shadows import ByShadows, measure_by_shadows
from starshade.audit.shares import SHARES
from starshade.audit.to_know import Earlier, judge_alone, judge_earlier, to_know
from starshade.engine.job import Engine
from starshade.engine.local import Local
from starshade.errors import ConfigError
from starshade.naming import Advice
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
    """Return why an audit reads a partitioned store as one table; else "".

    `earlier`, `probe`: as of the audit.
    """
    manifest, private = release.manifest, release.private
    if manifest.layout != "profile" or manifest.attribute_columns:
        return "of a release that is not of profiles alone"
    if any(claim.model == "diversity" for claim in manifest.claims):
        return "of a release that claims diversity"
    if private is None:
        return WITHOUT_RECEIPT
    if private.nobodys:
        return "of a release with dummy records"
    if earlier:
        return "with earlier releases"
    return "" if probe is None else probe_takes_one_table(release)


@older_names
@dataclass(frozen=True)
class Audit(AuditSettings):
    """Decide whether a release may be published, by a policy.

    Each risk of the policy is measured by the strongest attack tested, and the upper end of
    its 95 % interval is compared with the threshold. PASS: every check is within its threshold,
    every claim holds on the files as the independent verifier counts it, the release was made to be
    published, and no personal attribute identifies people or has a value that fewer than k people
    have. FAIL: one of these does not hold. INCOMPLETE: nothing exceeds a threshold, but a
    risk of the policy could not be measured (definitions, "audit"; docs/guides/policies.md).

    Parameters
    ----------
    policy : str
        "public", "partner", "controlled", or the path of a TOML file.
    threshold : mapping of str to float, or sequence of str
        Thresholds instead of the policy's, by check or as ``NAME=VALUE``: shares in [0, 1], for
        "class-size" also a number of people.
    known : sequence of int
        Known ratings per target, each at least 1, in addition to the policy's. The defaults are cut
        to the most that a person has; other numbers above that are refused.
    targets : int
        Users attacked at most, at least 1.
    shadows : int, optional
        Releases of random halves of the people that each is compared with; 0: none; None: as many
        as the policy requires (16; 4 above 20 million ratings). With fewer, the checks that need
        them are not measured.

    Raises
    ------
    ConfigError
        A parameter is out of its range, or there is no such policy or check.

    Examples
    --------
    >>> result = Audit(policy="public").run(ratings, "out/", rng=0)  # doctest: +SKIP
    >>> result.verdict, [check.status for check in result.checks]  # doctest: +SKIP
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", threshold_texts(self.threshold))
        check(self)
        _ = self.rules  # refused before anything is done

    @cached_property
    def rules(self) -> Policy:
        """The policy with the thresholds that replace its own."""
        return read_policy(self.policy).overriding(thresholds_of(self.threshold))

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
        """Audit the files of a release.

        Parameters
        ----------
        ratings : Ratings or Shards
            What the release was made of, read as it was read then. A partitioned store: for a
            release of profiles with its key file and without earlier releases; shadow releases are
            made by partition.
        release : path
            A release folder.
        private : path, optional
            The private key file. With it attacks are scored against the truth, on the people who
            were released, and every original cell is looked up in its class; without it an
            answer counts when it is compatible with the truth, which can only overstate the
            attack's ``expected_top1``. Where ratings were moved (layout "record") or people left
            out it can also understate it, and the check is not measured.
        earlier : sequence of path
            Releases published before. The check of composition fails for one of the same data, one
            that fits the same ratings and one of unknown relation, unless the key files of all show
            joint classes of at least k; this very release does not count.
        earlier_private : sequence of path
            Private key files of earlier releases, in any order.
        probe : Ratings, optional
            Ratings held out of `ratings` (`hold_out`), for the measures of recommenders; needs the
            key file.
        rng : int, Generator or None
        engine : Engine, optional
            Execution engine for partitioned stores; None: this process, without a journal.

        Raises
        ------
        ReleaseError
            A folder is no release, or not whole.
        ConfigError
            The release was not made of these ratings, no person has as many ratings as `known`,
            or the request needs one table.
        """
        seed, released = resolve_seed(rng), read_release(release, private=private)
        if isinstance(ratings, Shards):
            if why := takes_one_table(released, earlier, probe):
                raise ConfigError(
                    f"an audit {why} needs one table, and these ratings are in a partitioned store",
                    advice="If memory allows, read them as one table (starshade.read_ratings).",
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
        store: Shards | None = None,
        seed: int,
    ) -> AuditResult:
        """Do the same with a release that was read from `folder`; arguments as in `run`.

        `store`: what all of `ratings` were read from; where the release was made of its partitions,
        shadow releases are as well.
        """
        refuse_missing_attributes(released, ratings)
        original = OneTable(ratings, released, engine, store)
        _ = original.part  # refused if the release was not made of it
        thresholds_of(self.threshold, earlier=bool(earlier))
        most = self.rules.thresholds.get("composition")
        beside = judge_earlier(
            released,
            earlier,
            ratings,
            earlier_private,
            1.0 if most is None else float(most.share),
            self.rules.least_class,
        )
        return self._judge_original(original, folder, beside, seed, probe)

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
        """Do the same with a partitioned store and a release of profiles with its key file.

        No earlier release is used. Shadow releases are made by partition.
        """
        original = InShards(shards, released, engine)
        _ = original.part
        thresholds_of(self.threshold, earlier=False)
        return self._judge_original(original, folder, judge_alone(released), seed, probe)

    def _judge_original(
        self,
        original: OneTable | InShards,
        folder: Path,
        beside: Earlier | None,
        seed: int,
        probe: Ratings | None,
    ) -> AuditResult:
        started, released = perf_counter(), original.release
        manifest = released.manifest
        knowable = original.knowable(sensitive_of(manifest.claims))
        numbers = numbers_known(knowable, self.rules.known)
        known = sorted({*numbers_to_try(self.known, knowable.most), *numbers})
        tries = knowledge_to_try(released.scale, knowable.most, known, manifest.claims)
        with task("verifying"):
            counted = original.verified(folder)
        evidence = attack_both(original, tries, targets=self.targets, seed=seed)
        # an adversary with more knowledge than the policy's is in the details, and decides nothing
        judged = [each for each in evidence if each.knowledge.known <= max(numbers)]
        with_joint = dict(zip(map(id, judged), with_intervals(judged, released, seed), strict=True))
        evidence = [with_joint.get(id(each), each) for each in evidence]
        table = original.part if isinstance(original, OneTable) else None
        tracked = None if table is None else track_both(table, released)
        shadows = self._by_shadows(original, numbers, seed)
        utility = original.measured(probe)
        given = what_it_gives_away(
            original, tries, evidence=evidence, targets=self.targets, seed=seed, ends=shadows.ends
        )
        return AuditResult(
            policy=self.rules,
            checks=self._checks(
                original, list(with_joint.values()), shadows, counted, given, beside, seed
            ),
            findings=tuple(self._findings(original, counted, tracked)),
            warnings=to_know(original, evidence, best_of(evidence), self.known),
            claims=tuple(counted["claims"]),
            evidence=tuple(evidence),
            tracker=tracked,
            profile_disclosure=given,
            profile=manifest.profile,
            alike_by=manifest.alike_by,
            fine=released.scale.fine,
            utility=utility,
            utility_round=utility_round(
                original.ratings, released, remains=utility, rng=seed, engine=original.engine
            ),
            disclosure={name: counted[name] for name in SHARES},
            audience=manifest.audience,
            method=manifest.method,
            k=manifest.claimed_k,
            records=released.n_records,
            items=released.classes.n_items,
            seed=seed,
            config={
                **asdict(self),
                "known": known,
                "threshold": list(self.threshold),
                "shadows": shadows.shadows,
            },
            digest=original.digest(),
            seconds=perf_counter() - started,
        )

    def _by_shadows(
        self, original: OneTable | InShards, known: Sequence[int], seed: int
    ) -> ByShadows:
        ratings = original.ratings.n_ratings
        needed = self.rules.shadows_at(ratings)
        shadows = needed if self.shadows is None else self.shadows
        if shadows == 0:
            advice = key_file()
            if original.release.private is not None:
                advice = Advice("Make shadow releases: {}.", "shadows", needed)
            return ByShadows.unmeasured("shadow releases were disabled", known, advice)
        return measure_by_shadows(
            original.release,
            original.source,
            shadows=shadows,
            known=known,
            targets=self.targets,
            except_items=sensitive_of(original.release.manifest.claims),
            engine=original.engine,
            seed=seed,
        )

    def _checks(
        self,
        original: OneTable | InShards,
        evidence: Sequence[Evidence],
        shadows: ByShadows,
        counted: dict[str, Any],
        given: ProfileDisclosure | None,
        beside: Earlier | None,
        seed: int,
    ) -> tuple[Check, ...]:
        """Return the checks in the order of the policies."""
        release, limits = original.release, self.rules.thresholds
        needed, few, advice = self.rules.shadows_at(original.ratings.n_ratings), "", shadows.advice
        if 0 < shadows.shadows < needed:
            few = f"the policy requires {needed} shadow releases; there are {shadows.shadows}"
            advice = Advice("Make shadow releases: {}.", "shadows", needed)
        table = original.part if isinstance(original, OneTable) else None
        of, why = release.n_records, (few, advice)
        knowable = original.knowable(sensitive_of(release.manifest.claims))

        def open_for(found: Any, least: int) -> tuple[str, str | Advice]:
            """Return why a figure is open, and the advice; with too few targets, to attack more."""
            have = knowable.have(least)
            more = isinstance(found, str) and shadows.shadows and self.targets < of
            if advice or not more or have < FEWEST:
                return why
            return few, Advice("Attack more targets: {}.", "targets", of)

        return (
            class_size(release, counted["claims"], limits),
            re_identification(release, evidence, limits, seed),
            class_linkage(release, evidence, limits, seed),
            singling_out(predicates_of(release, table, seed), shadows.singling_out, limits, *why),
            *(
                linkability(found, known, of, limits, *open_for(found, known))
                for known, found in shadows.linkability.items()
            ),
            *(
                membership(shadows.membership, known, of, limits, *why)
                for known in (*shadows.inference, None)
            ),
            *(
                inference_gain(found, known, of, limits, *open_for(found, known + 1))
                for known, found in shadows.inference.items()
            ),
            attribute(
                counted["users_rating_disclosed"],
                limits,
                exists=counted["users_rating_exists"],
                listed=counted["users_exact_values_listed"],
                alone=single_valued(release),
                fine=release.scale.fine,
                certain=None if given is None else given.attribute,
                advice=advice if release.private is not None else key_file(),
            ),
            composition(beside, limits),
        )

    def _findings(
        self, original: OneTable | InShards, counted: dict[str, Any], tracked: Tracked | None
    ) -> list[Finding]:
        """Return the other conditions, each of which must hold."""
        release = original.release
        table = original.part if isinstance(original, OneTable) else None
        findings = [
            judge_claims(counted["claims"]),
            *(judge_model(release, claim, table) for claim in models_of(release)),
            judge_tracker(tracked, release.classes.n_items),
            judge_audience(release),
            judge_identifying(release),
            judge_rare_values(release, counted["few_have"]),
            judge_profiles(release),
            judge_k(release),
            judge_scale(release, original.given),
        ]
        return [finding for finding in findings if finding is not None]
