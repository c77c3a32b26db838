"""What Transformer Engine does not do. Most rows say what this worker can ask of it and have no probe; those that have
one count only where this release refuses it in the row's words."""

import math

import expert
import kernels
import programs
import quantized
import resources
import standin
from plumb_worker.limits import Row
from quantized import in_blocks


def product(left, right, chain, letters="mk,kn->mn"):
    lhs, rest = letters.split(",")
    rhs, out = rest.split("->")
    return {"mesh": {"axes": [["x", 2], ["y", 2]]}, "op": "einsum", "lhs": lhs, "rhs": rhs, "out": out,
            "operands": [left, right], "chain": [chain]}


def grouped(sizes, left="f32[4,4]", form="fwd"):
    return {"mesh": {"axes": [["x", 2], ["y", 2]]}, "op": "grouped", "form": form, "sizes": sizes,
            "operands": [left, "f32[2,4,4]"], "chain": ["f32[4,4]"]}


def is_batched(case):
    return case.op == "einsum" and any(c in case.rhs and c in case.out for c in case.lhs)


def in_pieces(case):
    """Contracted dimensions that do not lie together at one end of each operand, in the same order."""
    if case.op != "einsum" or is_batched(case):
        return False
    left, right = programs.contracted(case)
    ends = lambda dims, rank: programs.leading(dims) or programs.trailing(dims, rank)
    return not (left and ends(left, len(case.lhs)) and ends(right, len(case.rhs)))


def in_other_order(case):
    """The result's dimensions are not those of the left operand, then those of the right one."""
    if case.op != "einsum" or is_batched(case):
        return False
    kept = [c for c in case.lhs if c not in case.rhs] + [c for c in case.rhs if c not in case.lhs]
    return list(case.out) != kept


def rows(backend):
    plan, dense = backend.style == "plan", backend.via == "dense"
    missing = lambda c: resources.missing(backend.resources, c.axes)
    found = [
        Row("resources", lambda c: f"resources name the axis {missing(c)}, which the mesh has not", missing),
        Row("unfinished", "Transformer Engine has no unfinished sums",
            lambda c: any(s.unfinished for s in c.specs)),
        Row("chain", "a product and then a reshard is more than one rule",
            lambda c: c.op != "quantize" and len(c.chain) > 1),
        Row("result dtype", "the result has the operands' dtype",
            lambda c: c.op != "quantize" and len({s.dtype for s in c.specs}) > 1),
        Row("codes as values", "operands are f32, bf16 or f16",
            lambda c: any(s.dtype not in ("f32", "bf16", "f16") for s in c.operands)),
        Row("batch", "GEMM has no batch dimensions", is_batched),
        Row("in pieces", "contracted dimensions must lie together at one end of each operand", in_pieces),
        Row("order", "the result has the left operand's dimensions first", in_other_order),
        Row("sizes by row block", "grouped_dense takes one list of sizes",
            lambda c: c.op == "grouped" and len(c.group_sizes) > 1),
        Row("rows of no group", "grouped_dense takes as many rows as its sizes say", has_tail),
    ]
    found += of_quantizing(backend)
    if backend.options["partitioner"] == "gspmd" and not standin.has_gspmd_rules():
        found.insert(1, Row("gspmd", "this release has no rules for GSPMD on a JAX after 0.9.1", lambda c: True))
    if plan:
        found.append(Row("plan of einsum", "style=plan asks the rule of GEMM", lambda c: c.op != "einsum"))
    if dense or backend.via in ("module", "mlp"):
        found.append(Row("no dense product", "dense multiplies x[.., k] and w[k, ..], or is one of its gradients",
                         lambda c: c.op == "einsum" and programs.form(c) is None))
    found.append(Row("dp and fsdp", "this release takes data parallelism or FSDP, not both",
                     lambda c: dp_and_fsdp(backend, c), "cannot be enabled at the same time", DP_AND_FSDP))
    if backend.via == "mlp":
        found += of_perceptron()
    words = "" if plan else r"evenly divi|be divisible"
    found.append(Row("uneven argument", "uneven split of an argument", lambda c: c.uneven(c.operands), words,
                     product("f32[5@x,4]", "f32[4,4]", "f32[5,4]")))
    found.append(Row("uneven result", "uneven split of a result", lambda c: c.uneven(c.chain[-1:]), words,
                     product("f32[5,4]", "f32[4,4]", "f32[5@x,4]")))
    return found + (of_experts() if backend.via == "shard_map" else [])


def of_perceptron():
    return [
        Row("no product of an MLP", "via=mlp multiplies", lambda c: c.op != "einsum"),
        Row("MLP in FP8", "the second product of LayerNormMLP would be quantized too", quantizes),
        Row("features of an MLP", "LayerNormMLP has one dimension of features, and gives back as many as it took",
            lambda c: weight_shape(c)[1:] != weight_shape(c)[:1]),
    ]


def weight_shape(case):
    """Of the layer whose product, or whose gradient, an einsum is."""
    return case.chain[0].shape if programs.form(case) == "wgrad" else case.operands[1].shape


