"""What MkDocs does to a page of a notebook after it was made of it.

Links between pages are written so that they also work where the notebook is read as it is, and
nothing is left in the page that could load a script from another machine.
"""

from __future__ import annotations

import re
from typing import Any

_PAGE = re.compile(r'(href="(?!https?:)[^"#]+)\.(?:md|ipynb)(?=["#])')
_DIAGRAMS = re.compile(r'<script type="module">(?:(?!</script>).)*mermaid.*?</script>', re.S)


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """Return the page, if it is a notebook's, with links to pages and without foreign scripts."""
    if not page.file.src_uri.endswith(".ipynb"):
        return output
    return _PAGE.sub(r"\1.html", _DIAGRAMS.sub("", output))
