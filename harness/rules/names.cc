#include <fmt/format.h>

#include "harness/rules/rules.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

std::vector<std::string> words(std::string_view text, std::string_view between) {
  std::vector<std::string> out;
  for (std::size_t at = 0; (at = text.find_first_not_of(between, at)) != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(between, at), text.size());
    out.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

Parameter parameter(std::string_view line, const std::string& origin) {
  const auto fail = [&](const std::string& message, std::size_t at) {
    return BadInput(fmt::format("{}: {}", origin, bad_input(message, line, at).what()));
  };
  constexpr std::string_view blank = " \t\r";
  const std::size_t path_end = line.find_first_of(blank);
  const std::size_t array = path_end == line.npos ? line.size() : line.find_first_not_of(blank, path_end);
  const std::size_t open = line.find('[', std::min(array, line.size()));
  const std::size_t close = open == line.npos ? open : line.find(']', open);
  if (close == line.npos) throw fail("expected PATH DTYPE[SIZE,...] NAME,...", std::min(array, line.size()));
  Parameter p{std::string(line.substr(0, path_end)), std::string(line.substr(array, open - array)),
              words(line.substr(open + 1, close - open - 1), ", \t"),
              words(line.substr(close + 1), " ,\t\r()[]'\""), origin};
  for (std::string& name : p.names)
    if (name == "None" || name == "null") name = "-";
  if (p.sizes.size() != p.names.size())
    throw fail(fmt::format("{} sizes and {} names", p.sizes.size(), p.names.size()), open);
  return p;
}

}  // namespace

std::vector<Parameter> read_names(std::istream& in, const std::string& origin) {
  std::vector<Parameter> all;
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    std::string_view line = std::string_view(text).substr(0, text.find('#'));
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin != line.npos)
      all.push_back(parameter(line.substr(begin), fmt::format("{}:{}", origin, number)));
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
  try {
    return parse_case(line);
  } catch (const BadInput& error) {
    throw BadInput(fmt::format("{}: {}", p.origin, error.what()));
  }
}

}  // namespace plumb
