// The command line: plumb run | bench | compare | list | explain | resolve | sweep | prove | liars | backends
// | doctor.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace plumb {

// 0 all well, 1 findings, 2 bad input or nothing run, 3 our own failure, 130 Ctrl-C.
int command(int argc, const char* const* argv);

// Each adds its subcommand, which leaves its exit code in `code`. `words` are those of the command line,
// after the tool's name.
void add_run(CLI::App&, const std::vector<std::string>& words, int& code);
void add_bench(CLI::App&, int& code);
void add_compare(CLI::App&, int& code);
void add_list(CLI::App&, int& code);
void add_explain(CLI::App&);
void add_resolve(CLI::App&, int& code);
void add_sweep(CLI::App&, int& code);
void add_prove(CLI::App&, int& code);
void add_liars(CLI::App&, int& code);
void add_backends(CLI::App&, int& code);
void add_doctor(CLI::App&, int& code);

}  // namespace plumb
