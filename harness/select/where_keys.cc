#include "harness/select/where_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "harness/judge/verdict.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

using Words = std::vector<std::string>;

std::vector<Spec> specs(const Case& c) {
  std::vector<Spec> all = c.op.operands;
  all.insert(all.end(), c.op.chain.begin(), c.op.chain.end());
  return all;
}

bool any_spec(const Case& c, bool (*is)(const Case&, const Spec&)) {
  return std::ranges::any_of(specs(c), [&](const Spec& spec) { return is(c, spec); });
}

bool uneven(const Case& c, const Spec& spec) {
  return std::ranges::any_of(spec.dims,
                             [&](const Dim& dim) { return dim.size % axes_size(c.mesh, dim.axes) != 0; });
}

// Some device holds nothing.
bool empty(const Case& c, const Spec& spec) {
  return std::ranges::any_of(spec.dims, [&](const Dim& dim) {
    return piece(c.mesh, dim, c.rule, axes_size(c.mesh, dim.axes) - 1).size() == 0;
  });
}

bool unfinished(const Case&, const Spec& spec) { return !spec.unfinished.empty(); }

Words traits(const Case& c) {
  Words words;
  if (any_spec(c, uneven)) words.push_back("uneven");
  if (any_spec(c, empty)) words.push_back("empty");
  if (any_spec(c, unfinished)) words.push_back("unfinished");
  if (!c.mesh.place.empty()) words.push_back("permuted");
  if (c.op.chain.size() > 1) words.push_back("chain");
  if (c.rule == Rule::nested) words.push_back("nested");
  return words;
}

Words dtypes(const Case& c) {
  Words words;
  for (const Spec& spec : specs(c)) words.emplace_back(format(spec.dtype).name);
  return words;
}

Words axes(const Case& c) {
  Words words;
  for (const Axis& axis : c.mesh.axes) words.push_back(axis.name);
  return words;
}

Words sizes(const Case& c) {
  std::string text;
  for (const Axis& axis : c.mesh.axes) text += fmt::format("{}{}", text.empty() ? "" : "x", axis.size);
  return {text};
}

Words first_shape(const Case& c) { return {fmt::format("{}", fmt::join(shape(specs(c).front()), "x"))}; }

std::int64_t highest_rank(const Case& c) {
  std::size_t rank = 0;
  for (const Spec& spec : specs(c)) rank = std::max(rank, spec.dims.size());
  return static_cast<std::int64_t>(rank);
}

std::int64_t contracted(const Case& c) {
  const auto* einsum = std::get_if<Einsum>(&c.op.kind);
  if (!einsum) return 0;
  std::set<char> letters(einsum->lhs.begin(), einsum->lhs.end());
  letters.insert(einsum->rhs.begin(), einsum->rhs.end());
  return std::ranges::count_if(letters, [&](char l) { return einsum->out.find(l) == std::string::npos; });
}

// The words of a list such as "reshard, einsum (of two operands)".
Words listed(std::string_view list) {
  Words words;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(", ", at), list.size());
    const std::string_view word = list.substr(at, end - at);
    words.emplace_back(word.substr(0, word.find(' ')));
    at = end + 2;
  }
  return words;
}

// One row for each key.
struct Key {
  std::string_view name, what;
  Words (*words)(const Case&);
  std::int64_t (*number)(const Case&);
  Words (*known)(const Key&) = nullptr;  // the words there are; null: any
  bool several = false;                  // a case may have more than one of them, or none
};

Words those_said(const Key& key) { return listed(key.what); }

Words every_dtype(const Key&) {
  Words known;
  for (const Format& f : formats()) known.emplace_back(f.name);
  return known;
}

// clang-format off
const Key keys[] = {
    {"op",      "reshard, einsum, grouped, quantize, resolve", [](const Case& c) { return Words{std::string(name(c.op))}; }, nullptr, those_said},
    {"mesh",    "the sizes of its axes: 2x2x3",  sizes,  nullptr},
    {"axis",    "an axis of its mesh; axis.dp>=2 asks for its size, and no mesh without it fits",  axes,  nullptr, nullptr, true},
    {"shape",   "of its first operand: 8x4",     first_shape, nullptr},
    {"dtype",   "of any of its specs",           dtypes, nullptr, every_dtype, true},
    {"is",      "uneven, empty (a device holds nothing), unfinished, permuted, chain, nested",  traits, nullptr, those_said, true},
    {"fill",    "provenance, cancel, normal, scaled", [](const Case& c) { return Words{std::string(name(c.fill))}; }, nullptr, those_said},
    {"text",    "the line itself; text~'f32[8@x' looks inside it", [](const Case& c) { return Words{print(c)}; }, nullptr},
    {"devices", "how many",                      nullptr, [](const Case& c) { return devices(c.mesh); }},
    {"rank",    "the most dimensions of a spec", nullptr, highest_rank},
    {"contracted", "how many letters of an einsum are summed over", nullptr, contracted},
    {"status",  "in the record (--against FILE, or that of --record); none: not in it", nullptr, nullptr},
};
// clang-format on

