// The command line: plumb run | list | explain | sweep | liars | backends | doctor.
#pragma once

namespace CLI {
class App;
}

namespace plumb {

// 0 all well, 1 findings, 2 bad input or nothing run, 3 our own failure, 130 Ctrl-C.
int command(int argc, const char* const* argv);

// Each adds its subcommand and returns what runs it later, through App's callback; the exit code goes
// to `code`.
void add_run(CLI::App&, int& code);

}  // namespace plumb
