// The values of attributes, by their form.
#include <algorithm>

#include "reference/hlo/module/parse.h"

namespace plumb::hlo {
namespace {

std::int64_t scan_called(Scan& scan, const Names& computations) {
  const std::size_t begin = scan.at;
  scan.take("%");
  const std::string_view name = scan.word("a computation");
  const auto found = computations.find(name);
  if (found == computations.end()) scan.fail("no computation " + std::string(name) + " stands above", begin);
  return found->second;
}

Calls scan_computations(Scan& scan, const Names& computations) {
  Calls calls;
  scan.expect("{");
  while (!scan.take("}")) {
    if (!calls.computations.empty()) scan.expect(",");
    scan.spaces();
    calls.computations.push_back(scan_called(scan, computations));
  }
  return calls;
}

// "{[0:4], [1:8:2]}"
std::vector<Range> scan_ranges(Scan& scan) {
  std::vector<Range> ranges;
  scan.expect("{");
  while (!scan.take("}")) {
    if (!ranges.empty()) scan.expect(",");
    scan.spaces();
    scan.expect("[");
    Range& range = ranges.emplace_back();
    range.begin = scan.number("a start");
    scan.expect(":");
    range.end = scan.number("a limit");
    if (scan.take(":")) range.step = scan.number("a stride");
    scan.expect("]");
  }
  return ranges;
}

// "1_2x0_3_1"
std::vector<Pad> scan_padding(Scan& scan) {
  std::vector<Pad> pads;
  do {
    Pad& pad = pads.emplace_back();
    pad.low = scan.number("a padding");
    scan.expect("_");
    pad.high = scan.number("a padding");
    if (scan.take("_")) pad.inside = scan.number("a padding");
  } while (scan.take("x"));
  return pads;
}

std::vector<Pair> scan_pairs(Scan& scan) {
  std::vector<Pair> pairs;
  scan.expect("{");
  while (!scan.take("}")) {
    if (!pairs.empty()) scan.expect(",");
    const std::size_t begin = scan.at;
    const Integers pair = scan.numbers('{', '}');
    if (pair.size() != 2) scan.fail("expected a source and a target", begin);
    pairs.push_back({pair[0], pair[1]});
  }
  return pairs;
}

// One line of a window, "stride=2x2": sets a number of each dimension.
void scan_window_line(Scan& scan, std::string_view key, std::vector<WindowDim>& window, std::size_t where) {
  std::size_t d = 0;
  do {
    if (d == window.size()) scan.fail("more numbers than dimensions", where);
    WindowDim& dim = window[d++];
    const std::int64_t n = scan.number("a number");
    if (key == "size") dim.size = n;
    if (key == "stride") dim.stride = n;
    if (key == "lhs_dilate") dim.base_dilation = n;
    if (key == "rhs_dilate") dim.dilation = n;
    if (key == "rhs_reversal") dim.reversed = n != 0;
    if (key == "pad") {
      dim.low = n;
      scan.expect("_");
      dim.high = scan.number("a number");
    }
  } while (scan.take("x"));
  if (d != window.size()) scan.fail("a number for each dimension is due", where);
}

std::vector<WindowDim> scan_window(Scan& scan) {
  std::vector<WindowDim> window;
  scan.expect("{");
  scan.spaces();
  while (!scan.take("}")) {
    const std::size_t begin = scan.at;
    const std::string_view key = scan.letters();
    static constexpr std::string_view kWindowKeys[] = {"size",       "stride",     "pad",
                                                       "lhs_dilate", "rhs_dilate", "rhs_reversal"};
    if (std::ranges::find(kWindowKeys, key) == std::end(kWindowKeys))
      scan.fail("expected size, stride, pad, ...", begin);
    scan.expect("=");
    if (key == "size") {
      const std::size_t sizes = scan.at;
      do scan.number("a size"), window.emplace_back();
      while (scan.take("x"));
      scan.at = sizes;
    }
    scan_window_line(scan, key, window, begin);
    scan.spaces();
  }
  for (const WindowDim& dim : window)
    if (dim.size < 0 || dim.stride < 1 || dim.base_dilation < 1 || dim.dilation < 1)
      scan.fail("sizes of a window are not below 0, steps not below 1");
  return window;
}

bool scan_boolean(Scan& scan) {
  if (scan.take("true")) return true;
  if (!scan.take("false")) scan.fail("expected true or false");
  return false;
}

}  // namespace

Setting scan_value(Scan& scan, Form form, const Names& computations) {
  switch (form) {
    case Form::boolean:
      return scan_boolean(scan);
    case Form::integer:
      return scan.number("a number");
    case Form::integers:
      return scan.numbers('{', '}');
    case Form::word: {
      const std::size_t begin = scan.at;
      while (!scan.done() && scan.next() != ',' && scan.next() != '\n') ++scan.at;
      return std::string(scan.text.substr(begin, scan.at - begin));
    }
    case Form::text:
      return scan.quoted("a string");
    case Form::computation:
      return Calls{{scan_called(scan, computations)}};
    case Form::computations:
      return scan_computations(scan, computations);
    case Form::ranges:
      return scan_ranges(scan);
    case Form::padding:
      return scan_padding(scan);
    case Form::window:
      return scan_window(scan);
    case Form::pairs:
      return scan_pairs(scan);
    case Form::groups:
      return scan_groups(scan);
    default:
      return std::string(scan.balanced(","));
  }
}

void scan_pairs_of(Scan& scan, Instruction& instruction) {
  const bool quoted = scan.take("\"");
  instruction.attributes.push_back({Key::source_target_pairs, scan_pairs(scan)});
  if (quoted) scan.expect("\"");
}

Texts scan_frontend(Scan& scan, Instruction* instruction) {
  // Those that say nothing of values, or are read where they matter.
  static constexpr std::string_view kKnown[] = {
      "inlineable",          "trivially_pipelineable", "_xla_send_recv_pipeline",    "fingerprint_before_lhs",
      "arg_layout_modes",    "arg_memory_spaces",      "out_layout_modes",           "out_memory_spaces",
      "xla.sdy.meshes",      "xla.sdy.sharding",       "xla.sdy.in_shardings",       "xla.sdy.out_shardings",
      "xla.sdy.manual_axes", "xla.sdy.sharding_rule",  "xla.sdy.has_unreduced_axes", "num_batch_dims",
      "xla_cpu_small_call",  "is_spmd_generated"};
  Texts texts;
  scan.expect("{");
  for (bool first = true; !scan.take("}"); first = false) {
    if (!first) scan.expect(",");
    const std::size_t begin = scan.at;
    const std::string key(scan.word("a key"));
    if (key == "_xla_send_recv_source_target_pairs" && instruction &&
        takes(instruction->opcode, Key::source_target_pairs)) {
      scan.expect("=");
      scan_pairs_of(scan, *instruction);
      continue;
    }
    if (std::ranges::find(kKnown, key) == std::end(kKnown))
      scan.unsupported("frontend attribute " + key, begin);
    scan.expect("=");
    texts.emplace_back(key, scan.balanced(",}"));
  }
  return texts;
}

void scan_metadata(Scan& scan, Module& module, Instruction& instruction) {
  Frame inline_frame;
  scan.expect("{");
  scan.spaces();
  while (!scan.take("}")) {
    const std::string_view key = scan.letters();
    scan.expect("=");
    if (key == "op_name")
      instruction.op_name = scan.quoted("a name");
    else if (key == "stack_frame_id")
      instruction.frame = scan.number("a number");
    else if (key == "source_file")
      inline_frame.file = scan.quoted("a file");
    else if (key == "source_line")
      inline_frame.line = scan.number("a line");
    else
      scan.balanced(" }");
    scan.spaces();
  }
  if (inline_frame.file.empty()) return;
  module.frames.push_back(inline_frame);
  instruction.frame = std::ssize(module.frames);
}

}  // namespace plumb::hlo
