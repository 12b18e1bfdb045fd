"""``python -m starshade``: the command line."""

from starshade.cli import main

if __name__ == "__main__":
    main(prog_name="starshade")
