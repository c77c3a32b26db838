// plumb explain: a case in plain English.
#include "harness/explain/explain.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "harness/command/command.h"
#include "harness/select/row.h"
#include "reference/words/text.h"

namespace plumb {

void add_explain(CLI::App& app) {
  auto lines = std::make_shared<std::vector<std::string>>();
  CLI::App* explain = app.add_subcommand("explain", "Say what a case means, and draw what each device holds");
  explain->add_option("case", *lines, "One line of text each")->required();
  explain->callback([lines] {
    for (std::size_t i = 0; i < lines->size(); ++i)
      fmt::print("{}{}", i ? "\n" : "", plumb::explain(parse_case(parse_row((*lines)[i], "", "").line)));
  });
}

}  // namespace plumb
