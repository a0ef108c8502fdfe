"""Drawing: arrays in, pictures out."""
