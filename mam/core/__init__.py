"""What several rooms need: memory, and programs that XLA compiled."""
