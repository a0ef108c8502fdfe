"""Docstrings as the site shows them: formulas and examples in boxes of their own."""

import re
from textwrap import dedent
from typing import Any

import griffe

_INDENTED = r"((?:\1 +[^\n]*\n|[ \t]*\n(?=\1 +\S))*)"
_BLOCK = re.compile(r"^( *)\.\. math::([^\n]*)\n" + _INDENTED, re.MULTILINE)
_DOCTEST = re.compile(r"^( *)>>> [^\n]*\n(?:\1[^\n]+\n)*", re.MULTILINE)
_INLINE = re.compile(r":math:`([^`]*)`")


def readable(text: str) -> str:
    """Replace the formulas of reStructuredText, and examples, by Markdown.

    >>> print(readable("A sum,\\n\\n.. math:: x + y"))
    A sum,
    <BLANKLINE>
    <BLANKLINE>
    ```text
    x + y
    ```
    <BLANKLINE>
    """

    def block(found: re.Match) -> str:
        lines = f"{found[2].strip()}\n{dedent(found[3]).strip()}".strip()
        boxed = f"```text\n{lines}\n```"
        return "\n" + "\n".join(found[1] + line for line in boxed.splitlines()) + "\n"

    def example(found: re.Match) -> str:
        return f"{found[1]}```pycon\n{found[0]}{found[1]}```\n"

    text = _BLOCK.sub(block, text + "\n")
    return _INLINE.sub(r"`\1`", _DOCTEST.sub(example, text))


class Formulas(griffe.Extension):
    """Called for every object that is documented."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Change the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = readable(obj.docstring.value)
