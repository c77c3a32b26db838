"""What judging costs: `plumb run` over JAX against bare JAX doing the same compiles and executions.

    ~/.cache/plumbline/env/jax@0.10.2/bin/python -I adapters/jax/overhead_benchmark.py build/bin/plumb [cases] [rounds]

Draws reshards of f32[8,8] over x=2,y=2,z=2, and gives them in turn to a Python process that does nothing but
lower, compile, place, run and fetch, and to plumb. Both times include the start of Python. Prints each round's
times and ratio, and the smallest ratio of the totals: other work on the machine only makes it larger.
"""

import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "python"))
AXES = ("x", "y", "z")


def layouts():
    """Every way to split two dimensions by some of the axes, in some order."""
    for k in range(len(AXES) + 1):
        for chosen in itertools.permutations(AXES, k):
            for cut in range(k + 1):
                yield chosen[:cut], chosen[cut:]


def bare(pairs):
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    jax.config.update("jax_num_cpu_devices", 8)
    mesh = Mesh(np.array(jax.devices()).reshape(2, 2, 2), AXES)
    values = np.arange(64, dtype=np.float32).reshape(8, 8)
    sharding = lambda split: NamedSharding(mesh, P(*[tuple(axes) or None for axes in split]))
    for source, target in pairs:
        source, target = sharding(source), sharding(target)
        moved = jax.jit(lambda x: x, in_shardings=source, out_shardings=target)
        program = moved.lower(jax.ShapeDtypeStruct(values.shape, values.dtype)).compile()
        result = program(jax.device_put(values, source))
        result.block_until_ready()
        for shard in result.addressable_shards:
            np.asarray(shard.data)


def timed(command, **more):
    begin = time.perf_counter()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
    return time.perf_counter() - begin


def main(plumb, count=150, rounds=3):
    from plumb_worker import spec_text

    import jax

    pairs = random.Random(1).sample(list(itertools.product(layouts(), repeat=2)), int(count))
    text = lambda split: spec_text("f32", (8, 8), split)
    lines = "".join(f"on x=2,y=2,z=2: reshard {text(a)} -> {text(b)}\n" for a, b in pairs)
    ours, theirs = [], []
    with tempfile.NamedTemporaryFile("w", suffix=".cases") as cases:
        cases.write(lines)
        cases.flush()
        for _ in range(int(rounds)):
            env = {**os.environ, "JAX_PLATFORMS": "cpu"}
            theirs.append(timed([sys.executable, "-I", __file__, "--bare", json.dumps(pairs)], env=env))
            backend = ["--backend", f"jax@{jax.__version__}"]
            ours.append(timed([plumb, "run", "--jobs", "1", *backend, "--cases", cases.name]))
            print(f"bare JAX {theirs[-1]:.2f} s, plumb {ours[-1]:.2f} s: {ours[-1] / theirs[-1]:.3f}", flush=True)
    print(f"{count} cases, jax {jax.__version__}: {min(ours) / min(theirs):.3f} times bare JAX, "
          f"{int(count) / min(ours):.1f} cases a second")


if __name__ == "__main__":
    if sys.argv[1] == "--bare":
        bare(json.loads(sys.argv[2]))
    else:
        main(*sys.argv[1:])
