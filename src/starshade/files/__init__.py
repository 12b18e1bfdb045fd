"""Files of this machine that a person names: which of them are opened, and up to which size."""
