"""What scripts/ptx makes of PTX: small kernels, translated, compiled and run here, beside what the instructions mean."""

import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts/ptx"))
import text
import translate

NVCC = shutil.which("nvcc", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")

# Runs the one kernel for every line of words from standard input, hexadecimal: its parameters, the last of which is where so
# many words are, which are then printed.
RUNS = """
#include "adapters/cuda/testing/ptx_kernels.h"
int main() {
  using namespace plumb::ptx;
  char line[1 << 10];
  while (std::fgets(line, sizeof line, stdin)) {
    std::vector<u64> words;
    for (char *at = line, *end = at;; at = end) {
      const u64 word = std::strtoull(at, &end, 16);
      if (end == at) break;
      words.push_back(word);
    }
    alignas(16) u64 out[8];
    for (u64& one : out) one = kUnset;
    words.push_back(reinterpret_cast<u64>(out) | kFar);
    std::vector<void*> given;
    for (u64& word : words) given.push_back(&word);
    run_grid(kernels().at(0), BLOCKS, 256, given.data());
    for (const u64 one : out) std::printf("%lx ", one);
    std::puts("");
  }
}
"""
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
UNSET = 0xcdcdcdcdcdcdcdcd
FOLDER = tempfile.TemporaryDirectory()


def tearDownModule():
    FOLDER.cleanup()


def kernel(body, words=2):
    """Of so many words %rd1, %rd2, ..., and %rd9, where what it makes is stored."""
    names = [f"k_param_{n}" for n in range(words + 1)]
    loads = "".join(f"\tld.param.u64 %rd{n + 1}, [{name}];\n" for n, name in enumerate(names[:-1]))
    return (f"{HEAD}.visible .entry k(\n\t" + ",\n\t".join(f".param .u64 {name}" for name in names) + "\n)\n{\n"
            "\t.reg .pred %p<9>;\n\t.reg .b16 %rs<9>;\n\t.reg .b32 %r<20>;\n\t.reg .b64 %rd<20>;\n\t.reg .f32 %f<9>;\n\t.reg .f64 %fd<9>;\n"
            f"{loads}\tld.param.u64 %rd9, [{names[-1]}];\n{body}\n\tret;\n\n}}\n")


class Translated:
    def __init__(self, ptx, blocks=1):
        self.program = tempfile.mkdtemp(dir=FOLDER.name) + "/k"
        pathlib.Path(self.program + ".cc").write_text(translate.translated(ptx) + RUNS.replace("BLOCKS", str(blocks)))
        subprocess.run([os.environ.get("CXX", "g++"), "-std=c++20", "-O0", "-w", "-ffp-contract=off", f"-I{ROOT}", self.program + ".cc",
                        "-o", self.program], check=True)

    def __call__(self, *rows):
        done = self.run(*rows)
        if done.returncode:
            raise AssertionError(done.stderr)
        return [[int(word, 16) for word in line.split()] for line in done.stdout.splitlines()]

    def run(self, *rows):
        lines = "".join(" ".join(f"{word:x}" for word in row) + "\n" for row in rows)
        return subprocess.run([self.program], input=lines, capture_output=True, text=True)


def bits(value, kind="d"):
    return int.from_bytes(struct.pack(kind, value), sys.byteorder)


WORDS = [0, 1, 2, 3, 31, 32, 33, 63, 64, 255, 256, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1, UNSET]
PAIRS = [(a, b) for a in WORDS for b in WORDS]


def signed(word, width=64):
    word %= 2**width
    return word - 2**width if word >> (width - 1) else word


class Values(unittest.TestCase):
    def holds(self, body, meaning, rows=PAIRS, words=2):
        """What is stored, of every row of words, is as many words of that meaning."""
        made = Translated(kernel(body, words))(*rows)
        for row, got in zip(rows, made):
            wanted = [word % 2**64 for word in meaning(*row)]
            self.assertEqual([hex(word) for word in got[:len(wanted)]], [hex(word) for word in wanted], [hex(word) for word in row])

    def test_carries(self):
        """Of 128 bits in two halves: the flag of a difference says that nothing was borrowed."""
        def meaning(a, b):
            whole, other = (b << 64) + a, (a << 64) + b
            high, low = (a * b + other >> 64), (a * b + other)
            return ((whole + other), (whole + other) >> 64, (whole - other), (whole - other) >> 64, low, high,
                    (a - b) % 2**32 + 2**32 * ((a % 2**32 >= b % 2**32)))
        self.holds("""
            add.cc.s64 %rd3, %rd1, %rd2;
            addc.cc.s64 %rd4, %rd2, %rd1;
            sub.cc.u64 %rd5, %rd1, %rd2;
            subc.cc.s64 %rd6, %rd2, %rd1;
            mad.lo.cc.u64 %rd7, %rd1, %rd2, %rd2;
            madc.hi.u64 %rd8, %rd1, %rd2, %rd1;
            st.global.v2.u64 [%rd9], {%rd3, %rd4};
            st.global.v2.u64 [%rd9+16], {%rd5, %rd6};
            st.global.u64 [%rd9+32], %rd7;
            st.global.u64 [%rd9+40], %rd8;
            cvt.u32.u64 %r1, %rd1;
            cvt.u32.u64 %r2, %rd2;
            sub.cc.u32 %r3, %r1, %r2;
            mov.u32 %r4, 0;
            addc.u32 %r4, %r4, 0;
            mov.b64 %rd3, {%r3, %r4};
            st.global.u64 [%rd9+48], %rd3;""", meaning)

    def test_shifts_clamp(self):
        def meaning(a, b):
            low, n = a % 2**32, b % 2**32
            wrapped = n % 32
            return (a << n if n < 64 else 0, a >> min(n, 64), signed(a) >> min(n, 63), signed(a, 32) >> min(n, 31),
                    ((a << wrapped) >> 32) % 2**32, (a >> wrapped) % 2**32, low << n & 0xffffffff if n < 32 else 0)
        self.holds("""
            cvt.u32.u64 %r2, %rd2;
            mov.b64 {%r3, %r4}, %rd1;
            shl.b64 %rd3, %rd1, %r2;
            shr.u64 %rd4, %rd1, %r2;
            shr.s64 %rd5, %rd1, %r2;
            shr.s32 %r5, %r3, %r2;
            cvt.s64.s32 %rd6, %r5;
            shf.l.wrap.b32 %r6, %r3, %r4, %r2;
            shf.r.wrap.b32 %r7, %r3, %r4, %r2;
            shl.b32 %r8, %r3, %r2;
            cvt.u64.u32 %rd7, %r6;
            cvt.u64.u32 %rd8, %r7;
            st.global.v2.u64 [%rd9], {%rd3, %rd4};
            st.global.v2.u64 [%rd9+16], {%rd5, %rd6};
            st.global.v2.u64 [%rd9+32], {%rd7, %rd8};
            cvt.u64.u32 %rd7, %r8;
            st.global.u64 [%rd9+48], %rd7;""", meaning, [(a, b) for a, b in PAIRS if b < 2**32 or b % 2**32 < 66])

    def test_products_and_extremes(self):
        def meaning(a, b):
            return (a * b, a * b >> 64, signed(a) * signed(b) >> 64, signed(a, 32) * signed(b, 32), (a % 2**32) * (b % 2**32),
                    min(a, b), max(signed(a), signed(b)), 64 - a.bit_length() + 2**32 * bin(a).count("1"))
        self.holds("""
            cvt.u32.u64 %r1, %rd1;
            cvt.u32.u64 %r2, %rd2;
            mul.lo.s64 %rd3, %rd1, %rd2;
            mul.hi.u64 %rd4, %rd1, %rd2;
            mul.hi.s64 %rd5, %rd1, %rd2;
            mul.wide.s32 %rd6, %r1, %r2;
            mul.wide.u32 %rd7, %r1, %r2;
            min.u64 %rd8, %rd1, %rd2;
            max.s64 %rd10, %rd1, %rd2;
            clz.b64 %r3, %rd1;
            popc.b64 %r4, %rd1;
            mov.b64 %rd11, {%r3, %r4};
            st.global.v2.u64 [%rd9], {%rd3, %rd4};
            st.global.v2.u64 [%rd9+16], {%rd5, %rd6};
            st.global.v2.u64 [%rd9+32], {%rd7, %rd8};
            st.global.v2.u64 [%rd9+48], {%rd10, %rd11};""", meaning)

    def test_quotients(self):
        def meaning(a, b):
            s, t = signed(a), signed(b)
            whole = abs(s) // abs(t) * (1 if s * t >= 0 else -1)
            return whole, s - whole * t, a // b, a % b
        self.holds("""
            div.s64 %rd3, %rd1, %rd2;
            rem.s64 %rd4, %rd1, %rd2;
            div.u64 %rd5, %rd1, %rd2;
            rem.u64 %rd6, %rd1, %rd2;
            st.global.v2.u64 [%rd9], {%rd3, %rd4};
            st.global.v2.u64 [%rd9+16], {%rd5, %rd6};""", meaning, [(a, b) for a, b in PAIRS if b])

    def test_fields_and_bytes(self):
        def meaning(a, b):
            both = (a % 2**32) | (b % 2**32) << 32
            byte = [both >> 8 * n & 255 for n in range(8)]
            picked = byte[5] | byte[0] << 8 | (255 if byte[3] >> 7 else 0) << 16 | byte[7] << 24
            return b & ~0xff00 | (a & 0xff) << 8, a & 0xffffffff, picked
        self.holds("""
            cvt.u32.u64 %r1, %rd1;
            cvt.u32.u64 %r2, %rd2;
            bfi.b64 %rd3, %rd1, %rd2, 8, 8;
            bfi.b64 %rd4, %rd1, 0, 0, 32;
            prmt.b32 %r3, %r1, %r2, 31493;
            cvt.u64.u32 %rd5, %r3;
            st.global.v2.u64 [%rd9], {%rd3, %rd4};
            st.global.u64 [%rd9+16], %rd5;""", meaning)  # 0x7b05

    def test_narrow_words_are_extended_as_their_type_says(self):
        def meaning(a, b):
            return signed(a, 8), a % 2**8, signed(a, 16), a % 2**16, signed(b, 8) % 2**16
        self.holds("""
            st.global.u64 [%rd9+56], %rd1;
            ld.global.s8 %rd3, [%rd9+56];
            ld.global.u8 %rd4, [%rd9+56];
            ld.global.s16 %rd5, [%rd9+56];
            cvt.u16.u64 %rs1, %rd1;
            cvt.u64.u16 %rd6, %rs1;
            cvt.u16.u64 %rs2, %rd2;
            cvt.s16.s8 %rs3, %rs2;
            cvt.u64.u16 %rd7, %rs3;
            st.global.v2.u64 [%rd9], {%rd3, %rd4};
            st.global.v2.u64 [%rd9+16], {%rd5, %rd6};
            st.global.u64 [%rd9+32], %rd7;""", meaning)

    FLOATS = [bits(x) for x in (0.0, -0.0, 1.0, -1.5, 0.1, 3e300, -3e300, 1e-310, 2.0**63, -(2.0**63), 2.0**62 + 512, float("inf"), float("-inf"), float("nan"))]

    def test_comparisons_with_what_is_no_number(self):
        named = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]
        lines = "".join(f"setp.{name}.f64 %p1, %fd1, %fd2;\nselp.u64 %rd3, {1 << n}, 0, %p1;\nor.b64 %rd4, %rd4, %rd3;\n" for n, name in enumerate(named))

        def meaning(a, b):
            x, y = (struct.unpack("d", struct.pack("Q", word))[0] for word in (a, b))
            numbers = x == x and y == y
            plain = [x == y, x != y, x < y, x <= y, x > y, x >= y]
            said = [numbers and one for one in plain] + [not numbers or one for one in plain] + [numbers, not numbers]
            return (sum(one << n for n, one in enumerate(said)),)
        self.holds(f"mov.b64 %fd1, %rd1;\nmov.b64 %fd2, %rd2;\nmov.u64 %rd4, 0;\n{lines}st.global.u64 [%rd9], %rd4;", meaning,
                   [(a, b) for a in self.FLOATS for b in self.FLOATS])

    def test_floats_and_integers(self):
        def meaning(a, _):
            x = struct.unpack("d", struct.pack("Q", a))[0]
            kept = -2**63 if x != x else max(-2**63, min(2**63 - 1, int(max(-1e30, min(1e30, x)))))
            single = bits(x, "f") if x != x or abs(x) < 1e38 else bits(float("inf") if x > 0 else float("-inf"), "f")
            return kept, a & (2**63 - 1), a ^ 2**63, single if x == x else 0x7fc00000
        self.holds("""
            mov.b64 %fd1, %rd1;
            cvt.rzi.s64.f64 %rd3, %fd1;
            abs.f64 %fd2, %fd1;
            neg.f64 %fd3, %fd1;
            cvt.rn.f32.f64 %f1, %fd1;
            mov.b32 %r1, %f1;
            cvt.u64.u32 %rd4, %r1;
            st.global.u64 [%rd9], %rd3;
            st.global.f64 [%rd9+8], %fd2;
            st.global.f64 [%rd9+16], %fd3;
            st.global.u64 [%rd9+24], %rd4;""", meaning, [(a, 0) for a in self.FLOATS])

    def test_sums_are_rounded_once_each(self):
        """A product and a sum that were contracted would be 2^-54."""
        x, y = 1 + 2.0**-27, -(1 + 2.0**-26)
        self.holds("""
            mov.b64 %fd1, %rd1;
            mov.b64 %fd2, %rd2;
            mul.rn.f64 %fd3, %fd1, %fd1;
            add.rn.f64 %fd4, %fd3, %fd2;
            st.global.f64 [%rd9], %fd4;
            div.rn.f64 %fd5, 0d3FF0000000000000, %fd1;
            st.global.f64 [%rd9+8], %fd5;""", lambda a, b: (bits(x * x + y), bits(1 / x)), [(bits(x), bits(y))])

    def test_what_nobody_wrote_is_nothing(self):
        self.holds("st.global.u64 [%rd9], %rd5;", lambda a, b: (UNSET, UNSET), [(0, 0)])


