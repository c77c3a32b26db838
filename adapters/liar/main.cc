#include <cstdio>
#include <cstring>

#include "adapters/liar/faults.h"
#include "adapters/protocol/options.h"

namespace {

int usage(const std::string& problem) {
  std::fprintf(stderr, "plumb-liar: %s\n  PLUMB_OPTIONS={\"fault\":NAME}; plumb-liar --list names them\n",
               problem.c_str());
  return 2;
}

}  // namespace

// The options of backend.json; `--list` prints the table of faults as JSON lines.
int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    std::fputs(plumb::liar::list_faults().c_str(), stdout);
    return 0;
  }
  plumb::local::Local local;
  bool chosen = false;
  for (const auto& [key, value] : plumb::options()) {
    if (key == "fault") {
      const plumb::liar::Fault* fault = plumb::liar::fault_named(value);
      if (!fault) return usage("no fault \"" + value + "\"");
      local.seams = fault->seams;
      local.plans_only = fault->plans;
      chosen = true;
    } else if (key == "plan" && (value == "direct" || value == "ring")) {
      local.style = value == "ring" ? plumb::Style::ring : plumb::Style::direct;
    } else {
      return usage("unknown option " + key + "=" + value);
    }
  }
  if (!chosen) return usage("which fault?");
  return plumb::serve(local);
}
