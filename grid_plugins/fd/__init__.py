"""Forward dynamics."""
