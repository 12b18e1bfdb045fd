"""Personal attributes that a method generalizes or keeps: what may be asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from starshade.anonymize.hierarchy.attribute import AttributeHierarchy, read_attribute_hierarchy
from starshade.errors import ConfigError
from starshade.naming import aside, called, named
from starshade.ratings.table import Ratings
from starshade.release.attributes import (
    attribute_called,
    check_names,
    did_you_mean,
    plain_attributes,
)
from starshade.release.manifest import Claim
from starshade.release.personal.identifying import (
    Addresses,
    Shared,
    addresses_in,
    named_in,
    shared_by,
)
from starshade.release.personal.recipe import Recipe, coarsened, recipe_of
from starshade.release.table import Release


def refuse_repeated(what: str, names: tuple[str, ...]) -> None:
    """Refuse a name that is given twice."""
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ConfigError(
            f"{called(what)}: {', '.join(repeated)} given more than once", setting=what
        )


def hierarchies_of(hierarchies: Any) -> tuple[tuple[str, AttributeHierarchy | Recipe], ...]:
    """Return recipes and hierarchies by attribute, files having been read, in order of names."""
    try:
        named = dict(hierarchies)
    except (TypeError, ValueError):
        named = {None: None}
    if not all(isinstance(n, str) and h is not None for n, h in named.items()):
        raise ConfigError(
            "attribute_hierarchies: a recipe or a file for each name is needed",
            advice='For example attribute_hierarchies = {"zip": "prefix:3", "job": "job.csv"}.',
        )
    return tuple((name, _hierarchy(named[name])) for name in sorted(named))


def _hierarchy(told: Any) -> AttributeHierarchy | Recipe:
    if isinstance(told, AttributeHierarchy | Recipe):
        return told
    recipe = recipe_of(told) if isinstance(told, str) else None
    return read_attribute_hierarchy(told) if recipe is None else recipe


def as_recipes_say(
    ratings: Ratings, told: Mapping[str, AttributeHierarchy | Recipe], k: int
) -> tuple[Ratings, dict[str, AttributeHierarchy]]:
    """Return people as finely as their attributes may be told, and all hierarchies."""
    recipes = {name: how for name, how in told.items() if isinstance(how, Recipe)}
    joined = {name: how for name, how in told.items() if isinstance(how, AttributeHierarchy)}
    if not recipes:
        return ratings, joined
    assert ratings.attributes is not None
    people, rows = coarsened(ratings.attributes, recipes, k)
    joined |= {name: AttributeHierarchy(each) for name, each in rows.items()}
    return ratings.annotate(attributes=people), joined


def check_settings(
    attributes: str,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    l: int,  # noqa: E741 - the name that it has everywhere
    t: float | None,
    hierarchies: Sequence[object] = (),
) -> None:
    """Refuse settings that contradict each other, whatever the data."""
    both = sorted(set(quasi) & set(sensitive))
    if both:
        raise ConfigError(
            f"attributes: {', '.join(both)} named both as quasi-identifier and as sensitive",
            advice="A quasi-identifier is what others know; a sensitive attribute is what "
            "they must not learn.",
        )
    if l or t is not None:
        _check_needed("l" if l else "t", attributes, sensitive)
    if (quasi or sensitive or hierarchies) and attributes != "generalized":
        what = "sensitive attributes" if sensitive else "hierarchies of attributes"
        what = "quasi-identifiers" if quasi else what
        raise ConfigError(
            f"{what} are named, but attributes are {_IN_WORDS[attributes]}",
            advice=f"Choose {named('attributes', 'generalized')}, or remove the names.",
        )


def _check_needed(setting: str, attributes: str, sensitive: Sequence[str]) -> None:
    """Refuse l or t without what they are about, naming all that is missing at once."""
    lacking, needed = [], []
    if attributes != "generalized":
        lacking.append(f"attributes are {_IN_WORDS[attributes]}")
        needed.append(named("attributes", "generalized"))
    if not sensitive:
        lacking.append("none is named")
        needed.append(named("sensitive_attributes", ["NAME"]))
    if needed:
        raise ConfigError(
            f"{setting} applies to sensitive attributes, but {' and '.join(lacking)}",
            advice=f"Add {' and '.join(needed)}, or remove {setting}.",
        )


_IN_WORDS = {"none": "not released (none)", "exact": "released as they are (exact)"}


def spelled(ratings: Ratings, names: Iterable[str]) -> tuple[str, ...]:
    """Return names of attributes as the table spells them; what it does not have stays."""
    known = () if ratings.attributes is None else ratings.attributes.column_names
    return tuple(attribute_called(name, known) or name for name in names)


def chosen_names(
    ratings: Ratings, quasi: Sequence[str], sensitive: Sequence[str], joined: Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the quasi-identifiers and the sensitive attributes of a table."""
    table = ratings.attributes
    if table is None or not table.column_names:
        raise ConfigError(
            "attributes generalized: the data have no personal attributes",
            advice=f"Give a file of them{aside('users', 'FILE')}, or choose attributes none.",
        )
    unknown = [name for name in (*quasi, *sensitive) if name not in table.column_names]
    if unknown:
        meant = "".join(did_you_mean(name, table.column_names) for name in unknown)
        raise ConfigError(
            f"attributes: {', '.join(map(repr, unknown))} not among the personal attributes",
            advice=f"{meant}The data have {', '.join(table.column_names)}; to name several, "
            "repeat the option.",
        )
    others = tuple(name for name in table.column_names if name not in sensitive)
    chosen = tuple(quasi) or others
    idle = [name for name in joined if name not in chosen]
    if idle:
        raise ConfigError(
            f"attributes: {', '.join(map(repr, idle))} has a hierarchy but is not a "
            "quasi-identifier",
            advice=f"Quasi-identifiers are {', '.join(chosen) or 'none'}.",
        )
    check_names([*chosen, *sensitive], "generalized")
    return chosen, tuple(sensitive)


