// From text to words. README.md is the grammar.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "reference/words/legal.h"
#include "reference/words/resolve.h"
#include "reference/words/scan_mesh.h"

namespace plumb {
namespace {

std::string axis_list(const Mesh& mesh) {
  std::string text;
  for (const Axis& axis : mesh.axes) text += (text.empty() ? "" : ", ") + axis.name;
  return text;
}

AxisId scan_axis(Scan& scan, const Mesh& mesh, std::vector<AxisId>& seen) {
  const std::size_t at = scan.at;
  const std::string_view name = scan.name("an axis of the mesh (" + axis_list(mesh) + ")");
  const auto axis = std::ranges::find(mesh.axes, name, &Axis::name);
  if (axis == mesh.axes.end())
    scan.fail("the mesh has no axis '" + std::string(name) + "', only " + axis_list(mesh), at);
  const AxisId id = static_cast<AxisId>(axis - mesh.axes.begin());
  if (std::ranges::count(seen, id))
    scan.fail("axis '" + std::string(name) + "' stands twice in this spec", at);
  seen.push_back(id);
  return id;
}

// What follows each '+': axes, or avg, max or min of axes.
void scan_parts(Scan& scan, const Mesh& mesh, std::vector<AxisId>& seen, Spec& spec) {
  while (scan.take("+")) {
    const std::size_t at = scan.at;
    const bool avg = scan.take("avg("), max = scan.take("max("), min = scan.take("min(");
    if (spec.reduction != Reduce::sum || ((max || min) && !spec.unfinished.empty()))
      scan.fail("max and min stand alone", at);
    do {
      spec.unfinished.push_back(scan_axis(scan, mesh, seen));
      if (avg) spec.averaged.push_back(spec.unfinished.back());
    } while (scan.take("."));
    if (avg || max || min) scan.expect(")");
    spec.reduction = max ? Reduce::max : min ? Reduce::min : Reduce::sum;
  }
}

Scheme scan_scheme(Scan& scan) {
  const std::size_t at = scan.at;
  const std::string_view word = scan.name("a scheme");
  for (Scheme scheme : {Scheme::fp8, Scheme::fp8e5, Scheme::mxfp8, Scheme::mxfp8e5})
    if (word == name(scheme)) return scheme;
  scan.fail("expected a scheme (fp8, fp8e5, mxfp8, mxfp8e5)", at);
}

constexpr std::string_view kAxesStandInShapes =
    "axes are written into the shape: P('x', None) of an f32[8,8] is f32[8@x,8]";

bool is_partition_spec(std::string_view text) {
  return text.starts_with("P(") || text.starts_with("PartitionSpec(") || text.starts_with("NamedSharding(");
}

// What other systems write where a dtype stands, and what is written here; "" for what is nobody's.
std::string other_notation(std::string_view rest, std::string_view word) {
  static constexpr std::pair<std::string_view, DType> others[] = {
      {"int8",          DType::s8    },
      {"i8",            DType::s8    },
      {"int32",         DType::s32   },
      {"i32",           DType::s32   },
      {"float8_e4m3fn", DType::f8e4m3},
      {"f8e4m3fn",      DType::f8e4m3},
      {"e4m3",          DType::f8e4m3},
      {"float8_e5m2",   DType::f8e5m2},
      {"e5m2",          DType::f8e5m2},
      {"float8_e8m0fnu", DType::e8m0 },
      {"float16",       DType::f16   },
      {"half",          DType::f16   },
      {"fp16",          DType::f16   },
      {"bfloat16",      DType::bf16  },
      {"float32",       DType::f32   },
      {"float",         DType::f32   },
      {"fp32",          DType::f32   },
      {"float64",       DType::f64   },
      {"double",        DType::f64   },
      {"fp64",          DType::f64   },
  };
  for (const auto& [text, dtype] : others)
    if (word == text) return "; " + std::string(text) + " is written " + std::string(format(dtype).name);
  if (is_partition_spec(rest)) return "; " + std::string(kAxesStandInShapes);
  return "";
}

Placed scan_spec(Scan& scan, const Mesh& mesh, bool operand = false) {
  Placed placed;
  Spec& spec = placed.spec;
  placed.at = scan.at;
  std::vector<AxisId> seen;
  if (scan.next_is("*")) scan.fail("expected a dtype; a star stands behind an array: f32[8,8]* is every layout of it");
  const std::string_view dtype_text = scan.name("a dtype");
  const auto dtype = dtype_named(dtype_text);
  if (!dtype) {
    std::string known;
    for (const Format& row : formats()) known += (known.empty() ? "" : ", ") + std::string(row.name);
    scan.fail("expected a dtype (" + known + ")" + other_notation(scan.line.substr(placed.at), dtype_text),
              placed.at);
  }
  spec.dtype = *dtype;
  scan.expect("[");
  __int128 size = format(*dtype).bytes;
  if (!scan.next_is("]")) do {
      placed.dims.push_back(scan.at);
      if (!scan.done() && std::isupper(static_cast<unsigned char>(scan.line[scan.at])))
        scan.fail(
            "expected the size of a dimension; one that is left open is given beside the line: --size "
            "N=4096");
      Dim dim{scan.number("the size of a dimension"), {}};
      if (dim.size > 0) size *= dim.size;
      if (size > most_bytes) scan.fail("this array would hold more than 2^62 bytes", placed.at);
      if (scan.take("@")) do
          dim.axes.push_back(scan_axis(scan, mesh, seen));
        while (scan.take("."));
      spec.dims.push_back(std::move(dim));
    } while (scan.take(","));
  if (!scan.take("]")) scan.fail("expected ',', '@' or ']'");
  placed.plus = scan.at;
  spec.free = scan.take("?");
  if (spec.free && operand) scan.fail("only the result leaves its layout to the backend", placed.plus);
  if (spec.free && !seen.empty()) scan.fail("a free layout names no axes", placed.plus);
  if (!spec.free) scan_parts(scan, mesh, seen, spec);
  placed.tilde = scan.at;
  if (scan.take("~")) spec.scheme = scan_scheme(scan);
  if (size * parts(mesh, spec) > most_bytes)
    scan.fail("its parts would hold more than 2^62 bytes", placed.at);
  return placed;
}

Einsum scan_einsum(Scan& scan) {
  Einsum einsum;
  const auto letters = [&](std::string& word) {
    while (!scan.done() && std::isalpha(static_cast<unsigned char>(scan.line[scan.at]))) {
      if (word.find(scan.line[scan.at]) != std::string::npos)
        scan.fail(std::string("letter '") + scan.line[scan.at] + "' stands twice here");
      word += scan.line[scan.at++];
    }
  };
  letters(einsum.lhs);
  scan.expect(",");
  letters(einsum.rhs);
  scan.expect("->");
  const std::size_t out_at = scan.at;
  letters(einsum.out);
  check_letters(einsum, scan, out_at);
  return einsum;
}

Form scan_form(Scan& scan) {
  for (Form form : {Form::fwd, Form::dgrad, Form::wgrad})
    if (scan.take(name(form))) return form;
  scan.fail("expected fwd, dgrad or wgrad");
}

std::vector<std::vector<std::int64_t>> scan_sizes(Scan& scan) {
  std::vector<std::vector<std::int64_t>> sizes;
  do {
    std::vector<std::int64_t>& list = sizes.emplace_back();
    do list.push_back(scan.number("the size of a group"));
    while (scan.take(","));
  } while (scan.take("/"));
  return sizes;
}

DType scan_dtype(Scan& scan) {
  const std::size_t at = scan.at;
  const std::string_view text = scan.name("a dtype");
  const auto dtype = dtype_named(text);
  if (!dtype) scan.fail("expected a dtype" + other_notation("", text), at);
  return *dtype;
}

Fill scan_fill(Scan& scan) {
  for (Fill fill : {Fill::provenance, Fill::cancel, Fill::normal, Fill::scaled})
    if (scan.take(name(fill))) return fill;
  scan.fail("expected provenance, cancel, normal or scaled");
}

std::uint64_t scan_seed(Scan& scan) {
  std::uint64_t seed = 0;
  const char *begin = scan.line.data() + scan.at, *end = scan.line.data() + scan.line.size();
  const auto [rest, error] = std::from_chars(begin, end, seed);
  if (error != std::errc()) scan.fail("expected a seed, 0 to 2^64 - 1");
  scan.at = rest - scan.line.data();
  return seed;
}

// The trailing words, each once and in this order.
void scan_words(Scan& scan, Case& c) {
  constexpr std::array<std::string_view, 5> words = {"nested", "acc=", "wire=", "fill=", "seed="};
  for (std::size_t next = 0; !scan.done();) {
    const auto word = std::ranges::find_if(words, [&](std::string_view w) { return scan.next_is(w); });
    if (word == words.end()) scan.fail("expected '->', nested, acc=, wire=, fill=, seed= or the end");
    const std::size_t index = word - words.begin();
    if (index < next) scan.fail("the order is nested acc= wire= fill= seed=, each once");
    scan.take(*word);
    const std::size_t value_at = scan.at;
    if (index == 0) c.rule = Rule::nested;
    if (index == 1) check_acc(c.op, c.acc = scan_dtype(scan), scan, value_at);
    if (index == 2) check_wire(c.op, c.wire = scan_dtype(scan), scan, value_at);
    if (index == 3) check_fill(c.op, c.fill = scan_fill(scan), scan, value_at);
    if (index == 4) c.seed = scan_seed(scan);
    if (!scan.done() && !scan.next_is(" ")) scan.fail("expected a space or the end");
    scan.spaces();
    next = index + 1;
  }
}

template <class Take>
auto take_whole(std::string_view text, Take&& take) {
  Scan scan{text};
  auto value = take(scan);
  if (!scan.done()) scan.fail("expected the end");
  return value;
}

// How many specs stand before the arrow and after it.
struct Arity {
  std::size_t operands = 2, results = 1;
};

// What others call an op, and how it is written here; "" for what is nobody's.
std::string_view other_op(std::string_view word) {
  static constexpr std::string_view gather = "an all-gather is reshard f32[8@x] -> f32[8]",
                                    reduce = "an all-reduce is reshard f32[8]+x -> f32[8]",
                                    scatter = "a reduce-scatter is reshard f32[8]+x -> f32[8@x]",
                                    all_to_all = "an all-to-all is reshard f32[8@x,8] -> f32[8,8@x]",
                                    product = "a product is einsum mk,kn->mn f32[8,8@x] f32[8@x,8] -> f32[8,8]";
  static constexpr std::pair<std::string_view, std::string_view> others[] = {
      {"all-gather",     gather    },
      {"all_gather",     gather    },
      {"allgather",      gather    },
      {"all-reduce",     reduce    },
      {"all_reduce",     reduce    },
      {"allreduce",      reduce    },
      {"psum",           reduce    },
      {"reduce-scatter", scatter   },
      {"reduce_scatter", scatter   },
      {"reducescatter",  scatter   },
      {"psum_scatter",   scatter   },
      {"all-to-all",     all_to_all},
      {"all_to_all",     all_to_all},
      {"alltoall",       all_to_all},
      {"matmul",         product   },
      {"dot",            product   },
      {"gemm",           product   },
  };
  for (const auto& [text, line] : others)
    if (word == text) return line;
  return "";
}

// The op's name and what follows it before the specs; all of a resolve.
Arity scan_op(Scan& scan, Op& op) {
  const std::size_t at = scan.at;
  constexpr std::string_view ops = "reshard, einsum, grouped, quantize or resolve";
  const std::string_view other = other_op(scan.line.substr(at, scan.line.find(' ', at) - at));
  if (!other.empty()) scan.fail("expected " + std::string(ops) + "; " + std::string(other));
  const std::string_view name = scan.name(ops);
  scan.gap();
  if (name == "reshard") {
    op.kind = Reshard{};
    return {1, 1};
  }
  if (name == "resolve") {
    op = scan_resolve(scan);
    return {0, 0};
  }
  if (name == "einsum")
    op.kind = scan_einsum(scan);
  else if (name == "grouped")
    op.kind = Grouped{scan_form(scan), {}};
  else if (name == "quantize")
    op.kind = Quantize{scan_scheme(scan), {}};
  else
    scan.fail("expected " + std::string(ops), at);
  scan.gap();
  return name == "quantize" ? Arity{1, 2} : Arity{};
}

void scan_operands(Scan& scan, const Mesh& named, Arity& arity, std::vector<Placed>& specs) {
  for (std::size_t i = 0; i < arity.operands; ++i) {
    specs.push_back(scan_spec(scan, named, true));
    scan.gap();
    // Delayed scaling takes the history and the scale.
    if (arity.results == 2 && !scan.next_is("sizes=") && !scan.next_is("->")) arity = {3, 4};
  }
}

void scan_groups(Scan& scan, Op& op) {
  if (auto* grouped = std::get_if<Grouped>(&op.kind)) {
    scan.expect("sizes=");
    const std::size_t at = scan.at;
    grouped->sizes = scan_sizes(scan);
    check_sizes(op, scan, at);
    scan.gap();
  }
  auto* quantize = std::get_if<Quantize>(&op.kind);
  if (quantize && scan.take("sizes=")) {
    const std::size_t at = scan.at;
    quantize->sizes = scan_sizes(scan);
    check_rows(op, quantize->sizes, scan, at);
    scan.gap();
  }
}

void scan_chain(Scan& scan, const Mesh& named, const Arity& arity, std::vector<Placed>& specs) {
  if (!scan.next_is("->")) scan.fail("expected '->' and the result");
  while (scan.take("->")) {
    scan.gap();
    for (std::size_t i = 0; i < arity.results; ++i) {
      specs.push_back(scan_spec(scan, named));
      scan.gap();
    }
    if (arity.results > 1) break;
  }
}

void put_defaults(Case& c) {
  c.acc = default_acc(c.op);
  c.wire = default_wire(c.op);
  c.fill = default_fill(c.op);
}

void scan_on(Scan& scan) {
  for (const char* op : {"reshard ", "einsum ", "grouped ", "quantize ", "resolve "})
    if (scan.next_is(op)) scan.fail("a case begins with its mesh: on x=2: " + std::string(op) + "...");
  if (is_partition_spec(scan.line.substr(scan.at)))
    scan.fail("expected 'on ' and a mesh; " + std::string(kAxesStandInShapes));
  scan.expect("on ");
}

}  // namespace

Case parse_case(std::string_view line) {
  Case c;
  Scan scan{line};
  scan.spaces();
  scan_on(scan);
  scan.spaces();
  scan_meshes(scan, c);
  scan.spaces();
  const Mesh named = program_mesh(c);
  const std::size_t op_at = scan.at;
  Arity arity = scan_op(scan, c.op);
  if (is_resolve(c)) {
    if (!c.sub.empty()) scan.fail("rules are resolved on a mesh, not on part of one", op_at);
    put_defaults(c);
    return c;
  }
  std::vector<Placed> specs;
  scan_operands(scan, named, arity, specs);
  for (const Placed& placed : specs) c.op.operands.push_back(placed.spec);
  scan_groups(scan, c.op);
  scan_chain(scan, named, arity, specs);
  for (std::size_t i = arity.operands; i < specs.size(); ++i) c.op.chain.push_back(specs[i].spec);
  check_shapes(c.op, specs, scan);
  put_defaults(c);
  scan_words(scan, c);
  for (std::vector<Spec>* all : {&c.op.operands, &c.op.chain})
    for (Spec& spec : *all)
      if (!c.sub.empty()) spec = renamed(std::move(spec), c.sub);
  return c;
}

Mesh parse_mesh(std::string_view text) {
  return take_whole(text, [](Scan& scan) {
    Mesh mesh = scan_mesh(scan);
    if (!scan.done()) scan.gap();
    if (scan.take("ids=")) scan_ids(scan, mesh);
    return mesh;
  });
}

Spec parse_spec(std::string_view text, const Mesh& mesh) {
  return take_whole(text, [&](Scan& scan) { return scan_spec(scan, mesh).spec; });
}

}  // namespace plumb
