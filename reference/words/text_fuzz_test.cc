// The parser against drawn cases and damaged lines. Seeds are fixed: a failure repeats.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "reference/words/text.h"

namespace plumb {
namespace {

struct Random {
  std::mt19937_64 bits;
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n));
  }
  bool one_in(std::int64_t n) { return below(n) == 0; }
  template <class List>
  auto of(const List& list) {
    return *(std::begin(list) + below(std::ssize(list)));
  }
};

Mesh draw_mesh(Random& random) {
  const char* names[] = {"x", "y", "dp", "fsdp", "_a", "ids", "on", "nested", "Z9", "e_1"};
  Mesh mesh;
  for (std::int64_t n = 1 + random.below(4); n > 0; --n) {
    const std::string name = random.of(names);
    if (std::ranges::find(mesh.axes, name, &Axis::name) == mesh.axes.end())
      mesh.axes.push_back({name, 1 + random.below(5)});
  }
  if (random.one_in(3)) {
    for (std::int64_t d = 0; d < devices(mesh); ++d) mesh.place.push_back(d);
    std::shuffle(mesh.place.begin(), mesh.place.end(), random.bits);
    if (std::ranges::is_sorted(mesh.place)) mesh.place.clear();  // the identity is not kept
  }
  return mesh;
}

Spec draw_spec(Random& random, const Mesh& mesh, DType dtype, const std::vector<std::int64_t>& sizes) {
  Spec spec{dtype, {}, {}};
  for (std::int64_t size : sizes) spec.dims.push_back({size, {}});
  std::vector<AxisId> axes;
  for (AxisId a = 0; a < static_cast<AxisId>(mesh.axes.size()); ++a) axes.push_back(a);
  std::shuffle(axes.begin(), axes.end(), random.bits);
  for (AxisId axis : axes) {
    const std::int64_t where = random.below(std::ssize(sizes) + 2);
    if (where < std::ssize(sizes)) spec.dims[where].axes.push_back(axis);
    if (where == std::ssize(sizes) && dtype != DType::e8m0) spec.unfinished.push_back(axis);
  }
  return spec;
}

DType draw_dtype(Random& random, bool integer) {
  if (integer) return random.one_in(2) ? DType::s8 : DType::s32;
  return random.of(
      std::vector{DType::f8e4m3, DType::f8e5m2, DType::f16, DType::bf16, DType::f32, DType::f64});
}

Op draw_reshard(Random& random, const Mesh& mesh) {
  std::vector<std::int64_t> sizes(random.below(4));
  for (std::int64_t& size : sizes) size = random.of(std::vector{0, 1, 3, 8, 1024});
  const DType dtype = random.one_in(6) ? DType::e8m0 : draw_dtype(random, random.one_in(3));
  Op op{Reshard{}, {draw_spec(random, mesh, dtype, sizes)}, {}};
  for (std::int64_t n = 1 + random.below(3); n > 0; --n)
    op.chain.push_back(draw_spec(random, mesh, dtype, sizes));
  return op;
}

Op draw_einsum(Random& random, const Mesh& mesh) {
  Einsum einsum;
  std::vector<std::int64_t> size(128);
  for (char letter : std::string("mKbnz").substr(random.below(6))) {
    const std::int64_t where = random.below(4);
    size[letter] = random.below(9);
    if (where != 1) einsum.lhs += letter;
    if (where != 0) einsum.rhs += letter;
    if (where != 2) einsum.out += letter;
  }
  const bool integer = random.one_in(3);
  const auto spec = [&](std::string& letters, DType dtype) {
    std::vector<std::int64_t> sizes;
    for (char letter : letters) sizes.push_back(size[letter]);
    return draw_spec(random, mesh, dtype, sizes);
  };
  for (std::string* letters : {&einsum.lhs, &einsum.rhs, &einsum.out})
    std::shuffle(letters->begin(), letters->end(), random.bits);
  Op op{
      {                 },
      {spec(einsum.lhs,    draw_dtype(random, integer)), spec(einsum.rhs, draw_dtype(random, integer))},
      {}
  };
  const DType out = draw_dtype(random, integer);
  for (std::int64_t n = 1 + random.below(2); n > 0; --n) op.chain.push_back(spec(einsum.out, out));
  op.kind = einsum;
  return op;
}

