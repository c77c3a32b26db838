#include "harness/select/sizes.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "harness/select/pattern.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr std::int64_t largest_size = std::int64_t{1} << 40;

// The number that begins at `at`, which is moved behind it.
std::int64_t size_at(std::string_view text, std::size_t& at) {
  std::int64_t n = 0;
  const std::size_t begin = at;
  const auto [rest, error] = std::from_chars(text.data() + at, text.data() + text.size(), n);
  at = static_cast<std::size_t>(rest - text.data());
  if (error == std::errc::result_out_of_range) throw bad_input("this size is too large", text, begin);
  if (error != std::errc()) throw bad_input("expected a size such as 4096 or 4Ki", text, begin);
  int shift = 0;
  for (std::string_view unit : {"Ki", "Mi", "Gi", "Ti"}) {
    shift += 10;
    if (!text.substr(at).starts_with(unit)) continue;
    if (n > (largest_size >> shift)) throw bad_input("this size is too large", text, begin);
    n <<= shift, at += unit.size();
    break;
  }
  if (n < 1) throw bad_input("a size is at least 1", text, begin);
  if (n > largest_size) throw bad_input("this size is too large", text, begin);
  return n;
}

void expect_colon(std::string_view text, std::size_t& at) {
  if (at >= text.size() || text[at] != ':') throw bad_input("expected FROM:TO:FACTOR, or one size", text, at);
  ++at;
}

// Where a name stands as a dimension: behind [ or a comma, before an axis or the end of the dimension.
std::optional<std::size_t> dimension(std::string_view line, std::string_view name, std::size_t from) {
  int depth = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    depth += (line[at] == '[') - (line[at] == ']');
    if (at < from || depth == 0 || !line.substr(at).starts_with(name)) continue;
    const char before = at > 0 ? line[at - 1] : ' ',
               after = at + name.size() < line.size() ? line[at + name.size()] : ' ';
    if ((before == '[' || before == ',') && (after == '@' || after == ',' || after == ']')) return at;
  }
  return std::nullopt;
}

std::string with_size(std::string line, std::string_view name, std::int64_t size) {
  const std::string number = std::to_string(size);
  std::size_t from = 0;
  while (const auto at = dimension(line, name, from))
    line.replace(*at, name.size(), number), from = *at + number.size();
  return line;
}

void refuse_uneven(const std::string& line, std::int64_t size) {
  const auto uneven = [&](const Mesh& mesh, const Spec& spec) {
    for (const Dim& dim : spec.dims)
      if (dim.size == size && dim.size % axes_size(mesh, dim.axes) != 0) return true;
    return false;
  };
  for (const Pattern& p : parse_pattern(line))
    for (const auto* specs : {&p.like.op.operands, &p.like.op.chain})
      for (const Spec& spec : *specs)
        if (uneven(p.like.mesh, spec))
          throw BadInput(fmt::format("{} is not divided evenly by its axes\n  {}", size, line));
}

}  // namespace

SizeRange parse_size(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  SizeRange range{std::string(text.substr(0, equals)), {}};
  if (!is_name(range.name) || equals == text.size())
    throw bad_input("expected NAME=FROM:TO:FACTOR, such as N=1Ki:1Gi:4", text, 0);
  std::size_t at = equals + 1;
  const std::int64_t from = size_at(text, at);
  range.values = {from};
  if (at == text.size()) return range;
  expect_colon(text, at);
  const std::size_t end = at;
  const std::int64_t to = size_at(text, at);
  const bool over = at == text.size();
  if (!over) expect_colon(text, at);
  if (to < from) throw bad_input("a range ends no lower than it begins", text, end);
  if (over) expect_colon(text, at);
  const std::size_t by = at;
  const std::int64_t factor = size_at(text, at);
  if (at != text.size()) throw bad_input("expected the end", text, at);
  if (factor < 2) throw bad_input("a factor is at least 2", text, by);
  while (range.values.back() <= to / factor) range.values.push_back(range.values.back() * factor);
  return range;
}

bool leaves_open(std::string_view line, std::string_view name) {
  return dimension(line, name, 0).has_value();
}

std::vector<std::string> with_sizes(std::string_view line, const std::vector<SizeRange>& ranges) {
  std::vector<std::string> lines{std::string(line)};
  for (const SizeRange& range : ranges) {
    if (!leaves_open(line, range.name)) continue;
    std::vector<std::string> more;
    for (const std::string& one : lines)
      for (std::int64_t size : range.values) more.push_back(with_size(one, range.name, size));
    lines = std::move(more);
  }
  for (const SizeRange& range : ranges)
    for (const std::string& one : lines)
      if (leaves_open(line, range.name))
        for (std::int64_t size : range.values)
          if (one.find(std::to_string(size)) != one.npos) refuse_uneven(one, size);
  return lines;
}

}  // namespace plumb
