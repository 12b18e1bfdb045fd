"""The likelihood attack: how likely each record makes what is known."""
