"""``python -m starshade`` and the command ``starshade``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it loads ends as quietly as later."""
    try:
        from starshade.cli import main as door
    except KeyboardInterrupt:
        print("Interrupted; nothing was written.", file=sys.stderr)
        raise SystemExit(130) from None
    door(prog_name="starshade")


if __name__ == "__main__":
    main()
