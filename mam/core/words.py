"""Words that commands and errors share."""

STANDARD_INPUT = "-"  # as the name of a file


def counted(number: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "curve"), counted(2, "curve")
    ('1 curve', '2 curves')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"
