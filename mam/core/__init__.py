"""What several rooms need: files that are whole, memory, and programs that XLA compiled."""
