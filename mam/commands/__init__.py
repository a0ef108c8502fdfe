"""What the commands do; the command line only parses and prints."""
