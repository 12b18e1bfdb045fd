"""The one door through which ratings come in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from starshade.errors import ConfigError, InputError
from starshade.naming import called, named
from starshade.progress import announced, note
from starshade.ratings.build import build
from starshade.ratings.frames import Framed
from starshade.ratings.places.place import holds_release
from starshade.ratings.readers.addresses.address import hidden, is_address, path_of
from starshade.ratings.readers.addresses.databases import (
    PostgresSource,
    SqliteSource,
    is_ordered,
    open_database,
)
from starshade.ratings.readers.beside import attach, attach_names, read_attributes, read_names
from starshade.ratings.readers.faults import remark, suspect_codes
from starshade.ratings.readers.formats.plain import NotPlain
from starshade.ratings.readers.formats.tables import FrameSource, is_frame
from starshade.ratings.readers.formats.wide import WideTable
from starshade.ratings.readers.open import (
    Opened,
    Request,
    open_parquet,
    open_table,
    open_text,
    some,
)
from starshade.ratings.readers.recognise.detect import Recognised, as_format, find
from starshade.ratings.readers.recognise.inputs import Input, only_file, unchanged
from starshade.ratings.scale import Scale
from starshade.ratings.settings import OnDuplicate
from starshade.ratings.table import Ratings, ReadReport
from starshade.scratch import scratch_folder
from starshade.setting import is_list, shown

Names = str | Path | Input | Mapping[str, str] | None
#: what makes a table, or something like it, of batches
Make = Callable[..., Any]


@announced("reading")
def read_ratings(
    source: Any,
    *,
    users: Any = None,
    item_names: str | Path | Mapping[str, str] | None = None,
    format: str | None = None,  # noqa: A002 - the word that people look for
    query: str | None = None,
    user_col: str | int | None = None,
    item_col: str | int | None = None,
    rating_col: str | int | None = None,
    day_col: str | int | None = None,
    wide: bool = False,
    id_col: str | int | None = None,
    item_cols: Sequence[str] = (),
    attribute_cols: Sequence[str] = (),
    null_values: Sequence[str] = (),
    scale: Scale | str | None = None,
    on_duplicate: OnDuplicate = "error",
    delimiter: str | None = None,
    header: bool | None = None,
    dates: bool = True,
    show_values: bool = False,
) -> Ratings:
    """Read ratings from a file, a folder, an address, a frame or a matrix.

    The formats are listed in `starshade.ratings.readers`; they are recognised by content and
    name. What was chosen stands in `Ratings.report` and is told to the progress watcher.

    Parameters
    ----------
    source : path, pattern, list of paths, address, Arrow-capable frame, or SciPy sparse matrix
        A file (perhaps gz, bz2, xz or zst), a folder, a zip, a store; ``s3://``, ``gs://``,
        ``abfs://`` or ``hdfs://`` and a file, pattern or folder there; an SQLite file,
        ``sqlite:///FILE`` or ``postgresql://HOST/DATABASE``; a frame of pandas, Polars, PyArrow or
        DuckDB; a sparse matrix of users × items, whose explicit zeros are ratings;
        a list of rows, each a tuple of user, item, rating and perhaps date.
    users : path or frame, optional
        Personal attributes, one row per user.
    item_names : path or mapping of id to name, optional
    format : str, optional
        One of the formats' names, to overrule what would be recognised.
    query : str, optional
        Of a database: a SELECT statement, or the name of a table; None: its only table.
    user_col, item_col, rating_col, day_col : str or int, optional
        Columns by name, or by number (from 1) in a file without a header.
    wide : bool
        One row per respondent, a column per item.
    id_col : str or int, optional
        Wide tables: the column of the respondents' ids; ``#`` numbers the rows.
    item_cols : sequence of str
        Wide tables: columns of the items, in which ``*`` stands for any text; empty: all others.
    attribute_cols : sequence of str
        Wide tables: columns of personal attributes.
    null_values : sequence of str
        Values that mean "not rated", e.g. ``99``; in a wide table a blank always does.
    scale : Scale or str, optional
        ``min:max:step`` or ``min:max``; None: inferred from all ratings.
    on_duplicate : {"error", "first", "last", "latest", "mean", "sum", "max"}
        When a user rated an item more than once.
    delimiter : str, optional
        One ASCII character, ``::``, or ``tab``.
    header : bool, optional
        Whether the first line names the columns; None: told by what stands there.
    dates : bool
        Read the dates, if there are any.
    show_values : bool
        Let messages name users and items; otherwise they are named by line.

    Raises
    ------
    InputError
        What is wrong, with file, line, the value found and those allowed, how many rows, and
        the first five.
    ConfigError
        Options that are unknown or contradict each other.

    Examples
    --------
    >>> import pyarrow as pa
    >>> frame = pa.table({"user": ["a", "b"], "item": [1, 1], "stars": [4, 5]})
    >>> read_ratings(frame, scale="1:5:1")
    Ratings(2 users x 1 items, 2 ratings, scale 1:5:1)
    """
    options = dict(locals())
    ratings: Ratings = take_in(options.pop("source"), options, build)
    report = ratings.report
    suspects = suspect_codes(ratings)
    if report.scale_inferred and not suspects:
        counts = np.bincount(ratings.codes, minlength=len(ratings.levels))
        suspects = tuple(filter(None, [remark(ratings.levels, counts, ratings.scale)]))
    # of a store they are noted already
    if suspects := tuple(each for each in suspects if each not in report.notes):
        ratings = ratings.annotate(report=replace(report, notes=(*report.notes, *suspects)))
    tell(ratings.report, ratings.scale)
    return ratings


def take_in(
    source: Any, options: dict[str, Any], make: Make, *, scratch: Path | None = None
) -> Any:
    """Find, open and read a source; `options` as `read_ratings` has them.

    `make`: what makes a table of batches: `build`, or what takes its place where no table need be
    in memory. What is a table already or is wide is built all the same. `scratch`: a folder for
    what is unpacked, which has to stay where rows may be named later; None: one of its own.
    """
    scale, nulls = options["scale"], options["null_values"]
    columns = ("user_col", "item_col", "rating_col", "day_col", "id_col")
    request = Request(
        **options
        | {name: _column(options[name]) for name in columns}
        | {
            "null_values": [str(each) for each in nulls] if is_list(nulls) else nulls,
            "scale": Scale.parse(scale) if isinstance(scale, str) else scale,
        }
    )
    users, item_names = request.users, request.item_names
    for setting, place in (("users", users), ("item_names", item_names)):
        if isinstance(place, str) and not place:
            raise ConfigError(
                f"{named(setting)}: an empty path", advice="Name a file.", setting=setting
            )
    _refuse_names(item_names)
    _refuse_release(source)
    source = _as_frame(source)
    with ExitStack() as stack:
        scratch = scratch or stack.enter_context(scratch_folder())
        database = open_database(source, request.query)
        if database:
            stack.enter_context(closing(database))
        if database or is_frame(source) or hasattr(source, "tocsr"):
            inputs = Recognised("frame", ())
            if request.format not in (None, "wide"):
                what = "database" if database else "table in memory"
                raise ConfigError(
                    f"{called('format')} {request.format!r}: applies to files; this is a {what}",
                    setting="format",
                )
        else:
            inputs = as_format(find(source, scratch), request.format)
        names: Names = item_names
        with unchanged(_places(source, inputs)):
            if database:
                ratings = _read_database(database, request, make)
            elif inputs.files:
                ratings = _read(inputs, request, scratch, make)
            else:
                ratings = _read_frame(source, request, make)
        # a file of the right name may still be of another kind
        if ratings.report.format == inputs.family:
            users = inputs.users if users is None else users
            names = inputs.names if item_names is None else item_names
        return _with_names(_with_users(ratings, users, request, scratch), names, scratch)


def _refuse_release(source: Any) -> None:
    """Refuse a release, its folder and what lies in it: no row of it is somebody's rating."""
    found = ["this is"] if isinstance(source, Framed) and not isinstance(source, Ratings) else []
    for given in source if isinstance(source, (list, tuple)) else [source]:
        if isinstance(given, (str, Path)):
            path = Path(given)
            found += [f"{hidden(given)}: is"] * holds_release(path)
            found += [f"{hidden(given)}: is part of"] * holds_release(path.parent)
    if found:
        raise InputError(
            f"{found[0]} a release, not ratings",
            advice="Give the ratings that it was made from. To train on a release, use its "
            "rows: starshade.read_release(folder).to_pandas() or .to_csr(), or "
            "`starshade data convert`.",
        )


