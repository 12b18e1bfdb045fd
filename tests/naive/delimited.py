"""The structure of delimited text, character by character, for reading."""

from __future__ import annotations


def structure(text: str, delimiter: str, quote: str, n_fields: int) -> dict[str, object]:
    """Return records, faults and the line that each record begins on."""
    lines = _physical_lines(text)
    starts: list[int] = []
    ragged: list[tuple[int, int]] = []
    loose: list[int] = []
    at = 0
    while at < len(lines):
        if lines[at] == "":
            at += 1
            continue
        began = at + 1
        record = lines[at]
        fields, is_loose, opened = _fields(record, delimiter, quote)
        while opened is not None and at + 1 < len(lines):
            at += 1
            record += "\n" + lines[at]
            fields, is_loose, opened = _fields(record, delimiter, quote)
        starts.append(began)
        if is_loose:
            loose.append(began)
        if opened is not None:
            line = began + record[:opened].count("\n")
            return _result(starts, ragged, loose, line, len(starts) - 1)
        if len(fields) != n_fields:
            ragged.append((began, len(fields)))
        at += 1
    return _result(starts, ragged, loose, 0, len(starts))


def _result(
    starts: list[int], ragged: list[tuple[int, int]], loose: list[int], open_line: int, records: int
) -> dict[str, object]:
    return {
        "records": records,
        "ragged": ragged,
        "loose": loose,
        "open_line": open_line,
        "starts": starts,
    }


def _physical_lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _fields(record: str, delimiter: str, quote: str) -> tuple[list[str], bool, int | None]:
    """Split one record; also: text behind a closing quote?, where a quote stays open."""
    fields: list[str] = []
    loose = False
    rest, offset = record, 0
    while True:
        if quote and rest.startswith(quote):
            end = 1
            while True:
                end = rest.find(quote, end)
                if end < 0:
                    return fields, loose, offset
                if rest[end : end + 2] == quote * 2:
                    end += 2
                    continue
                break
            stop = rest.find(delimiter, end + 1)
            behind = rest[end + 1 :] if stop < 0 else rest[end + 1 : stop]
            loose = loose or behind != ""
        else:
            stop = rest.find(delimiter)
        if stop < 0:
            return [*fields, rest], loose, None
        fields.append(rest[:stop])
        rest, offset = rest[stop + 1 :], offset + stop + 1
