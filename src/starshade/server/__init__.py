"""The studio: a local page to do the whole job."""
