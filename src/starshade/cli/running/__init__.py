"""What happens around every command: its surroundings, progress, errors, signals."""
