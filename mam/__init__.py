"""Markov Attention Models: discrete MRFs with attention variables, solved by max-product."""

__version__ = "0.1.0"
