// The backends that Plumbline brings: what `plumb backends` lists and a name may say. Each is a file
// adapters/NAME/backend.json, which a worker reads too:
//   what, mend     one phrase; the command that makes it available, with NAME@RELEASE where it has releases
//   program        ours, where it is of several ranks with the launcher that starts them (`launch`);
//                  its options np and launcher are those of plumb-launch, or
//   check          the program looks, asked with --check, whether this machine has what it works on: exit
//                  code 0, or one line that says what is missing
//   worker         a script run by the environment of a release, with the releases that are always listed and
//                  the distribution by whose version Python knows the framework
//   grace          seconds between SIGTERM and SIGKILL: it ends what it started by itself; killed at once
//                  where it is 0, as it is where nothing is said
//   options        by name: values (each with what it means) or help, default, lifts (by value the reasons of
//                  *unsupported* that are none with it), and what else BackendOption has
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace plumb {

struct BackendOption {
  std::string name;
  std::vector<std::pair<std::string, std::string>> values;  // each with what it means; empty: any
  std::string help;
  std::string standard;  // the value that is meant where none is given; "" if none is
  bool names = true;     // part of the name: it may change what is judged
  bool needed = false;   // there is no backend without one of those that are
  bool map = false;      // NAME:AXIS.AXIS/NAME:AXIS
  std::vector<std::pair<std::string, std::vector<std::string>>> lifts{};
};

struct BackendRow {
  std::string name, what, mend;
  std::string program, worker;  // one of them
  std::string distribution;     // of a worker
  std::string launch;  // the standard launcher of a program of several ranks; empty: it is one process
  bool check = false;
  std::vector<std::string> releases;
  double grace = 0;
  std::vector<BackendOption> options;
};

// Our own programs first, then workers. Throws BadInput where a file is none of these.
const std::vector<BackendRow>& backend_rows();

// The row of that text. `name` is the backend's, for what is said of a text that is none.
BackendRow backend_row(const std::string& name, const std::string& text);

std::vector<std::string> value_names(const BackendOption&);

// The option=value that lifts this reason of *unsupported*, whatever it quotes in parentheses; "" where none
// does.
std::string lifted_by(const BackendRow&, const std::string& reason);

// The command that makes a release available here; "" stands for no release.
std::string mend(const BackendRow&, const std::string& release);

}  // namespace plumb