def _as_frame(source: Any) -> Any:
    """Return a list of rows (user, item, rating and perhaps date) as a frame; all else as it is."""
    import pyarrow as pa

    rows = source if isinstance(source, list) else []
    widths = {len(row) if isinstance(row, tuple | list) else 0 for row in rows}
    if not widths or not widths <= {3, 4}:
        return source
    if len(widths) > 1:
        raise InputError("rows of 3 and of 4 values", advice="Give every row a date, or None.")
    names = ("user", "item", "rating", "day")
    try:
        columns = {
            name: pa.array(list(values))
            for name, values in zip(names, zip(*rows, strict=True), strict=False)
        }
    except (pa.ArrowException, TypeError, OverflowError) as error:
        raise InputError(
            f"rows: cannot be read as columns ({error})",
            advice="Give ids as text or whole numbers, and ratings as numbers.",
        ) from None
    return pa.table(columns)


def _refuse_names(names: Any) -> None:
    """Refuse names of items that are neither a file nor texts by id."""
    texts = names.values() if isinstance(names, Mapping) else ()
    if not (names is None or isinstance(names, (str, Path, Mapping))) or not all(
        isinstance(text, str) for text in texts
    ):
        raise ConfigError(
            f"{named('item_names')}: neither a file nor a mapping of ids to names (texts)",
            advice="Leave out items without a name. A table becomes such a mapping by "
            "dict(zip(ids, names)).",
            setting="item_names",
        )


