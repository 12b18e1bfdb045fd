"""Riyana & Natwichai's study (KL §5) on any ratings: Figs 10-16, and whether what they say holds.

The paper's figures are pictures; its text says how the curves run and lie. So every figure is made
anew on the data at hand, and each sentence about a curve becomes a check with the figures it rests
on. Beside the paper's methods stands starshade's own, k-exchange. ::

    ratings ──measured──▶ the lines: a method with a hierarchy; each k from 1, the original, to 20
                          DM, C_AVG, GenILoss and time of every line at every k (Figs 10-12, 16)
                          how wrong AVG of an attribute becomes under OR, AND, ranges (Figs 13-15)
    checks  the paper's sentences against those figures
    study   all of it, as a `GeneralizationStudy`

Where a method draws, the draw matters: everything is run several times with seeds of its own, and
a point is the mean with the least and the greatest of the runs. Times are medians on the machine
at hand; what can be compared is their ratio and how they grow.
"""
