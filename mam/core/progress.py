"""How long work tells of itself."""

from collections.abc import Callable

Advance = Callable[[int], None]  # told how many more rows or images are done
Tell = Callable[[str, float], None]  # told what is being done, and which share of all is done
