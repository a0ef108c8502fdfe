"""Parquet files that are whole or absent, and the shards they are written as."""
