"""Generators: row k of a data set depends on its recipe and k alone."""