Op draw_grouped(Random& random, const Mesh& mesh) {
  Grouped grouped{random.of(std::vector{Form::fwd, Form::dgrad, Form::wgrad}), {}};
  const std::int64_t lists = 1 + random.below(3), rows = random.below(6), groups = 1 + random.below(4);
  const std::int64_t t = lists * rows, k = random.below(5), n = random.below(5);
  for (std::int64_t l = 0; l < lists; ++l) {
    std::vector<std::int64_t> sizes;
    for (std::int64_t left = rows, g = 0; g < groups; ++g) left -= sizes.emplace_back(random.below(left + 1));
    grouped.sizes.push_back(sizes);
  }
  const bool integer = random.one_in(3), wgrad = grouped.form == Form::wgrad;
  const std::int64_t first = grouped.form == Form::dgrad ? n : k, last = grouped.form == Form::dgrad ? k : n;
  using Sizes = std::vector<std::int64_t>;
  const auto spec = [&](const Sizes& sizes) {
    return draw_spec(random, mesh, draw_dtype(random, integer), sizes);
  };
  return {
      grouped,
      {spec({t, first}), wgrad ? spec({t, n}) : spec({groups, k, n})},
      {wgrad ? spec({groups, k, n}) : spec({t, last})               }
  };
}

Case draw_case(Random& random) {
  Case c;
  c.mesh = draw_mesh(random);
  c.op = random.one_in(2)   ? draw_reshard(random, c.mesh)
         : random.one_in(2) ? draw_einsum(random, c.mesh)
                            : draw_grouped(random, c.mesh);
  if (random.one_in(5)) {
    Spec& free = c.op.chain.back();
    for (Dim& dim : free.dims) dim.axes.clear();
    free.unfinished.clear();
    free.free = true;
  }
  const bool integer = format(c.op.operands[0].dtype).integer;
  c.rule = random.one_in(2) ? Rule::nested : Rule::flat;
  c.acc = default_acc(c.op);
  c.wire = default_wire(c.op);
  c.fill = default_fill(c.op);
  if (random.one_in(3) && !integer)
    c.acc = random.of(std::vector{DType::f16, DType::bf16, DType::f32, DType::f64});
  if (random.one_in(3)) c.wire = draw_dtype(random, integer);
  if (random.one_in(3) && !integer) c.fill = Fill::normal;
  if (random.one_in(3)) c.seed = random.bits() >> random.below(64);
  return c;
}

TEST(TextFuzz, ParseIsTheInverseOfPrint) {
  Random random{std::mt19937_64(1)};
  for (int i = 0; i < 20000; ++i) {
    const Case c = draw_case(random);
    const std::string line = print(c);
    try {
      ASSERT_TRUE(parse_case(line) == c) << line;
    } catch (const BadInput& error) {
      FAIL() << error.what();
    }
  }
}

// The three lines of a message: what was expected, the line (or a window of it), the caret under it.
std::string malformed(const std::string& message) {
  const std::size_t first = message.find('\n'), last = message.rfind('\n');
  if (first == message.npos || std::ranges::count(message, '\n') != 2) return "not three lines";
  const std::string shown = message.substr(first + 1, last - first - 1), caret = message.substr(last + 1);
  if (first == 0) return "says nothing";
  if (caret.find_first_not_of(' ') != caret.size() - 1 || caret.back() != '^') return "no caret";
  const auto width = std::ranges::count_if(shown, [](char ch) { return (ch & 0xc0) != 0x80; });
  return std::ssize(caret) - 1 > width ? "the caret is past the line" : "";
}

// What is wrong with how a line is read: empty where it is a case whose line is canonical, or is
// refused with one message.
std::string misread(const std::string& line) {
  try {
    const Case c = parse_case(line);
    const std::string canonical = print(c);
    if (!(parse_case(canonical) == c)) return "another case comes back from '" + canonical + "'";
    if (print(parse_case(canonical)) != canonical) return "'" + canonical + "' is not a fixed point";
    return {};
  } catch (const BadInput& error) {
    const std::string wrong = malformed(error.what());
    return wrong.empty() ? wrong : wrong + ": " + error.what();
  } catch (const std::exception& error) {
    return std::string("threw ") + error.what();
  }
}

