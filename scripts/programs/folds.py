"""Operations of drawn shapes that run a computation of scalars, or a window; and the table of all of them."""

import numpy as np
from programs.opcodes import *


def reduce(r):
    case, dtype, shape = Case("reduce"), r.choice(["s32", "f32", "u32"]), dims(r, r.randint(1, 3))
    over = sorted(r.sample(range(len(shape)), r.randint(1, len(shape))))
    opcode = r.choice(["add", "maximum", "minimum", "multiply"])
    case.scalars("f", dtype, f"{opcode}(%a, %b)")
    # XLA takes the initial value for one that changes nothing: of extents of 1 it drops it.
    first = {"add": 0, "multiply": 1, "maximum": 0, "minimum": 100}[opcode]
    x = case.argument(draw_array(r, dtype, shape, 0, 3), dtype)
    init = case.argument(np.array(first, DTYPES[dtype]), dtype)
    result = tuple(n for d, n in enumerate(shape) if d not in over)
    return case, shape_text(dtype, result), f"reduce({x}, {init}), dimensions={listed(over)}, to_apply=%f"


def reduce_two(r):
    """A sum and a maximum at once."""
    case, shape = Case("reduce_two"), dims(r, r.randint(1, 3))
    over = sorted(r.sample(range(len(shape)), r.randint(1, len(shape))))
    case.computations = ("%f (a: s32[], b: s32[], c: s32[], d: s32[]) -> (s32[], s32[]) {\n  %a = s32[] parameter(0)\n"
                         "  %b = s32[] parameter(1)\n  %c = s32[] parameter(2)\n  %d = s32[] parameter(3)\n"
                         "  %s = s32[] add(%a, %c)\n  %m = s32[] maximum(%b, %d)\n"
                         "  ROOT %out = (s32[], s32[]) tuple(%s, %m)\n}\n\n")
    x, y = (case.argument(draw_array(r, "s32", shape), "s32") for _ in range(2))
    u, v = (case.argument(np.int32(first), "s32") for first in (0, -(2**31)))
    one = shape_text("s32", tuple(n for d, n in enumerate(shape) if d not in over))
    return case, f"({one}, {one})", f"reduce({x}, {y}, {u}, {v}), dimensions={listed(over)}, to_apply=%f"


