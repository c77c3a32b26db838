"""Options that the worker refuses before it starts, and those that it takes. Needs Python alone."""

import contextlib
import io
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import worker

BAD = [
    ({"engine": "foo"}, "torch: engine=foo is none of gloo, local, nccl"),
    ({"via": "copy"}, "torch: via=copy is none of redistribute, full_tensor, distribute, checkpoint, fsdp"),
    ({"grad": "both"}, "torch: grad=both is none of lhs, rhs"),
    ({"op": "conv"}, "torch: op=conv is none of einsum, mm, bmm, linear"),
    ({"compile": "yes"}, "torch: compile=yes is none of aot_eager, inductor"),
    ({"flaten": "all"}, "torch: no option 'flaten'; there are compile, engine, flatten, grad, op, operands, via"),
    ({"flatten": "dp"}, "torch: flatten=dp is none of none, contiguous, all, or sets of axes such as dp.tp/pp.tp"),
    ({"flatten": "dp.tp/"},
     "torch: flatten=dp.tp/ is none of none, contiguous, all, or sets of axes such as dp.tp/pp.tp"),
    ({"flatten": "dp..tp"},
     "torch: flatten=dp..tp is none of none, contiguous, all, or sets of axes such as dp.tp/pp.tp"),
    ({"flatten": "dp.tp/tp.dp"}, "torch: flatten=dp.tp/tp.dp names a set of axes twice"),
    ({"flatten": "dp.dp"}, "torch: flatten=dp.dp names an axis twice in a set"),
]


class Options(unittest.TestCase):
    def test_bad_ones_say_what_there_is(self):
        for options, message in BAD:
            said = io.StringIO()
            with self.subTest(options), contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as ended:
                worker.checked(options)
            self.assertEqual((ended.exception.code, said.getvalue()), (2, message + "\n"))

    def test_what_is_not_given_is_the_default(self):
        self.assertEqual(worker.checked({"grad": "", "flatten": "pp.tp/dp.tp"}),
                         {"engine": "gloo", "flatten": "pp.tp/dp.tp", "op": "einsum", "operands": "from_local", "via": "redistribute"})


if __name__ == "__main__":
    unittest.main()
