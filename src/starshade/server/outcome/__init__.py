"""What jobs found, as pages show it."""
