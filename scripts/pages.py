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
    """With `owner/name#7` a link to an issue, `PR owner/name#7` one to a pull request."""
    def link(said):
        return f"[{said[0]}](https://github.com/{said[2]}/{'pull' if said[1] else 'issues'}/{said[3]})"

    return re.sub(r"\b(PR )?([\w-]+/[\w-]+)#(\d+)", link, words)
