"""Attack, check, anonymize, measure and publish rating data without exposing the people in it.

A name is imported from its room when it is first used, so ``import starshade`` loads nothing
heavy::

    import starshade as ss

    ratings = ss.read_ratings("ml-100k/u.data", users="ml-100k/u.user")
    risk = ss.ScoreboardRH().run(ratings, ss.Knowledge(known=8, wrong=2), targets=1000, rng=0)
    release = ss.KLikeness(k=5, hierarchy="ndgh", items=ss.top_items(10)).anonymize(ratings, rng=0)
    release.save("out/")
    print(ss.Audit().run(ratings, "out/", rng=0))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from starshade._version import __version__

if TYPE_CHECKING:  # the same names again, for type checkers and editors
    from starshade.anonymize.hierarchy.attribute import (
        AttributeHierarchy,
        read_attribute_hierarchy,
    )
    from starshade.anonymize.interval.interval import IntervalAnonymizer
    from starshade.anonymize.k_exchange.k_exchange import KExchange
    from starshade.anonymize.k_likeness import KLikeness
    from starshade.anonymize.k_member import KMember
    from starshade.anonymize.mondrian import Mondrian
    from starshade.anonymize.mondrian_relaxed import MondrianRelaxed
    from starshade.anonymize.predictive.predictive import PredictiveAnonymizer
    from starshade.anonymize.suppress.suppress import SuppressAnonymizer
    from starshade.attack.auxiliary.auxiliary import AuxiliaryAttack
    from starshade.attack.auxiliary.result import AuxiliaryResult
    from starshade.attack.candidates.homogeneity import HomogeneityAttack
    from starshade.attack.candidates.homogeneity_result import HomogeneityResult
    from starshade.attack.candidates.label import LabelAttack
    from starshade.attack.candidates.result import CandidateResult
    from starshade.attack.candidates.scoreboard import Scoreboard
    from starshade.attack.candidates.structure import StructureAttack
    from starshade.attack.knowledge import Knowledge
    from starshade.attack.link.existence import LinkExistence
    from starshade.attack.link.result import LinkResult
    from starshade.attack.link.theorems import link_existence_bound, link_existence_exact
    from starshade.attack.padding.padding import PaddingAttack
    from starshade.attack.padding.result import PaddingResult
    from starshade.attack.result import AttackResult
    from starshade.attack.risk.result import RiskResult, save_risk_list
    from starshade.attack.risk.risk import Risk
    from starshade.attack.scoreboard_rh.scoreboard_rh import ScoreboardRH
    from starshade.attack.scoreboard_rh.tradeoff import TradeOff
    from starshade.attack.sparsity.bounds import facts_needed, lineup_facts, sample_sparsity
    from starshade.attack.sparsity.few_facts import few_facts
    from starshade.attack.sparsity.information_gain import information_gain
    from starshade.attack.sparsity.sparsity import Sparsity, SparsityResult
    from starshade.attack.tracker.result import TrackerResult
    from starshade.attack.tracker.tracker import TrackerAttack
    from starshade.audit.compare.compare import compare
    from starshade.audit.compare.result import Comparison
    from starshade.audit.dossier.dossier import Dossier, compile_dossier
    from starshade.audit.reproduction.kl.reproduce import reproduce_kl
    from starshade.audit.reproduction.kl.result import GeneralizationStudy
    from starshade.audit.reproduction.ns.reproduce import reproduce_ns
    from starshade.audit.reproduction.ns.result import Reproduction
    from starshade.audit.reproduction.pa.reproduce import reproduce_pa
    from starshade.audit.reproduction.pa.result import PredictiveStudy
    from starshade.audit.reproduction.sr.prediction import Prediction, predict_attribute
    from starshade.audit.reproduction.sr.reproduce import reproduce_sr
    from starshade.audit.reproduction.sr.result import Study
    from starshade.audit.result import AuditResult
    from starshade.audit.verdict import Audit
    from starshade.errors import (
        ConfigError,
        InputError,
        InternalError,
        OutputError,
        ReleaseError,
        StarshadeError,
        UnmetError,
        UserError,
    )
    from starshade.privacy.alpha_k import AlphaK
    from starshade.privacy.classes.verdict import ClassVerdict
    from starshade.privacy.diversity.item_diversity import Diversity
    from starshade.privacy.diversity.verdict import DiversityVerdict
    from starshade.privacy.k_anonymity import KAnonymity
    from starshade.privacy.k_eps import KEpsAnonymity
    from starshade.privacy.k_eps_l import KEpsLAnonymity
    from starshade.privacy.l_diversity import LDiversity
    from starshade.privacy.proximity.graph import ProximityGraph
    from starshade.privacy.proximity.graph_result import GraphResult
    from starshade.privacy.proximity.verdict import ProximityVerdict
    from starshade.privacy.review_graph import ReviewGraph
    from starshade.privacy.t_closeness import TCloseness
    from starshade.privacy.verdict import Verdict
    from starshade.query.query import Query
    from starshade.query.result import QueryResult
    from starshade.ratings.auxiliary.auxiliary import Auxiliary, read_auxiliary
    from starshade.ratings.habits import rated_outside_top
    from starshade.ratings.holdout import hold_out
    from starshade.ratings.item_mapping import read_item_mapping
    from starshade.ratings.read import read_ratings
    from starshade.ratings.scale import Scale
    from starshade.ratings.select import ItemSelection, listed_items, top_items
    from starshade.ratings.synth.synth import synthesize
    from starshade.ratings.table import Ratings
    from starshade.ratings.write.write import write_ratings
    from starshade.recommend.factors import Factors
    from starshade.recommend.regularized_svd import RegularizedSVD
    from starshade.release.folder.read import read_release
    from starshade.release.table import Release
    from starshade.report.comparison import save_comparison
    from starshade.report.page import save_report
    from starshade.report.reproduction import save_reproduction
    from starshade.report.reproduction_kl import save_kl
    from starshade.report.reproduction_pa import save_pa
    from starshade.report.reproduction_sr import save_sr
    from starshade.utility.class_sizes import AverageClassSize, Discernibility
    from starshade.utility.disclosure_shares import DisclosureShares
    from starshade.utility.distortion import Distortion
    from starshade.utility.generalization_loss import GeneralizationLoss
    from starshade.utility.held_out.pairwise_dissimilarity import (
        PairwiseDissimilarity,
        PairwiseResult,
    )
    from starshade.utility.held_out.recommender_error import RecommenderError
    from starshade.utility.held_out.self_rank import SelfRank, SelfRankResult
    from starshade.utility.held_out.similar_user import SimilarUserDeviation
    from starshade.utility.held_out.target_deviation import TargetDeviation
    from starshade.utility.held_out.top_n import TopN
    from starshade.utility.naive_bayes import naive_bayes_accuracy
    from starshade.utility.query_error.query_error import QueryError
    from starshade.utility.query_error.result import QueryErrorResult
    from starshade.utility.rating_histogram import HistogramResult, RatingHistogram
    from starshade.utility.result import UtilityResult

__all__ = [
    "AlphaK",
    "AttackResult",
    "AttributeHierarchy",
    "Audit",
    "AuditResult",
    "Auxiliary",
    "AuxiliaryAttack",
    "AuxiliaryResult",
    "AverageClassSize",
    "CandidateResult",
    "ClassVerdict",
    "Comparison",
    "ConfigError",
    "Discernibility",
    "DisclosureShares",
    "Distortion",
    "Diversity",
    "DiversityVerdict",
    "Dossier",
    "Factors",
    "GeneralizationLoss",
    "GeneralizationStudy",
    "GraphResult",
    "HistogramResult",
    "HomogeneityAttack",
    "HomogeneityResult",
    "InputError",
    "InternalError",
    "IntervalAnonymizer",
    "ItemSelection",
    "KAnonymity",
    "KEpsAnonymity",
    "KEpsLAnonymity",
    "KExchange",
    "KLikeness",
    "KMember",
    "Knowledge",
    "LDiversity",
    "LabelAttack",
    "LinkExistence",
    "LinkResult",
    "Mondrian",
    "MondrianRelaxed",
    "OutputError",
    "PaddingAttack",
    "PaddingResult",
    "PairwiseDissimilarity",
    "PairwiseResult",
    "Prediction",
    "PredictiveAnonymizer",
    "PredictiveStudy",
    "ProximityGraph",
    "ProximityVerdict",
    "Query",
    "QueryError",
    "QueryErrorResult",
    "QueryResult",
    "RatingHistogram",
    "Ratings",
    "RecommenderError",
    "RegularizedSVD",
    "Release",
    "ReleaseError",
    "Reproduction",
    "ReviewGraph",
    "Risk",
    "RiskResult",
    "Scale",
    "Scoreboard",
    "ScoreboardRH",
    "SelfRank",
    "SelfRankResult",
    "SimilarUserDeviation",
    "Sparsity",
    "SparsityResult",
    "StarshadeError",
    "StructureAttack",
    "Study",
    "SuppressAnonymizer",
    "TCloseness",
    "TargetDeviation",
    "TopN",
    "TrackerAttack",
    "TrackerResult",
    "TradeOff",
    "UnmetError",
    "UserError",
    "UtilityResult",
    "Verdict",
    "__version__",
    "compare",
    "compile_dossier",
    "facts_needed",
    "few_facts",
    "hold_out",
    "information_gain",
    "lineup_facts",
    "link_existence_bound",
    "link_existence_exact",
    "listed_items",
    "naive_bayes_accuracy",
    "predict_attribute",
    "rated_outside_top",
    "read_attribute_hierarchy",
    "read_auxiliary",
    "read_item_mapping",
    "read_ratings",
    "read_release",
    "reproduce_kl",
    "reproduce_ns",
    "reproduce_pa",
    "reproduce_sr",
    "sample_sparsity",
    "save_comparison",
    "save_kl",
    "save_pa",
    "save_report",
    "save_reproduction",
    "save_risk_list",
    "save_sr",
    "synthesize",
    "top_items",
    "write_ratings",
]

#: module → the public names in it
_ROOMS = {
    "starshade.anonymize.hierarchy.attribute": (
        "AttributeHierarchy",
        "read_attribute_hierarchy",
    ),
    "starshade.anonymize.interval.interval": ("IntervalAnonymizer",),
    "starshade.anonymize.k_exchange.k_exchange": ("KExchange",),
    "starshade.anonymize.k_likeness": ("KLikeness",),
    "starshade.anonymize.k_member": ("KMember",),
    "starshade.anonymize.mondrian": ("Mondrian",),
    "starshade.anonymize.mondrian_relaxed": ("MondrianRelaxed",),
    "starshade.anonymize.predictive.predictive": ("PredictiveAnonymizer",),
    "starshade.anonymize.suppress.suppress": ("SuppressAnonymizer",),
    "starshade.attack.auxiliary.auxiliary": ("AuxiliaryAttack",),
    "starshade.attack.auxiliary.result": ("AuxiliaryResult",),
    "starshade.attack.sparsity.bounds": ("facts_needed", "lineup_facts", "sample_sparsity"),
    "starshade.attack.candidates.result": ("CandidateResult",),
    "starshade.attack.sparsity.few_facts": ("few_facts",),
    "starshade.attack.candidates.homogeneity": ("HomogeneityAttack",),
    "starshade.attack.candidates.homogeneity_result": ("HomogeneityResult",),
    "starshade.attack.sparsity.information_gain": ("information_gain",),
    "starshade.attack.knowledge": ("Knowledge",),
    "starshade.attack.candidates.label": ("LabelAttack",),
    "starshade.attack.link.existence": ("LinkExistence",),
    "starshade.attack.link.result": ("LinkResult",),
    "starshade.attack.link.theorems": ("link_existence_bound", "link_existence_exact"),
    "starshade.attack.padding.padding": ("PaddingAttack",),
    "starshade.attack.padding.result": ("PaddingResult",),
    "starshade.attack.result": ("AttackResult",),
    "starshade.attack.risk.risk": ("Risk",),
    "starshade.attack.risk.result": ("RiskResult", "save_risk_list"),
    "starshade.attack.candidates.scoreboard": ("Scoreboard",),
    "starshade.attack.scoreboard_rh.scoreboard_rh": ("ScoreboardRH",),
    "starshade.attack.sparsity.sparsity": ("Sparsity", "SparsityResult"),
    "starshade.attack.candidates.structure": ("StructureAttack",),
    "starshade.attack.tracker.tracker": ("TrackerAttack",),
    "starshade.attack.tracker.result": ("TrackerResult",),
    "starshade.attack.scoreboard_rh.tradeoff": ("TradeOff",),
    "starshade.audit.compare.compare": ("compare",),
    "starshade.audit.compare.result": ("Comparison",),
    "starshade.audit.dossier.dossier": ("Dossier", "compile_dossier"),
    "starshade.audit.reproduction.kl.reproduce": ("reproduce_kl",),
    "starshade.audit.reproduction.kl.result": ("GeneralizationStudy",),
    "starshade.audit.reproduction.ns.reproduce": ("reproduce_ns",),
    "starshade.audit.reproduction.ns.result": ("Reproduction",),
    "starshade.audit.reproduction.pa.reproduce": ("reproduce_pa",),
    "starshade.audit.reproduction.pa.result": ("PredictiveStudy",),
    "starshade.audit.result": ("AuditResult",),
    "starshade.audit.reproduction.sr.prediction": (
        "Prediction",
        "predict_attribute",
    ),
    "starshade.audit.reproduction.sr.reproduce": ("reproduce_sr",),
    "starshade.audit.reproduction.sr.result": ("Study",),
    "starshade.audit.verdict": ("Audit",),
    "starshade.errors": (
        "ConfigError",
        "InputError",
        "InternalError",
        "OutputError",
        "ReleaseError",
        "StarshadeError",
        "UnmetError",
        "UserError",
    ),
    "starshade.privacy.alpha_k": ("AlphaK",),
    "starshade.privacy.classes.verdict": ("ClassVerdict",),
    "starshade.privacy.diversity.verdict": ("DiversityVerdict",),
    "starshade.privacy.proximity.graph_result": ("GraphResult",),
    "starshade.privacy.diversity.item_diversity": ("Diversity",),
    "starshade.privacy.k_anonymity": ("KAnonymity",),
    "starshade.privacy.k_eps": ("KEpsAnonymity",),
    "starshade.privacy.k_eps_l": ("KEpsLAnonymity",),
    "starshade.privacy.l_diversity": ("LDiversity",),
    "starshade.privacy.proximity.graph": ("ProximityGraph",),
    "starshade.privacy.proximity.verdict": ("ProximityVerdict",),
    "starshade.privacy.review_graph": ("ReviewGraph",),
    "starshade.privacy.t_closeness": ("TCloseness",),
    "starshade.privacy.verdict": ("Verdict",),
    "starshade.query.query": ("Query",),
    "starshade.query.result": ("QueryResult",),
    "starshade.ratings.auxiliary.auxiliary": ("Auxiliary", "read_auxiliary"),
    "starshade.ratings.habits": ("rated_outside_top",),
    "starshade.ratings.holdout": ("hold_out",),
    "starshade.ratings.item_mapping": ("read_item_mapping",),
    "starshade.ratings.read": ("read_ratings",),
    "starshade.ratings.scale": ("Scale",),
    "starshade.ratings.select": ("ItemSelection", "listed_items", "top_items"),
    "starshade.ratings.synth.synth": ("synthesize",),
    "starshade.ratings.table": ("Ratings",),
    "starshade.ratings.write.write": ("write_ratings",),
    "starshade.recommend.factors": ("Factors",),
    "starshade.recommend.regularized_svd": ("RegularizedSVD",),
    "starshade.release.folder.read": ("read_release",),
    "starshade.release.table": ("Release",),
    "starshade.report.comparison": ("save_comparison",),
    "starshade.report.page": ("save_report",),
    "starshade.report.reproduction": ("save_reproduction",),
    "starshade.report.reproduction_kl": ("save_kl",),
    "starshade.report.reproduction_pa": ("save_pa",),
    "starshade.report.reproduction_sr": ("save_sr",),
    "starshade.utility.class_sizes": ("AverageClassSize", "Discernibility"),
    "starshade.utility.disclosure_shares": ("DisclosureShares",),
    "starshade.utility.distortion": ("Distortion",),
    "starshade.utility.generalization_loss": ("GeneralizationLoss",),
    "starshade.utility.naive_bayes": ("naive_bayes_accuracy",),
    "starshade.utility.query_error.query_error": ("QueryError",),
    "starshade.utility.query_error.result": ("QueryErrorResult",),
    "starshade.utility.result": ("UtilityResult",),
    "starshade.utility.held_out.pairwise_dissimilarity": (
        "PairwiseDissimilarity",
        "PairwiseResult",
    ),
    "starshade.utility.rating_histogram": ("HistogramResult", "RatingHistogram"),
    "starshade.utility.held_out.recommender_error": ("RecommenderError",),
    "starshade.utility.held_out.self_rank": ("SelfRank", "SelfRankResult"),
    "starshade.utility.held_out.similar_user": ("SimilarUserDeviation",),
    "starshade.utility.held_out.target_deviation": ("TargetDeviation",),
    "starshade.utility.held_out.top_n": ("TopN",),
}
_WHERE = {name: module for module, names in _ROOMS.items() for name in names}

if not TYPE_CHECKING:  # a type checker would take every misspelt name for a public one

    def __getattr__(name: str) -> Any:
        """Import a public name from its room."""
        if name not in _WHERE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_WHERE[name]), name)
        globals()[name] = value  # the next use finds it at once
        return value


def __dir__() -> list[str]:
    return __all__
