"""Make, audit, report and pack a release; a public report only if it passes.

Result::

    k, seed
    figures    of the new release: `starshade.audit.made.Made`
    text       a paragraph on it
    passed     whether it may be published
    zip_bytes
    pictures   SVG: ``remains``, ``attacks``, as in the internal report
    verdict, questions, claims, findings, warnings, attacks, disclosure, examples, remains,
    remains_how, losses, method, files
               as in the internal part of a `Dossier`

Files: see `starshade.server.jobs.database`.
"""

from __future__ import annotations

import shutil
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starshade.progress import note, task
from starshade.ratings.places.atomic import atomic_file
from starshade.server.jobs.database import flush
from starshade.server.settings import built, checked
from starshade.server.tasks.read import open_ratings
from starshade.server.tasks.tasks import Done, Order

if TYPE_CHECKING:
    from pathlib import Path

    from starshade.ratings.table import Ratings

_SETTINGS = {
    "method": str,
    "config": dict[str, Any],
    "items": str | None,
    "known": list[int],
    "targets": int,
    "shadows": int,
    "policy": str,
    "threshold": list[str],
    "context": dict[str, Any],
    "held_out": float,
    "seed": int | None,
}
_DRAWN = ("remains", "attacks")
_NO_DATE = (1980, 1, 1, 0, 0, 0)  # neither a release nor its archive has a date
_CHUNK = 1 << 20
#: the parts of the audit that the pages show; the reports have all
_SHOWN = (
    "verdict",
    "checks",
    "claims",
    "findings",
    "warnings",
    "attacks",
    "disclosure",
    "examples",
    "remains",
    "remains_how",
    "losses",
    "method",
    "files",
)


def perform(order: Order) -> Done:
    """Make a release, its reports and its archive."""
    from starshade.anonymize.registry import ENTRIES, usual_method
    from starshade.audit.dossier.context import Context
    from starshade.audit.dossier.dossier import compile_dossier
    from starshade.audit.evidence import numbers_to_try
    from starshade.audit.make import make_release
    from starshade.audit.verdict import Audit
    from starshade.ratings.select import parse_items
    from starshade.registry import find
    from starshade.report.dossier_charts import charts
    from starshade.report.page import save_report
    from starshade.report.people import save_people
    from starshade.report.picture import inline
    from starshade.rng import resolve_seed

    settings = checked("a release", order.settings, _SETTINGS)
    items = None if settings.get("items") is None else parse_items(settings["items"])
    usual, config = usual_method(items), settings.get("config", {})
    if "method" not in settings:
        config = {**usual.settings, **config}
    entry = find(ENTRIES, settings.get("method", usual.method), "method")
    method = built(entry.load(), f"the method {entry.name}", config, items=items)
    own = {"known", "targets", "shadows", "policy", "threshold"} & settings.keys()
    audit = Audit(**{name: settings[name] for name in own})
    context = built(Context, "the context", settings.get("context", {}))
    seed = resolve_seed(settings.get("seed"))
    ratings, probe = _set_aside(open_ratings(order), settings.get("held_out", 0.0), seed)
    # what the audit would refuse is refused before the long work
    part = ratings if items is None else items.apply(ratings)
    numbers_to_try(audit.known, int(part.user_support.max(initial=0)))

    folder = order.places.release(order.job)
    folder.mkdir(mode=0o700)
    release, receipt = folder / "release", folder / "receipt.json"
    with task(f"making a release by {entry.name}"):
        made = make_release(ratings, method, out=release, private=receipt, rng=seed)
    # no path for the pages; and the most memory held is that of all jobs before, too
    figures = {**made.to_dict(), "out": "The release", "peak_rss_mb": None}
    made = replace(made, figures=figures)
    note(str(made))
    with task("auditing the release"):
        dossier = compile_dossier(
            ratings,
            release,
            private=receipt,
            audit=audit,
            probe=probe,
            context=context,
            rng=seed,
        )
    with task("writing the report"):
        save_report(dossier, folder / "report.html", public=False)
        save_people(dossier, folder / "at-risk.csv")
        if dossier.passed:
            save_report(dossier, folder / "report-public.html", public=True)
    size = _pack(release, folder / "release.zip")
    flush(folder.parent)
    judged = dossier.internal()
    specs = charts(judged)
    return Done(
        {
            "k": int(method.k),
            "seed": seed,
            "figures": figures,
            "text": str(made),
            "passed": dossier.passed,
            "records": dossier.audit.records,
            "zip_bytes": size,
            "pictures": {name: inline(specs[name]) for name in _DRAWN if name in specs},
            **{name: judged[name] for name in _SHOWN},
        }
    )


def _set_aside(ratings: Ratings, share: float, seed: int) -> tuple[Ratings, Ratings | None]:
    """Hold out a share of the ratings to test recommenders; the release is made without them."""
    if not share:
        return ratings, None
    from starshade.ratings.holdout import hold_out

    train, probe = hold_out(ratings, share, rng=seed)
    note(
        f"{probe.n_ratings:,} ratings are held out to test recommenders; they are not in the "
        "release"
    )
    return train, probe


def _pack(release: Path, out: Path) -> int:
    files = sorted(path for path in release.iterdir() if path.is_file())
    total = sum(path.stat().st_size for path in files)
    with (
        atomic_file(out, 0o600, needs=total) as part,
        zipfile.ZipFile(part, "w") as archive,
        task("packing the release", total) as step,
    ):
        for path in files:
            entry = zipfile.ZipInfo(f"release/{path.name}", _NO_DATE)
            entry.external_attr = 0o644 << 16
            entry.file_size = path.stat().st_size  # beyond 4 GB other headers are needed
            with path.open("rb") as source, archive.open(entry, "w") as target:
                shutil.copyfileobj(source, target, _CHUNK)
            step(entry.file_size)
    return out.stat().st_size
