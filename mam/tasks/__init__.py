"""The tasks: each reads its data sets, learns its model, and says how good its answers are."""
