"""`Dossier`: the content of the internal and the public report, as plain data.

The internal report (`Dossier.internal`) has every figure. The public one (`Dossier.public`) is a
function of the release folder and of the status of the checks
(`starshade.audit.dossier.public.public_edition`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from starshade.arguments import typed
from starshade.attack.knowledge import Knowledge
from starshade.attack.risk import OnlyFit, Risk
from starshade.attack.risk_result import RiskResult
from starshade.audit.dossier.context import Context
from starshade.audit.dossier.data import at_risk, data_section, stand_out
from starshade.audit.dossier.examples import example_rows
from starshade.audit.dossier.first import first_page, notices_of
from starshade.audit.dossier.losses import (
    disclosure_rows,
    histogram_section,
    loss_rows,
    no_probe,
    no_queries,
    query_section,
    recommender_section,
)
from starshade.audit.dossier.public import Judgement, public_edition
from starshade.audit.dossier.release import (
    ATTACK_MEANING,
    attack_rows,
    claim_rows,
    files_of,
    given_away,
    method_section,
    model_rows,
    tracker_row,
    versions_of,
    worst_off,
)
from starshade.audit.dossier.remains import no_remains, remains_section
from starshade.audit.dossier.variables import risk_section, variables_section
from starshade.audit.dossier.verdict import check_section, finding_rows, verdict_section
from starshade.audit.result import AuditResult
from starshade.audit.verdict import Audit
from starshade.figure import payload
from starshade.progress import announced
from starshade.ratings.shards.shards import Shards
from starshade.ratings.table import Ratings
from starshade.release.folder.read import read_release
from starshade.release.match.match import Match
from starshade.release.table import Release
from starshade.rng import Rng, resolve_seed


@dataclass(frozen=True)
class Dossier:
    """The content of the reports on a release.

    Attributes
    ----------
    audit : AuditResult
        The audit of the release.
    for_all, own : mapping
        The public and the internal report.

    Notes
    -----
    Every ``meaning`` says what a high or a low figure means. Texts are
    plain, not escaped.

    Keys of both reports.

    ``audience``
        "public" or "internal".
    ``verdict``
        ``{verdict, passed, word, headline, policy, publishable, paragraph, advice}``: PASS, FAIL or
        INCOMPLETE, the policy, by what the release may be published (`publishable`: "policy",
        "acceptance", or "" where it may not), and the next steps (`advice`: list of sentences);
        internal also ``reasons``, and ``utility``, lines on its utility.
    ``accepted``
        ``[{risk, up_to, policy, reason, by, until}]``: risks that the owner accepted; texts.
        Public: `up_to` in steps of 5 %, rounded up, as thresholds are.
    ``context``
        Setting of `Context` → ``{title, value}``, as the owner states it; "not stated" where it is
        not. Public: without `other_data`, `controls` and `direct_identifiers`, which would help an
        adversary.
    ``notices``
        Sentences for the first line, such as "The review date 2025-01-01 has passed."
    ``claims``
        ``[{model, asked, verified, holds, how}]``, all texts but `holds`; public: as verified when
        the files were written.
    ``findings``
        ``[{name, passed, text}]``: other conditions, each of which must hold.
    ``warnings``
        Caveats that do not change the verdict.
    ``method``
        ``{name, summary, config[{name, value}], layout, layout_meaning, profile, profile_meaning,
        audience, k, records, items, classes, users_deleted, users_without_rating,
        rare_items_dropped, whose, left_out}``; the last three numbers are bands without the key
        file, as in every public report. `whose`: how many records are dummy records, `left_out`:
        how many people were left out and why; texts, "" where there are none, or no key file.
    ``files``
        ``[{name, sha256, bytes}]`` of the release.
    ``versions``
        ``{starshade, made_with, format}``.

    Public report only:

    ``checks``
        ``[{name, title, threshold, source, status, mark}]``, texts: thresholds that are not those
        of a policy of starshade in steps of 5 %, rounded up.
    ``holds``
        ``{scale, attributes, classes{count, smallest, median, largest, bins[{label, share}],
        meaning}, cells{kinds[{name, label, share}], histogram[{label, share}], meaning}, examples,
        disclosure{rows}, inside[{title, value, unit, meaning}]}``: what is in the folder; None
        where it may not be published. `kinds` are of all cells, `examples` as in the internal
        report, without real rows. The histogram is empty on a scale without steps; `inside` has
        bands.
    ``uses``
        ``{good_for, not_good_for}``: sentences on the method of the release.
    ``omitted``
        ``{text, rows[{title, value, meaning}]}``: items and people left out, in bands.
    ``open``
        Sentences: what is not guaranteed.

    Internal report only:

    ``first``
        What page 1 has beside the verdict: ``{protection{known, before, after, dots_before,
        dots_after, tested}, risks[{title, name, value, bar, end, limit, threshold, status,
        mark}], decision, utility}``; of a check with several numbers of known ratings the worst.
    ``variables``
        ``[{name, kind, technique}]``: each variable of the data, and what the release does to it.
    ``class_risk``
        ``{average, maximum, smallest, classes}``: prosecutor risk by class sizes, or None where
        records of a class may differ.

    A *rate* is ``{rate, low, high}``, shares in [0, 1] with a 95 % interval, or None where it is
    not known.

    ``worst_off``
        ``{knowledge, draws, people, mean, worst, meaning}``: class linkage, of all people and of
        the most exposed tenth; None without the key file.
    ``checks``
        ``[{name, title, value, low, high, baseline, threshold, source, status, known, targets, of,
        attack, knowledge, initial, other_values, text, advice, mark, measured_text, value_text,
        people_text, threshold_text, note}]``: by the strongest attack; `initial` and
        `other_values` are rates, `note` qualifies the figure.
    ``data``
        ``{of, released, users, items, ratings, scale{minimum, maximum, step, text}, attributes,
        sparsity{value, meaning}, histogram{bins[{label, low, high, ratings, share}], meaning},
        long_tail{points[{items, ratings}], top_1_percent, top_10_percent, meaning},
        ratings_per_user{mean, bins[{label, low, high, users, share}], meaning}, first_day,
        last_day, notes}``. `of` says that these are all, "" where that is the released part, and
        `released` is ``{users, items, ratings, sparsity, text}`` of that part, else None.
    ``stand_out``
        ``{steps[{known, identified: rate}], users, knowledge, meaning, comparison}``: the share of
        people identified in the original data by that many known ratings or fewer; `comparison`
        with the attacks.
    ``attacks``
        ``[{attack, title, knowledge, knew, known, exact, before: rate, after: rate, profile: rate,
        baseline, threshold, targets, people, tried}]``: `knew` is `knowledge` without what an
        attack makes of it; `exact`: whether the known ratings are
        exact; `profile`: how often a class that agrees with the target stands out;
        `baseline`: 1 in the number of records; `threshold`: of re-identification, or None;
        `targets`: people who were attacked; `people`: all who were released; `tried`: a text on
        how many have enough ratings, "" where all have.
    ``attack_meaning``
        The meaning of these rates.
    ``recall``
        ``{title, head, rows}``: recall at 90 % and 99 % precision, before and after, as text.
    ``tracker``
        ``{before: rate, after: rate, meaning}`` or None: people whom counting queries single out.
    ``profile_disclosure``
        ``{rows[{name, value, unit, meaning}], text}`` or None: disclosure by averaged profiles.
    ``models``
        ``[{name, passed, text}]``: the independent checks of the privacy models.
    ``disclosure``
        ``{rows[{name, title, value, unit, meaning}], text}``: remaining disclosure.
    ``examples``
        ``{rule, items[text], classes[{size, head, released[text], real[[text]], more}]}`` or None
        where there is no cell: a few classes as released, and up to five real rows of each, item by
        item; `real` is None without the key file, `more` are people who are not shown.
    ``remains``, ``remains_how``
        ``{kinds[{name, label, share, meaning}] (suppressed in two parts), within_step,
        item_means_within_step, improvement_over_item_means, imputed_share, text, meaning}``:
        what becomes of each rating
        (`WhatRemains`), compared with item means; None without the key file, then
        `remains_how` says what to do.
    ``losses``
        ``[{name, title, value, unit, meaning, low_is_good}]``; `unit` is one of "share",
        "percent", "count", "ratings", "ratio", "", and `low_is_good` None where neither is.
    ``histogram``
        ``{of, levels[text], before[share], after[share], null_before, null_after, meaning}`` or
        None on a scale without steps: the distribution of ratings, before and after.
    ``recommender``, ``recommender_how``
        ``{rows[{name, title, before, after, ratio, unit, meaning}], tested, meaning}``, or None
        without held-out ratings; then `recommender_how` says how to get it.
    ``query_error``, ``query_error_how``
        ``{rows[{name, title, value, unit, meaning}], conditions, meaning}``, or None where no
        queries can be answered; then `query_error_how` says why.
    ``people``
        ``{rows[{user, known, share, class_size, disclosed, exists}], listed, total, text}`` or
        None: the users at risk, the most exposed first: how few ratings identify each in the
        original data, the class size in the release, how many of their ratings the class
        discloses, and of how many it discloses the existence. No page has them: they are in a
        separate file (`starshade.report.people.save_people`).
    ``run``
        ``{seed, release, private, probe, earlier, command, digest, seconds, config}``: how to
        reproduce the report; texts, or None.
    """

    audit: AuditResult
    for_all: Mapping[str, Any] = field(repr=False)
    own: Mapping[str, Any] = field(repr=False)

    @property
    def passed(self) -> bool:
        """Whether the verdict is PASS."""
        return self.audit.passed

    @property
    def publishable(self) -> str:
        """By what the release may be published: "policy", "acceptance"; empty: it may not."""
        return str(self.own["verdict"]["publishable"])

    def moved(self, release: str, private: str) -> Dossier:
        """Return the same for a release and key file in another place."""
        run = {**self.own["run"], "release": release, "private": private}
        return replace(self, own={**self.own, "run": run})

    def public(self) -> dict[str, Any]:
        """Return the public report, which has nothing about a single user."""
        return deepcopy(dict(self.for_all))

    def internal(self) -> dict[str, Any]:
        """Return the internal report."""
        return deepcopy(dict(self.own))


_DRAWS = 10  # of the known ratings of each person


@typed
def compile_dossier(
    ratings: Ratings,
    release: str | Path,
    *,
    private: str | Path | None = None,
    audit: Audit | None = None,
    probe: Ratings | None = None,
    earlier: Sequence[str | Path] = (),
    earlier_private: Sequence[str | Path] = (),
    accepted: Sequence[Mapping[str, str]] = (),
    context: Context | None = None,
    notices: Sequence[str] = (),
    rng: Rng = None,
    command: str | None = None,
) -> Dossier:
    """Audit a release and gather the content of its reports.

    Parameters
    ----------
    ratings : Ratings
        What the release was made of.
    release : path
        A release folder.
    private : path, optional
        The private key file.
    audit : Audit, optional
        Policy, thresholds and sizes; None: the usual ones.
    probe : Ratings, optional
        Ratings that were held out of `ratings` before; needs the key file.
    earlier : sequence of path
        Releases published before.
    earlier_private : sequence of path
        Their private key files, in any order.
    accepted : sequence of mapping
        Risks that the owner accepted: ``risk, up_to, policy, reason, by, until``, texts.
    context : Context, optional
        What the owner states on the release: purpose, recipient, controls, review.
    notices : sequence of str
        Sentences that both reports print first.
    rng : int, Generator or None
    command : str, optional
        What reproduces the report, for the internal one.

    Raises
    ------
    ReleaseError, ConfigError
        As `Audit.run`.

    Examples
    --------
    >>> dossier = compile_dossier(ratings, "out/", private="out.json", rng=0)  # doctest: +SKIP
    >>> dossier.public()["verdict"]["headline"]  # doctest: +SKIP
    'PASS: policy partner v1'
    """
    return gather(
        ratings,
        read_release(release, private=private),
        Path(release),
        private=private,
        audit=audit,
        probe=probe,
        earlier=earlier,
        earlier_private=earlier_private,
        accepted=lambda _: accepted,
        context=context,
        notices=notices,
        seed=resolve_seed(rng),
        command=command,
    )


@announced("preparing the report")
def gather(
    ratings: Ratings,
    released: Release,
    folder: Path,
    *,
    private: str | Path | None = None,
    audit: Audit | None = None,
    probe: Ratings | None = None,
    earlier: Sequence[str | Path] = (),
    earlier_private: Sequence[str | Path] = (),
    accepted: Callable[[AuditResult], Sequence[Mapping[str, str]]] = lambda _: (),
    context: Context | None = None,
    notices: Sequence[str] = (),
    store: Shards | None = None,
    seed: int,
    command: str | None = None,
) -> Dossier:
    """Do the same with a release that was read from `folder` already.

    `released` carries its private facts; `private` is only named in the internal report.
    `accepted`: of the audit, the accepted risks that count. `notices`: besides those of the
    context; as the public report has them too, they may not depend on the ratings. `store`: what
    `ratings` were read from.
    """
    judge = audit or Audit()
    result = judge.judge_release(
        ratings,
        released,
        folder,
        earlier=earlier,
        earlier_private=earlier_private,
        probe=probe,
        store=store,
        seed=seed,
    )
    rows = accepted(result)
    judgement = Judgement.of(result, rows)
    context = context or Context()
    first = [*notices, *context.notices]
    public = public_edition(replace(released, private=None), folder, judgement)
    public |= {"context": context.public_rows, "notices": [*first, *public["notices"]]}
    risk = _risk(ratings, judge.targets, seed)
    own = {
        "audience": "internal",
        **_judged(result, released, ratings, judgement.publishable),
        "accepted": [dict(each) for each in rows],
        "context": context.rows,
        "notices": [*first, *notices_of(result, released)],
        "worst_off": worst_off(result, released, Match(released, ratings).made_of, judge.targets),
        "stand_out": stand_out(risk, int(ratings.user_support.max(initial=0))),
        "method": method_section(released),
        "files": files_of(folder, released),
        "versions": versions_of(released),
        "people": at_risk(risk, ratings, released),
        "run": {
            "seed": seed,
            "release": str(folder),
            "private": None if private is None else str(private),
            "probe": probe is not None,
            "earlier": [str(path) for path in earlier],
            "command": command,
            "digest": result.digest,
            "seconds": result.seconds,
            "config": dict(result.config),
        },
    }
    return Dossier(audit=result, for_all=public, own=own)


def _judged(
    result: AuditResult, release: Release, ratings: Ratings, publishable: str
) -> dict[str, Any]:
    audited = Match(release, ratings).made_of
    data = data_section(ratings, audited, release.scale)
    return {
        "verdict": verdict_section(result, release, audited.n_users, publishable),
        "first": first_page(result, release),
        "variables": variables_section(ratings, release),
        "class_risk": risk_section(release),
        "claims": claim_rows(result.claims, beside=bool(release.manifest.quasi_identifiers)),
        "checks": check_section(result),
        "findings": finding_rows(result),
        "warnings": list(result.warnings),
        "data": data,
        "attacks": attack_rows(result, release, audited.n_users),
        "attack_meaning": ATTACK_MEANING,
        "recall": payload(result.recall),
        "tracker": tracker_row(result),
        "profile_disclosure": given_away(result.profile_disclosure),
        "models": model_rows(result),
        "disclosure": {
            "rows": disclosure_rows(result.disclosure, release),
            "text": result.still_tells,
        },
        "examples": example_rows(release, ratings),
        "remains": remains_section(result.utility),
        "remains_how": no_remains(),
        "losses": loss_rows(result.utility),
        "histogram": histogram_section(release, audited, differ=data["released"] is not None),
        "recommender": recommender_section(result),
        "recommender_how": no_probe(),
        "query_error": query_section(result),
        "query_error_how": no_queries(release),
    }


def _risk(ratings: Ratings, targets: int, seed: int) -> RiskResult | None:
    """Attack people in the original data; None where no person can be attacked."""
    known = Knowledge(known=1, dates=False)
    if not known.eligible_users(ratings).any():
        return None
    return Risk(draws=_DRAWS, attack=OnlyFit()).run(ratings, known, targets=targets, rng=seed)
