"""Methods that turn ratings into a release."""
