#include "harness/rules/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reference/words/text.h"

namespace plumb {
namespace {

// One line of the file, and what is said of a place in it.
struct Line {
  std::string_view text;
  const std::string& origin;

  [[noreturn]] void fail(std::string_view message, std::size_t at) const {
    throw BadInput(fmt::format("{}: {}", origin, bad_input(message, text, at).what()));
  }
};

// The words from `begin` to `end`, parts of the line.
std::vector<std::string_view> words(std::string_view line, std::size_t begin, std::size_t end,
                                    std::string_view between) {
  std::vector<std::string_view> out;
  const std::string_view text = line.substr(0, end);
  for (std::size_t at = begin; (at = text.find_first_not_of(between, at)) != text.npos;) {
    const std::size_t stop = std::min(text.find_first_of(between, at), text.size());
    out.push_back(text.substr(at, stop - at));
    at = stop;
  }
  return out;
}

void check_sizes(const Line& line, const std::vector<std::string_view>& sizes) {
  for (std::string_view size : sizes)
    if (size.find_first_not_of("0123456789") != size.npos)
      line.fail("expected the size of a dimension", size.data() - line.text.data());
}

// The dtype, and that the array is none too large, as the grammar of a line has them.
void check_array(const Line& line, const Parameter& p, std::size_t at) {
  const std::string array = fmt::format("{}[{}]", p.dtype, fmt::join(p.sizes, ","));
  try {
    parse_spec(array, Mesh{});
  } catch (const BadInput& error) {
    line.fail(without_excerpt(error), at);
  }
}

std::vector<std::string> dimension_names(const Line& line, const std::vector<std::string_view>& given) {
  std::vector<std::string> names;
  for (std::string_view name : given) {
    const bool none = name == "-" || name == "None" || name == "null";
    if (!none && !is_name(name))
      line.fail("expected the name of a dimension: letters, digits and _, or - for one without",
                name.data() - line.text.data());
    names.emplace_back(none ? "-" : name);
  }
  return names;
}

Parameter parameter(const Line& line) {
  constexpr std::string_view blank = " \t\r";
  const std::string_view text = line.text;
  const std::size_t path_end = text.find_first_of(blank);
  const std::size_t array = path_end == text.npos ? text.size() : text.find_first_not_of(blank, path_end);
  const std::size_t open = text.find('[', std::min(array, text.size()));
  const std::size_t close = open == text.npos ? open : text.find(']', open);
  if (close == text.npos) line.fail("expected PATH DTYPE[SIZE,...] NAME,...", std::min(array, text.size()));
  const std::vector<std::string_view> sizes = words(text, open + 1, close, ", \t");
  check_sizes(line, sizes);
  const Parameter p{
      std::string(text.substr(0, path_end)),
      std::string(text.substr(array, open - array)),
      {sizes.begin(), sizes.end()},
      dimension_names(line, words(text, close + 1, text.size(), " ,\t\r()[]'\"")),
      line.origin
  };
  check_array(line, p, array);
  if (p.sizes.size() != p.names.size())
    line.fail(
        fmt::format("{} and {}", counted(std::ssize(p.sizes), "size"), counted(std::ssize(p.names), "name")),
        open);
  return p;
}

}  // namespace

std::vector<Parameter> read_names(std::istream& in, const std::string& origin) {
  std::vector<Parameter> all;
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    const std::string_view line = std::string_view(text).substr(0, text.find('#'));
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin != line.npos)
      all.push_back(parameter({line.substr(begin), fmt::format("{}:{}", origin, number)}));
  }
  if (all.empty())
    throw BadInput(
        fmt::format("{}: there are no parameters; expected a line for each: "
                    "layers/mlp/kernel bf16[4096,14336] embed,mlp",
                    origin));
  return all;
}

Case resolve_case(const Mesh& mesh, const Parameter& p, const std::vector<AxisRule>& rules) {
  std::string line = fmt::format("on {}: resolve first {}[", print(mesh), p.dtype);
  for (std::size_t d = 0; d < p.sizes.size(); ++d)
    line += fmt::format("{}{}'{}", d > 0 ? "," : "", p.sizes[d], p.names[d]);
  line += "] rules=";
  for (std::size_t r = 0; r < rules.size(); ++r) line += (r > 0 ? "," : "") + print(rules[r]);
  return parse_case(line);
}

}  // namespace plumb
