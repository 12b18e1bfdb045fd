"""The page of a release: verdict, public files, internal files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from starshade.audit.checks.policy import larger_k
from starshade.figure import Table
from starshade.plain import counted, percent
from starshade.report.page import figure, size
from starshade.server.ask.labels import address, form_values
from starshade.server.jobs.store import DataRow, JobRow, Store
from starshade.server.page.frame import HOME, Shown, frame, title_of
from starshade.server.page.project import project_of
from starshade.server.page.repeat import command_of
from starshade.server.parts import Figure, Link, Next, Picture, interval

Result = Mapping[str, Any]


def release_page(store: Store, job: JobRow) -> Shown:
    """Build the page of a release."""
    data, result = store.data(job.data_id), job.result or {}
    folder, passed = store.places.release(job.id), bool(result.get("passed"))
    verdict = result.get("verdict") or {}
    project = project_of(store, data, job)
    above = Link(data.name, f"/data/{data.id}")
    links = {
        name: Link(text, f"/releases/{job.id}/{end}") if (folder / file).is_file() else None
        for name, (file, text, end) in _LINKS.items()
    }
    if whole := links["download"]:
        length = size((folder / "release.zip").stat().st_size)
        text = whole.text.format(length) + ("" if passed else ", not for publication")
        links["download"] = Link(text, whole.href)
    return Shown(
        frame=frame(store, title_of(job), (HOME, above)),
        data=above,
        job=Link(title_of(job), f"/jobs/{job.id}"),
        passed=passed,
        word=str(verdict.get("word") or ("PASS" if passed else "FAIL")),
        status=status_of(result),
        answers=[*map(_answer, _decisive(result))],
        checks=_checks(result),
        headline=str(verdict.get("headline") or ""),
        paragraph=str(verdict.get("paragraph") or result.get("text") or ""),
        findings=[
            f"{'✓' if one['passed'] else '✗'} {one['text']}" for one in result.get("findings") or ()
        ],
        warnings=[*map(str, result.get("warnings") or ())],
        remains=_remains(result),
        attacked=_attacked(result),
        rows=_rows(result.get("examples")),
        rule=str((result.get("examples") or {}).get("rule") or ""),
        tables=[each for each in _tables(result) if each is not None],
        **links,
        command=command_of(store, data, job),
        project=project,
        project_link=Link("Download starshade.toml", f"/releases/{job.id}/project")
        if project
        else None,
        publish=_publish(result, whole is not None),
        keep=_KEEP,
        next=_next(data, job, passed, whole is not None, verdict, result),
    )


def status_of(result: Result) -> str:
    """Return "pass", "fail" or "open": how the verdict is shown."""
    usual = "PASS" if result.get("passed") else "FAIL"  # of releases of earlier versions
    verdict = (result.get("verdict") or {}).get("verdict", usual)
    return {"PASS": "pass", "INCOMPLETE": "open"}.get(str(verdict), "fail")


def _decisive(result: Result) -> list[Result]:
    """Return the checks because of which the verdict is not PASS."""
    open_ = ("fail", "not demonstrated", "not measured")
    return [one for one in result.get("checks") or () if one["status"] in open_]


def _answer(check: Result) -> Figure:
    """Return a check: its value, status and threshold."""
    least = "at least" if check["name"] == "class-size" else "threshold"
    about = f"{check['mark']} {check['status'].capitalize()}; {least} {check['threshold_text']}."
    advice = f" {check['advice']}" if check.get("advice") and check["status"] != "pass" else ""
    return Figure(check["title"], check["value_text"], f"{about}{advice}")


def _remains(result: Result) -> Picture:
    """Return the bar of what becomes of each rating, or how to get it."""
    remains, svg = result.get("remains") or {}, (result.get("pictures") or {}).get("remains", "")
    text = (
        remains.get("text")
        or result.get("remains_how")
        or "Make the release again to draw this chart."
    )
    return Picture(
        "Utility: ratings recoverable from the release",
        str(text),
        svg,
        str(remains.get("meaning") or ""),
    )


_MARKS = (
    "Circle: initial risk, in the original ratings. Diamond: residual risk, in the release. Lines: "
    "95 % intervals. Long tick: threshold. Short tick: baseline."
)


def _attacked(result: Result) -> Picture | None:
    svg = (result.get("pictures") or {}).get("attacks", "")
    worst = [_worst(result.get("attacks") or (), "before"), _record(result)]
    text = " ".join(f"{one.label}: {one.value}." for one in worst if one is not None)
    return Picture("Re-identification, before and after", text, svg, _MARKS) if svg else None


def _rows(examples: Result | None) -> list[Table]:
    """Return example classes, item by item: original and released ratings."""
    tables = []
    for one in (examples or {}).get("classes", ()):
        more = f", {one['more']} more not shown" if one["more"] else ""
        title = f"A class of {counted(one['size'], 'person', 'people')}{more}"
        columns = {"Item": (examples or {})["items"]}
        if one["real"]:
            given = zip(*one["real"], strict=True)
            columns["Original ratings"] = [", ".join(item) for item in given]
        columns["Release"] = one["released"]
        rows = tuple(zip(*columns.values(), strict=True))
        tables.append(Table(title, tuple(columns), rows))
    return tables


def _tables(result: Result) -> tuple[Table | None, ...]:
    figures = [(each.label, each.value, each.meaning) for each in _figures(result)]
    return (
        _table("Results", ("Measure", "Value", "Meaning"), figures),
        _claims(result),
        _attacks(result),
        _files(result),
    )


#: what can be downloaded: its file, what the link says, the end of the address
_LINKS = {
    "download": ("release.zip", "Download the release (zip, {})", "download"),
    "report": ("report.html", "Internal report", "report"),
    "public_report": ("report-public.html", "Public report", "report?audience=public"),
    "people": ("at-risk.csv", "List of people at risk", "at-risk"),
    "receipt": ("receipt.json", "Private key file", "key"),
}
_KEEP = (
    "Internal report: it has measured figures, the seed, and paths.",
    "List of people at risk: it names the people that few known ratings identify.",
    "Private key file: it maps records to people. Anyone with this file and the release can "
    "re-identify everyone. Keep it safe: without it, moved or predicted ratings cannot be audited "
    "again.",
    "The original ratings, and any second release of them: two releases together can disclose more "
    "than either.",
)


def _publish(result: Result, whole: bool) -> tuple[str, ...]:
    """Return the texts on publication."""
    status = status_of(result)
    if not whole:
        return (
            "The files of this release are missing in the work folder. Make the release again.",
        )
    if status == "fail":
        return (
            "Do not publish: the verdict is FAIL, so there is no public report. You can download "
            "the release to inspect it.",
        )
    if status == "open":
        names = "; ".join(str(one["title"]) for one in _decisive(result))
        return (
            f"Not decided: the verdict is INCOMPLETE. Not measured: {names}.",
            "There is no public report. You can download the release to inspect it.",
        )
    return (
        "Publish the release unchanged. Keep its files together; its README describes them.",
        "The public report contains nothing about individual people.",
    )


def _next(
    data: DataRow,
    job: JobRow,
    passed: bool,
    whole: bool,
    verdict: Result,
    result: Result,
) -> tuple[Next, ...]:
    warnings = result.get("warnings") or ()
    report = Link("Read the report", f"/releases/{job.id}/report")
    settings = form_values("release", job.settings)
    if not whole:
        again = address(data.id, "release", settings)
        return (Next("The files are missing.", Link("Make the release again", again)),)
    if passed:
        also = " and the warnings below" * bool(warnings)
        why = f"Read the internal report{also}. If you agree, sign it and publish the download."
        return (Next(why, report),)
    advice = " ".join(map(str, verdict.get("advice") or ()))
    stop = f"Do not publish this release. {advice}".strip()
    more = Next("The report has the details.", report, main=False)
    if settings.get("method", "predictive") != "predictive" and _fails_a_check(result):
        other = address(data.id, "release", {"method": "predictive", "k": settings.get("k") or 5})
        return (Next(stop, Link("Try the method predictive", other)), more)
    k = larger_k(int(settings.get("k") or 5))
    if k is None or not larger_k_may_help(result, k):
        return (Next(stop, report),)
    larger = address(data.id, "release", {**settings, "k": k})
    text = f"{stop} A larger k, fewer items or another method may help."
    return (Next(text, Link(f"Try again with k = {k}", larger)), more)


def larger_k_may_help(result: Result, k: int) -> bool:
    """Return whether a release with this k is possible and may pass what failed."""
    if k > int(result.get("records") or 0):
        return False
    others = {one["name"] for one in result.get("findings") or () if not one["passed"]}
    return _fails_a_check(result) or "tracker" in others


def _fails_a_check(result: Result) -> bool:
    """Return whether a check fails its threshold, or is not shown to meet it."""
    return any(one["status"] in _ABOVE for one in result.get("checks") or ())


_ABOVE = ("fail", "not demonstrated")


def _checks(result: Result) -> Table | None:
    """Return the table of checks, with value, baseline, threshold and status."""
    return _table(
        "Checks of the policy",
        ("Check", "Measured", "Baseline", "Threshold", "Status"),
        [
            (
                str(one["title"]),
                str(one["measured_text"]),
                percent(one["baseline"]),
                str(one["threshold_text"]),
                f"{one['mark']} {one['status']}".strip(),
            )
            for one in result.get("checks") or ()
        ],
    )


def _table(caption: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table | None:
    return Table(caption, head, tuple(rows)) if rows else None


def _claims(result: Result) -> Table | None:
    return _table(
        "Claims of the release, verified on its files",
        ("Model", "Claimed", "Verified", "Status"),
        [
            (
                str(c["model"]),
                str(c["asked"]),
                str(c["verified"]),
                "✓ PASS" if c["holds"] else "✗ FAIL",
            )
            for c in result.get("claims") or ()
        ],
    )


def _attacks(result: Result) -> Table | None:
    return _table(
        "Re-identification before and after, with 95 % intervals. High: risk.",
        ("Attack", "Knowledge", "Initial risk", "Residual risk", "Threshold"),
        [
            (
                str(a["attack"]),
                str(a["knowledge"]),
                interval(a["before"]),
                interval(a["after"]),
                percent(a["threshold"]),
            )
            for a in result.get("attacks") or ()
        ],
    )


def _files(result: Result) -> Table | None:
    return _table(
        "Files of the release, with checksums",
        ("File", "Size", "SHA-256"),
        [(f["name"], size(f["bytes"]), f["sha256"]) for f in result.get("files") or ()],
    )


def _figures(result: Result) -> list[Figure]:
    attacks = result.get("attacks") or ()
    figures = [_worst(attacks, "before"), _record(result)]
    rows = [*(result.get("disclosure") or {}).get("rows", ()), *(result.get("losses") or ())]
    for row in rows:
        if row.get("value") is not None:
            value: Any = row["value"]
            unit: Any = row.get("unit") or "ratio"
            share = float(value) if unit == "share" else None
            label = str(row.get("title") or row["name"])
            figures.append(Figure(label, figure(value, unit), str(row.get("meaning") or ""), share))
    return [one for one in figures if one is not None]


_OTHERWISE = (
    " A comparison may show another value for the same settings. It tests one attack with one "
    "number of known ratings. The audit tests several attacks with each number, and the "
    "strongest counts."
)


def _record(result: Result) -> Figure | None:
    """Return re-identification in the release, with the value of its check."""
    checks = result.get("checks") or ()
    found = next((each for each in checks if each["name"] == "re-identification"), None)
    after = _worst(result.get("attacks") or (), "after")
    if after is None or found is None or found["value"] is None:
        return after
    rate = {end: found[key] for end, key in (("rate", "value"), ("low", "low"), ("high", "high"))}
    return replace(after, value=interval(rate), share=float(found["value"]))


def _worst(attacks: Any, when: str) -> Figure | None:
    rates = [a[when] for a in attacks if a.get(when) is not None]
    if not rates:
        return None
    most = max(rates, key=lambda rate: float(rate["rate"]))
    who = next(a for a in attacks if a.get(when) is most)
    where = "the original ratings" if when == "before" else "this release"
    return Figure(
        f"Re-identification in {where}, strongest attack",
        interval(most),
        "Share of targets whose record the attack names correctly. High: risk. Attack: "
        f"{who['attack']}, knowing {who['knowledge']}.{_OTHERWISE if when == 'after' else ''}",
        float(most["rate"]),
    )
