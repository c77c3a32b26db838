"""The collectives of a compiled program, as the protocol's trace."""

from typing import NamedTuple, Optional

from . import groups, hlo

_KINDS = {"all-reduce": "all-reduce", "reduce-scatter": "reduce-scatter", "all-gather": "all-gather",
          "all-to-all": "all-to-all", "collective-permute": "collective-permute",
          "collective-broadcast": "collective-broadcast", "ragged-all-to-all": "send", "send": "send"}
_BY_PARTITION = {"all-to-all", "collective-permute", "collective-broadcast", "ragged-all-to-all", "send"}
_DTYPES = {"f8e4m3fn": "f8e4m3", "f8e8m0fnu": "e8m0"}
_WORDS = {"op": {"add", "maximum", "minimum", "and", "or", "xor", "multiply"},
          "dtype": set("s8 s32 f8e4m3 f8e5m2 e8m0 f16 bf16 f32 f64 pred s2 s4 s16 s64 u2 u4 u8 u16 u32 u64 f4e2m1fn c64 c128".split())}
_VIEWS = {"bitcast", "copy", "convert", "reshape", "get-tuple-element", "transpose", "tuple"}


class Found(NamedTuple):
    """A collective and the computation it stands in; `times` is None where a loop's length is unknown."""

    computation: hlo.Computation
    instruction: hlo.Instruction
    times: Optional[int]
    notes: list


def of_text(text, assignment=None):
    """The trace of HLO text. `assignment` gives the device of each flattened id (replica * partitions +
    partition); without it they are the same."""
    module = hlo.parse(text)
    assignment = assignment or list(range(module.replicas * module.partitions))
    return [event(module, assignment, found) for found in visit(module, module.entry)]


def described(text, case):
    """The trace of a case's program, and notes. XLA:CPU, after its partitioner, moves narrow floats as wider ones:
    the bytes are those that it moved, and a note says so. A text that this reader does not understand costs the
    trace, not the case."""
    try:
        found = of_text(text, list(case.ids)) if text else []
    except Exception as e:
        return None, [f"no trace, its text was not understood: {type(e).__name__}: {e}"]
    own = {s.dtype for s in case.specs}
    for event in found:
        if event.get("dtype", "") not in own | {""}:
            event["note"] = ", ".join(filter(None, [event.get("note"), f"moved as {event['dtype']}"]))
    return found, []


def visit(module, computation, times=1, notes=()):
    """Each collective, in order."""
    go = lambda name, n, more=(): visit(module, module.computations[name], n, [*notes, *more])
    for i in computation.lines:
        if i.opcode.removesuffix("-start") in _KINDS:
            yield Found(computation, i, times, list(notes))
        elif i.opcode == "while":
            trips = i.trips()
            n = None if trips is None or times is None else times * trips
            for name in i.called("condition", "body") if n != 0 else []:
                yield from go(name, n)
        elif i.opcode == "conditional":
            for name in i.branches():
                yield from go(name, times, ["in a branch"])
        elif i.opcode in ("fusion", "call", "async-start"):
            for name in i.called("calls", "to_apply"):
                yield from go(name, times)


def flattened(module, i, kind):
    """The groups of an instruction as flattened ids. Which numbers stand in the text depends on the opcode,
    on channel_id and on use_global_device_ids (StableHLO, "process groups")."""
    partitions, replicas = module.partitions, module.replicas
    text = i.attribute("source_target_pairs") if kind == "collective-permute" else i.attribute("replica_groups")
    channel = "channel_id=" in i.attributes
    glob = "use_global_device_ids=true" in i.attributes
    read = groups.pairs if kind == "collective-permute" else groups.expand
    listed = read(text) if text else []
    if kind in _BY_PARTITION and channel:  # partitions, within each replica
        listed = listed or ([] if kind == "collective-permute" else [list(range(partitions))])
        return [[r * partitions + p for p in g] for r in range(replicas) for g in listed]
    if glob:
        return listed or [list(range(replicas * partitions))]
    listed = listed or ([] if kind == "collective-permute" else [list(range(replicas))])
    if channel:  # replicas, all their partitions
        return [[r * partitions + p for r in g for p in range(partitions)] for g in listed]
    return [[r * partitions + p for r in g] for p in range(partitions) for g in listed]


def event(module, assignment, collective):
    computation, i, times, notes = collective
    opcode = i.opcode.removesuffix("-start")
    operands = [computation.by_name[o] for o in i.operands if o in computation.by_name]
    if opcode == "ragged-all-to-all":
        operands = operands[:1]
    done = [u for u, _ in computation.uses(i.name) if u.opcode == opcode + "-done"]
    finished = done[0] if i.opcode != opcode and done else i
    members = [[assignment[d] for d in g] for g in flattened(module, i, opcode)]
    found = {"kind": _KINDS[opcode], "pairs" if opcode == "collective-permute" else "groups": members,
             "in": sum(hlo.size(o.shape) for o in operands), "out": hlo.size(finished.shape)}
    name = hlo.dtype(operands[0].shape) if operands else ""
    said = {"dtype": _DTYPES.get(name, name)}
    if opcode in ("all-reduce", "reduce-scatter"):
        said["op"] = reducer(module, i)
    for field, word in said.items():  # what the protocol has no word for is noted
        if word in _WORDS[field]:
            found[field] = word
        elif word:
            notes = notes + [f"{field} {word}"]
    if times is None:
        notes = notes + ["in a loop of unknown length"]
    elif times != 1:
        found["times"] = times
    if times is None or "in a branch" in notes:
        found["moved"] = -1  # nobody knows
    if opcode != _KINDS[opcode]:
        notes = notes + [opcode]
    if opcode == "all-reduce" and only_sliced(module, computation, finished):
        notes = notes + ["reduce-scatter not formed"]
    if notes:
        found["note"] = ", ".join(notes)
    return found


def reducer(module, i):
    names = i.called("to_apply")
    computation = module.computations.get(names[0]) if names else None
    root = computation.root() if computation else None
    while root is not None and root.opcode in ("convert", "copy", "bitcast"):  # a promoted reduction
        root = computation.by_name.get(root.operands[0])
    return root.opcode if root else ""


def only_sliced(module, computation, value):
    """Whether the only thing that is done with a value is to take a slice of it."""
    uses = computation.uses(value.name)
    return bool(uses) and not value.root and all(slices(module, computation, u, n) for u, n in uses)


def slices(module, computation, user, index):
    if user.opcode in ("dynamic-slice", "slice"):
        return index == 0
    if user.opcode in _VIEWS:
        return only_sliced(module, computation, user)
    if user.opcode == "fusion":
        inner = module.computations[user.called("calls")[0]]
        parameter = inner.parameter(index)
        return parameter is not None and only_sliced(module, inner, parameter)
    return False
