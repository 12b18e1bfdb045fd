"""Which column is what: names that people give to user, item, rating and date."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from starshade.errors import InputError
from starshade.naming import Value, aside, named, together
from starshade.plain import counted


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: names of columns that stand in for a person's id where there is none
MAILS = _names("email emailaddress mail mailaddress useremail usermail customeremail")
#: role → names, written without case and separators (``User-ID`` is ``userid``)
ALIASES: dict[str, frozenset[str]] = {
    "user": _names(
        "user userid userno usernumber useridx userindex uid usr usrid reviewer reviewerid "
        "customer customerid customerno cust custid member memberid rater raterid respondent "
        "respondentid subscriber subscriberid person personid participant participantid viewer "
        "viewerid client clientid account accountid"
    )
    | MAILS,
    "item": _names(
        "item itemid itemno itemidx itemindex iid movie movieid film filmid show showid book "
        "bookid isbn isbn13 asin parentasin product productid sku business businessid song "
        "songid track trackid artist artistid album albumid anime animeid recipe recipeid game "
        "gameid joke jokeid article articleid restaurant restaurantid course courseid app appid"
    ),
    "rating": _names(
        "rating ratings rate stars star score scores overall value grade vote bookrating "
        "movierating userrating itemrating reviewrating reviewscore starrating ratingvalue "
        "ratingscore preference"
    ),
    "day": _names(
        "timestamp timestamps ts date time day when datetime unixreviewtime reviewtime reviewdate "
        "unixtime unixtimestamp ratingdate ratingtime ratingtimestamp ratedat ratedon createdat "
        "eventtime reviewedat reviewedon reviewtimestamp daterated datereviewed ratedate "
        "createdon datecreated"
    ),
    "name": _names(
        "title name itemname itemtitle movietitle moviename filmtitle booktitle producttitle "
        "productname artistname songtitle songname gametitle"
    ),
    "respondent": _names(
        "id user userid uid respondent respondentid responseid participant participantid person "
        "personid subject subjectid case caseid customerid memberid reviewerid"
    ),
}
#: names of respondents' ids that count where none of the usual ones is there
RECORDS = _names(
    "record recordid recordno recordnumber studyid respid respno idno caseno casenumber "
    "respondentno respondentnumber responseno responsenumber participantno participantnumber "
    "subjectno subjectnumber interviewid surveyid uuid"
)
#: columns that Qualtrics, LimeSurvey, SurveyMonkey and Google Forms add to the answers, that
#: programs add to rows, and usual personal attributes
SURVEY = _names(
    "startdate enddate status ipaddress ipaddr progress duration durationinseconds finished "
    "recordeddate responseid recipientlastname recipientfirstname recipientemail externalreference "
    "externaldatareference locationlatitude locationlongitude distributionchannel userlanguage "
    "submitdate lastpage startlanguage seed datestamp refurl token interviewtime totaltime "
    "respondentid collectorid datecreated datemodified firstname lastname custom1 timestamp "
    "unnamed0 rownames latitude longitude lat lon age gender sex zip zipcode postcode "
    "postalcode birthyear yearofbirth yob income agegroup ageband agerange agecategory region "
    "regioncode regionid countrycode wave consent formcomplete surveyweight educationlevel "
    "maritalstatus householdsize"
)
SURVEY |= MAILS
#: role → sets of names in public ratings, a later set counting where no earlier one fits: a person
#: has an id or a name, and an item may have a catalogue's number or its title alone
PUBLIC: dict[str, tuple[frozenset[str], ...]] = {
    "person": (
        ALIASES["user"] | _names("name username reviewername membername nickname"),
        _names(
            "handle userhandle nick screenname displayname login userlogin who postedby ratedby"
        ),
    ),
    "item": (
        ALIASES["item"],
        _names("imdb imdbid tmdbid tconst const titleid"),
        ALIASES["name"] - {"name"},
    ),
    "rating": (
        ALIASES["rating"],
        _names("yourrating myrating stars5 stars10 rating5 rating10 score5 score10 points marks"),
    ),
    "day": (
        ALIASES["day"],
        _names(
            "posted postedat postedon writtenat writtenon dateposted created "
            "watchedat watchedon watcheddate datewatched dateread"
        ),
    ),
}
#: role → the setting that names its column
_SETTING = {
    "user": "user_col",
    "item": "item_col",
    "rating": "rating_col",
    "day": "day_col",
    "respondent": "id_col",
}
_WORD = {"day": "date", "respondent": "respondent id", "person": "name"}
_MANY = 5  # so many columns may be a wide table's
ROW_NUMBER = "#"  # given as the id column: the respondents are numbered 1, 2, …
_LIKE_AN_ID = re.compile(
    r"(^|[\W_])(id|ids|no|nr|num|number|key|index|serial)\W*$|[a-z](Id|ID|No|Nr)$|^(id|nr|no)[\W_]"
)
_LIKE_A_DATE = re.compile(r"date|time|(^|[\W_])(at|on|day|when)$|[a-z](At|On)$")


def headless(*before: tuple[str, Value]) -> str:
    """Say how to read a wide table whose first line is ratings, perhaps after other settings."""
    return (
        f"{together(*before, ('header', False), ('id_col', ROW_NUMBER))} (numbers the rows). If "
        f"column 1 contains ids: {named('id_col', 1)}. If it contains counts, add "
        f"{named('attribute_cols', ['1'])}"
    )


def normalized(name: str) -> str:
    """Return a column name without case and separators."""
    return re.sub(r"[\W_]+", "", name).casefold()


def is_like_an_id(name: str) -> bool:
    """Tell by a column's name whether it may hold the respondents' ids.

    >>> [is_like_an_id(name) for name in ("record_id", "Serial No.", "kidney", "q1")]
    [True, True, False, False]
    """
    lower = name if re.search("[a-z][A-Z]", name) else name.casefold()
    known = ALIASES["respondent"] | RECORDS
    return normalized(name) in known or bool(_LIKE_AN_ID.search(lower))


def matching(
    columns: Sequence[str], role: str, aliases: Mapping[str, frozenset[str]] = ALIASES
) -> list[str]:
    """Return the columns whose names are known for a role; one of mail only beside no id.

    >>> matching(["email", "film"], "user"), matching(["email", "user_id"], "user")
    (['email'], ['user_id'])
    """
    names = [name for name in columns if normalized(name) in aliases[role]]
    return [name for name in names if normalized(name) not in MAILS] or names


def title_column(columns: Sequence[str], taken: Sequence[str] = ()) -> str | None:
    """Return the only column of titles, which may serve where none has item ids.

    A name may be a person's, so ``name`` alone is none.

    >>> title_column(["customer", "title", "stars"])
    'title'
    """
    titles = [name for name in columns if normalized(name) in PUBLIC["item"][-1]]
    titles = [name for name in titles if name not in taken]
    return titles[0] if len(titles) == 1 else None


def refuse_repeated(columns: Sequence[str], where: str, hint: str = "") -> None:
    """Raise InputError when two columns have one name; `hint` ends the advice."""
    repeated = [name for name, count in Counter(columns).items() if count > 1]
    if repeated:
        bare = not any(map(str.strip, repeated))
        what = "several columns have no name"
        if not bare:
            what = f"the column names {listing(repeated)} occur more than once"
        above = ", and remove lines above the header" if bare else ""
        advice = f"Give every column a name of its own{above}. {hint}".strip()
        raise InputError(f"{where}: {what}", advice=advice)


def resolve(
    columns: Sequence[str],
    given: Mapping[str, str | None],
    *,
    required: Sequence[str],
    optional: Sequence[str] = (),
    where: str,
    listed: bool | None = None,
    settings: Mapping[str, str] = _SETTING,
    aliases: Mapping[str, frozenset[str]] = ALIASES,
) -> dict[str, str]:
    """Find the column of each role: the one given, else the only one with a known name.

    `given`: role → column named by the caller, or None. `required`, `optional`: roles; see
    `ALIASES`. `where`: the source, for messages. `listed`: whether messages may list all columns:
    not those of a wide table, which are items. None: where one of the names is known, since others
    may be the first row of a file. `settings`: role → the setting that names its column, for
    messages. `aliases`: role → its known names.

    >>> resolve(["User-ID", "isbn", "stars"], {}, required=["user", "item", "rating"], where="f")
    {'user': 'User-ID', 'item': 'isbn', 'rating': 'stars'}
    """
    columns_of: dict[str, str] = {}
    unclear: dict[str, list[str]] = {}
    taken = {name for name in given.values() if name}
    for role in (*required, *optional):
        named = given.get(role)
        if named:
            columns_of[role] = _given(columns, named, role, where, listed, settings)
            continue
        candidates = [name for name in matching(columns, role, aliases) if name not in taken]
        if len(candidates) == 1:
            columns_of[role] = candidates[0]
        elif candidates or role in required:
            unclear[role] = candidates
    if unclear:
        _refuse_unclear(columns, unclear, where, listed, settings)
    for name, count in Counter(columns_of.values()).items():
        if count > 1:
            roles = " and ".join(
                _WORD.get(r, r) for r, column in columns_of.items() if column == name
            )
            raise InputError(f"{where}: column {name!r} cannot be {roles} at once")
    return columns_of


def left_over(columns: Sequence[str], roles: Mapping[str, str], *, dates: bool) -> list[str]:
    """Return the columns without a role; without those of dates where nobody asks for dates."""
    taken = set(roles.values())
    if not dates:
        taken.update(matching(columns, "day"))
    return [name for name in columns if name not in taken]


def unread(columns: Sequence[str], roles: Mapping[str, str], *, dates: bool) -> tuple[str, ...]:
    """Say in a note which columns have no role, and which of them may be the dates.

    `roles`: role → column. `dates`: whether dates are asked for at all. Returns: one sentence, or
    none.

    >>> roles = {"user": "user", "item": "book", "rating": "stars"}
    >>> unread(["user", "book", "stars", "city"], roles, dates=True)
    ("columns not read: 'city'",)
    """
    left = left_over(columns, roles, dates=dates)
    if not left:
        return ()
    text = f"columns not read: {listing(left)}"
    if dates and "day" not in roles:
        alike = [name for name in left if _LIKE_A_DATE.search(name)]
        if alike:
            text += f" (if {listing(alike)} contains the dates, name it: {named('day_col')})"
    return (text,)


def _given(
    columns: Sequence[str],
    named: str,
    role: str,
    where: str,
    listed: bool | None,
    settings: Mapping[str, str],
) -> str:
    if named in columns:
        return named
    alike = [name for name in columns if normalized(name) == normalized(named)]
    if len(alike) == 1:
        return alike[0]
    setting = settings.get(role)
    raise InputError(
        f"{where}: no column {named!r} for the "
        f"{_WORD.get(role, role)}{(aside(setting) if setting else '')}; "
        f"{_described(columns, listed)}",
        setting=setting,
    )


def _refuse_unclear(
    columns: Sequence[str],
    unclear: Mapping[str, list[str]],
    where: str,
    listed: bool | None,
    settings: Mapping[str, str],
) -> None:
    """Name all roles that have no column or several, and how to settle it."""
    words = {role: _WORD.get(role, role) for role in unclear}
    parts = [
        f"several columns may be the {words[role]}: {listing(names)}"
        for role, names in unclear.items()
        if names
    ]
    missing = [role for role, names in unclear.items() if not names]
    if missing:
        parts.append(f"no column is recognised as the {', the '.join(words[r] for r in missing)}")
        parts.append(_described(columns, listed))
    options = [named(settings[role]) for role in unclear if role in settings]
    advice = f"Name the {', '.join(words.values())} column" + (
        f" ({', '.join(options)})." if options else "."
    )
    if len(columns) == 1:
        advice = (
            f"If another character separates the fields, name the delimiter{aside('delimiter')}."
        )
    if missing == ["rating"]:
        advice += (
            " If there is none, as each row is a purchase or a click, add a column that is 1 in "
            "every row."
        )
    if "item" in missing and len(columns) >= _MANY and settings is _SETTING:
        row = together(("wide", True), ("id_col", "NAME"))
        more = named("attribute_cols", ["NAME", "NAME"])
        advice += (
            f" If every row is one user and every item has a column: {row}; add {more} only if "
            "columns describe the users."
        )
    if any("\ufffd" in name for name in columns):
        advice += " Save the file as UTF-8: some names are not."
    raise InputError(f"{where}: {'; '.join(parts)}", advice=advice)


def _described(columns: Sequence[str], listed: bool | None) -> str:
    """List the columns, unless they are items or may be the first row of a file."""
    if listed is None:
        known = set().union(*(ALIASES[role] for role in ("user", "item", "rating", "day")))
        listed = any(normalized(name) in known for name in columns)
    return (
        f"the columns are {listing(columns)}"
        if listed
        else f"it has {counted(len(columns), 'column')}"
    )


def listing(names: Sequence[str]) -> str:
    """Write column names in a message, each cut when long, not too many."""
    shown = ", ".join(
        repr(name[:60]) if name.strip() else "one without a name" for name in names[:30]
    )
    return shown if len(names) <= 30 else f"{shown}, … ({len(names)} in all)"
