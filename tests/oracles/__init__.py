"""Slow and obvious answers to compare the fast ones with."""
