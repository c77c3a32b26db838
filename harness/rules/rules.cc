#include "harness/rules/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "reference/words/text.h"

namespace plumb {
namespace {

// A value of the file: nothing, a word, or several values.
struct Node {
  Value kind = Value::none;
  std::string word;
  std::vector<Node> items;
  std::size_t at = 0;
};

struct Reader {
  std::string_view text;
  const std::string& origin;
  std::size_t at = 0;
  int depth = 0;

  [[noreturn]] void fail(const std::string& message, std::size_t where) const {
    const std::size_t begin = where == 0 ? 0 : text.rfind('\n', where - 1) + 1;  // npos + 1 is 0
    const std::size_t end = std::min(text.find('\n', where), text.size());
    const auto number = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(where), '\n');
    throw BadInput(fmt::format("{}:{}: {}", origin, number,
                               bad_input(message, text.substr(begin, end - begin), where - begin).what()));
  }
  void skip() {
    while (at < text.size()) {
      if (text[at] == '#')
        at = std::min(text.find('\n', at), text.size());
      else if (std::isspace(static_cast<unsigned char>(text[at])))
        ++at;
      else
        return;
    }
  }
  std::size_t column() const { return at - (text.substr(0, at).rfind('\n') + 1); }  // npos + 1 is 0
  bool at_dash() const {
    return at < text.size() && text[at] == '-' &&
           (at + 1 == text.size() || std::isspace(static_cast<unsigned char>(text[at + 1])));
  }
  bool take(char c) {
    skip();
    if (at >= text.size() || text[at] != c) return false;
    ++at;
    return true;
  }
};

Node value(Reader& r);

Node quoted(Reader& r, char quote) {
  const std::size_t begin = r.at, end = r.text.find(quote, begin);
  if (end == std::string_view::npos) r.fail("this quote is not closed", begin - 1);
  r.at = end + 1;
  return {Value::name, std::string(r.text.substr(begin, end - begin)), {}, begin};
}

Node several(Reader& r, char end) {
  Node node{end == ')' ? Value::tuple : Value::list, "", {}, r.at - 1};
  bool comma = true;
  while (!r.take(end)) {
    if (!comma) r.fail(fmt::format("expected ',' or '{}'", end), r.at);
    node.items.push_back(value(r));
    comma = r.take(',');
  }
  // In Python one value in parentheses, without a comma, is that value.
  if (end == ')' && node.items.size() == 1 && !comma) return node.items.front();
  return node;
}

// The items of a YAML list, each behind a dash in the column of the first; an item may be such a list.
Node below_dashes(Reader& r) {
  Node node{Value::list, "", {}, r.at};
  const std::size_t column = r.column();
  while (r.at_dash() && r.column() == column) {
    ++r.at;
    r.skip();
    const bool empty = r.at == r.text.size() || r.column() <= column;
    node.items.push_back(empty ? Node{Value::none, "", {}, r.at} : value(r));
    r.skip();
  }
  if (r.at_dash() && r.column() > column) r.fail("this dash stands below no other", r.at);
  return node;
}

Node shallow(Reader& r) {
  if (r.at_dash()) return below_dashes(r);
  for (char quote : {'\'', '"'})
    if (r.take(quote)) return quoted(r, quote);
  if (r.take('[')) return several(r, ']');
  if (r.take('(')) return several(r, ')');
  if (r.take('~')) return {Value::none, "", {}, r.at - 1};
  const std::size_t begin = r.at;
  while (r.at < r.text.size() &&
         (std::isalnum(static_cast<unsigned char>(r.text[r.at])) || r.text[r.at] == '_'))
    ++r.at;
  const std::string word(r.text.substr(begin, r.at - begin));
  if (word.empty()) r.fail("expected a name, a list, a tuple or None", begin);
  const bool none = word == "None" || word == "null";
  return {none ? Value::none : Value::name, none ? "" : word, {}, begin};
}

Node value(Reader& r) {
  constexpr int deepest = 8;
  r.skip();
  if (++r.depth > deepest) r.fail("these lists are too deep", r.at);
  Node node = shallow(r);
  --r.depth;
  return node;
}

// A name that a line of text can hold.
const std::string& word_of(const Reader& r, const Node& node, const char* what) {
  if (node.kind != Value::name) r.fail(fmt::format("expected {}", what), node.at);
  if (!is_name(node.word)) r.fail(fmt::format("expected {}: letters, digits and _", what), node.at);
  return node.word;
}

constexpr const char *dimension_name = "the name of a dimension", *axis_name = "the name of a mesh axis";

AxisRule rule_of(const Reader& r, const Node& pair) {
  if (pair.items.size() != 2 || pair.items[0].kind != Value::name)
    r.fail("expected a pair: the name of a dimension and its mesh axes", pair.at);
  const Node& axes = pair.items[1];
  AxisRule rule{word_of(r, pair.items[0], dimension_name), axes.kind, {}};
  if (axes.kind == Value::name) rule.axes = {word_of(r, axes, axis_name)};
  for (const Node& axis : axes.items) rule.axes.push_back(word_of(r, axis, axis_name));
  return rule;
}

// Where the value of the key begins: a word at the beginning of a line, before : or =. 0 where there is none.
std::size_t behind(std::string_view key, std::string_view text) {
  for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
    const std::size_t sign = text.find_first_not_of(" \t'\"", at + key.size());
    const std::size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    const bool alone = text.substr(line, at - line).find_first_not_of(" \t{'\"") == text.npos;
    if (alone && sign != text.npos && (text[sign] == ':' || text[sign] == '=')) return sign + 1;
  }
  return 0;
}

std::size_t behind_key(std::string_view text) {
  for (const char* key : {"logical_axis_rules", "sharding_rules", "rules"})
    if (const std::size_t at = behind(key, text)) return at;
  return 0;
}

constexpr const char* example = R"([["embed", ["fsdp", "tp"]], ["mlp", "tp"]])";

// Items that each stand behind a dash, or one list.
std::vector<Node> listed(Reader& r, const char* what) {
  Node all = value(r);
  r.skip();
  if (r.at_dash()) r.fail("this dash stands below no other", r.at);
  if (all.kind != Value::list && all.kind != Value::tuple) r.fail(fmt::format("expected {}", what), all.at);
  return std::move(all.items);
}

}  // namespace

std::vector<AxisRule> read_rules(std::string_view text, const std::string& origin) {
  Reader r{text, origin, behind_key(text), 0};
  const bool keyed = r.at > 0;
  r.skip();
  if (r.at == text.size())
    throw BadInput(fmt::format("{}: there are no rules; expected a list of pairs: {}", origin, example));
  std::vector<AxisRule> rules;
  const std::string what = fmt::format("a list of rules, {}, alone or behind logical_axis_rules", example);
  for (const Node& pair : listed(r, what.c_str())) rules.push_back(rule_of(r, pair));
  r.skip();
  if (!keyed && r.at < text.size()) r.fail("expected the end", r.at);
  return rules;
}

std::vector<std::string> read_mesh_axes(std::string_view text, const std::string& origin) {
  Reader r{text, origin, behind("mesh_axes", text), 0};
  std::vector<std::string> names;
  if (r.at == 0) return names;
  for (const Node& axis : listed(r, "a list of axes")) names.push_back(word_of(r, axis, axis_name));
  return names;
}

}  // namespace plumb
