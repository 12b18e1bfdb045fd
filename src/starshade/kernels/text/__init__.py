"""Text in, columns out."""
