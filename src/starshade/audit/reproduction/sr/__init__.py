"""Sun & Sun's study (SR §7) on any ratings: Figs 3-8, and whether what they conclude holds here.

The paper's figures are pictures; its text says how the curves run. So every figure is made anew
on the data at hand, and each sentence about a curve becomes a check with the figures it rests on.

Three things are measured::

    ratings ──measured──▶ as many of the users and items as a figure asks for
                          how long a check takes: over share of data, ε, k, l (Figs 3-6)
                          how far the interval anonymizer moves ratings: over ε, k (Fig 7)
                          what ratings tell of a person, before and after (Fig 8)
              └ prediction: one experiment of naive Bayes, 50 times over
    charted     figures out of what was measured
    checks      the paper's sentences against those figures
    study       all of it, as a `Study`

Under the paper's null rule two records are alike only when they rated the same items, and on all
of MovieLens no two users did: every check fails at once and every curve is flat. So the most rated
items are looked at too, under three null rules. The paper treats "ratings on others" as sensitive
and does not say which; here it is the last of the most rated items, or what the caller names.

Times are medians of a few runs on the machine at hand. They differ from one machine to the next;
what can be compared is how they grow.
"""
