"""What the test vectors hold: one module a file, and what the modules share."""
