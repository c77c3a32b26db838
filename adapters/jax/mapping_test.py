"""What a case is mapped to: one collective, arrays, and the places that JAX says of a spec; by tables written by hand,
and for drawn specs by what they mean."""

import itertools
import json
import math
import os
import random
import subprocess
import sys
import unittest
from unittest import mock

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "python")]
os.environ["JAX_PLATFORMS"] = "cpu"

import jax

import collective
import data
import index_maps
import layout
from plumb_worker.case import Case, parse_spec, parts_text, spec_text

jax.config.update("jax_enable_x64", True)  # as the worker does
XYZ = {"axes": [["x", 2], ["y", 2], ["z", 2]]}


def reshard(source, *chain, op="reshard"):
    return Case({"mesh": XYZ, "op": op, "operands": [parse_spec(source)], "chain": [parse_spec(s) for s in chain]})


class OneCollective(unittest.TestCase):
    def test_by_hand(self):
        table = [
            ("f32[8]+x", "f32[8]", ("psum", ("x",), ())),
            ("f32[8,4@z]+y.x", "f32[8,4@z]", ("psum", ("y", "x"), ())),
            ("f32[8,4]+x", "f32[8@x,4]", ("psum_scatter", ("x",), (0,))),
            ("f32[8,4]+x", "f32[8,4@x]", ("psum_scatter", ("x",), (1,))),
            ("f32[8@y,4]+x.z", "f32[8@y.x.z,4]", ("psum_scatter", ("x", "z"), (0,))),
            ("f32[8@y,4]+x", "f32[8@x.y,4]", None),
            ("f32[8,4]+x.y", "f32[8@x,4@y]", None),
            ("f32[8,4]+x.y", "f32[8@x,4]", None),
            ("f32[8@y,4]+x", "f32[8,4]", None),
            ("f32[8@x]", "f32[8]", ("all_gather", ("x",), (0,))),
            ("f32[4,8@x.y]", "f32[4,8@x]", ("all_gather", ("y",), (1,))),
            ("f32[8@x.y.z]", "f32[8@x]", ("all_gather", ("y", "z"), (0,))),
            ("f32[8@x.y]", "f32[8@y]", None),
            ("f32[8@x]", "f32[8@y]", None),
            ("f32[8]", "f32[8@x]", None),
            ("f32[8@x]", "f32[8@x]", None),
            ("f32[8@x,4]", "f32[8,4@x]", ("all_to_all", ("x",), (0, 1))),
            ("f32[8,4@x]", "f32[8@x,4]", ("all_to_all", ("x",), (1, 0))),
            ("f32[8@y.x,4@z]", "f32[8@y,4@z.x]", ("all_to_all", ("x",), (0, 1))),
            ("f32[8@x.y,2,4]", "f32[8,2,4@x.y]", ("all_to_all", ("x", "y"), (0, 2))),
            ("f32[8@x,4@z]", "f32[8,4@x.z]", None),
            ("f32[8@x,4]", "f32[8,4@y]", None),
            ("f32[8@y.x,4]", "f32[8@x,4@y]", None),
            ("f32[8@x,4@y,2]", "f32[8,4,2@x.y]", None),
            ("f32[8@x,4@y]", "f32[8,4]", None),
            ("f32[8]+x", "f32[8]+x", None),
            ("f32[8]+x.y", "f32[8]+x", None),
            ("f32[8@x]", "f32[8]+y", None),
            ("f32[8@x]", "f32[8]?", None),
        ]
        for source, target, want in table:
            with self.subTest(f"{source} -> {target}"):
                self.assertEqual(collective.find(reshard(source, target)), want)

    def test_no_chain_and_no_other_op_is_one(self):
        self.assertIsNone(collective.find(reshard("f32[8@x]", "f32[8]", "f32[8]")))
        self.assertIsNone(collective.find(reshard("f32[8@x]", "f32[8]", op="quantize")))


def layouts(axes, rank):
    """Every way to split dimensions by some of these axes and to leave others unfinished: (split, unfinished)."""
    for where in itertools.product(range(-1, rank + 1), repeat=len(axes)):
        for order in itertools.permutations(axes):
            at = dict(zip(axes, where))
            split = tuple(tuple(a for a in order if at[a] == d) for d in range(rank))
            yield split, tuple(a for a in order if at[a] == rank)


