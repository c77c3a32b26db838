#include "harness/record/origin.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "adapters/protocol/fields.h"
#include "harness/record/record.h"

namespace plumb {

using nlohmann::json;

std::string now_utc() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

std::string run_drawn(const std::string& started) {
  return fmt::format("{}-{:08x}", started, std::random_device{}());
}

std::string first_line(const Origin& o) {
  return dump(json{
      {"backends",    o.backends   },
      {"cases",       o.cases      },
      {"environment", o.environment},
      {"run",         o.run        },
      {"schema",      record_schema},
      {"selection",   o.selection  },
      {"started",     o.started    }
  });
}

std::string last_line(const Origin& o) {
  json line{
      {"ended", now_utc()      },
      {"run",   o.run          },
      {"unrun", o.unrun.value()}
  };
  if (!o.afterwards.empty()) line["afterwards"] = o.afterwards;
  return dump(line);
}

bool take_origin(const json& line, std::vector<Origin>& runs) {
  if (!line.is_object()) return false;
  if (line.contains("ended")) {
    const std::string& run = text(field(line, "run"), "run");
    const auto at = std::ranges::find(runs, run, &Origin::run);
    if (at == runs.end()) throw Malformed("it ends a run that no line begins");
    at->unrun = count(field(line, "unrun"), "unrun");
    if (const json* said = optional_field(line, "afterwards")) at->afterwards = texts(*said, "afterwards");
    return true;
  }
  if (!line.contains("started")) return false;
  const json& selection = field(line, "selection");
  if (!selection.is_object()) throw Malformed("selection is no object");
  runs.push_back({text(field(line, "run"), "run"), text(field(line, "started"), "started"), selection,
                  texts(field(line, "backends"), "backends"), count(field(line, "cases"), "cases"),
                  field(line, "environment")});
  return true;
}

}  // namespace plumb
