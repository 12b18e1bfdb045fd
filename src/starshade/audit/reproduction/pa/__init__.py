"""Chang, Thompson, Wang & Yao's study (PA §7) on any ratings: Tables 1-3, Figs 3-5.

Tables 1 to 3 have numbers, of Netflix: ours stand beside them. The figures are pictures; what the
text says of them is held against the curves found here. Beside the paper's two ways of
homogenizing, `padded` and `simple`, stand starshade's own. ::

    ratings ──measured─▶ the lines: how a group becomes a profile; k = 5 and 50, as in the paper
                         a tenth held out, the rest anonymized by every line at every k: how well
                         what was held out is predicted (Tables 1 and 3), self-ranks (Fig 5)
            ──figures──▶ the padded table: histogram (Table 2), bins around virtual and real
                         centres (Fig 3), dissimilarities of pairs (Fig 4)
    checks     the paper's sentences against tables and figures
    reproduce  all of it, as a `PredictiveStudy`

Two readings of "predicted from the release" stand side by side: `release` takes the released cell,
a null as 0 (the only reading that gives simple anonymization an error of the size that Table 1
has), `refit` trains a recommender on the release, as somebody who downloads it would. Everything
is run several times with seeds of its own, each holding out other ratings; a figure is the mean
with the least and the greatest of the runs.
"""
