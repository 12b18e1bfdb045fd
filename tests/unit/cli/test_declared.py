"""Options that are made of what is declared: what they read, refuse, and say in their help."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner, Result

from starshade.cli import main
from starshade.utility.registry import ENTRIES


def called(*words: str) -> Result:
    return CliRunner().invoke(main, words, env={"COLUMNS": "80"})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("anonymize r --out o --k 2.5", "--k 2.5: must be a whole number, 2 or more"),
        ("attack r --known x", "--known x: must be a whole number, 1 or more"),
        ("attack r --attack label --theta x", "--theta x: must be a finite number, above 0"),
        # what the chosen one means by it; without one what holds of all
        ("check r --model diversity --l x", "--l x: must be a whole number, 1 or more"),
        ("check r --model k-eps-l --l x", "--l x: must be a finite number, 0 or more"),
        ("check r --l x", "--l x: must be a finite number\n"),
        (
            "compare r --k 2;5",
            "whole numbers, 2 or more\nSeparate values by commas, e.g. --k 2,5,10.",
        ),
        ("anonymize r --out o --k 1_000", "--k 1_000: must be a whole number, 2 or more"),
        ("anonymize r --out o --k ٥", "--k ٥: must be a whole number, 2 or more"),
        ("anonymize r --out o --k 5 --seed 1_0", "'1_0' is not a whole number"),
        ("check r --model k-eps --eps ٥.٥", "--eps ٥.٥: must be a finite number"),
        ("compare r --k 2,1_000", "--k 2,1_000: must be one or more whole numbers"),
        ("anonymize r --out o --k=", "--k: empty; must be a whole number, 2 or more"),
        ("check r --model k-eps --eps=", "--eps: empty; must be a finite number"),
        ("audit r r --known=", "--known: empty; must be one or more whole numbers"),
        ("compare r --k 1,2", "--k = 1, 2: must be one or more whole numbers, 2 or more"),
    ],
)
def test_what_is_no_number_is_refused_in_our_words(words: str, said: str) -> None:
    result = called(*words.split())
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "anonymize --method k-likeness",
            "Minimum class size (typical: 5); with proximity, minimum number of proximate "
            "records [required] [2 or more]",
        ),
        ("attack --attack link-existence", "[0 to 1]"),
        ("check --model l-diversity", "[required]"),
        ("compare", "[default: 2,5,10] [2 or more]"),
        ("audit", "[default: 2, 4, 8] [1 or more]"),
    ],
)
def test_help_says_what_must_be_given_and_what_is_allowed(words: str, said: str) -> None:
    assert said in " ".join(called(*words.split(), "--help").stdout.split())


def test_the_list_of_measures_names_what_each_finds() -> None:
    said = called("list", "measures").stdout
    titles = [figure.title for entry in ENTRIES for figure in entry.load().FIGURES]
    assert said.count("·") == len(titles)
    assert [title for title in titles if f"· {title[:22].rstrip()}" not in said] == []
    assert "·" not in called("list", "models").stdout


def test_the_list_of_settings_has_every_name_whole_and_its_option() -> None:
    said = called("list", "settings").stdout
    assert re.search(r"^ ?attribute_hierarchies .*\n ?--attribute ", said, re.M)
    assert re.search(r"^ ?biases .*\n ?--no-biases ", said, re.M)
    assert re.search(r"^ ?k +required +Minimum class size", said, re.M)
    assert "--draws" not in said.partition("\nquery-error\n")[2]
    assert "…" not in said
