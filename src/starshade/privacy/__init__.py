"""Whether the data satisfy a privacy model."""
