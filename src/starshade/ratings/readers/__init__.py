"""How ratings come in.

One door, `starshade.ratings.read.read_ratings`, and behind it one path for every format::

    source ── detect ──> files            which files are meant; zips and archives unpacked
           ── sniff ───> dialect          delimiter, header, columns (text only)
           ── aliases ─> roles            which column is user, item, rating, date
           ── long | wide ─> batches      ids, ratings and days, still in file order
           ── build ───> Ratings          validated, in canonical order
           ── attributes, names           what belongs to users and items

=================  =====================================================================
format             recognised by
=================  =====================================================================
movielens-100k     tab, four columns, no header, named ``u.data``; ``u.item`` beside it
                   names the items; the folder or zip also brings ``u.user``
movielens-dat      ``::`` (1M and 10M: ``ratings.dat``, ``users.dat``, ``movies.dat``)
movielens-csv      the header ``userId,movieId,rating,timestamp`` (20M and later, latest)
netflix            a folder or tar of ``mv_*.txt``, or ``combined_data_*.txt``
recbole            a header whose every column is ``name:type``; ``.user``, ``.item``
amazon             no header, commas, ids of Amazon's form in either order
csv, tsv           any other delimited text, with known or given column names, or without
                   a header as user, item, rating and perhaps date
parquet            its first bytes
wide               asked for: one row per respondent
sqlite             its first bytes, or ``sqlite:///FILE``
postgresql         ``postgresql://…``
frame, scipy       the object's type
store              a folder that `Ratings.save` wrote
=================  =====================================================================

Files may lie elsewhere (``s3://…``, `addresses.buckets`), and folders may say columns
(``year=2024``, `formats.parts`).

**Nothing is guessed from a sample.** Text columns stay text until every value was looked at: an
id is the text that stands in the file, blanks within a field included (``007``, ``7`` and `` 7``
are three ids); a rating is a decimal number, a date is in one of the forms of `dates`, and blanks
around these two do not matter. Only the dialect and the columns are told from a file's head, and
what was chosen is said.

**Two ways through text.** `plain` is fast and takes integer ids only; at the first byte that is
not plain the general reader starts again from the top. That one splits by Arrow and is kept
honest by `kernels.text.delimited`, which finds rows of the wrong length and open quotes.

**Every mistake is counted.** A reader goes on to the end of the input, then refuses all of it
with the kinds of mistakes, how many rows, and the first five by file and line (`faults`).
"""