def windows(r, shape, most=3, padded=True):
    """A window, its text and how many places it has."""
    dims_ = []
    for n in shape:
        size, stride, dilation, base = r.randint(1, most), r.randint(1, 2), r.randint(1, 2), r.randint(1, 2)
        low, high = (r.randint(0, 2), r.randint(0, 2)) if padded else (0, 0)
        room = (n - 1) * base + 1 + low + high - ((size - 1) * dilation + 1)
        if room < 0:
            size, low, high, dilation, base, room = 1, 0, 0, 1, 1, n - 1
        dims_.append((size, stride, low, high, base, dilation, room // stride + 1))
    join = lambda k: "x".join(str(d[k]) for d in dims_)
    text = f"{{size={join(0)} stride={join(1)} pad={'x'.join(f'{d[2]}_{d[3]}' for d in dims_)} lhs_dilate={join(4)} rhs_dilate={join(5)}}}"
    return text, tuple(d[6] for d in dims_), tuple(d[0] for d in dims_)


def reduce_window(r):
    case, shape = Case("reduce_window"), dims(r, r.randint(1, 2), 6)
    text, result, _ = windows(r, shape)
    case.scalars("f", "s32", r.choice(["add(%a, %b)", "maximum(%a, %b)"]))
    x, init = case.argument(draw_array(r, "s32", shape, -6, 6), "s32"), case.argument(np.int32(0), "s32")
    return case, shape_text("s32", result), f"reduce-window({x}, {init}), window={text}, to_apply=%f"


def convolution(r):
    case, spatial = Case("convolution"), dims(r, r.randint(1, 2), 6)
    text, result, kernel = windows(r, spatial)
    groups = r.choice([1, 1, 2])
    batch, features, outputs = r.randint(1, 2), groups * r.randint(1, 2), groups * r.randint(1, 2)
    digits = "01"[: len(spatial)]

    def laid(letters, extents):
        order = r.sample(letters, len(letters))
        return "".join(order), tuple(extents[letter] for letter in order)

    inputs, lhs = laid("bf" + digits, {"b": batch, "f": features, **dict(zip(digits, spatial))})
    weights, rhs = laid("io" + digits, {"i": features // groups, "o": outputs, **dict(zip(digits, kernel))})
    out, shape = laid("bf" + digits, {"b": batch, "f": outputs, **dict(zip(digits, result))})
    x, w = (case.argument(draw_array(r, "f32", s, -4, 4), "f32") for s in (lhs, rhs))
    reversal = f" rhs_reversal={'x'.join(r.choice('01') for _ in spatial)}"
    more = f", feature_group_count={groups}" if groups > 1 else ""
    return case, shape_text("f32", shape), f"convolution({x}, {w}), window={text[:-1]}{reversal}}}, dim_labels={inputs}_{weights}->{out}{more}"


def sort(r):
    """Keys with repetitions, carried values, stable."""
    case, shape, dtype = Case("sort"), dims(r, r.randint(1, 2), 9), r.choice(["s32", "f32", "u32"])
    direction = r.choice(["LT", "GT"])
    case.scalars("f", [dtype, dtype, "s32", "s32"], f"compare(%a, %b), direction={direction}", 4, "pred[]")
    x = case.argument(draw_array(r, dtype, shape, 0, 3), dtype)
    y = case.argument(np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape), "s32")
    return case, f"({shape_text(dtype, shape)}, {shape_text('s32', shape)})", (
        f"sort({x}, {y}), dimensions={{{r.randrange(len(shape))}}}, is_stable=true, to_apply=%f")


def map_(r):
    case, shape = Case("map"), dims(r, r.randint(1, 3))
    case.scalars("f", "s32", r.choice(["multiply(%a, %b)", "subtract(%b, %a)"]))
    x, y = (case.argument(draw_array(r, "s32", shape), "s32") for _ in range(2))
    return case, shape_text("s32", shape), f"map({x}, {y}), dimensions={listed(range(len(shape)))}, to_apply=%f"


def random_bits(r):
    """Of a state drawn up to its ends, where adding carries."""
    case, algorithm, dtype = Case("random_bits"), r.choice(["rng_philox", "rng_three_fry"]), r.choice(["u8", "u32", "u64"])
    words = r.choice([2, 3]) if algorithm == "rng_philox" else 2
    state = np.array([r.choice([r.getrandbits(64), 2**64 - 1, 0]) for _ in range(words)], np.uint64)
    shape, held = dims(r, most=7), shape_text("u64", (words,))
    return case, f"({held}, {shape_text(dtype, shape)})", f"rng-bit-generator({case.argument(state, 'u64')}), algorithm={algorithm}"


def repacked(r):
    """The bits of integers in another width."""
    case, (narrow, wide) = Case("repacked"), r.choice([("u8", "u32"), ("u32", "u64"), ("s32", "u64"), ("s8", "s64"), ("u8", "s32")])
    parts = np.dtype(DTYPES[wide]).itemsize // np.dtype(DTYPES[narrow]).itemsize
    shape = dims(r)
    source, given, target, result = r.choice([(narrow, (*shape, parts), wide, shape), (wide, shape, narrow, (*shape, parts))])
    x = case.argument(draw_array(r, source, given), source)
    return case, shape_text(target, result), f"bitcast-convert({x})"


def prefer_and_scatter(r):
    """Windows prefer an element, on which the value of the source falls: the gradient of a pool."""
    case, dtype, shape = Case("prefer_and_scatter"), r.choice(["f32", "s32"]), dims(r, r.randint(1, 3), 6)
    windows = [window_dim(r, n) for n in shape]
    places = tuple(max(0, (n + low + high - size) // stride + 1) for n, (size, stride, low, high) in zip(shape, windows))
    window = " ".join(f"{name}={'x'.join(part)}" for name, part in (
        ("size", [str(w[0]) for w in windows]), ("stride", [str(w[1]) for w in windows]),
        ("pad", [f"{w[2]}_{w[3]}" for w in windows])))
    case.scalars("prefers", dtype, f"compare(%a, %b), direction={r.choice(['GE', 'GT', 'LE'])}", result="pred[]")
    case.scalars("falls", dtype, r.choice(["add(%a, %b)", "maximum(%a, %b)"]))
    x, y, z = (case.argument(draw_array(r, dtype, s, -6, 6), dtype) for s in (shape, places, ()))
    return case, shape_text(dtype, shape), (
        f"select-and-scatter({x}, {y}, {z}), window={{{window}}}, select=%prefers, scatter=%falls")


def window_dim(r, extent):
    size = r.randint(1, min(3, extent))
    return size, r.randint(1, 3), r.randint(0, size - 1), r.randint(0, size - 1)


def ragged_dot(r):
    """Groups of rows, or of the terms that are summed. The sizes may be fewer, or more, than there are places. XLA:CPU
    has none: what JAX makes of it instead is computed."""
    case, dtype, groups = Case("ragged_dot"), r.choice(["f32", "s32"]), r.randint(1, 4)
    batch = dims(r, r.randint(0, 1), 3)
    rows, inner, columns = (r.randint(1, 6) for _ in range(3))
    n, b = len(batch), list(range(len(batch)))
    sizes = draw_array(r, "s32", (groups,) if r.random() < 0.5 else (*batch, groups), 0, 4)
    x = draw_array(r, dtype, (*batch, rows, inner), -6, 6)
    if r.random() < 0.5:
        y, result = draw_array(r, dtype, (groups, *batch, inner, columns), -6, 6), (*batch, rows, columns)
        numbers, group = (([n + 1], [n + 1]), (b, [d + 1 for d in b])), [0]
    else:
        y, result = draw_array(r, dtype, (*batch, rows, columns), -6, 6), (groups, *batch, inner, columns)
        numbers, group = (([n], [n]), (b, b)), []

    def instead(x, y, sizes):
        from jax import lax
        return [lax.ragged_dot_general(x, y, sizes, lax.RaggedDotDimensionNumbers(numbers, [n], group))]

    case.instead = instead
    names = [case.argument(array, kind) for array, kind in ((x, dtype), (y, dtype), (sizes, "s32"))]
    (lc, rc), (lb, rb) = numbers
    return case, shape_text(dtype, result), (
        f"ragged-dot({', '.join(names)}), lhs_contracting_dims={listed(lc)}, rhs_contracting_dims={listed(rc)}, "
        f"lhs_ragged_dims={{{n}}}, rhs_group_dims={listed(group)}, lhs_batch_dims={listed(lb)}, rhs_batch_dims={listed(rb)}")


ANY, INTEGERS, FLOATS = ["f32", "s8", "s32", "u8", "u32", "s64", "u64"], ["s8", "s32", "u8", "u32", "s64", "u64"], ["f32"]
SIGNED = ["f32", "s8", "s32", "s64"]
CASES = [
    *(unary(op, SIGNED) for op in ("abs", "negate", "sign")),
    *(unary(op, FLOATS) for op in ("ceil", "floor", "round-nearest-afz", "round-nearest-even")),
    *(unary(op, INTEGERS) for op in ("not", "popcnt", "count-leading-zeros")), unary("not", ["pred"]),
    *(binary(op, ANY) for op in ("add", "subtract", "multiply", "maximum", "minimum")),
    *(binary(op, INTEGERS) for op in ("divide", "remainder", "and", "or", "xor")),
    *(binary(op, ["pred"]) for op in ("and", "or", "xor", "maximum", "minimum")),
    *(binary(op, INTEGERS, low=0, high=70) for op in ("shift-left", "shift-right-logical", "shift-right-arithmetic")),
    binary("power", ["s32", "u32"], low=0, high=5),
    compare, compare, select, clamp, convert, convert, convert, bitcast_convert, broadcast, transpose, reverse, slice_, pad,
    concatenate, iota, dynamic_slice, dynamic_update_slice, gather, gather, gather, scatter, scatter, scatter, dot, dot,
    reduce, reduce_two, reduce_window, reduce_window, convolution, convolution, sort, sort, map_,
    random_bits, random_bits, random_bits, random_bits, repacked, repacked,
    prefer_and_scatter, prefer_and_scatter, prefer_and_scatter, ragged_dot, ragged_dot, ragged_dot, ragged_dot,
]
