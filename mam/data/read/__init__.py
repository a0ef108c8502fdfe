"""Readers of every layout: parquet, published folders, scenes, plain pictures."""
