#include "harness/select/where.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "reference/words/text.h"

namespace plumb {
namespace {

constexpr std::array<std::string_view, 8> relations = {"!=", "!~", "<=", ">=", "=", "<", ">", "~"};

// A value ends at a space or a comma, unless it stands in quotes.
std::string take_value(std::string_view text, std::size_t& at) {
  const std::size_t begin = at;
  if (at < text.size() && (text[at] == '\'' || text[at] == '"')) {
    const std::size_t end = text.find(text[at], at + 1);
    if (end == text.npos) throw bad_input("this quote is not closed", text, begin);
    at = end + 1;
    return std::string(text.substr(begin + 1, end - begin - 1));
  }
  at = std::min(text.find_first_of(" ,", at), text.size());
  if (at == begin) throw bad_input("expected a value", text, begin);
  return std::string(text.substr(begin, at - begin));
}

Comparison take_term(std::string_view text, std::size_t& at) {
  const std::size_t begin = at;
  Comparison term;
  at = std::min(text.find_first_of("!<>=~ ", at), text.size());
  term.key = text.substr(begin, at - begin);
  if (const std::size_t dot = term.key.find('.'); dot != std::string::npos) {
    term.axis = term.key.substr(dot + 1);
    term.key.resize(dot);
  }
  const auto relation =
      std::ranges::find_if(relations, [&](std::string_view r) { return text.substr(at).starts_with(r); });
  if (relation == relations.end()) throw bad_input("expected KEY and one of = != < <= > >= ~ !~", text, at);
  term.relation = *relation;
  at += relation->size();
  do {
    term.places.push_back(at);
    term.values.push_back(take_value(text, at));
  } while (at < text.size() && text[at] == ',' && ++at);
  check_term(term, text, begin);
  return term;
}

bool holds(const std::string& relation, std::int64_t have, std::int64_t asked) {
  if (relation == "<") return have < asked;
  if (relation == "<=") return have <= asked;
  if (relation == ">") return have > asked;
  if (relation == ">=") return have >= asked;
  return have == asked;
}

bool negated(const Comparison& term) { return term.relation[0] == '!'; }

bool holds(const Comparison& term, const Case& c) {
  bool any = false;
  if (is_number(term)) {
    const std::optional<std::int64_t> have = number_of(term, c);
    if (!have) return false;
    for (const std::string& value : term.values) any |= holds(term.relation, *have, std::stoll(value));
    return any != negated(term);
  }
  const bool part = term.relation.ends_with('~');
  for (const std::string& have : words_of(term, c))
    for (const std::string& value : term.values)
      any |= part ? have.find(value) != std::string::npos : have == value;
  return any != negated(term);
}

}  // namespace

Where parse_where(std::string_view text, std::size_t at) {
  Where where;
  for (;;) {
    at = std::min(text.find_first_not_of(' ', at), text.size());
    if (at == text.size()) return where;
    where.terms.push_back(take_term(text, at));
    if (at < text.size() && text[at] != ' ') throw bad_input("expected a space or the end", text, at);
  }
}

bool matches(const Where& where, const Case& c) {
  return std::ranges::all_of(where.terms,
                             [&](const Comparison& term) { return term.key == "status" || holds(term, c); });
}

bool matches(const Where& where, std::optional<Status> status) {
  const std::string_view have = status ? name(*status) : "none";
  return std::ranges::all_of(where.terms, [&](const Comparison& term) {
    return term.key != "status" || (std::ranges::count(term.values, have) > 0) != negated(term);
  });
}

bool asks_status(const Where& where) {
  return std::ranges::count(where.terms, "status", &Comparison::key) > 0;
}

}  // namespace plumb
