"""Recordings of what releases and commands give, to show that a change of the code changed none."""