class Grids(unittest.TestCase):
    LOOP = """
        mov.u32 %r1, %ctaid.x;
        mov.u32 %r2, %ntid.x;
        mov.u32 %r3, %tid.x;
        mad.lo.s32 %r4, %r1, %r2, %r3;
        mov.u32 %r5, %nctaid.x;
        mul.lo.s32 %r6, %r5, %r2;
        cvt.u64.u32 %rd3, %r4;
        cvt.u64.u32 %rd4, %r6;
        mov.u64 %rd6, 0;
    $L__BB0_1:
        setp.ge.u64 %p1, %rd3, %rd1;
        @%p1 bra $L__BB0_2;
        add.s64 %rd6, %rd6, %rd3;
        add.s64 %rd3, %rd3, %rd4;
        bra.uni $L__BB0_1;
    $L__BB0_2:
        setp.ne.s32 %p2, %r4, 5;
        @!%p2 st.global.u64 [%rd9+8], %rd6;
        atom.global.add.u64 %rd7, [%rd9], %rd6;
        atom.global.add.u64 %rd7, [%rd9+16], 1;
        atom.global.min.u64 %rd7, [%rd9+24], %rd6;
    """

    def test_each_thread_makes_its_share(self):
        """Of 6 threads, the last of which is the sixth: sums of what the steps leave them."""
        got = Translated(kernel(self.LOOP, 1), blocks=40)([20])[0]
        self.assertEqual([(word - unset) % 2**64 for word, unset in zip(got[:3], (UNSET, 0, UNSET))], [sum(range(20)), 5 + 11 + 17, 6])
        self.assertEqual(got[3], 2 + 8 + 14)

    def test_fewer_where_fewer_were_launched(self):
        got = Translated(kernel(self.LOOP, 1), blocks=1)([20])[0]
        self.assertEqual([(word - UNSET) % 2**64 for word in (got[0], got[2])], [sum(range(20)), 3])


