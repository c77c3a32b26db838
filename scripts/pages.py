"""What pages in Markdown are made of: tables, sentences and links, for scripts/summarise."""

import re


def table(rows):
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(str(cell).ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def begun(words):
    """As a sentence begins, but for a name."""
    return words[:1].upper() + words[1:] if re.match(r"[a-z]+[ ,;]", words) else words


def linked(words):
    return re.sub(r"\b([\w-]+/[\w-]+)#(\d+)", r"[\1#\2](https://github.com/\1/issues/\2)", words)
