"""How far anonymization moves ratings (SR Fig 7), and what it leaves to be predicted (Fig 8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from starshade.anonymize.interval.interval import IntervalAnonymizer
from starshade.audit.reproduction.figures import Skipped
from starshade.audit.reproduction.shared import Row
from starshade.audit.reproduction.sr.attribute import labels_of
from starshade.audit.reproduction.sr.plan import Workload
from starshade.audit.reproduction.sr.prediction import Prediction, draw_trials
from starshade.errors import StarshadeError
from starshade.progress import silence, task
from starshade.ratings.proximity.rule import NullRule
from starshade.utility.distortion import Distortion

__all__ = [
    "AS_STRICT",
    "PARTITIONS",
    "Predicted",
    "measure_losses",
    "predict_all",
]

Partition = Literal["whole", "cluster"]
PARTITIONS: tuple[Partition, ...] = ("whole", "cluster")
AS_STRICT = Skipped("7, 8", "nulls = zero", "the anonymizer makes the same release as under strict")


@dataclass(frozen=True)
class Predicted:
    """What one method left to be predicted."""

    nulls: NullRule
    partition: Partition
    k: int
    found: Prediction

    def to_dict(self) -> Row:
        """Return the point as plain values."""
        own = {"nulls": self.nulls, "partition": self.partition, "k": self.k}
        return own | self.found.to_dict()


def measure_losses(
    workload: Workload, settings: tuple[tuple[int, float], ...], seed: int
) -> tuple[list[Row], list[Skipped]]:
    """Anonymize under the null rules that differ, both ways, at each (k, ε).

    A (k, ε) that the method refuses is skipped, with its words. A row per release; distortions are
    in points of the scale, a null against a rating costing R.
    """
    losses: list[Row] = []
    skipped: list[Skipped] = []
    ways = list(_ways(workload))
    with task("anonymizing", len(ways) * len(settings)) as step:
        for nulls, partition in ways:
            for k, eps in dict.fromkeys(settings):
                try:
                    with silence():
                        release = _method(workload, nulls, partition, k, eps).anonymize(
                            workload.ratings, rng=seed
                        )
                        figures = Distortion().measure(release, workload.ratings).figures
                except StarshadeError as error:
                    what = f"{workload.name}, {nulls}, {partition}, k = {k}, ε = {eps:g}"
                    skipped.append(Skipped("7", what, error.message))
                else:
                    setting = {"data": workload.name, "nulls": nulls, "partition": partition}
                    cost = {name: figures[name] for name in ("distortion", "distortion_per_record")}
                    losses.append({**setting, "k": k, "eps": eps, **cost})
                step(1)
    return losses, skipped


def predict_all(
    workload: Workload,
    attribute: str | None,
    ks: tuple[int, ...],
    eps: float,
    *,
    trials: int,
    seed: int,
) -> tuple[list[Predicted], list[Skipped]]:
    """Predict an attribute after anonymization, under the same rules, both ways, at each k."""
    if attribute is None:
        return [], [Skipped("8", "prediction", "the data have no attribute with 2 to 25 classes")]
    labels_of(workload.ratings, attribute)
    try:
        drawn = draw_trials(workload.ratings, attribute, trials=trials, rng=seed)
    except StarshadeError as error:
        reason = f"{error.message}: {error.advice}" if error.advice else error.message
        return [], [Skipped("8", f"prediction of {attribute}", reason)]
    predicted, skipped = [], []
    for nulls, partition in _ways(workload):
        for k in ks:
            method = _method(workload, nulls, partition, k, eps)
            try:
                predicted.append(Predicted(nulls, partition, k, drawn.predict(method)))
            except StarshadeError as error:
                what = f"{workload.name}, {nulls}, {partition}, k = {k}"
                skipped.append(Skipped("8", what, error.message))
    return predicted, skipped


def _ways(workload: Workload) -> Iterator[tuple[NullRule, Partition]]:
    for nulls in workload.rules:
        if nulls != "zero":
            for partition in PARTITIONS:
                yield nulls, partition


def _method(
    workload: Workload, nulls: NullRule, partition: Partition, k: int, eps: float
) -> IntervalAnonymizer:
    return IntervalAnonymizer(
        k=k,
        eps=eps,
        sensitive=workload.sensitive,
        nulls=nulls,
        partition=partition,
        rare_items="keep",
    )
