"""Where JAX itself says that each device's piece lies: the judge of block() from outside.

Reads JSON lines {"mesh":{"axes":[["x",2],["y",2]],"ids":[3,1,0,2]},"specs":[SPEC,...]} on standard input, SPEC
being the protocol's object or its text; answers each with one line, a list per spec of
    {"text":"f32[8@x,4]","slices":[[[0,4],[0,4]],...]}     slices[device][dimension] = [begin, end)
and {"text":...,"refused":"..."} where JAX has no such sharding. The unfinished axes of a spec are left out:
JAX gives no index for them.

    ~/.cache/plumbline/env/jax@0.9.1/bin/python -I adapters/jax/index_maps.py < specs
"""

import json
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "python")]
os.environ["JAX_PLATFORMS"] = "cpu"

import layout
from plumb_worker.case import Spec, parse_spec


def slices_of(mesh, spec, number):
    where = layout.sharding_of(mesh, spec.split).devices_indices_map(spec.shape)
    slices = [None] * len(where)
    for device, index in where.items():
        slices[number[device]] = [list(piece.indices(n)[:2]) for piece, n in zip(index, spec.shape)]
    return slices


def answer(request):
    axes = request["mesh"]["axes"]
    names, sizes = tuple(n for n, _ in axes), tuple(s for _, s in axes)
    if not layout.started() or math.prod(sizes) > len(layout.devices()):
        layout.start(math.prod(sizes), "cpu")
    ids = tuple(request["mesh"].get("ids") or range(math.prod(sizes)))
    mesh, found = layout.mesh_of(names, sizes, ids, False), []
    for s in request["specs"]:
        spec = Spec(parse_spec(s) if isinstance(s, str) else s)
        try:
            found.append({"text": spec.text, "slices": slices_of(mesh, spec, layout.place_of())})
        except Exception as e:
            found.append({"text": spec.text, "refused": f"{type(e).__name__}: {str(e).splitlines()[0]}"})
    return found


if __name__ == "__main__":
    for line in sys.stdin:
        if line.strip():
            print(json.dumps(answer(json.loads(line)), separators=(",", ":")), flush=True)
