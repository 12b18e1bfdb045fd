"""A report as PDF, printed by the Chromium or Chrome that is installed."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from starshade.errors import OutputError
from starshade.ratings.places.atomic import atomic_file
from starshade.ratings.places.place import Place, Where

#: commands of the browsers that can print, the first that is installed is taken
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_SECONDS = 60
_LONGEST = 300  # characters of what a browser says, in a message


def find_browser() -> str | None:
    """Return the path of a Chromium or Chrome; None where there is none."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def pdf_command(html: Where, pdf: Where, browser: str = BROWSERS[0]) -> str:
    """Return the shell command that prints a report as PDF.

    Examples
    --------
    >>> pdf_command("report.html", "report.pdf")
    'chromium --headless --no-pdf-header-footer --print-to-pdf=report.pdf report.html'
    """
    return shlex.join([browser, *_options(pdf), os.fspath(html)])


def save_pdf(html: Where, pdf: Where, browser: str, *, public: bool) -> Path:
    """Print a report as PDF: all of it or nothing.

    Parameters
    ----------
    html : path
        The report as `save_report` wrote it.
    pdf : path
        Must not exist, nor be inside a release.
    browser : str
        As `find_browser` returns it.
    public : bool
        Whether it is a public report; else only its owner can read the file.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    OutputError
        The browser failed, or the file exists or cannot be written; nothing is left behind.
    """
    source, place = Place.of(html), Place.of(pdf)
    with (
        atomic_file(place, 0o666 if public else 0o600) as file,
        TemporaryDirectory(prefix="starshade-pdf-") as folder,
    ):
        printed = Path(folder) / "report.pdf"
        _print(source.path, printed, Path(folder), browser, str(place), str(source))
        file.write_bytes(printed.read_bytes())
    return place.path


def _options(pdf: Where) -> list[str]:
    return ["--headless", "--no-pdf-header-footer", f"--print-to-pdf={os.fspath(pdf)}"]


def _print(
    source: Path, printed: Path, profile: Path, browser: str, place: str, report: str
) -> None:
    """Have a browser print; its profile is a private folder that is removed afterwards."""
    words = [browser, *_options(printed), f"--user-data-dir={profile / 'profile'}"]
    words += ["--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    if os.geteuid() == 0:  # Chromium refuses its sandbox to root
        words.append("--no-sandbox")
    try:
        code, said = _run([*words, source.as_uri()])
        why = f"exit code {code}" if code else ""
    except subprocess.TimeoutExpired:
        why, said = f"not finished after {_SECONDS} seconds", ""
    except OSError as error:
        why, said = os.strerror(error.errno or 0), ""
    if not why and not _is_pdf(printed):
        why = "no PDF was written"
    if why:
        last = f": {said.splitlines()[-1][:_LONGEST]}" if said else ""
        raise OutputError(
            f"{place}: {browser} could not print the report: {why}{last}",
            advice=f"The report itself is written: {report}. Open it in a browser and print it "
            "to a file.",
        )


def _run(words: list[str]) -> tuple[int, str]:
    """Return exit code and messages; an interrupted browser ends with all that it started."""
    with subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            _, said = process.communicate(timeout=_SECONDS)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, said.decode(errors="replace").strip()


def _is_pdf(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return opened.read(5) == b"%PDF-"
    except OSError:
        return False
