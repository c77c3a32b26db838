"""What all pages share: head, links, style, tables."""
import html

from night import drawn

STYLE = """
:root { --mark: #0b5cad; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; padding: 0 1rem 3rem; max-width: 72rem; color: #222; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin-top: 2rem; overflow-wrap: anywhere; } h3 { font-size: 1rem; }
nav { padding: .6rem 0; border-bottom: 1px solid #ddd; } nav a { margin-right: 1rem; } a { color: var(--mark); }
.wide { overflow-x: auto; } table { border-collapse: collapse; } th { text-align: left; font-weight: 600; }
td, th { padding: .2rem .8rem .2rem 0; vertical-align: top; border-bottom: 1px solid #eee; } td.n, th.n { text-align: right; }
td code { display: inline-block; min-width: 15rem; }
code, pre { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; } pre { overflow-x: auto; background: #f6f6f6; padding: .6rem; }
.mark { color: var(--mark); font-weight: 600; } .faint { color: #666; } .picture { width: 100%; }
select { font: inherit; max-width: 100%; } summary { overflow-wrap: anywhere; }
@media (min-width: 1000px) { .wide img { max-width: 100%; } }
@media (max-width: 600px) {  /* a row becomes a list of what its cells say */
  table.rows tr, table.rows td { display: block; } table.rows tr:first-child { display: none; } table.rows tr { padding: .5rem 0; border-bottom: 1px solid #ccc; }
  table.rows td, table.rows td.n { border: 0; text-align: left; overflow-wrap: anywhere; } table.rows td:empty { display: none; }
  table.rows td::before { content: attr(data-head) " "; color: #666; } table.rows td[data-head=""]::before { content: ""; }
}
"""
PAGES = {"index": "Tonight", "compare": "Compare", "map": "Map", "cost": "Cost", "coverage": "Coverage and waivers",
         "fleet": "Fleet"}


def escaped(text):
    return html.escape(str(text))


def page(title, body, depth=0):
    up = "../" * depth
    body = drawn.with_script(body, up)
    links = "".join(f'<a href="{up}{name}.html">{escaped(words)}</a>' for name, words in PAGES.items())
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f'<title>{escaped(title)}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="{up}style.css">'
            f'</head><body><nav>{links}</nav><h1>{escaped(title)}</h1>{body}</body></html>\n')


def table(head, rows, none="nothing"):
    """Cells are HTML; what is a number stands right."""
    if not rows:
        return f'<p class="faint">{none}</p>'
    cell = lambda name, one: f'<td data-head="{escaped(name)}"{" class=n" if isinstance(one, int) else ""}>{one}</td>'
    body = "".join("<tr>" + "".join(map(cell, head, row)) + "</tr>" for row in rows)
    return f'<div class="wide"><table class="rows"><tr>{"".join(f"<th>{one}</th>" for one in head)}</tr>{body}</table></div>'


def matrix(corner, columns, rows):
    """Of rows (name, {column: number}), by the names of columns."""
    body = "".join(f"<tr><td>{escaped(name)}</td>" + "".join(f'<td class="n">{of.get(one, "")}</td>' for one in columns) + "</tr>"
                   for name, of in rows)
    head = "".join(f'<th class="n">{escaped(one)}</th>' for one in columns)
    return f'<div class="wide"><table><tr><th>{escaped(corner)}</th>{head}</tr>{body}</table></div>'


def code(text):
    return f"<code>{escaped(text)}</code>"