def _column(column: str | int | None) -> str | None:
    return str(column) if isinstance(column, int) else column


def _places(source: Any, inputs: Recognised) -> list[Input]:
    """Return the files to be watched while they are read: those in a zip are copies."""
    whole = path_of(source) if isinstance(source, (str, Path)) and inputs.files else None
    is_one = whole is not None and not is_address(whole) and Path(whole).is_file()
    return [Input(Path(whole), str(source))] if whole and is_one else list(inputs.files)


def _read_database(database: SqliteSource | PostgresSource, request: Request, make: Make) -> Any:
    opened = open_table(database, request)
    if request.on_duplicate in ("first", "last", "latest") and not is_ordered(request.query):
        what = f"no ORDER BY: which rating of one date is {request.on_duplicate} is undefined"
        opened = replace(opened, notes=(*opened.notes, what))
    return _built(opened, request, make)


def _read_frame(source: Any, request: Request, make: Make) -> Any:
    if is_frame(source):
        return _built(open_table(FrameSource(source), request), request, make)
    from starshade.ratings.readers.formats.tables import ratings_from_scipy

    return ratings_from_scipy(source, scale=request.scale, on_duplicate=request.on_duplicate)


def _read(inputs: Recognised, request: Request, scratch: Path, make: Make) -> Any:
    if inputs.kind == "text":
        return _built(open_text(inputs, request, scratch), request, make)
    if inputs.kind == "parquet":
        return _built(open_parquet(inputs, request), request, make)
    shown = inputs.files[0].shown
    if request.names_columns or request.null_values:
        raise ConfigError(
            f"{shown}: is a {inputs.kind}, whose columns are fixed",
            advice="Remove the options that name columns, delimiter, header or nulls.",
        )
    if inputs.kind == "store":
        return _from_store(inputs.files[0], request, make)
    from starshade.ratings.readers.formats.netflix import read_netflix

    return read_netflix(inputs.files[0].path, request, make)


def _from_store(item: Input, request: Request, make: Make) -> Any:
    from starshade.ratings.shards.manifest import is_sharded
    from starshade.ratings.shards.shards import gather, open_shards
    from starshade.ratings.store import open_store

    stored = open_shards(item.path) if is_sharded(item.path) else open_store(item.path)
    if request.scale not in (None, stored.scale):
        raise ConfigError(
            f"{item.shown}: the store's scale is {stored.scale}, not {request.scale}",
            advice="Read the original data again to declare another scale.",
            setting="scale",
        )
    if isinstance(stored, Ratings):
        ratings = stored
    elif make is build or not request.dates:
        ratings = gather(stored)
    else:
        return stored.sorted_by(make, request.on_duplicate)
    return ratings if request.dates else replace(ratings, days=None, first_day=0)


