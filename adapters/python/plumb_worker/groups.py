"""Replica groups and source-target pairs, as HLO text writes them.

    {{0,1},{2,3}}                              lists
    {}                                         everyone
    [2,4]<=[8]                                 rows of arange(8).reshape(2,4)
    [4,2]<=[2,2,2]T(0,2,1)                     rows of the transposed iota
    mesh['a'=2,'b'=4] {'b'}                    everyone who differs along b only
    mesh['a'=2,'b'=4], device_ids=([8]) {'b':(2)2}   sub-axes; device order as a list or an iota
"""

import itertools
import math
import re

_IOTA = re.compile(r"\[([\d,]*)\]<=\[([\d,]*)\](?:T\(([\d,]*)\))?")
_ORDER = re.compile(r"\[([\d,]*)\](?:T\(([\d,]*)\))?$")
_MESH_AXIS = re.compile(r"""['"]?([\w.\-]+)['"]?=(\d+)""")
_USED_AXIS = re.compile(r"""['"]?([\w.\-]+)['"]?(?::\((\d+)\)(\d+))?""")


def numbers(text):
    return [int(n) for n in text.split(",") if n.strip()]


def iota(shape, transpose):
    """The elements of arange(prod(shape)).reshape(shape).transpose(transpose), flat."""
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    order = transpose if transpose else range(len(shape))
    picks = [[k * strides[i] for k in range(shape[i])] for i in order]
    return [sum(at) for at in itertools.product(*picks)]


def rows(flat, width):
    return [flat[i : i + width] for i in range(0, len(flat), width)]


def from_iota(text):
    tile, shape, transpose = _IOTA.match(text).groups()
    flat = iota(numbers(shape), numbers(transpose or ""))
    return rows(flat, numbers(tile)[-1])


def lists(text):
    return [numbers(group) for group in re.findall(r"\{([\d,\s]*)\}", text[1:-1])]


def from_mesh(text):
    """Members vary over the used axes in the order they are listed, the last fastest; groups over the rest
    of the mesh, in its order."""
    head, used = text[: text.rindex("{")], text[text.rindex("{") + 1 : text.rindex("}")]
    axes = [(name, int(size)) for name, size in _MESH_AXIS.findall(head[: head.index("]")])]
    order = re.search(r"device_ids=\(([^()]*(?:\([^()]*\))?[^()]*)\)", head)
    ids = device_order(order.group(1).strip(), math.prod(s for _, s in axes)) if order else None
    cuts = [(name, int(pre or 1), int(size) if size else None) for name, pre, size in _USED_AXIS.findall(used)]
    digits = split_axes(axes, cuts)
    strides, stride = {}, 1
    for key, size in reversed(digits):
        strides[key] = (size, stride)
        stride *= size
    wanted = [(name, pre) for name, pre, _ in cuts]
    members = offsets(strides[k] for k in wanted)
    groups = offsets(strides[k] for k, _ in digits if k not in wanted)
    flat = [[g + m for m in members] for g in groups]
    return [[ids[i] for i in group] for group in flat] if ids else flat


def device_order(text, count):
    match = _ORDER.match(text)
    if not match:
        return numbers(text)
    return iota(numbers(match.group(1)), numbers(match.group(2) or "")) or list(range(count))


def split_axes(axes, cuts):
    """The mesh's axes, major to minor, each cut where a sub-axis (pre)size asks: keys (name, pre) with sizes."""
    digits = []
    for name, size in axes:
        edges = {1, size}
        for cut, pre, length in cuts:
            if cut == name:
                edges |= {pre, pre * (length or size)}
        edges = sorted(edges)
        digits += [((name, low), high // low) for low, high in zip(edges, edges[1:])] or [((name, 1), 1)]
    return digits


def offsets(digits):
    return [sum(at) for at in itertools.product(*([k * stride for k in range(size)] for size, stride in digits))]


def expand(text):
    """Any form of replica groups as a list of lists; [] means everyone."""
    if text.startswith("mesh"):
        return from_mesh(text)
    return from_iota(text) if text.startswith("[") else lists(text)


def pairs(text):
    return [tuple(numbers(pair)) for pair in re.findall(r"\{([\d,\s]+)\}", text[1:-1])]