def by_one(split, unfinished):
    """What one collective makes of a layout: (what find() calls it, split)."""
    if unfinished:
        yield ("psum", unfinished, ()), split
        for d in range(len(split)):
            yield ("psum_scatter", unfinished, (d,)), split[:d] + (split[d] + unfinished,) + split[d + 1:]
        return
    for d, axes in enumerate(split):
        for kept in range(len(axes)):
            left = list(split)
            left[d], moved = axes[:kept], axes[kept:]
            yield ("all_gather", moved, (d,)), tuple(left)
            for e in range(len(split)):
                if e != d:
                    yield ("all_to_all", moved, (d, e)), tuple(left[:e] + [left[e] + moved] + left[e + 1:])


class EveryReshard(unittest.TestCase):
    def test_is_the_collective_that_makes_it(self):
        size = (8, 4)
        text = lambda split, unfinished: spec_text("f32", size, split, parts_text(unfinished))
        every = sorted(set(layouts(("x", "y", "z"), 2)))
        targets = [split for split, unfinished in every if not unfinished]
        draw, found = random.Random(1), 0
        for split, unfinished in every:
            made = {target: name for name, target in by_one(split, unfinished)}
            for target in set(draw.sample(targets, 25)) | set(made):
                got = collective.find(reshard(text(split, unfinished), text(target, ())))
                self.assertEqual(got, made.get(target), (split, unfinished, target))
                found += got is not None
        self.assertGreater(found, 300)


class Arrays(unittest.TestCase):
    """An operand lies where its spec says, bit for bit, and says that it does."""

    def piece(self, case, spec, device, whole):
        at, piece = case.coordinates()[device], whole
        if spec.unfinished:
            piece = piece[case.parts(spec.unfinished)[device]]
        size, ranges = dict(case.world), []
        for d, axes in enumerate(spec.split):
            number = 0
            for axis in axes:
                number = number * size[axis] + at[axis]
            length = spec.shape[d] // math.prod(size[a] for a in axes)
            ranges.append((number * length, (number + 1) * length))
            piece = piece.take(range(number * length, (number + 1) * length), axis=d)
        return piece, [ranges]

    def test_drawn_specs(self):
        layout.start(8, "cpu")
        draw = random.Random(2)
        every = sorted(set(layouts(("x", "y", "z"), 2)))
        for n, (split, unfinished) in enumerate(draw.sample(every, 60)):
            unfinished = unfinished if n % 2 else ()
            ids = draw.sample(range(8), 8)
            dtype = "f32" if unfinished else draw.choice(sorted(layout.DTYPES))
            spec_said = spec_text(dtype, (8, 16), split, parts_text(unfinished))
            case = Case({"mesh": {**XYZ, "ids": ids}, "op": "reshard", "operands": [parse_spec(spec_said)],
                         "chain": [parse_spec("f32[8,16]")]})
            spec = case.operands[0]
            mesh = layout.mesh_of(case.axes, case.sizes, case.ids, bool(unfinished))
            shape = ((case.ways(unfinished),) if unfinished else ()) + (8, 16)
            whole = np.arange(1, 1 + math.prod(shape) * layout.DTYPES[dtype].itemsize, dtype=np.uint64).astype(np.uint8)
            view = whole.view(layout.DTYPES[dtype]).reshape(shape)
            with self.subTest(spec_said):
                array = data.place(case, mesh, spec, (whole.data, shape))
                self.assertEqual(layout.claim(array, case, spec), spec_said)
                held = data.blocks(array, 3)
                self.assertEqual(sorted(device for device, *_ in held), list(range(8)))
                for device, result, raw, slices in held:
                    piece, (ranges,) = self.piece(case, spec, device, view)
                    self.assertEqual(result, 3)
                    self.assertEqual(bytes(raw), piece.tobytes())
                    self.assertEqual(slices, None if unfinished else [[r] for r in ranges])

    def test_what_is_not_over_the_mesh_claims_nothing(self):
        layout.start(8, "cpu")
        make = lambda ids, axes=("x", "y", "z"): Case({
            "mesh": {"axes": [[a, 2] for a in axes], "ids": ids}, "op": "reshard", "operands": [parse_spec("f32[8@x]")],
            "chain": [parse_spec("f32[8]")]})
        here, other = make(list(range(8))), make([1, 0, 2, 3, 4, 5, 6, 7])
        mesh = layout.mesh_of(here.axes, here.sizes, here.ids, False)
        array = data.place(here, mesh, here.operands[0], (np.arange(8, dtype=np.float32).view(np.uint8).data, (8,)))
        self.assertEqual(layout.claim(array, here, here.operands[0]), "f32[8@x]")
        self.assertIsNone(layout.claim(array, other, here.operands[0]), "other ids")
        self.assertIsNone(layout.claim(array, make(list(range(8)), "abc"), here.operands[0]), "other axes")
        self.assertIsNone(layout.claim(jax.device_put(np.arange(8)), here, here.operands[0]), "no mesh")

    def test_a_release_that_knows_no_unfinished_sums_claims_none(self):
        layout.start(8, "cpu")
        case = Case({"mesh": {"axes": [["x", 8]], "ids": list(range(8))}, "op": "reshard",
                     "operands": [parse_spec("f32[8@x]")], "chain": [parse_spec("f32[8]")]})
        older = type("older", (), {"mesh": layout.mesh_of(case.axes, case.sizes, case.ids, False), "spec": ("x",)})
        array = mock.Mock(sharding=older(), dtype=np.dtype(np.float32), shape=(8,), ndim=1)
        with mock.patch.object(layout, "NamedSharding", older):
            self.assertEqual(layout.claim(array, case, case.operands[0]), "f32[8@x]")


