"""The tasks of jobs, which run in the worker process."""
