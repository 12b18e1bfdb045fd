"""The interval anonymizer (Sun & Sun 2013, §6): ratings moved as little as possible."""
