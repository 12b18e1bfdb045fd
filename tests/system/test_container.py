"""The image is built and reads ratings, where a builder of images runs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TAG = "starshade-under-test"


def builder() -> str | None:
    """Return podman or docker, if it can build."""
    for name in ("podman", "docker"):
        if (
            shutil.which(name)
            and not subprocess.run([name, "info"], capture_output=True).returncode
        ):
            return name
    return None


@pytest.mark.slow
def test_the_image_is_built_and_describes_ratings(tmp_path: Path) -> None:
    name = builder()
    if name is None:
        pytest.skip("neither podman nor docker can build here: the Containerfile stays untried")
    (tmp_path / "ratings.csv").write_text("user,item,rating\na,x,5\nb,x,4\nb,y,1\n")
    tmp_path.chmod(0o777)  # the image's user is another
    subprocess.run(
        [name, "build", "--tag", TAG, "--file", "Containerfile", "."], cwd=ROOT, check=True
    )
    volume = ["--network", "none", "--volume", f"{tmp_path}:/work:Z"]
    command = [name, "run", "--rm", *volume, TAG, "data", "describe", "ratings.csv", "--json"]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert '"ratings": 3' in found.stdout
