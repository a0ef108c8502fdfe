"""What several layers need: files that are whole, memory, and programs that XLA compiled."""
