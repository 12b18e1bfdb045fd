"""The studio: a local web application, from reading ratings to downloading a release.

Two processes and a folder::

    browser ──HTTP── server process ──────────────socket────────────── worker process
                     app, routes, pages                                tasks: read, attack,
                     engine (one thread) ── studio.sqlite              compare, release
                                                  work folder: data/, releases/ ──┘

**The server process** answers pages and never computes: it does not even load the kernels, so a
page takes no longer while a job runs. Its `engine` has one thread, which takes the job that has
waited longest, hands it to the worker, listens for progress, and writes down how it ended. Only
the server process writes to the database (`store`).

**The worker process** (`worker`) is started afresh, not forked, and kept between jobs, since
loading the kernels takes seconds. It knows no database: it gets an order, sends signs of progress
and then a result, all as JSON over a socket. To cancel a job is to kill the worker, whatever it is
doing, and to start another: nothing that it leaves behind counts.

**What counts** is decided by one rule. A task writes its files into a folder that bears the job's
number; every file in it takes its place whole (`ratings.places.atomic`). Only when all are there
does the worker report, and only then does the engine commit the job as done, together with what the
pages say about it. So whatever instant a process is killed at (the worker out of memory, the
server with ``kill -9``, both by a power cut), a row that says "done" has its files, and a folder
without such a row is waste: `sweep` removes it at the next start, and after every job that did
not end well. A job that the end of the server cut short is then marked as interrupted, and can be
run again; waiting jobs stay queued.

**No orphans.** The worker ends with the server, also when that is killed: the kernel
signals it (``PR_SET_PDEATHSIG``), and elsewhere the worker notices the closed socket. It
offers itself to the kernel as the first to be killed when memory runs out; the server lives on to
say so. A lock on the folder keeps two studios from working in it.
"""
