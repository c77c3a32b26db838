"""Single operations of drawn shapes, attributes and data: element by element, moves, products."""

import ml_dtypes
import numpy as np

DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "s8": np.int8, "s32": np.int32,
          "s64": np.int64, "u8": np.uint8, "u32": np.uint32, "u64": np.uint64, "pred": np.bool_}


def draw_array(r, dtype, shape, low=None, high=None):
    """Small integers of both signs, and for integers the ends of the type."""
    kind = np.dtype(DTYPES[dtype])
    if dtype == "pred":
        return np.array([r.random() < 0.5 for _ in range(int(np.prod(shape)))], kind).reshape(shape)
    signed = dtype[0] in "sfb"
    low = (-6 if signed else 0) if low is None else low
    values = [r.randint(low, 7 if high is None else high) for _ in range(int(np.prod(shape)))]
    if dtype[0] in "su" and high is None:
        info = np.iinfo(kind)
        values = [r.choice([info.min, info.max, info.max // 3]) if r.random() < 0.2 else v for v in values]
    return np.array(values, kind).reshape(shape)


def shape_text(dtype, shape):
    layout = "{" + ",".join(str(i) for i in reversed(range(len(shape)))) + "}" if shape else ""
    return f"{dtype}[{','.join(map(str, shape))}]{layout}"


class Case:
    """A module under construction: arguments, lines, computations."""

    def __init__(self, name):
        self.name, self.arguments, self.lines, self.computations = name, [], [], ""
        self.instead = None  # computes the results where XLA:CPU lacks the operation

    def argument(self, array, dtype):
        self.lines.append(f"  %p{len(self.arguments)} = {shape_text(dtype, array.shape)} parameter({len(self.arguments)})")
        self.arguments.append((array, dtype))
        return f"%p{len(self.arguments) - 1}"

    def text(self, result, line):
        head = ", ".join(f"p{i}: {shape_text(d, a.shape)}" for i, (a, d) in enumerate(self.arguments))
        lines = "\n".join(self.lines)
        return f"HloModule {self.name}\n\n{self.computations}ENTRY %e ({head}) -> {result} {{\n{lines}\n  ROOT %r = {result} {line}\n}}\n"

    def scalars(self, name, dtype, body, count=2, result=None):
        """A computation of scalars; `body` is its root in terms of %a, %b, ..."""
        names = "abcdefgh"[:count]
        kinds = dtype if isinstance(dtype, list) else [dtype] * count
        head = ", ".join(f"{n}: {k}[]" for n, k in zip(names, kinds))
        lines = "\n".join(f"  %{n} = {k}[] parameter({i})" for i, (n, k) in enumerate(zip(names, kinds)))
        self.computations += f"%{name} ({head}) -> {result or kinds[0] + '[]'} {{\n{lines}\n  ROOT %out = {result or kinds[0] + '[]'} {body}\n}}\n\n"


def dims(r, rank=None, most=4):
    return tuple(r.randint(1, most) for _ in range(r.randint(0, 3) if rank is None else rank))


def unary(opcode, dtypes):
    def make(r):
        case, dtype, shape = Case("unary"), r.choice(dtypes), dims(r)
        x = case.argument(draw_array(r, dtype, shape), dtype)
        return case, shape_text(dtype, shape), f"{opcode}({x})"

    return make


def binary(opcode, dtypes, **ranges):
    def make(r):
        case, dtype, shape = Case("binary"), r.choice(dtypes), dims(r)
        x = case.argument(draw_array(r, dtype, shape), dtype)
        y = case.argument(draw_array(r, dtype, shape, **ranges), dtype)
        return case, shape_text(dtype, shape), f"{opcode}({x}, {y})"

    return make


def compare(r):
    case, dtype, shape = Case("compare"), r.choice(["f32", "s32", "u32", "s8", "pred"]), dims(r)
    x, y = (case.argument(draw_array(r, dtype, shape), dtype) for _ in range(2))
    return case, shape_text("pred", shape), f"compare({x}, {y}), direction={r.choice(['EQ', 'NE', 'LT', 'LE', 'GT', 'GE'])}"


def select(r):
    case, dtype, shape = Case("select"), r.choice(["f32", "u8", "pred"]), dims(r)
    p = case.argument(draw_array(r, "pred", shape), "pred")
    x, y = (case.argument(draw_array(r, dtype, shape), dtype) for _ in range(2))
    return case, shape_text(dtype, shape), f"select({p}, {x}, {y})"


def clamp(r):
    case, dtype, shape = Case("clamp"), r.choice(["f32", "s32", "u8"]), dims(r)
    edge = shape if r.random() < 0.5 else ()
    low, x, high = (case.argument(draw_array(r, dtype, s, *span), dtype) for s, span in ((edge, (0, 2)), (shape, ()), (edge, (2, 5))))
    return case, shape_text(dtype, shape), f"clamp({low}, {x}, {high})"


def convert(r):
    case, shape = Case("convert"), dims(r)
    source, target = r.choice(list(DTYPES)), r.choice(list(DTYPES))
    both = {source, target} & {"f16", "bf16", "f32"}
    array = draw_array(r, source, shape, *((0, 100) if both and source[0] in "su" else ()))
    return case, shape_text(target, shape), f"convert({case.argument(array, source)})"


def bitcast_convert(r):
    source, target = r.choice([("f32", "s32"), ("f32", "u32"), ("s32", "f32"), ("bf16", "u8"), ("u32", "s32"), ("s8", "u8")])
    if source == "bf16":
        source, target = "f16", "f16"
    case, shape = Case("bitcast_convert"), dims(r)
    array = draw_array(r, "f32", shape).view(np.int32) if (source, target) == ("s32", "f32") else draw_array(r, source, shape)
    return case, shape_text(target, shape), f"bitcast-convert({case.argument(array, source)})"


def listed(numbers):
    return "{" + ",".join(map(str, numbers)) + "}"


def broadcast(r):
    case, shape = Case("broadcast"), dims(r, r.randint(1, 4))
    kept = sorted(r.sample(range(len(shape)), r.randint(0, len(shape))))
    x = case.argument(draw_array(r, "s32", tuple(shape[d] for d in kept)), "s32")
    return case, shape_text("s32", shape), f"broadcast({x}), dimensions={listed(kept)}"


def transpose(r):
    case, shape = Case("transpose"), dims(r, r.randint(1, 4))
    order = r.sample(range(len(shape)), len(shape))
    x = case.argument(draw_array(r, "s32", shape), "s32")
    return case, shape_text("s32", tuple(shape[d] for d in order)), f"transpose({x}), dimensions={listed(order)}"


def reverse(r):
    case, shape = Case("reverse"), dims(r, r.randint(1, 3))
    x = case.argument(draw_array(r, "s32", shape), "s32")
    return case, shape_text("s32", shape), f"reverse({x}), dimensions={listed(r.sample(range(len(shape)), r.randint(1, len(shape))))}"


def slice_(r):
    case, shape = Case("slice"), dims(r, r.randint(1, 3), 7)
    spans = [(b, r.randint(b, n), r.randint(1, 3)) for n in shape for b in [r.randint(0, n - 1)]]
    x = case.argument(draw_array(r, "s32", shape), "s32")
    result = tuple(-(-(e - b) // s) for b, e, s in spans)
    return case, shape_text("s32", result), f"slice({x}), slice={{{', '.join(f'[{b}:{e}:{s}]' for b, e, s in spans)}}}"


def pad(r):
    case, shape = Case("pad"), dims(r, r.randint(1, 3))
    pads = [(r.randint(-1, 3), r.randint(0, 3), r.randint(0, 2)) for _ in shape]
    x, fill = case.argument(draw_array(r, "s32", shape), "s32"), case.argument(draw_array(r, "s32", ()), "s32")
    result = tuple(n + low + high + (n - 1) * inside for n, (low, high, inside) in zip(shape, pads))
    return case, shape_text("s32", result), f"pad({x}, {fill}), padding={'x'.join(f'{a}_{b}_{c}' for a, b, c in pads)}"


def concatenate(r):
    case, shape, parts = Case("concatenate"), dims(r, r.randint(1, 3)), r.randint(1, 3)
    d = r.randrange(len(shape))
    shapes = [shape[:d] + (r.randint(0, 3),) + shape[d + 1:] for _ in range(parts)]
    names = [case.argument(draw_array(r, "s32", s), "s32") for s in shapes]
    result = shape[:d] + (sum(s[d] for s in shapes),) + shape[d + 1:]
    return case, shape_text("s32", result), f"concatenate({', '.join(names)}), dimensions={{{d}}}"


def iota(r):
    case, dtype, shape = Case("iota"), r.choice(["s32", "f32", "u8"]), dims(r, r.randint(1, 3))
    return case, shape_text(dtype, shape), f"iota(), iota_dimension={r.randrange(len(shape))}"


def dynamic_slice(r):
    case, shape = Case("dynamic_slice"), dims(r, r.randint(1, 3), 6)
    sizes = tuple(r.randint(1, n) for n in shape)
    x = case.argument(draw_array(r, "s32", shape), "s32")
    starts = [case.argument(draw_array(r, "s32", (), -3, 8), "s32") for _ in shape]
    return case, shape_text("s32", sizes), f"dynamic-slice({', '.join([x, *starts])}), dynamic_slice_sizes={listed(sizes)}"


def dynamic_update_slice(r):
    case, shape = Case("dynamic_update_slice"), dims(r, r.randint(1, 3), 6)
    sizes = tuple(r.randint(1, n) for n in shape)
    x, u = (case.argument(draw_array(r, "s32", s), "s32") for s in (shape, sizes))
    starts = [case.argument(draw_array(r, "s32", (), -3, 8), "s32") for _ in shape]
    return case, shape_text("s32", shape), f"dynamic-update-slice({', '.join([x, u, *starts])})"


def gather(r):
    case, rank = Case("gather"), r.randint(1, 3)
    shape = dims(r, rank, 6)
    collapsed = sorted(r.sample(range(rank), r.randint(0, rank)))
    sizes = [1 if d in collapsed else r.randint(1, n) for d, n in enumerate(shape)]
    mapped = r.sample(range(rank), r.randint(1, rank))
    batch = dims(r, r.randint(0, 2), 3)
    at = r.randint(0, len(batch))
    indices = batch[:at] + (len(mapped),) + batch[at:]
    inner = [n for d, n in enumerate(sizes) if d not in collapsed]
    offsets = sorted(r.sample(range(len(batch) + len(inner)), len(inner)))
    left, extents = iter(batch), iter(inner)
    result = tuple(next(extents) if d in offsets else next(left) for d in range(len(batch) + len(inner)))
    x, i = case.argument(draw_array(r, "s32", shape), "s32"), case.argument(draw_array(r, "s32", indices, -2, 7), "s32")
    return case, shape_text("s32", result), (
        f"gather({x}, {i}), offset_dims={listed(offsets)}, collapsed_slice_dims={listed(collapsed)}, "
        f"start_index_map={listed(mapped)}, index_vector_dim={at}, slice_sizes={listed(sizes)}")


def scatter(r):
    case, rank = Case("scatter"), r.randint(1, 3)
    shape = dims(r, rank, 6)
    inserted = sorted(r.sample(range(rank), r.randint(0, rank)))
    window = [r.randint(1, n) for d, n in enumerate(shape) if d not in inserted]
    mapped = r.sample(range(rank), r.randint(1, rank))
    batch = dims(r, r.randint(0, 2), 3)
    at = r.randint(0, len(batch))
    indices = batch[:at] + (len(mapped),) + batch[at:]
    inside = sorted(r.sample(range(len(batch) + len(window)), len(window)))
    left, extents = iter(batch), iter(window)
    updates = tuple(next(extents) if d in inside else next(left) for d in range(len(batch) + len(window)))
    case.scalars("f", "s32", r.choice(["add(%a, %b)", "maximum(%a, %b)", "subtract(%a, %b)", "copy(%b)"]))
    x, i, u = (case.argument(draw_array(r, "s32", s, *span), "s32") for s, span in ((shape, ()), (indices, (-2, 7)), (updates, ())))
    return case, shape_text("s32", shape), (
        f"scatter({x}, {i}, {u}), update_window_dims={listed(inside)}, inserted_window_dims={listed(inserted)}, "
        f"scatter_dims_to_operand_dims={listed(mapped)}, index_vector_dim={at}, to_apply=%f")


def dot(r):
    case, dtype = Case("dot"), r.choice(["f32", "s32"])
    batch, contracted, rows, columns = (dims(r, r.randint(0, 2), 3) for _ in range(4))
    sides = []
    for free in (rows, columns):
        labels = [("b", k) for k in range(len(batch))] + [("c", k) for k in range(len(contracted))] + [("f", k) for k in range(len(free))]
        r.shuffle(labels)
        extent = {"b": batch, "c": contracted, "f": free}
        # Free dimensions keep their order in the result.
        places = [n for n, (kind, _) in enumerate(labels) if kind == "f"]
        for k, n in enumerate(places):
            labels[n] = ("f", k)
        shape = tuple(extent[kind][k] for kind, k in labels)
        sides.append((case.argument(draw_array(r, dtype, shape, -6, 6), dtype),
                      [labels.index(("b", k)) for k in range(len(batch))],
                      [labels.index(("c", k)) for k in range(len(contracted))]))
    (x, lb, lc), (y, rb, rc) = sides
    return case, shape_text(dtype, batch + rows + columns), (
        f"dot({x}, {y}), lhs_batch_dims={listed(lb)}, lhs_contracting_dims={listed(lc)}, "
        f"rhs_batch_dims={listed(rb)}, rhs_contracting_dims={listed(rc)}")
