#include "harness/judge/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "harness/trace/slices.h"

namespace plumb {

namespace {

// The rows past the sum of the sizes.
std::vector<char> rows_of_no_group(const std::vector<std::vector<std::int64_t>>& sizes, std::int64_t rows) {
  std::vector<char> free(rows, 1);
  for (const std::vector<Range>& runs : group_rows(sizes, rows))
    for (const Range& run : runs) std::fill(free.begin() + run.begin, free.begin() + run.end, 0);
  return free;
}

// The sizes of the groups to which the rows of a result belong; none where they belong to none.
std::vector<std::vector<std::int64_t>> groups_of(const Case& c, const Spec& result) {
  const auto* grouped = std::get_if<Grouped>(&c.op.kind);
  if (grouped && grouped->form != Form::wgrad) return grouped->sizes;
  const auto* quantize = std::get_if<Quantize>(&c.op.kind);
  const std::vector<Dim>& x = c.op.operands[0].dims;
  // Scales may have no rows, or blocks of them.
  if (quantize && !quantize->sizes.empty() && result.dims.size() == x.size() &&
      result.dims[0].size == x[0].size)
    return quantize->sizes;
  return {};
}

// For each result the rows that read as zero whatever the backend left there; empty where there are none.
std::vector<std::vector<char>> masks(const Case& c, const Declared& declared) {
  std::vector<std::vector<char>> all;
  for (const Spec& spec : results(c)) {
    const auto sizes = groups_of(c, spec);
    all.emplace_back();
    if (!sizes.empty() && declared.tail_undefined) all.back() = rows_of_no_group(sizes, spec.dims[0].size);
  }
  return all;
}

}  // namespace

std::int64_t masked_rows(const Case& c, const Declared& declared) {
  std::int64_t most = 0;
  for (const std::vector<char>& mask : masks(c, declared))
    most = std::max<std::int64_t>(most, std::ranges::count(mask, 1));
  return most;
}

Read masked(const Case& c, Read read, const Declared& declared) {
  if (masked_rows(c, declared) == 0) return read;
  return [&c, read, all = masks(c, declared)](const Block& block, std::span<std::byte> into) {
    read(block, into);
    const std::vector<char>& free = all[block.result];
    if (into.empty() || free.empty()) return;
    const Spec& spec = results(c)[block.result];
    const Slice slice = joined(block).value_or(plumb::block(c.mesh, spec, c.rule, block.device));
    const std::size_t row = into.size() / std::max<std::int64_t>(slice[0].size(), 1);
    for (std::int64_t i = 0; i < slice[0].size(); ++i)
      if (free[slice[0].begin + i]) std::memset(into.data() + i * row, 0, row);
  };
}

Held held(const Case& c, const Block& block, const Read& read) {
  Held held{block.device, plumb::block(c.mesh, result(c), c.rule, block.device), joined(block), {}};
  held.bytes.resize(block.bytes);
  if (!held.bytes.empty()) read(block, held.bytes);
  return held;
}

std::uint64_t digest_of_blocks(const Outcome& outcome, const Read& read) {
  std::uint64_t hash = 0;
  for (const Block& block : outcome.blocks) {
    std::vector<std::byte> bytes(block.bytes);
    if (!bytes.empty()) read(block, bytes);
    std::uint64_t own = 0xcbf29ce484222325 ^ static_cast<std::uint64_t>(block.device) ^
                        static_cast<std::uint64_t>(block.result) << 48;
    for (std::byte b : bytes) own = (own ^ static_cast<std::uint64_t>(b)) * 0x100000001b3;
    hash += own;  // in whatever order blocks come
  }
  return hash;
}

}  // namespace plumb
