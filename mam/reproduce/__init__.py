"""The paper's experiments, done again: data, learning, evaluation and a page with its figures."""
