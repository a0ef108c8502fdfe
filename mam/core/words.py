"""Words that commands and errors share."""

STANDARD_INPUT = "-"  # as the name of a file


def counted(number: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "curve"), counted(2, "curve")
    ('1 curve', '2 curves')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"


def spreadsheet_text(text: str) -> str:
    """A name as a cell of a table: one that a spreadsheet would take for a formula is quoted.

    >>> spreadsheet_text("=1+1.png"), spreadsheet_text("-2.5"), spreadsheet_text("a-b.png")
    ("'=1+1.png", '-2.5', 'a-b.png')
    """
    if not text.startswith(("=", "+", "-", "@", "\t", "\r")):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text