def of_experts():
    """What via=shard_map does not write; each row but the first is of what those before it let pass."""
    return [
        Row("no experts", "via=shard_map takes grouped products", lambda c: c.op != "grouped"),
        Row("free result of experts", "shard_map says where its result lies", lambda c: c.result.free),
        Row("rows elsewhere", "rows lie with their experts, whole", lambda c: not expert.rows_lie_with_experts(c)),
        Row("weight over several", "the weight is split over one axis of the rows at most",
            lambda c: not expert.weight_lies_over_one(c)),
        Row("sums of the caller", "sums over other axes than the weight's are the caller's",
            lambda c: c.form == "wgrad" and set(expert.outer_and_inner(c)[1]) - {expert.fsdp(c)[0]}),
        Row("rows of others", "rows of another device's experts", lambda c: expert.counts(c) is None),
    ]


def quantizes(case):
    return case.op == "quantize" or any(s.scheme for s in case.operands)


def several_scales(case):
    """Scales of groups, or one for each index of the first dimension."""
    return case.op == "quantize" and (case.group_sizes or not in_blocks(case.scheme) and case.chain[1].shape != ())


def in_tails(case):
    """Blocks of 32 values, of which the last is shorter."""
    return in_blocks(case.scheme) and case.operands[0].shape[-2 if quantized.blocks_in_columns(case) else -1] % 32 != 0


def flattened(case):
    """Of each operand where its dimensions fall apart into rows and columns, and which of them are contracted."""
    if case.op == "quantize":
        yield case.operands[0], len(case.operands[0].shape) - 1, ()
        return
    for spec, dims in zip(case.operands, programs.contracted(case)):
        yield spec, dims[-1] + 1 if programs.leading(dims) else dims[0], dims


def uses_blocks(case):
    return case.op in ("einsum", "quantize") and (in_blocks(case.scheme) or any(in_blocks(s.scheme) for s in case.operands))


def in_short_parts(case, own):
    """Whether MXFP8 would cut a block of 32, by rows or by columns: of the part of a device that a kernel quantizes, or that is
    multiplied."""
    return uses_blocks(case) and any(spec.shape[d] // (case.ways(spec.split[d]) if own or d in dims else 1) % 32
                                     for spec, boundary, dims in flattened(case) for d in (boundary - 1, len(spec.shape) - 1))


def in_sixteens(case):
    if case.op != "einsum" or not quantizes(case):
        return False
    return math.prod(case.operands[0].shape[d] for d in programs.contracted(case)[0]) % 16 != 0


def forward_in_e5m2(case):
    return (quantized.schemes_of_dense(case, programs.form(case))[0] or "").endswith("e5")


def of_quantizing(backend):
    own = backend.via in ("dense", "module")  # the quantizing kernel is ours
    return [
        Row("quantize by a module", "via=module multiplies",
            lambda c: backend.via == "module" and c.op == "quantize"),
        Row("e5m2 forward", "a recipe has e5m2 for gradients alone",
            lambda c: backend.via == "module" and c.op == "einsum" and forward_in_e5m2(c)),
        Row("delayed scaling of no module", "recipe=delayed is of DenseGeneral and operands ~fp8",
            lambda c: backend.options["recipe"] == "delayed" and backend.via != "module" and quantizes(c)),
        Row("plan of FP8", "style=plan asks GEMM of what is not quantized",
            lambda c: backend.style == "plan" and quantizes(c)),
        Row("grouped FP8", "grouped_dense is asked with operands that are not quantized",
            lambda c: c.op == "grouped" and quantizes(c)),
        Row("one quantized", "GEMM quantizes both operands or none",
            lambda c: c.op == "einsum" and len({bool(s.scheme) for s in c.operands}) > 1),
        Row("one in blocks", "GEMM scales both operands in blocks or none",
            lambda c: c.op == "einsum" and len({in_blocks(s.scheme) for s in c.operands}) > 1),
        Row("e5m2 twice", "cuBLAS has no product of two e5m2 operands",
            lambda c: c.op == "einsum" and all((s.scheme or "").endswith("fp8e5") for s in c.operands)),
        Row("contraction of 16", "cuBLAS contracts multiples of 16 codes", in_sixteens,
            "must be a multiple of 16", product("f32[4,8]~fp8", "f32[8,4]~fp8", "f32[4,4]")),
        Row("grouped scales", "one scale for the whole array, or blocks over it", several_scales),
        Row("vectors", "quantizers flatten an array to a matrix",
            lambda c: c.op == "quantize" and len(c.operands[0].shape) < 2),
        Row("a shorter block", "quantizers take whole blocks of 32", in_tails),
        Row("blocks of before", "the kernels here take MXFP8 as releases since 2.9 hand it over",
            lambda c: (c.op == "einsum" or own) and uses_blocks(c) and not kernels.know_blocks()),
        Row("a block of several devices", "MXFP8 takes whole blocks of 32 of each device's rows and columns",
            lambda c: (c.op == "einsum" or own) and in_short_parts(c, own), "divisible",
            product("f32[32,32@x]~mxfp8", "f32[32@x,32]~mxfp8", "f32[32,32]")),
    ]


DP_AND_FSDP = {**product("f32[4@dp,4]", "f32[4,4@fsdp]", "f32[4,4]"), "mesh": {"axes": [["dp", 2], ["fsdp", 2]]}}


def dp_and_fsdp(backend, case):
    """Whether both are given an axis of more than one device; by name, where the option gives none."""
    given = backend.resources or {name: (name,) for name in ("dp", "fsdp")}
    return all(case.ways([a for a in given.get(name, ()) if a in case.axes]) > 1 for name in ("dp", "fsdp"))


def has_tail(case):
    if case.op != "grouped" or len(case.group_sizes) > 1:
        return False
    return sum(case.group_sizes[0]) != case.operands[0].shape[0]