class Stops(unittest.TestCase):
    def test_what_a_card_does_not_do(self):
        """The first word chooses one."""
        bodies = ["trap;", "brkpt;", "st.global.u64 [%rd9+4], %rd1;", "st.global.v2.u64 [%rd9+8], {%rd1, %rd2};",
                  "ld.global.u64 %rd3, [%rd2+64];", "div.u64 %rd3, %rd1, %rd2;"]
        body = "".join(f"setp.eq.u64 %p1, %rd1, {n};\n@%p1 {one}\n" for n, one in enumerate(bodies))
        lines = kernel(body).split("\n")
        made = Translated(kernel(body))
        for n, words in enumerate([
            f"trap of line {lines.index('@%p1 trap;') + 1} in k", f"brkpt of line {lines.index('@%p1 brkpt;') + 1} in k", "a misaligned address",
            "a misaligned address", "an address that is none of the card's memory", "a division by zero",
        ]):
            done = made.run((n, 0))
            self.assertLess(done.returncode, 0)
            self.assertEqual(done.stderr, f"PTX: {words}\n")
        self.assertEqual(made.run((len(bodies), 0)).returncode, 0)


class Refused(unittest.TestCase):
    def test_what_is_not_known_names_its_line(self):
        for body, words in [
            ("fma.rn.f64 %fd1, %fd2, %fd3, %fd4;", "fma.rn.f64 of 3 operands"),
            ("add.f64 %fd1, %fd2, %fd3;", "add.f64 of 2 operands"),  # it may be contracted
            ("add.s64 %rd1, %rd2;", "add.s64 of 1 operands"),
            ("min.f64 %fd1, %fd2, %fd3;", "min.f64 of 2 operands"),
            ("bar.sync 0;", "bar.sync of 0 operands"),
            ("ld.shared.u64 %rd3, [%rd1];", "ld.shared.u64"),
            ("ld.global.v2.u64 %rd3, [%rd1];", "ld.global.v2.u64"),
            ("atom.global.cas.b64 %rd3, [%rd1], %rd2, %rd1;", "atom.global.cas.b64"),
            ("mov.u32 %r1, %laneid;", "the operand %laneid"),
            ("call printf, (%rd1);", "call of 1 operands"),
            ("st.global.u64 [%rd77], %rd1;", "the operand %rd77"),
        ]:
            line = kernel(body).split("\n").index(body) + 1
            with self.assertRaises(text.Unknown) as refused:
                translate.translated(kernel(body))
            self.assertEqual(str(refused.exception), f"line {line}: {words}")

    def test_outside_of_kernels(self):
        for said in [".global .align 8 .b8 table[16];", ".func (.param .b32 a) f()", ".visible .func f()"]:
            with self.assertRaises(text.Unknown) as refused:
                translate.translated(f"{HEAD}{said}\n{kernel('')}")
            self.assertEqual(str(refused.exception), f"line 4: {said}")

    def test_without(self):
        found = translate.having(["trap", "fma"], kernel("trap;\n@%p1 fma.rn.f32 %f1, %f2, %f3, %f4;\nadd.s64 %rd1, %rd1, %rd1;"))
        lines = kernel("trap;").split("\n")
        self.assertEqual(found, [lines.index("trap;") + 1, lines.index("trap;") + 2])


