"""Where requests go."""
