"""Attack, check, anonymize, measure and publish rating data without exposing the people in it.

A name is imported from its room when it is first used, so ``import starshade`` loads nothing
heavy::

    import starshade as ss

    ratings = ss.read_ratings("ml-100k/u.data", users="ml-100k/u.user")
    risk = ss.ScoreboardRH().run(ratings, ss.Knowledge(known=8, wrong=2), targets=1000, rng=0)
    release = ss.KExchange(k=5, items=ss.top_items(10)).anonymize(ratings, rng=0)
    release.save("out/")
    print(ss.Audit().run(ratings, "out/", rng=0))
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from starshade._version import __version__ as __version__

#: module → the public names in it, beside the classes that are registered
_ROOMS = {
    "starshade.anonymize.hierarchy.attribute": (
        "AttributeHierarchy",
        "read_attribute_hierarchy",
    ),
    "starshade.attack.auxiliary.auxiliary": ("AuxiliaryAttack",),
    "starshade.attack.auxiliary.result": ("AuxiliaryResult",),
    "starshade.attack.candidates.homogeneity": ("HomogeneityResult",),
    "starshade.attack.candidates.result": ("CandidateResult",),
    "starshade.attack.fake_edges.result": ("FakeEdgesResult",),
    "starshade.attack.knowledge": ("Knowledge",),
    "starshade.attack.link_existence.link_existence": (
        "link_existence_bound",
        "link_existence_exact",
    ),
    "starshade.attack.link_existence.result": ("LinkResult",),
    "starshade.attack.padding.result": ("PaddingResult",),
    "starshade.attack.predicate.result": ("PredicateResult",),
    "starshade.attack.result": ("AttackResult",),
    "starshade.attack.risk": ("Risk",),
    "starshade.attack.risk_result": (
        "RiskResult",
        "save_risk_list",
    ),
    "starshade.attack.scoreboard_rh.tradeoff": ("TradeOff",),
    "starshade.attack.sharded.attack": ("attack_shards",),
    "starshade.anonymize.sharded.anonymize": ("anonymized_shards",),
    "starshade.attack.sparsity.few_facts": (
        "facts_needed",
        "few_facts",
        "lineup_facts",
        "sample_sparsity",
    ),
    "starshade.attack.sparsity.information_gain": ("information_gain",),
    "starshade.attack.sparsity.sparsity": (
        "Sparsity",
        "SparsityResult",
    ),
    "starshade.attack.tracker.result": ("TrackerResult",),
    "starshade.audit.compare.compare": ("compare",),
    "starshade.audit.compare.result": ("Comparison",),
    "starshade.audit.dossier.context": ("Context",),
    "starshade.audit.dossier.dossier": (
        "Dossier",
        "compile_dossier",
    ),
    "starshade.audit.original.utility_round": ("utility_round",),
    "starshade.audit.reproduction.everything": (
        "Everything",
        "reproduce_all",
    ),
    "starshade.audit.reproduction.kl.study": (
        "GeneralizationStudy",
        "reproduce_kl",
    ),
    "starshade.audit.reproduction.ns.study": (
        "Reproduction",
        "reproduce_ns",
    ),
    "starshade.audit.reproduction.pa.reproduce": ("reproduce_pa",),
    "starshade.audit.reproduction.pa.result": ("PredictiveStudy",),
    "starshade.audit.reproduction.sq.study": (
        "SatisfactionStudy",
        "reproduce_sq",
    ),
    "starshade.audit.reproduction.sr.prediction": (
        "Prediction",
        "predict_attribute",
    ),
    "starshade.audit.reproduction.sr.study": (
        "Study",
        "reproduce_sr",
    ),
    "starshade.audit.result": ("AuditResult",),
    "starshade.audit.compare.search": (
        "PolicySearch",
        "search_policy",
    ),
    "starshade.audit.verdict": ("Audit",),
    "starshade.errors": (
        "ConfigError",
        "EngineError",
        "InputError",
        "InternalError",
        "OutputError",
        "ReleaseError",
        "StarshadeError",
        "UnmetError",
        "UserError",
    ),
    "starshade.privacy.class_values": ("ClassVerdict",),
    "starshade.privacy.item_sets": ("DiversityVerdict",),
    "starshade.privacy.k_m": ("KMVerdict",),
    "starshade.privacy.proximity.graph_result": (
        "GraphResult",
        "ProximityGraph",
    ),
    "starshade.privacy.proximity.verdict": ("ProximityVerdict",),
    "starshade.privacy.sharded.check": ("check_shards",),
    "starshade.privacy.verdict": ("Verdict",),
    "starshade.query.query": ("Query",),
    "starshade.query.result": ("QueryResult",),
    "starshade.ratings.auxiliary.auxiliary": (
        "Auxiliary",
        "read_auxiliary",
    ),
    "starshade.ratings.auxiliary.item_mapping": ("read_item_mapping",),
    "starshade.ratings.describe": ("rated_outside_top",),
    "starshade.ratings.holdout": ("hold_out",),
    "starshade.ratings.read": ("read_ratings",),
    "starshade.ratings.scale": ("Scale",),
    "starshade.ratings.select": (
        "ItemSelection",
        "listed_items",
        "top_items",
    ),
    "starshade.ratings.shards.convert": ("convert_to_shards",),
    "starshade.ratings.shards.shards": (
        "Shards",
        "open_shards",
    ),
    "starshade.ratings.synth.synth": ("synthesize",),
    "starshade.ratings.table": ("Ratings",),
    "starshade.ratings.write": ("write_ratings",),
    "starshade.recommend.factors": ("Factors",),
    "starshade.recommend.regularized_svd": ("RegularizedSVD",),
    "starshade.release.folder.forget": ("forget",),
    "starshade.release.folder.read": ("read_release",),
    "starshade.release.folder.verification": ("verify",),
    "starshade.release.table": ("Release",),
    "starshade.report.folder": ("save_comparison",),
    "starshade.report.page": ("save_report",),
    "starshade.report.reproduction": ("save_study",),
    "starshade.report.site": ("save_site",),
    "starshade.utility.held_out.nearest": ("SelfRankResult",),
    "starshade.utility.held_out.pairwise_dissimilarity": ("PairwiseResult",),
    "starshade.utility.naive_bayes": ("naive_bayes_accuracy",),
    "starshade.utility.query_error_result": ("QueryErrorResult",),
    "starshade.utility.rating_histogram": ("HistogramResult",),
    "starshade.utility.result": ("UtilityResult",),
    "starshade.utility.round": ("UtilityRound",),
}
_WHERE = {name: module for module, names in _ROOMS.items() for name in names}
_REGISTRIES = ("anonymize", "attack", "privacy", "utility")


def _registered() -> dict[str, str]:
    """Return the modules of the attacks, models, methods and measures, by class."""
    registries = (import_module(f"starshade.{room}.registry") for room in _REGISTRIES)
    return {entry.cls: entry.module for each in registries for entry in each.ENTRIES}


def __getattr__(name: str) -> Any:
    """Import a public name from its room; ``__init__.pyi`` names them for type checkers."""
    if name == "__all__":
        return __dir__()
    module = _WHERE.get(name) or _registered().get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value  # the next use finds it at once
    return value


def __dir__() -> list[str]:
    return sorted([*_WHERE, *_registered(), "__version__"])
