// plumb explain: a case in plain English.
#include "harness/explain/explain.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "harness/command/command.h"
#include "harness/record/environment.h"
#include "harness/run/attempt.h"
#include "harness/select/pattern.h"
#include "harness/select/row.h"
#include "reference/words/text.h"

namespace plumb {
namespace {

std::string as_json(const Case& c) {
  try {
    refuse_what_does_not_fit(c, {machine().memory_bytes});
  } catch (const DoesNotFit& error) {
    throw BadInput(error.what());
  }
  return explain_json(c) + '\n';
}

}  // namespace

void add_explain(CLI::App& app) {
  struct Flags {
    std::vector<std::string> lines;
    bool json = false;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* explain = app.add_subcommand("explain", "Say what a case means, and draw what each device holds");
  explain->add_option("case", flags->lines, "One line of text each")->required();
  explain->add_flag("--json", flags->json,
                    "A line of JSON for each: the seed and digests of the data, the certificate, the bytes");
  explain->callback([flags] {
    std::vector<Case> cases;  // all of them are read before one is explained
    for (const std::string& line : flags->lines) cases.push_back(parse_one(parse_row(line, "", "").line));
    std::string said;
    for (const Case& c : cases)
      said += flags->json ? as_json(c) : (said.empty() ? "" : "\n") + explain_case(c);
    fmt::print("{}", said);
  });
}

}  // namespace plumb
