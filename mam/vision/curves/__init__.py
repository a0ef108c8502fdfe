"""The chain model: pieces with two ends, attention between ends, and the curves they form."""
