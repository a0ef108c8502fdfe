"""Numbers in words."""


def counted(number: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "curve"), counted(2, "curve")
    ('1 curve', '2 curves')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"
