"""Result files of the UAI competition: the name of the task in a line, and its answer in the next.

``MAP`` lists the number of variables and their states; ``MAR`` the number of variables and, for
each, how many states it has and their probabilities; ``PR`` is log10 of the partition function;
``MMAP`` lists the number of queried variables and, for each, its number and its state.
"""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int


def map_result(assignment: Int[np.ndarray, " variables"]) -> str:
    """Return the file of a best assignment.

    >>> map_result(np.array([1, 0, 2]))
    'MAP\\n3 1 0 2\\n'
    """
    return f"MAP\n{' '.join(map(str, [len(assignment), *assignment.tolist()]))}\n"


def mar_result(probabilities: Sequence[Float[np.ndarray, " _"]]) -> str:
    """Return the file of the marginals.

    >>> mar_result([np.array([0.25, 0.75]), np.array([1.0])])
    'MAR\\n2 2 0.25 0.75 1 1\\n'
    """
    words = [f"{len(one)} {' '.join(f'{value:.9g}' for value in one)}" for one in probabilities]
    return f"MAR\n{' '.join([str(len(probabilities)), *words])}\n"


def pr_result(log_partition: float) -> str:
    """Return the file of log Z, a natural logarithm here and one to base 10 there.

    >>> pr_result(2.302585092994046)
    'PR\\n1\\n'
    """
    return f"PR\n{log_partition / math.log(10):.12g}\n"


def mmap_result(query: Sequence[int], assignment: Int[np.ndarray, " queried"]) -> str:
    """Return the file of the best states of some variables.

    >>> mmap_result([2, 3, 4], np.array([0, 1, 0]))
    'MMAP\\n3 2 0 3 1 4 0\\n'
    """
    pairs = [f"{variable} {state}" for variable, state in zip(query, assignment, strict=True)]
    return f"MMAP\n{' '.join([str(len(query)), *pairs])}\n"
