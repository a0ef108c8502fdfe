"""Data sets: generators (pathfinder, cABC, curves, objects), readers of every layout, the store.

The names listed in ``__init__.pyi`` are loaded when they are first used: who reads a picture need
not load what reads and makes data sets.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
