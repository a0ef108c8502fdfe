"""Benchmarks: they print ratios measured in one run, because machines are noisy."""
