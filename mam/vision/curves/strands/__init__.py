"""Continuous curves of any width: the stretches between crossings."""
