#include "harness/backend/request.h"

#include <fmt/format.h>

#include <algorithm>

#include "adapters/protocol/fields.h"
#include "reference/words/text.h"

namespace plumb {

namespace {

constexpr std::uint64_t alignment = 64;

// A file without content takes no memory, but an address space has an end.
constexpr std::uint64_t most_room = std::uint64_t{256} << 30;

std::uint64_t aligned(std::uint64_t n) { return (n + alignment - 1) / alignment * alignment; }

std::uint64_t on_every_device(const Case& c, std::uint64_t each) {
  std::uint64_t all = 0;
  if (__builtin_mul_overflow(each, static_cast<std::uint64_t>(devices(c.mesh)), &all)) return most_room;
  return std::min(all, most_room);
}

// The words of a row of the table that claims one range for each dimension.
std::uint64_t words_of_a_row(const Spec& spec) { return 5 + 3 * spec.dims.size(); }

// For whole results on every device, whatever layout the backend chooses, and for the table: a row of few
// dimensions may claim several ranges for each.
std::uint64_t room(const Case& c) {
  constexpr std::uint64_t least_words = 64;
  std::uint64_t each = 0;
  for (const Spec& spec : results(c)) {
    const std::uint64_t data = is_resolve(c) ? 0 : static_cast<std::uint64_t>(bytes(spec));
    each += aligned(data) + alignment + std::max(least_words, words_of_a_row(spec)) * sizeof(std::int64_t);
  }
  return on_every_device(c, each);
}

// For the blocks that are asked, the largest for each device, and for their rows of the table.
std::uint64_t due(const Case& c) {
  std::uint64_t each = 0;
  for (const Spec& spec : results(c)) {
    const auto data =
        static_cast<std::uint64_t>(is_resolve(c) ? 0 : largest_block_bytes(c.mesh, spec, c.rule));
    each += aligned(data) + words_of_a_row(spec) * sizeof(std::int64_t);
  }
  return on_every_device(c, each);
}

void place(Layout& layout, std::span<const Tensor> operands) {
  for (const Tensor& t : operands) {
    layout.offsets.push_back(layout.free);
    layout.free = aligned(layout.free + t.bytes.size());
  }
}

}  // namespace

Layout layout_of(const Case& c, std::span<const Tensor> operands) {
  Layout layout;
  place(layout, operands);
  layout.arena = layout.free + room(c);
  layout.due = due(c);
  return layout;
}

Layout layout_of_bench(const Case& c, const Timing& timing, std::span<const Tensor> operands) {
  Layout layout;
  place(layout, operands);
  layout.due = layout_in_place(c).due + alignment +
               on_every_device(c, words_of_a_clock(timing.iterations) * sizeof(std::int64_t)) + alignment +
               on_every_device(c, words_of_sights * sizeof(std::int64_t));
  layout.arena = layout.free + layout.due;
  return layout;
}

Layout layout_in_place(const Case& c) {
  constexpr std::uint64_t of_a_proof = 4 * sizeof(std::int64_t);
  std::uint64_t each = 0;
  for (const Spec& spec : results(c)) each += words_of_a_row(spec) * sizeof(std::int64_t) + of_a_proof;
  const std::uint64_t bytes = on_every_device(c, each) + alignment;
  return {{}, 0, bytes, bytes};
}

std::string hello_request(const Hail& hail, const Mesh& mesh) {
  return fmt::format(R"({{"type":"hello","versions":[{}],"arena":{},"mesh":{},"seconds":{:.3g}}})",
                     protocol_version, json_text(hail.arena), json_text(mesh), hail.seconds);
}

namespace {

void put_operands(fmt::memory_buffer& line, const Given& given) {
  for (std::size_t i = 0; i < given.operands.size(); ++i)
    fmt::format_to(std::back_inserter(line), R"({}{{"offset":{},"bytes":{},"shape":[{}]}})", i ? "," : "",
                   given.layout.offsets[i], given.operands[i].bytes.size(),
                   fmt::join(given.operands[i].shape, ","));
}

}  // namespace

std::string run_request(const Numbered& head, const Case& c, std::span<const Tensor> operands,
                        const Layout& layout) {
  fmt::memory_buffer line;
  const auto out = std::back_inserter(line);
  fmt::format_to(
      out,
      R"({{"type":"run","id":{},"line":"{}","seconds":{:.3g},"run_seconds":{:.3g},"arena":{},"operands":[)",
      head.id, print(c), head.seconds, head.run_seconds, layout.arena);
  put_operands(line, {operands, layout});
  fmt::format_to(out, R"(],"free":{},"case":{}}})", layout.free, json_text(c));
  return fmt::to_string(line);
}

std::string bench_request(const Numbered& head, const Case& c, const Timing& timing, const Given& given) {
  fmt::memory_buffer line;
  const auto out = std::back_inserter(line);
  fmt::format_to(out,
                 R"({{"type":"bench","id":{},"line":"{}","seconds":{:.3g},"run_seconds":{:.3g},"arena":{})",
                 head.id, print(c), head.seconds, head.run_seconds, given.layout.arena);
  fmt::format_to(out, R"(,"warmups":{},"iterations":{},"batch":{},"sync":"{}")", timing.warmups,
                 timing.iterations, timing.batch, name(timing.sync));
  fmt::format_to(out, R"(,"fills":{},"operands":[)", given.operands.empty());
  put_operands(line, given);
  fmt::format_to(out, R"(],"free":{},"case":{}}})", given.layout.free, json_text(c));
  return fmt::to_string(line);
}

std::string run_in_place_request(const Numbered& head, const Case& c, const Layout& layout) {
  return fmt::format(
      R"({{"type":"run","id":{},"line":"{}","seconds":{:.3g},"run_seconds":{:.3g},"arena":{},"fills":true,"operands":[],"free":{},"case":{}}})",
      head.id, print(c), head.seconds, head.run_seconds, layout.arena, layout.free, json_text(c));
}

namespace {

constexpr const char* of_the_first = R"(,"first":true)";

}  // namespace

std::string check_request(const Numbered& head, const Layout& layout, std::uint64_t seed, bool first) {
  return fmt::format(R"({{"type":"check","id":{},"seconds":{:.3g},"arena":{},"free":{},"seed":{}{}}})",
                     head.id, head.seconds, layout.arena, layout.free, seed, first ? of_the_first : "");
}

std::string fetch_request(const Numbered& head, const Layout& layout, bool first) {
  return fmt::format(R"({{"type":"fetch","id":{},"seconds":{:.3g},"arena":{},"free":{}{}}})", head.id,
                     head.seconds, layout.arena, layout.free, first ? of_the_first : "");
}

std::string limit_request(const Numbered& head, const Layout& layout, const LimitAsked& asked) {
  return fmt::format(
      R"({{"type":"limit","id":{},"seconds":{:.3g},"arena":{},"free":{},"what":{},"bytes":{},"iterations":{},"batch":{}}})",
      head.id, head.seconds, layout.arena, layout.free, json_text(asked.what), asked.bytes, asked.iterations,
      asked.batch);
}

}  // namespace plumb
