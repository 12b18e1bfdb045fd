r"""SQL over a release: an aggregate query returns a number with bounds.

Riyana & Natwichai (2018, sections 1 and 3) let analysts ask for aggregates of personal attributes
under conditions on rated items, and nothing else. On the original this is unsafe: a
condition that one person alone meets turns any aggregate into that person's value. Over a
release in which every record equals at least k-1 others the same query gets a safe answer
with bounds (definitions, "answers")::

    text ──limits──▶ tokens ──parse──▶ Statement ──bind, plan──▶ Plan ──evaluate──▶ share, status
          length, depth,     whitelist   conditions  one set of          of each class
          comments           of nodes    on names    values per item          │
                                                                     aggregate / strict
                                                                              ▼
                             columns: class sums, sorted values ─────▶  QueryResult

*What satisfies.* SQL's three-valued logic: a null satisfies IS NULL and nothing else, and NOT
(null ≥ 4) is not true either. So NOT is moved down to the comparisons, where it turns the set of
ratings that satisfy into the other ratings, never into null; what is left is AND and OR of
statements "this item is in that set". A generalized cell is a set of members. Statements on one
item are merged into one set before its share is taken, different items are taken as independent:
the *share* p of a class is the chance that a record drawn in this way satisfies (`plan.py`). The
*status* (never, perhaps, certainly) is derived by logic, not from p: a range on
a real scale may hold 3, though the share of the point 3 is 0.

*The answer.* COUNT is Σp, with the certain and the possible records as bounds; SUM and AVG are Σpx
and Σpx/Σp; their bounds are extremes over every non-empty set of records between the certain and
the possible ones. What is true on the original is always within the bounds, since every original
cell is a member of its generalized cell.

*Nulls of attributes.* As in SQL, COUNT(x), SUM(x), AVG(x), MIN(x) and MAX(x) pass over records
whose x is null: for them "records" means the records with a value. Where no record at all is left,
all but COUNT are null. A bound speaks of the answers that are not null.

**The guard, and why it cannot be differenced.** Write C for the classes of the release; each of
them has at least k records (checked when a query meets a release, never taken on trust).

1. Whether a record can satisfy depends on its released cells, which are those of its class. So
   the record set R(q) behind any query q is a union of whole classes: nothing, or k records and
   more.
2. The symmetric difference of R(q) and R(q') is then a union of whole classes too: nothing, or k
   records and more. No pair of queries isolates fewer than k people.
3. In the same way the shares, and so the weights in Σpx, are constant on a class. Whatever is
   answered to COUNT(*), and in strict mode to COUNT, SUM and AVG of an attribute, is a function of
   the released cells and of totals over whole classes; so is everything that can be worked out
   from any number of answers.

Step 3 fails for two things, and *strict* mode (the default, for untrusted analysts) closes both.
MIN and MAX, and the extremes in the bounds of SUM and AVG, are the values of single people: at k ≤
3 MIN, MAX and SUM of a class reveal every value in it. Strict mode refuses the first and computes
the second from bounds that the owner declares. And where attributes have nulls, the total of a
class can rest on one known value. Strict mode therefore adds classes up to *blocks* (`strict.py`):
a block has no known value, or at least k of them; only totals of blocks are ever looked at, and
within a block of several classes they are shared out by size (`strict.py`). The declared bounds are
the owner's setting: an analyst who could choose them would find the greatest value by trying.
*Paper* mode, for trusted analysts who may see single values, is the bare definition: 1 and 2 hold
there too, 3 does not. Where one person alone in a class has a value, the difference of two sums is
that value.

Limits of the guard: k-anonymity does not prevent attribute disclosure. A class whose members all
have one value of an attribute discloses it (use l-diversity), and the mean of k known values
narrows the last one down for k-1 who conspire.
"""
