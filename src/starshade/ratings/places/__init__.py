"""Places that are written to: resolved once, filled whole or not at all."""
