#include "harness/command/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <limits>
#include <sstream>
#include <unordered_set>

#include "adapters/protocol/fields.h"
#include "harness/backend/interrupt.h"
#include "harness/command/files.h"
#include "harness/command/flags.h"
#include "harness/select/sample.h"
#include "harness/select/suite.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

void append(std::vector<Row>& rows, std::vector<Row> more) {
  rows.insert(rows.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<Row> file_rows(const std::string& path) {
  const std::string input = "standard input";
  if (path == "-") {
    std::istringstream in(read_text(std::cin, input));
    return read_rows(in, input, input);
  }
  std::istringstream in(read_text(path, "a file of cases, one a line"));
  const std::size_t slash = path.rfind('/');
  return read_rows(in, path, slash == path.npos ? path : path.substr(slash + 1));
}

constexpr std::int64_t most_listed = 50'000'000;

// The cases for which the condition holds, the first of each line. One row of patterns names no case
// twice.
std::vector<std::int64_t> selected(const Cases& cases, const Where& where) {
  if (count(cases) > most_listed)
    throw BadInput(fmt::format("these are {} cases: take a --sample of them, without --where", count(cases)));
  const bool all = std::ranges::all_of(where.terms, [](const Comparison& t) { return t.key == "status"; });
  const bool once = cases.groups.size() <= 1;
  std::vector<std::int64_t> numbers;
  std::unordered_set<std::string> seen;
  for (std::int64_t n = 0; n < count(cases); ++n) {
    if (interrupted()) throw Interrupted();
    if (!all || !once) {
      const Case c = nth(cases, n);
      if (!all && !matches(where, c)) continue;
      if (!once && !seen.insert(print(c)).second) continue;
    }
    numbers.push_back(n);
  }
  return numbers;
}

void keep_asked(std::vector<std::int64_t>& numbers, const Cases& cases, const OfStatus& asked) {
  if (asked) std::erase_if(numbers, [&](std::int64_t n) { return !asked(print(nth(cases, n))); });
}

// A sample of very many cases is drawn without a list of them.
std::vector<std::int64_t> sampled(const Chosen& chosen, const Selection& s, const OfStatus& asked) {
  if (count(chosen.cases) > most_listed && chosen.where.terms.empty() && chosen.cases.groups.size() == 1)
    return sample(count(chosen.cases), s.sample, s.seed);
  std::vector<std::int64_t> from = selected(chosen.cases, chosen.where), numbers;
  keep_asked(from, chosen.cases, asked);
  for (std::int64_t i : sample(static_cast<std::int64_t>(from.size()), s.sample, s.seed))
    numbers.push_back(from[i]);
  return numbers;
}

std::vector<SizeRange> sizes_of(const Selection& s) {
  std::vector<SizeRange> all;
  for (const std::string& text : s.sizes) try {
      all.push_back(parse_size(text));
    } catch (const BadInput& error) {
      throw of_flag("--size", error);
    }
  return all;
}

}  // namespace

void add_selection(CLI::App& app, Selection& s, bool status) {
  app.add_option("case", s.lines,
                 "Cases, one line of text each; a star is every layout, as in 'on x=2,y=2: reshard f32[8,8]* -> "
                 "f32[8,8]', a bar another size");
  app.add_option("--suite", s.suites, "A suite (may repeat); NAME:2x3 puts its patterns on another mesh")
      ->check(not_empty("the name of a suite"))
      ->allow_extra_args(false);
  app.add_option("--cases", s.files,
                 "A file of cases, one a line, # comments; - is standard input (may repeat)")
      ->check(file_name())
      ->allow_extra_args(false);
  app.add_option(
         "--size", s.sizes,
         "NAME=FROM:TO:FACTOR: sizes of a dimension that lines leave open, f32[N@x] with N=1Ki:1Gi:4 (may "
         "repeat)")
      ->check(not_empty("NAME=FROM:TO:FACTOR"))
      ->allow_extra_args(false);
  app.add_option("--where", s.where, "Only the cases for which this holds\n" + where_help(status))
      ->check(not_empty("KEY=VALUE"));
  app.add_option("--sample", s.sample, "This many of them, chosen by --seed; default: all")
      ->check(whole_number(1, std::uint64_t{1} << 40));
  app.add_option("--seed", s.seed, "The seed of --sample")
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  app.add_option("--shard", s.shard, "Part i of n, from 1/n to n/n; default: all")
      ->check(not_empty("PART/OF"));
}

Where condition_of(const Selection& s) try {
  return parse_where(s.where);
} catch (const BadInput& error) {
  throw of_flag("--where", error);
}

Chosen choose(const Selection& s, const OfStatus& asked) {
  std::vector<Row> rows;
  for (const std::string& suite : s.suites) append(rows, suite_rows(suite));
  for (const std::string& file : s.files) append(rows, file_rows(file));
  for (const std::string& line : s.lines) rows.push_back(parse_row(line, "arguments", ""));
  if (rows.empty())
    throw BadInput(
        "no cases: name a --suite, a file with --cases, or a line such as\n"
        "  'on x=2: reshard f32[8@x] -> f32[8]'");
  Chosen chosen{cases_of(sized(std::move(rows), sizes_of(s))), {}, condition_of(s)};
  chosen.numbers = s.sample > 0 ? sampled(chosen, s, asked) : selected(chosen.cases, chosen.where);
  if (!s.shard.empty()) chosen.numbers = cases_of_shard(chosen.numbers, parse_shard(s.shard));
  if (s.sample == 0) keep_asked(chosen.numbers, chosen.cases, asked);
  return chosen;
}

int say_planned(std::int64_t cases, const std::vector<std::string>& backends) {
  if (cases == 0) throw BadInput("no case is selected");
  fmt::print("{} on {}\n", counted(cases, "case"), fmt::join(backends, ", "));
  return 0;
}

nlohmann::json selection_in_words(const Selection& s) {
  nlohmann::json words = nlohmann::json::object();
  const auto add = [&](const char* name, const auto& value, bool given) {
    if (given) words[name] = value;
  };
  add("cases", s.lines, !s.lines.empty()), add("suites", s.suites, !s.suites.empty());
  add("files", s.files, !s.files.empty()), add("sizes", s.sizes, !s.sizes.empty());
  add("where", s.where, !s.where.empty()), add("shard", s.shard, !s.shard.empty());
  add("sample", s.sample, s.sample > 0), add("seed", s.seed, s.sample > 0);
  return words;
}

Selection selection_from_words(const nlohmann::json& words) {
  Selection s;
  const auto take = [&](const char* name, std::vector<std::string>& into) {
    if (const auto* all = optional_field(words, name)) into = texts(*all, name);
  };
  take("cases", s.lines), take("suites", s.suites), take("files", s.files), take("sizes", s.sizes);
  s.where = text_or(words, "where"), s.shard = text_or(words, "shard");
  if (const auto* n = optional_field(words, "sample")) s.sample = count(*n, "sample");
  if (const auto* n = optional_field(words, "seed"); n && n->is_number_unsigned())
    s.seed = n->get<std::uint64_t>();
  return s;
}

}  // namespace plumb
