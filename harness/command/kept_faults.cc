#include "harness/command/kept_faults.h"

#include "adapters/protocol/json.h"

namespace plumb {

using nlohmann::json;

namespace {

// With groups written out, which every release of XLA reads.
std::string written_out(hlo::Module module) {
  for (hlo::Computation& c : module.computations)
    for (hlo::Instruction& i : c.instructions)
      for (hlo::Attribute& a : i.attributes)
        if (auto* groups = std::get_if<hlo::Groups>(&a.value))
          *groups = {expand(*groups, module.partitions), 0, 0, {}, {}, {}};
  return print(module);
}

json held(const hlo::Array<double>& array, std::int64_t devices) {
  json elements = json::array();
  const std::int64_t size = hlo::count(array.dims);
  for (std::int64_t device = 0; device < devices; ++device)
    visit(array, [&](const auto& all) {
      const auto begin = all.begin() + begin_on(array, device, size);
      elements.push_back(std::vector(begin, begin + size));
    });
  return {
      {"dims",     array.dims          },
      {"elements", elements            },
      {"type",     row(array.type).name}
  };
}

}  // namespace

std::string kept_program(const std::string& name, const hlo::Subject& subject) {
  json j = {
      {"program",   name                      },
      {"devices",   subject.after.partitions  },
      {"module",    written_out(subject.after)},
      {"arguments", json::array()             },
      {"results",   covered(subject)          }
  };
  for (const hlo::Value<double>& argument : whole_numbers(subject))
    j["arguments"].push_back(held(*argument.array, subject.after.partitions));
  return dump(j);
}

std::string kept_fault(const std::string& fault, const std::string& at, hlo::Harm harm,
                       const hlo::Module& module) {
  return dump(json{
      {"fault",  fault              },
      {"at",     at                 },
      {"harm",   name(harm)         },
      {"module", written_out(module)}
  });
}

}  // namespace plumb
