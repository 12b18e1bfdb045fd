"""Sun, Wang & Li's study of the satisfaction problem, the short form of SR: Figs 1 and 2.

One data set, no anonymizer and no prediction; the measurements are SR's. ::

    configurations   at which points readings differ
    claims           claims with criteria
    study            all of it, as a `SatisfactionStudy`
"""