const Key& key_of(const Comparison& term) { return *std::ranges::find(keys, term.key, &Key::name); }

// Fails at the first value that is not good.
template <class Good>
void check_values(const Comparison& term, std::string_view text, const Good& good,
                  const std::string& expected) {
  for (std::size_t i = 0; i < term.values.size(); ++i)
    if (!good(term.values[i])) throw bad_input(expected, text, term.places[i]);
}

void check_status(const Comparison& term, std::string_view text) {
  for (std::size_t i = 0; i < term.values.size(); ++i)
    if (term.values[i] != "none" && !status_named(term.values[i]))
      throw bad_input(fmt::format("there is no status '{}'", term.values[i]), text, term.places[i]);
}

// A word that no case can have is a mistake.
void check_words(const Comparison& term, std::string_view text) {
  const Words known = key_of(term).known(key_of(term));
  check_values(
      term, text, [&](const std::string& value) { return std::ranges::count(known, value) > 0; },
      fmt::format("{}= knows {}", term.key, fmt::join(known, ", ")));
}

void check_mesh(const Comparison& term, std::string_view text) {
  const auto sizes = [](const std::string& value) {
    return !value.empty() && value.find_first_not_of("0123456789x") == value.npos && value.back() != 'x';
  };
  check_values(term, text, sizes, "mesh= takes sizes, as in 2x2x3");
}

void check_numbers(const Comparison& term, std::string_view text) {
  const std::string& what = term.axis.empty() ? term.key : term.axis;
  for (std::size_t i = 0; i < term.values.size(); ++i) {
    const std::string& value = term.values[i];
    std::int64_t number = 0;
    const char* end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, number);
    if (error == std::errc::result_out_of_range)
      throw bad_input("this number is too large", text, term.places[i]);
    if (rest != end || error != std::errc() || number < 0)
      throw bad_input(fmt::format("{} is a number: expected one from 0", what), text, term.places[i]);
  }
}

}  // namespace

bool is_number(const Comparison& term) { return !term.axis.empty() || key_of(term).number != nullptr; }

std::optional<std::int64_t> number_of(const Comparison& term, const Case& c) {
  if (term.axis.empty()) return key_of(term).number(c);
  const auto axis = std::ranges::find(c.mesh.axes, term.axis, &Axis::name);
  return axis == c.mesh.axes.end() ? std::nullopt : std::optional(axis->size);
}

std::vector<std::string> words_of(const Comparison& term, const Case& c) { return key_of(term).words(c); }

void check_term(const Comparison& term, std::string_view text, std::size_t at) {
  if (std::ranges::find(keys, term.key, &Key::name) == std::end(keys)) {
    std::string known;
    for (const Key& key : keys) known += (known.empty() ? "" : ", ") + std::string(key.name);
    throw bad_input(fmt::format("there is no key '{}', only {}", term.key, known), text, at);
  }
  if (!term.axis.empty() && term.key != "axis") throw bad_input("only axis takes a name", text, at);
  const std::size_t relation = term.places.front() - term.relation.size();
  const bool order = term.relation.find_first_of("<>") != std::string::npos;
  const bool part = term.relation.ends_with('~');
  if (order && (!is_number(term) || term.key == "status"))
    throw bad_input(fmt::format("{} is a word: compare it with =, !=, ~ or !~", term.key), text, relation);
  if (term.key == "status" && !order) check_status(term, text);
  if (key_of(term).known && !order && !part) check_words(term, text);
  if (term.key == "mesh" && !order && !part) check_mesh(term, text);
  if (!is_number(term)) return;
  if (part)
    throw bad_input(fmt::format("{} is a number: compare it with =, !=, <, <=, > or >=",
                                term.axis.empty() ? term.key : term.axis),
                    text, relation);
  check_numbers(term, text);
}

std::vector<Trait> traits_of(const Case& c) {
  std::vector<Trait> all;
  for (const Key& key : keys) {
    if (key.words) all.push_back({key.name, key.words(c), std::nullopt, key.several});
    if (key.number) all.push_back({key.name, {}, key.number(c)});
  }
  return all;
}

std::string where_help(bool status) {
  std::string help =
      "KEY=VALUE words with spaces between, all of which must hold; values after commas are alternatives,\n"
      "relations are = != < <= > >= and ~ !~ (contains).\n";
  for (const Key& key : keys)
    if (status || key.name != "status") help += fmt::format("  {:<12}{}\n", key.name, key.what);
  return help;
}

}  // namespace plumb
