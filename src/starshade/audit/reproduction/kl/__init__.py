"""Riyana & Natwichai's study (KL) on any ratings: Figs 10-16, every claim, every worked table.

The paper's figures are pictures; its text says how the curves run and lie. So every figure is made
anew on the data at hand, and each claim is held against what was measured. Beside the paper's
methods stands starshade's own, k-exchange. ::

    configurations  as-printed, as-read, ours
    lines           a method with a hierarchy; readings ──▶ naive: both algorithms as printed
    bench           releases, answers, work: each measured once, over seeds and over users
       changed      interventions: another reading, or one property of the data changed alone
    claims          definitions, data, proof; experiments: Figs 10-16; statistics: what decides
    figures, grid   curves; which reading gives which figure, what each algorithm does
    worked          Tables 1-6 and the eight queries; theorem: the reduction on small instances
    study           all of it, as a `GeneralizationStudy`

Where a method draws, the draw matters: everything is run several times with seeds of its own, and
a point is the mean with the least and the greatest of the runs. Claims on speed rest on cells
touched; seconds, of both algorithms in the same kind of code, stand beside.
"""
