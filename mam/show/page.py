"""One self-contained page: HTML that needs nothing else, for light and dark, wide and narrow."""

import base64
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from mam.core.svg import PALETTE
from mam.data.images import encode_png
from mam.show.sheet import Picture

# Series of a chart on a light page: the palette's colours, darkened where they would fade on white.
_LIGHT = ["#b87400", "#2f8fc9", "#007a59", "#b4a800", "#005a8c", "#b84f00", "#a8588a", "#777777"]

_STYLE = """
:root { color-scheme: light dark; --text: #1b1d21; --soft: #666c76; --page: #fff; --card: #f4f5f7;
  --rule: #d9dce1; --good: #007a59; --bad: #b84f00; %s }
@media (prefers-color-scheme: dark) { :root { --text: #e7e9ec; --soft: #9aa1ac; --page: #14161a;
  --card: #1f2329; --rule: #363c45; --good: #35c79a; --bad: #ff9248; %s } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1.2rem 1rem 4rem; max-width: 60rem; background: var(--page);
  color: var(--text); font: 1rem/1.55 system-ui, sans-serif }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .6rem 0 }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .6rem; padding-top: .8rem;
  border-top: 1px solid var(--rule) }
p { max-width: 42rem; margin: .5rem 0 } small, figcaption { color: var(--soft) }
code { font-size: .85em; overflow-wrap: anywhere }
.wide { overflow-x: auto }
table { border-collapse: collapse; margin: .8rem 0; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .7rem .25rem 0; text-align: left; vertical-align: top }
thead th { border-bottom: 1px solid var(--rule); font-weight: 600 }
td { white-space: nowrap } td.text { white-space: normal; overflow-wrap: anywhere }
tr.first th, tr.first td { border-top: 1px solid var(--rule) } tr.ours td { font-weight: 700 }
tr.other td { color: var(--soft) }
.figures { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)) }
figure { margin: .8rem 0; padding: .7rem; background: var(--card); border-radius: .6rem }
.figures figure { margin: 0 } figcaption { font-size: .85rem; line-height: 1.4; margin-top: .5rem }
figure img, figure svg { display: block; width: 100%%; height: auto; border-radius: .3rem }
figure.chart svg { max-width: 40rem; font: 12px system-ui, sans-serif }
.pixels { image-rendering: pixelated } .good { color: var(--good) } .bad { color: var(--bad) }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1rem; font-size: .85rem; margin-top: .4rem }
.key svg { display: inline; width: 2rem; height: .8rem; vertical-align: middle }
"""


class TableRow(NamedTuple):
    """Cells of a table, the first of which is a heading, and how they look."""

    cells: Sequence[str]
    look: str = ""  # words of "first" (a rule above), "ours", "other"


def page(title: str, lead: str, sections: Sequence[tuple[str, str]]) -> str:
    """Return the whole page; a section is a heading and HTML.

    >>> text = page("A & B", "Why.", [("One", paragraph("x < y"))])
    >>> "<h1>A &amp; B</h1>" in text, "<p>x &lt; y</p>" in text
    (True, True)
    """
    body = "".join(f"<section><h2>{escape(name)}</h2>{html}</section>" for name, html in sections)
    dark = ["#" + bytes(colour).hex() for colour in PALETTE]
    style = _STYLE % (_colours(_LIGHT), _colours(dark))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body>"
        f"<h1>{escape(title)}</h1>{paragraph(lead)}{body}</body></html>\n"
    )


def _colours(values: Sequence[str]) -> str:
    return "".join(f"--series-{number}: {value};" for number, value in enumerate(values))


def paragraph(text: str) -> str:
    """Return words as a paragraph."""
    return f"<p>{escape(text)}</p>"


def table(head: Sequence[str], rows: Sequence[TableRow], caption: str = "") -> str:
    """Return a table of words; it scrolls sideways where the screen is narrow.

    >>> table(["a", "b"], [TableRow(["x", "1"], "ours")])[18:]
    '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr class="ours"><th>x</th>\
<td>1</td></tr></tbody></table></div>'
    """
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(_row(row) for row in rows)
    # Below the part that scrolls, where it takes the width of the screen.
    below = f"<p><small>{escape(caption)}</small></p>" if caption else ""
    return (
        f'<div class="wide"><table><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{below}"
    )


def _row(row: TableRow) -> str:
    look = f' class="{row.look}"' if row.look else ""
    first, *others = row.cells
    cells = "".join(f"<td{_long(cell)}>{escape(cell)}</td>" for cell in others)
    return f"<tr{look}><th>{escape(first)}</th>{cells}</tr>"


def _long(cell: str) -> str:
    """Only long words may be broken into lines."""
    return ' class="text"' if len(cell) > 24 else ""


def picture(pixels: Picture, alt: str, crisp: bool = False) -> str:
    """Return a picture with its bytes inside; ``crisp`` shows the pixels when enlarged."""
    data = base64.b64encode(encode_png(pixels)).decode()
    look = ' class="pixels"' if crisp else ""
    return f'<img{look} alt="{escape(alt)}" src="data:image/png;base64,{data}">'


def figure(content: str, caption: str, verdict: str = "", look: str = "") -> str:
    """Return HTML over its caption; the verdict, "good: ..." or "bad: ...", comes first."""
    kind, _, words = verdict.partition(": ")
    said = f'<b class="{kind}">{escape(words)}</b> ' if words else ""
    name = f' class="{look}"' if look else ""
    return f"<figure{name}>{content}<figcaption>{said}{escape(caption)}</figcaption></figure>"


def figures(several: Sequence[str]) -> str:
    """Return figures side by side, as many as the screen is wide."""
    return f'<div class="figures">{"".join(several)}</div>'
