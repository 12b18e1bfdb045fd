"""Addresses as they are shown: whatever the password, it is not in what `hidden` returns."""

from __future__ import annotations

import glob
import time
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starshade.errors import ConfigError, InputError
from starshade.ratings.read import read_ratings
from starshade.ratings.readers.addresses.address import (
    has_secret,
    hidden,
    hidden_in,
    without_secrets,
)
from starshade.ratings.readers.addresses.buckets import _matches

PASSWORDS = st.text("aZ9@:/?#%&=+ ü", min_size=1, max_size=9).map(lambda text: f"Kiwi{text}Fig")
SCHEMES = st.sampled_from(["postgresql", "postgres", "s3", "gs", "mysql", "https", "redis"])


@given(SCHEMES, PASSWORDS, st.booleans())
def test_no_password_is_shown(scheme: str, password: str, written_well: bool) -> None:
    secret = quote(password, safe="") if written_well else password
    address = f"{scheme}://eve:{secret}@place/folder/file"
    shown = hidden(address)
    assert "Kiwi" not in shown
    assert "Fig" not in shown
    assert has_secret(address)
    assert hidden(shown) == shown
    if written_well:
        assert shown == f"{scheme}://***@place/folder/file"
        said = f"bad {address}, {secret}, {password}"
        assert "Kiwi" not in without_secrets(said, address)
    assert "Fig" not in hidden_in(f"x {address.replace(' ', '')}: y")


@given(PASSWORDS, st.sampled_from(["", "/", "//srv/", "/data/"]), st.booleans())
def test_no_password_of_a_database_file_is_shown(
    password: str, before: str, written_well: bool
) -> None:
    secret = quote(password, safe="") if written_well else password
    address = f"sqlite://{before}eve:{secret}@/shop.db"
    for shown in (hidden(address), without_secrets(f"bad {address}", address)):
        assert "Kiwi" not in shown
        assert "Fig" not in shown
    assert "Fig" not in hidden_in(f"x {address.replace(' ', '')}: y")
    assert has_secret(address)


@given(
    st.text("aZ9@:/?#%&=+ü'\\ ", max_size=9),
    st.sampled_from(["password", "PASSWORD", "sslpassword", "PGPASSWORD", "passwd"]),
    st.sampled_from(["=", " = "]),
    st.sampled_from([str, repr]),
)
def test_no_password_by_keyword_is_shown(inner: str, name: str, equals: str, said: type) -> None:
    password = f"Kiwi{inner}Fig"
    escaped = password.replace("\\", "\\\\").replace("'", "\\'")
    quoted = f"host=db user=eve {name}{equals}'{escaped}'"
    plain = f"{name}{equals}{password.replace(' ', '')}"
    for text in (f"host=db {plain}", f"postgresql://host=db {plain}", quoted, f"{quoted} port=1"):
        for shown in (hidden(text), hidden_in(f"{said(text)}: no such file")):
            assert "Kiwi" not in shown
            assert "Fig" not in shown
        assert has_secret(text)
        assert "host=db" in hidden(f"host=db {plain}")


@pytest.mark.parametrize(
    "text", ["/data/me@home.db", "the password is wrong", "password-list.csv", "x password:"]
)
def test_what_holds_no_password_is_shown_whole(text: str) -> None:
    assert hidden(text) == hidden_in(text) == text
    assert not has_secret(text)
    assert hidden(f"sqlite:///{text}") == f"sqlite:///{text}"


@pytest.mark.parametrize(
    "part",
    ["a", ":", "a:@", "?a=b&", "password=", "password='\\'", "a:/", "sqlite:///a:", ",", "@/"],
)
def test_overlong_texts_are_hidden_at_once(part: str) -> None:
    text = part * (200_000 // len(part))
    address = f"postgresql://h{',' * 40}:a/{text}"
    started = time.process_time()
    assert len(hidden_in(f"{text}: no such file")) < 2_000
    assert has_secret(address)
    assert hidden(address).startswith("postgresql://***")
    assert time.process_time() - started < 2


@given(PASSWORDS)
def test_no_key_of_a_query_is_shown(secret: str) -> None:
    shown = hidden(f"s3://bucket/x?region=here&secret_key={quote(secret, safe='')}")
    assert shown == "s3://bucket/x?region=here&secret_key=***"
    assert "Kiwi" not in hidden(f"postgresql://host/db?password={secret}")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://eve:fig@host/x.csv", "https://***@host/x.csv: addresses that begin with https"),
        ("mysql://host/x", "are not supported"),
        ("postgresql://eve:f/g@host/x", "this address is ambiguous"),
        ("s3://eve:f/g@host/x", "this address is ambiguous"),
    ],
)
def test_addresses_that_are_not_read(address: str, expected: str) -> None:
    with pytest.raises(ConfigError, match=expected.replace("*", r"\*")):
        read_ratings(address)


PLACES = ["a.csv", "b.csv", "y=1/a.csv", "y=1/z/a.csv", "y=2/b.parquet", "other/a.csv"]


@pytest.mark.parametrize("pattern", ["*.csv", "*/*.csv", "**/*.csv", "y=*/**/a.csv", "**/z/*", "*"])
def test_patterns_match_as_those_of_files(tmp_path: Path, pattern: str) -> None:
    for place in PLACES:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    found = glob.glob(pattern, root_dir=tmp_path, recursive=True)
    expected = {place for place in found if (tmp_path / place).is_file()}
    assert {p for p in PLACES if _matches(p.split("/"), pattern.split("/"))} == expected


@pytest.mark.parametrize(
    ("meant", "shown"),
    [
        ("s3:/K:Kiwi@b/x", "s3:/***@b/x"),
        ("s3:/K:/Kiwi@b/x", "s3:/***@b/x"),
        ("s3//K:Kiwi/Fig@b/x", "s3//***@b/x"),
        ("K:Kiwi@b/x.csv", "***@b/x.csv"),
        (":Kiwi@b/x.csv", "***@b/x.csv"),
        ("postgresql:/u:Kiwi@h/db", "postgresql:/***@h/db"),
        ("sqlite:///s.db?key=Kiwi", "sqlite:///s.db?key=***"),
        ("sqlite:/s.db?region=x&key=Kiwi", "sqlite:/s.db?region=x&key=***"),
        ("file:///t/x?key=Kiwi", "/t/x?key=***"),
        ("host=db password=Kiwi dbname=x", "host=db password=*** dbname=x"),
        ("sqlite://eve:Kiwi@/shop.db", "sqlite://***@/shop.db"),
        ("home@work.csv", "home@work.csv"),
        ("r?.csv", "r?.csv"),
    ],
)
def test_what_is_meant_as_an_address_shows_no_password(meant: str, shown: str) -> None:
    with pytest.raises(InputError) as error:
        read_ratings(meant)
    assert error.value.message.startswith(f"{shown}: no ")
    assert hidden_in(f"{meant}: no such file").endswith(f"{shown}: no such file")
    assert hidden_in(shown) == shown


@pytest.mark.parametrize(
    "source",
    [
        "host=db user=eve password=pa\n55",
        "postgresql:/eve:pa\n55@db/shop",
        "eve:pa\r\n55@db/shop",
        "ratings.db?password=pa\n55",
        "postgresql:/eve:pa\x0055\n55@db/shop",
    ],
)
def test_a_password_with_a_line_break_is_hidden(source: str) -> None:
    with pytest.raises(InputError) as refused:
        read_ratings(source)
    assert "55" not in hidden_in(str(refused.value))
    assert "***" in str(refused.value)