class OfNvcc(unittest.TestCase):
    @unittest.skipUnless(NVCC, "there is no nvcc")
    def test_a_division_of_128_bits(self):
        source = """
            extern "C" __global__ void k(unsigned long long high, unsigned long long low, unsigned long long by, unsigned long long* out) {
              const unsigned __int128 all = static_cast<unsigned __int128>(high) << 64 | low;
              out[0] = static_cast<unsigned long long>(all / by), out[1] = static_cast<unsigned long long>(all / by >> 64);
              out[2] = static_cast<unsigned long long>(all % by);
            }"""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "k.cu").write_text(source)
            subprocess.run([NVCC, "-ptx", "-arch=compute_90", "k.cu", "-o", "k.ptx"], cwd=folder, check=True)
            ptx = (pathlib.Path(folder) / "k.ptx").read_text()
        draw = random.Random(1)
        drawn = [tuple(draw.getrandbits(draw.randint(1, 64)) for _ in range(3)) for _ in range(1000)]
        rows = [(high, low, by or 1) for high, low, by in drawn] + [(a, b, c) for a in WORDS for b in WORDS for c in WORDS[1:]]
        for (high, low, by), got in zip(rows, Translated(ptx)(*rows)):
            times, rest = divmod((high << 64) + low, by)
            self.assertEqual(got[:3], [times % 2**64, times >> 64, rest], (high, low, by))


if __name__ == "__main__":
    unittest.main()