class Devices(unittest.TestCase):
    def test_gpus_where_they_suffice_or_are_asked_for(self):
        gpus, cpus, before = ["g0", "g1"], ["c0", "c1", "c2"], list(layout._started)
        of = lambda platform=None: cpus if platform == "cpu" else gpus
        table = [("gpu", 2, None, gpus), ("gpu", 3, None, cpus), ("gpu", 3, "gpu", gpus), ("gpu", 1, "cpu", cpus),
                 ("cpu", 1, None, cpus), ("cpu", 1, "cpu", cpus)]
        for backend, count, platform, want in table:
            with mock.patch.object(jax, "default_backend", lambda: backend), mock.patch.object(jax, "devices", of):
                layout._started[:] = [count, platform]
                layout.devices.cache_clear()
                self.assertEqual(layout.devices(), want, (backend, count, platform))
                layout.place_of.cache_clear()
                self.assertEqual(layout.place_of(), {device: i for i, device in enumerate(want)})
        layout._started[:] = before
        layout.devices.cache_clear(), layout.place_of.cache_clear()


class Places(unittest.TestCase):
    def test_specs_as_text_and_as_objects_on_every_line_but_empty_ones(self):
        mesh = {"axes": [["x", 2], ["y", 2]], "ids": [3, 1, 0, 2]}
        asked = [json.dumps({"mesh": mesh, "specs": specs}) for specs in (["f32[4@x]"], [parse_spec("f32[4@y]")])]
        script = os.path.join(HERE, "index_maps.py")
        done = subprocess.run([sys.executable, "-I", "-B", script], input=f"{asked[0]}\n\n{asked[1]}\n", text=True,
                              stdout=subprocess.PIPE, check=True)
        by_x, by_y = [json.loads(line) for line in done.stdout.splitlines()]
        low, high = [[0, 2]], [[2, 4]]  # devices 3 and 1 have x=0, 3 and 0 have y=0
        self.assertEqual(by_x, [{"text": "f32[4@x]", "slices": [high, low, high, low]}])
        self.assertEqual(by_y, [{"text": "f32[4@y]", "slices": [low, high, high, low]}])

    def test_what_jax_refuses_is_told_by_its_first_line(self):
        lines = ValueError("not even\nsee there")
        with mock.patch.object(index_maps, "slices_of", side_effect=lines):
            found = index_maps.answer({"mesh": {"axes": [["x", 2]]}, "specs": ["f32[3@x]", "f32[5@x]"]})
        self.assertEqual(found, [{"text": f"f32[{n}@x]", "refused": "ValueError: not even"} for n in (3, 5)])


if __name__ == "__main__":
    unittest.main()
