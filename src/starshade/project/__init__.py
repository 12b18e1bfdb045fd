"""One file for the whole job, and the job: from ratings to a published release, every night.

::

    starshade.toml ──file.py──▶ Project ──▶ defaults of every command
                                   │
                   run.py, work.py: read ▸ anonymize ▸ audit ▸ report ▸ publish
                                   │            each stage leaves a file, or nothing
                               .starshade/   state.py: receipts, work in progress, what is out

What is wrong with the file is found when it is read (``check.py``: also between its lines), what is
wrong with what is out or with these ratings before any work (``refuse.py``).

A project file holds no setting of its own but where releases go: each key is declared where it is
used (`starshade.setting`), so that what a command takes, the file takes, checked by the same rule.

A run is *the same* if the ratings, the settings and the releases that are out are: then it has the
same name, the same seed and the same bytes. A run whose input files and settings are those of the
last one (``inputs.py``) does not even read. Whatever it finished before it was killed is there, in
a folder of that name, and is not done again. A release is moved to its published place by one
rename, after the verdict; what is out is what lies there, and what is written down about it before
the rename, so that nothing is ever out without its receipt.
"""
