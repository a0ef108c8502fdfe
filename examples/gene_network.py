"""The gene network: a dependency that a context switches off.

Gene A induces gene B, unless compound C is there: then A induces gene D instead. B and D repress
each other. This writes the model down by names, solves it in two contexts, and asks which genes
are independent. Given the name of a picture, it draws both contexts.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from mam.infer import solve
from mam.models import MamBuilder, MarkovAttentionModel


def gene_network(strength: float = 2.0) -> MarkovAttentionModel:
    builder = MamBuilder()
    for gene in "ABCD":
        builder.regular(gene)
    # AB is ON when A acts on B. C decides it, so C is the context of both attention variables.
    builder.attention("AB", between=("A", "B"), context=("C",))
    builder.attention("AD", between=("A", "D"), context=("C",))
    # Columns A, C, AB, AD. Whatever is not listed is impossible.
    states = [[0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 1]]
    builder.table("A and C", ("A", "C", "AB", "AD"), configurations=states)
    builder.table("A induces B", ("AB", "B"), [[0, 0], [0, strength]])
    builder.table("A induces D", ("AD", "D"), [[0, 0], [0, strength]])
    builder.table("corepression", ("B", "D"), [[0, 0], [0, -strength]])
    return builder.build()


def main(picture: str | None = None) -> None:
    genes = gene_network()
    figure = Figure(figsize=(10.5, 4.4), layout="constrained")
    panels = figure.subplots(1, 2)
    for c, evidence in enumerate((-np.inf, np.inf)):
        solution = solve(genes.graph, {"A": np.inf, "C": evidence}, bound=True)
        genes.draw(panels[c], values=solution.values)
        panels[c].set_title(f"given A = 1, C = {c}: {'AD' if c else 'AB'} is ON", fontsize=11)
        on = [name for name, state in solution.assignment.items() if state == 1]
        print(f"A = 1, C = {c}: ON are {', '.join(on)}")
        print(f"  {solution.explain()}")
        for other in "BD":
            independent = genes.independent("A", other, {"C": c})
            print(f"  A and {other} are {'in' if independent else ''}dependent")
    if picture is not None:
        figure.supxlabel("pale: OFF; dotted: an attention variable that is OFF joins nothing")
        figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    main(*sys.argv[1:])
