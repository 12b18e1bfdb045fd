"""A report as PDF, printed by the Chromium or Chrome that is installed."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from starshade.errors import OutputError
from starshade.ratings.places.atomic import atomic_file
from starshade.ratings.places.place import Place, Where
from starshade.scratch import scratch_folder

#: commands of the browsers that can print, the first that is installed is taken
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_SECONDS = 60
#: options of the browser
_PRINTS = ("headless", "no-pdf-header-footer")
_QUIET = ("disable-gpu", "disable-dev-shm-usage", "no-first-run")
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
    with atomic_file(place, 0o666 if public else 0o600) as file, scratch_folder() as folder:
        words = [browser, *_options(folder / "report.pdf"), *_spelled(*_QUIET)]
        words += _spelled(f"user-data-dir={folder / 'profile'}")
        if os.geteuid() == 0:  # Chromium refuses its sandbox to root
            words += _spelled("no-sandbox")
        why = _failure([*words, source.path.as_uri()])
        printed = _printed(folder / "report.pdf")
        if why or not printed:
            raise OutputError(
                f"{place}: {browser} could not print the report: {why or 'no PDF was written'}",
                advice=f"The report itself is written: {source}. Open it in a browser and print "
                "it to a file.",
            )
        file.write_bytes(printed)
    return place.path


def _options(pdf: Where) -> list[str]:
    return _spelled(*_PRINTS, f"print-to-pdf={os.fspath(pdf)}")


def _spelled(*options: str) -> list[str]:
    return [f"--{option}" for option in options]


def _failure(words: list[str]) -> str:
    """Run a browser; return why it failed, or "" where it did not."""
    try:
        code, said = _run(words)
    except subprocess.TimeoutExpired:
        return f"not finished after {_SECONDS} seconds"
    except OSError as error:
        return os.strerror(error.errno or 0)
    last = f": {said.splitlines()[-1][:_LONGEST]}" if said else ""
    return f"exit code {code}{last}" if code else ""


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


def _printed(file: Path) -> bytes:
    """Return what a browser printed; empty where it is no PDF."""
    try:
        content = file.read_bytes()
    except OSError:
        return b""
    return content if content.startswith(b"%PDF-") else b""