def refuse_identifiers(
    ratings: Ratings, quasi: Sequence[str], sensitive: Sequence[str], joined: Collection[str]
) -> None:
    """Refuse a text that is as good as a name (`starshade.release.personal.identifying`)."""
    for name, how in identifying(ratings, (*quasi, *sensitive), joined):
        raise _as_good_as_a_name(name, how, quasi, sensitive)


def identifying(
    ratings: Ratings, names: Iterable[str], joined: Collection[str] = ()
) -> Iterator[tuple[str, Shared | Addresses]]:
    """Yield the texts that are as good as a name, and how their values are shared out.

    Values that a hierarchy joins (of `joined`) need not be shared by many; addresses name people
    all the same.
    """
    plain = plain_attributes(ratings.attributes)
    for name in names:
        if plain is None or str(plain.column(name).type) == "double":
            continue
        shared, addresses = shared_by(plain.column(name)), addresses_in(plain.column(name))
        if shared.identifies and name not in joined:
            yield name, shared
        elif addresses.identifies:
            yield name, addresses


def refuse_named(release: Release) -> None:
    """Refuse a release that tells what is as good as a name, as an audit of it would."""
    manifest = release.manifest
    for name, how in named_in(release).items():
        raise _as_good_as_a_name(
            name, how, manifest.quasi_identifiers, manifest.sensitive_attributes
        )


def _as_good_as_a_name(
    name: str, how: Shared | Addresses, quasi: Sequence[str], sensitive: Sequence[str]
) -> ConfigError:
    where = "list it class by class" if name in quasi else "contain it record by record"
    return ConfigError(
        f"attribute {name!r} has {how}: it identifies people like a name, and the "
        f"release would {where}",
        advice=_without(name, how, quasi, sensitive),
    )


def _without(
    name: str, how: Shared | Addresses, quasi: Sequence[str], sensitive: Sequence[str]
) -> str:
    if name in sensitive:
        return "Remove it from the sensitive attributes and from the quasi-identifiers."
    others = [other for other in quasi if other != name]
    leave = "name the other quasi-identifiers"
    leave += aside("quasi_identifiers", others)
    leave = leave if others else f"choose {named('attributes', 'none')}"
    if sensitive and not others:
        leave = "remove it from the file of personal attributes"
    hidden = f", and the sensitive ones with {named('sensitive_attributes')}"
    hidden = hidden if others else ""
    if isinstance(how, Addresses):
        return f"To leave it out, {leave}{hidden}."
    return (
        f"To leave it out, {leave}{hidden}. To keep it, join its values into larger sets by a "
        f"recipe or a hierarchy{aside('attribute_hierarchies', f'{name}=RECIPE')}."
    )


def claims_of(
    k: int,
    sensitive: Sequence[str],
    l: int,  # noqa: E741 - the name that it has everywhere
    t: float | None,
    missing: str | None = None,
) -> tuple[Claim, ...]:
    """Return what a release promises: k, and l and t of each sensitive attribute."""
    requested: list[tuple[str, dict[str, float | str]]] = []
    if l:
        requested.append(
            ("l-diversity", {"l": int(l), **({"missing": missing} if missing else {})})
        )
    if t is not None:
        requested.append(("t-closeness", {"t": float(t)}))
    return (
        Claim(model="k-anonymity", parameters={"k": int(k)}),
        *(
            Claim(model=model, parameters={**bound, "attribute": name})
            for model, bound in requested
            for name in sensitive
        ),
    )
