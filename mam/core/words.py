"""Words that commands and errors share."""

STANDARD_INPUT = "-"  # as the name of a file


def counted(number: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "curve"), counted(2, "curve")
    ('1 curve', '2 curves')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"


def terminal_text(text: str) -> str:
    r"""A text that steers no terminal: what is no print is spelled out, but for ends of lines.

    >>> print(terminal_text("a\x1b[31m\udcff.png"))
    a\x1b[31m\udcff.png
    """
    shown = (one if one.isprintable() or one in "\n\t" else ascii(one)[1:-1] for one in text)
    return "".join(shown)


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
