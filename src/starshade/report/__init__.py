"""Results made visible: charts and folders for people.

What was measured comes up from `audit/` as plain data with intervals; here it becomes a Vega-Lite
specification (a dict with the data inside, which any Vega viewer opens), a picture (SVG, through
the optional extra ``starshade[report]``) and a page of text. Nothing is computed here: a figure
in a report is the figure in the result. ::

    audit.ns, .sr, .kl ── charts ──> Vega-Lite, SVG
                       ── reproduction, _sr, _kl ──> a folder: JSON, the charts, README.md
    audit.compare      ── comparison ──> the same for methods side by side

Every chart says on how much data it rests, shows 95 % intervals, and sets the paper's numbers
apart from ours by shape and colour; colours are told apart by the colour-blind too, and dashes
repeat what they say.
"""