std::string damage(Random& random, std::string line, const std::string& other) {
  const std::string_view pieces[] = {"@",
                                     "+",
                                     "?",
                                     "-> ",
                                     "on ",
                                     " ids=",
                                     "nested",
                                     "sizes=",
                                     "/",
                                     ",",
                                     "[]",
                                     "0",
                                     "-1",
                                     "99999999999999999999",
                                     "seed=",
                                     "acc=",
                                     " ",
                                     "\n",
                                     "\xc3\xa9",
                                     "->",
                                     "f32",
                                     ".",
                                     "=",
                                     "[",
                                     "]",
                                     "4611686018427387904",
                                     std::string_view("\0", 1)};
  for (std::int64_t n = 1 + random.below(3); n > 0; --n) {
    const std::size_t at = random.below(std::ssize(line) + 1), length = random.below(8);
    switch (random.below(6)) {
      case 0:
        line.erase(at, length);
        break;
      case 1:
        line.insert(at, random.of(pieces));
        break;
      case 2:
        line.replace(at, 1, 1, static_cast<char>(random.below(256)));
        break;
      case 3:
        line.insert(at, line.substr(random.below(std::ssize(line) + 1), length));
        break;
      case 4:
        line = line.substr(0, at) + other.substr(random.below(std::ssize(other) + 1));
        break;
      default:
        if (at + 1 < line.size()) std::swap(line[at], line[at + 1]);
    }
  }
  return line;
}

TEST(TextFuzz, DamagedLinesAreReadOrRefused) {
  Random random{std::mt19937_64(2)};
  int read = 0, refused = 0;
  for (int i = 0; i < 100000; ++i) {
    const std::string line = damage(random, print(draw_case(random)), print(draw_case(random)));
    ASSERT_EQ(misread(line), "") << line;
    try {
      parse_case(line);
      ++read;
    } catch (const BadInput&) {
      ++refused;
    }
  }
  EXPECT_GT(read, 1000);
  EXPECT_GT(refused, 50000);
}

TEST(TextFuzz, NoiseIsRefused) {
  Random random{std::mt19937_64(3)};
  for (int i = 0; i < 20000; ++i) {
    std::string line(random.below(300), ' ');
    for (char& ch : line) ch = static_cast<char>(random.below(256));
    ASSERT_EQ(misread(line), "");
    ASSERT_EQ(misread("on x=2: reshard " + line), "");
  }
}

TEST(TextFuzz, MeshesAndSpecsAloneAreReadOrRefused) {
  Random random{std::mt19937_64(4)};
  for (int i = 0; i < 20000; ++i) {
    const Mesh mesh = draw_mesh(random);
    const Spec spec = draw_spec(random, mesh, DType::f32, {8, 0});
    ASSERT_EQ(parse_mesh(print(mesh)), mesh);
    ASSERT_EQ(parse_spec(print(mesh, spec), mesh), spec);
    const std::string other = print(mesh, spec);
    try {
      parse_mesh(damage(random, print(mesh), other));
      parse_spec(damage(random, other, print(mesh)), mesh);
    } catch (const BadInput& error) {
      ASSERT_EQ(malformed(error.what()), "") << error.what();
    }
  }
}

TEST(TextFuzz, ABadMessageIsSeen) {
  EXPECT_EQ(malformed("expected\n  on x\n    ^"), "");
  EXPECT_EQ(malformed("expected"), "not three lines");
  EXPECT_EQ(malformed("expected\n  on x\n  more\n  ^"), "not three lines");
  EXPECT_EQ(malformed("\n  on x\n  ^"), "says nothing");
  EXPECT_EQ(malformed("expected\n  on x\n  "), "no caret");
  EXPECT_EQ(malformed("expected\n  on x\n       ^"), "the caret is past the line");
}

}  // namespace
}  // namespace plumb