def _built(opened: Opened, request: Request, make: Make) -> Any:
    if request.on_duplicate == "latest" and "day" not in opened.mapping:
        raise ConfigError(
            f"{opened.where}: {named('on_duplicate', 'latest')} needs dates, and no dates are read",
            advice=f"Name their column with {named('day_col')}, or use "
            f"{named('on_duplicate', 'last')}.",
            setting="on_duplicate",
        )
    report = ReadReport(
        source=opened.where, format=opened.format, mapping=opened.mapping, notes=opened.notes
    )
    table = opened.table
    read = partial(
        build if isinstance(table, WideTable) else make,
        scale=request.scale,
        on_duplicate=request.on_duplicate,
        locate=table.locate,
        report=report,
        show_values=request.show_values,
    )
    if opened.plain is not None:
        with suppress(NotPlain):
            return read(some(opened.plain(), opened.where))
    ratings = read(opened)
    report = replace(ratings.report, notes=(*ratings.report.notes, *table.notes))
    if not isinstance(table, WideTable):
        return ratings.annotate(report=report)
    report = replace(
        report,
        dropped_users=report.dropped_users + table.empty_rows,
        dropped_items=report.dropped_items + table.empty_columns,
    )
    ratings = ratings.annotate(report=report)
    if not table.attribute_cols:
        return ratings
    ids, attributes = table.attributes()
    return attach(ratings, ids, attributes, opened.where, request.nulls)


def _with_users(ratings: Any, users: Any, request: Request, scratch: Path) -> Any:
    if users is None:
        return ratings
    if request.attribute_cols:
        raise ConfigError(
            "personal attributes come from the wide table and from a file",
            advice=f"Name them by {named('attribute_cols')} or give {named('users', 'FILE')}, "
            "not both.",
        )
    ids, table, where = read_attributes(
        users, scratch, user_col=request.user_col, show_values=request.show_values
    )
    return attach(ratings, ids, table, where, request.nulls)


def _with_names(ratings: Any, names: Names, scratch: Path) -> Any:
    if isinstance(names, (str, Path)):
        names = only_file(names, scratch)
    if isinstance(names, Input):
        names = read_names(names, scratch)
    return ratings if names is None else attach_names(ratings, names)


def tell(report: ReadReport, scale: Scale) -> None:
    """Say in one line what was taken for what, then everything else worth knowing."""
    columns = ", ".join(f"{role} = {column}" for role, column in report.mapping.items())
    inferred = " (inferred from the data)" if report.scale_inferred else ""
    note(
        f"{report.source}: {report.format}"
        + (f"; {columns}" if columns else "")
        + f"; scale {scale}{inferred}"
    )
    for sentence in report.notes:
        note(sentence)


def ratings_from_arrays(
    users: Any,
    items: Any,
    ratings: Any,
    days: Any = None,
    *,
    scale: Scale | str | None = None,
    on_duplicate: OnDuplicate = "error",
) -> Ratings:
    """Build a table from arrays, one rating per position.

    `users`, `items` (n,): text or whole numbers. `ratings` (n,). `days` (n,): dates (datetime64,
    datetime, ISO text), or integers: days since 1970-01-01. `scale`: None: inferred. `on_duplicate`
    ({"error", "first", "last", "latest", "mean", "sum", "max"}).

    >>> ratings_from_arrays(["a", "b"], ["x", "x"], [4, 5], scale="1:5:1")
    Ratings(2 users x 1 items, 2 ratings, scale 1:5:1)
    """
    import pyarrow as pa

    columns = {"user": users, "item": items, "rating": ratings}
    if days is not None:
        days = np.atleast_1d(np.asarray(days))
        if days.dtype.kind in "iu":
            days = days.astype("datetime64[D]")
        columns["day"] = days
    for name, column in columns.items():
        if isinstance(column, str | bytes | Mapping) or not hasattr(column, "__len__"):
            raise InputError(f"{name}s: {shown(column)}; an array or a list is needed")
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise InputError(f"arrays of unequal length: {sizes}")
    try:
        frame = pa.table({name: pa.array(column) for name, column in columns.items()})
    except (pa.ArrowException, TypeError) as error:
        raise InputError(f"arrays: cannot be read as columns ({error})") from None
    return read_ratings(frame, scale=scale, on_duplicate=on_duplicate)
