"""Pictures of pages, by plotly.js, which lies beside them."""
import json

from squares import COLOURS

DRAW = """
const left = [...document.querySelectorAll(".picture")];
function draw() {
  const one = left.shift();
  if (!one) return;
  Plotly.newPlot(one, ...JSON.parse(one.firstChild.text), {responsive: true, displayModeBar: false});
  setTimeout(draw);
}
addEventListener("DOMContentLoaded", draw);
"""
LEGEND = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}  # above, for names of nights below may be long


def picture(data, layout, height=420):
    layout = {"margin": {"l": 60, "r": 20, "t": 20, "b": 60}, "height": height, "font": {"size": 11}, **layout}
    said = json.dumps([data, layout], separators=(",", ":")).replace("</", "<\\/")
    return f'<div class="picture" style="min-height: {height}px"><script type="application/json">{said}</script></div>'


def with_script(body, up):
    """A page with pictures is shown before the script file is read, which takes a second; then they are drawn one after the other."""
    return body + (f'<script defer src="{up}plotly.min.js"></script><script>{DRAW}</script>' if '<div class="picture"' in body else "")


def bars(nights, by_name, what):
    data = [{"type": "bar", "name": name, "x": nights, "y": counts} for name, counts in by_name.items()]
    return picture(data, {"barmode": "stack", "yaxis": {"title": {"text": what}, "rangemode": "tozero"}, "xaxis": {"type": "category"},
                          "showlegend": len(data) > 1, "legend": LEGEND}, 300)


def lines(nights, by_name, changes):
    """Of each line its values, with how many cases each is of, which the pointer shows; and where one changes: (name, the night's
    number, mean before, mean after)."""
    data = [{"type": "scatter", "mode": "lines+markers", "name": name, "x": nights, "y": [one and one[0] for one in points],
             "text": [f"{one[1]} cases" if one else "" for one in points]} for name, points in sorted(by_name.items())]
    if changes:
        data.append({"type": "scatter", "mode": "markers", "name": "a change", "x": [nights[at] for _, at, _, _ in changes],
                     "y": [by_name[name][at][0] for name, at, _, _ in changes],
                     "text": [f"{name}: {100 * (now / was - 1):+.1f} %" for name, _, was, now in changes],
                     "marker": {"symbol": "diamond-open", "size": 16, "line": {"width": 2}, "color": "#d55e00"}})
    return picture(data, {"yaxis": {"type": "log"}, "xaxis": {"type": "category"}, "showlegend": True,
                          "legend": LEGEND}, 460)


def square(sources, targets, cells):
    """Cells by verdict, or by bytes over the bound; the pointer shows both, and the layouts."""
    statuses = [status for status in COLOURS if any(cell[2] == status for cell in cells)]
    grid, bytes_moved = ([[None] * len(targets) for _ in sources] for _ in range(2))
    words = [[""] * len(targets) for _ in sources]
    for row, column, status, waste in cells:
        grid[row][column], bytes_moved[row][column] = statuses.index(status), waste and round(waste, 3)
        words[row][column] = f"{status}{f', {waste:.2f} times the bound' if waste else ''}"
    steps = [[at, COLOURS[status]] for n, status in enumerate(statuses)
             for at in (n / len(statuses), (n + 1) / len(statuses))]
    shared = {"type": "heatmap", "x": targets, "y": sources, "text": words, "xgap": 1, "ygap": 1,
              "hovertemplate": "%{y} -> %{x}<br>%{text}<extra></extra>"}
    data = [shared | {"z": grid, "colorscale": steps, "zmin": -0.5, "zmax": len(statuses) - 0.5,
                      "colorbar": {"thickness": 12, "tickvals": list(range(len(statuses))), "ticktext": statuses}},
            shared | {"z": bytes_moved, "colorscale": "Blues", "zmin": 1, "visible": False, "colorbar": {"thickness": 12}}]
    choices = [{"label": label, "method": "restyle", "args": [{"visible": [not at, bool(at)]}]}
               for at, label in enumerate(("verdict", "bytes over the bound"))]
    return picture(data, {"yaxis": {"autorange": "reversed", "type": "category", "showgrid": False}, "xaxis": {"type": "category", "showgrid": False},
                          "margin": {"l": 70, "r": 20, "t": 50, "b": 70},
                          "updatemenus": [{"buttons": choices, "direction": "right", "type": "buttons", "x": 0, "y": 1.02,
                                           "xanchor": "left", "yanchor": "bottom"}]}, 680)
