"""Elastic graphs: shapes learned as vertices that may move and edges that hold them together."""
