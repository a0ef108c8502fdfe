"""Markov Attention Models: discrete MRFs with attention variables, solved by max-product.

The names listed in ``__init__.pyi`` are loaded when they are first used, so that ``import mam``
costs nothing.

>>> import mam
>>> builder = mam.GraphBuilder()
>>> x = builder.variables("x", 2)
>>> builder.add("agree", mam.Pairwise.of([x], [[1, 0], [0, 1]]))
>>> mam.solve(builder.build(), {"x": [2, 0]})["x"].tolist()
[1, 1]
"""

import lazy_loader

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
