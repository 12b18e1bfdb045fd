"""The structure of delimited text (RFC 4180): records, fields, quotes and lines, byte by byte.

A reader that splits text fast is lenient: it takes ``"b"c`` for ``bc``, and a quote that is never
closed swallows the rows behind it. This scan is strict. It finds records with a wrong number of
fields and quotes that do not close, and says on which line a record begins, also where quoted
fields hold line breaks. Blank lines are no records. A line ends with LF, CR or CRLF.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numba import njit

from starshade.kernels.arrays import Bytes, Ints

NO_QUOTE = -1  # a dialect in which a quote is an ordinary character
SHOWN = 5  # faults of one kind whose lines are kept

_LF, _CR = 10, 13
# where we are: before a record, before a field, in a plain or quoted one, behind a quote in it
_RECORD, _FIELD, _PLAIN, _QUOTED, _BEHIND = 0, 1, 2, 3, 4
# slots of the state that is carried from block to block
_MODE, _FIELDS, _N_RECORDS, _LINE, _BEGAN, _OPENED, _AFTER_CR, _FOUND = 0, 1, 2, 3, 4, 5, 6, 7
_RAGGED, _LOOSE = 8, 9


@dataclass(frozen=True)
class Structure:
    """What a scan found.

    `records`: lines that are not blank, a header included; lines within quotes belong to their
    record. `ragged`: records whose number of fields is not the expected one. `ragged_lines`,
    `ragged_fields`: the first five: the line (from 1) that the record begins on, the fields it has.
    `loose`: closing quotes followed by more text, counted once per record. `open_line`: the line on
    which a quote opens that never closes; 0: none. `lines`: for each wanted record the line it
    begins on; 0 where there is no such record.
    """

    records: int
    ragged: int
    ragged_lines: tuple[int, ...]
    ragged_fields: tuple[int, ...]
    loose: int
    loose_lines: tuple[int, ...]
    open_line: int
    lines: Ints

    @property
    def is_sound(self) -> bool:
        """Whether every record has its fields and every quote closes."""
        return not (self.ragged or self.loose or self.open_line)


def scan_structure(
    blocks: Iterable[Bytes],
    *,
    delimiter: int,
    quote: int,
    n_fields: int,
    wanted: Ints | None = None,
) -> Structure:
    """Scan text that comes in blocks.

    `delimiter`, `quote`: bytes; `NO_QUOTE` for a dialect without quotes. `n_fields`: fields that
    every record must have. `wanted`: record numbers (from 0) whose lines are asked for. The scan
    stops behind the last one.
    """
    asked = np.empty(0, np.int64) if wanted is None else np.asarray(wanted, np.int64)
    lines = np.zeros(len(asked), np.int64)
    state = np.zeros(10, np.int64)
    state[_LINE] = 1
    ragged = np.zeros((SHOWN, 2), np.int64)
    loose = np.zeros(SHOWN, np.int64)
    told = delimiter, quote, n_fields, state, ragged, loose, asked, lines
    for block in blocks:
        _scan(block, *told)
        if len(asked) and state[_FOUND] == len(asked):
            break
    else:
        if state[_MODE] not in (_RECORD, _QUOTED):  # the last line has no end
            _scan(np.array([_LF], np.uint8), *told)
    n_ragged, n_loose = int(state[_RAGGED]), int(state[_LOOSE])
    return Structure(
        records=int(state[_N_RECORDS]),
        ragged=n_ragged,
        ragged_lines=tuple(ragged[:n_ragged, 0].tolist()),
        ragged_fields=tuple(ragged[:n_ragged, 1].tolist()),
        loose=n_loose,
        loose_lines=tuple(loose[:n_loose].tolist()),
        open_line=int(state[_OPENED]) if state[_MODE] == _QUOTED else 0,
        lines=lines,
    )


@njit(cache=True, nogil=True)
def _scan(block, delimiter, quote, n_fields, state, ragged, loose, wanted, lines):  # type: ignore[no-untyped-def]
    mode, fields, record, line = state[_MODE], state[_FIELDS], state[_N_RECORDS], state[_LINE]
    after_cr, found = state[_AFTER_CR], state[_FOUND]
    for p in range(len(block)):
        byte = np.int64(block[p])
        if after_cr == 1:
            after_cr = 0
            if byte == _LF:  # the second half of CRLF
                continue
        ends = byte in (_LF, _CR)
        if ends:
            line += 1
            after_cr = 1 if byte == _CR else 0
        if mode == _QUOTED:
            if byte == quote:
                mode = _BEHIND
            continue
        if mode == _BEHIND:
            if byte == quote:  # a doubled quote stands for one
                mode = _QUOTED
                continue
            if not ends and byte != delimiter:
                if fields >= 0:  # counted once: a negative number of fields marks the record
                    if state[_LOOSE] < SHOWN:
                        loose[state[_LOOSE]] = state[_BEGAN]
                    state[_LOOSE] += 1
                    fields = -1 - fields
                mode = _PLAIN
                continue
        if mode == _RECORD:
            if ends:
                continue
            state[_BEGAN] = line
            fields = 1
            if found < len(wanted) and wanted[found] == record:
                lines[found] = line
                found += 1
        if ends:
            record += 1
            count = fields if fields >= 0 else -1 - fields
            if count != n_fields:
                if state[_RAGGED] < SHOWN:
                    ragged[state[_RAGGED], 0] = state[_BEGAN]
                    ragged[state[_RAGGED], 1] = count
                state[_RAGGED] += 1
            mode = _RECORD
        elif byte == delimiter:
            fields = fields + 1 if fields >= 0 else fields - 1
            mode = _FIELD
        elif byte == quote and mode in (_RECORD, _FIELD):
            mode = _QUOTED
            state[_OPENED] = line
        else:
            mode = _PLAIN
    state[_MODE], state[_FIELDS], state[_N_RECORDS], state[_LINE] = mode, fields, record, line
    state[_AFTER_CR], state[_FOUND] = after_cr, found
