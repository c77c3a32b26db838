// The backends that Plumbline brings, a row each: what `plumb backends` lists and a name may say.
#pragma once

#include <string>
#include <vector>

namespace plumb {

struct BackendOption {
  std::string name;
  std::vector<std::string> values;  // empty: any
  std::string standard;             // the value that is meant where none is given; "" if none is
  bool names = true;                // part of the name: it may change what is judged
  bool needed = false;              // there is no backend without it
  bool map = false;                 // NAME:AXIS.AXIS/NAME:AXIS
};

struct BackendRow {
  std::string name, what;
  std::string program;                // ours, or
  std::string worker;                 // a script run by the environment of a release
  std::vector<std::string> releases;  // that are listed even where they are not set up
  std::vector<BackendOption> options;
};

const std::vector<BackendRow>& backend_rows();

}  // namespace plumb
