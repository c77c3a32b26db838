#include "harness/record/circumstances.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <regex>

#include "adapters/protocol/clocked.h"
#include "adapters/protocol/json.h"
#include "harness/record/environment.h"

namespace plumb {
namespace {

using nlohmann::json;

// Names, or with a star the beginnings of names. Nothing here holds a secret by its kind.
constexpr std::string_view allowed[] = {"OMPI_MCA_*",
                                        "PRTE_MCA_*",
                                        "PMIX_MCA_*",
                                        "MPICH_*",
                                        "MPIR_CVAR_*",
                                        "MV2_*",
                                        "I_MPI_*",
                                        "UCX_*",
                                        "UCC_*",
                                        "FI_*",
                                        "NCCL_*",
                                        "RCCL_*",
                                        "TORCH_NCCL_*",
                                        "HSA_*",
                                        "NVSHMEM_*",
                                        "OMP_NUM_THREADS",
                                        "OMP_PROC_BIND",
                                        "OMP_PLACES",
                                        "OMP_DYNAMIC",
                                        "OPENBLAS_NUM_THREADS",
                                        "MKL_NUM_THREADS",
                                        "GOMP_CPU_AFFINITY",
                                        "KMP_AFFINITY",
                                        "XLA_FLAGS",
                                        "LIBTPU_INIT_ARGS",
                                        "XLA_PYTHON_CLIENT_*",
                                        "CUDA_VISIBLE_DEVICES",
                                        "CUDA_DEVICE_MAX_CONNECTIONS",
                                        "CUDA_LAUNCH_BLOCKING",
                                        "PLUMB_LAUNCHER",
                                        "MALLOC_ARENA_MAX",
                                        "GLIBC_TUNABLES"};

bool is_allowed(std::string_view variable) {
  return std::ranges::any_of(allowed, [&](std::string_view one) {
    return one.ends_with('*') ? variable.starts_with(one.substr(0, one.size() - 1)) : variable == one;
  });
}

std::string without_paths(const std::string& value) {
  static const std::regex path(R"([^\s=,:;]*/[^\s=,:;]*)");
  return std::regex_replace(value, path, "PATH");
}

std::vector<std::string> of_this_process() {
  std::vector<std::string> all;
  for (char** at = environ; at && *at; ++at) all.emplace_back(*at);
  return all;
}

std::string in_words(const json& value) { return value.is_string() ? value.get<std::string>() : dump(value); }

void add_differing(const json& then, const json& now, bool both, std::vector<std::string>& all) {
  for (const auto& [key, value] : now.items()) {
    if (value.is_object() || (both && !then.contains(key))) continue;
    if (!then.contains(key))
      all.push_back(fmt::format("{} not set, now {}", key, in_words(value)));
    else if (then[key] != value)
      all.push_back(fmt::format("{} {}, now {}", key, in_words(then[key]), in_words(value)));
  }
  for (const auto& [key, value] : then.items())
    if (!both && !now.contains(key)) all.push_back(fmt::format("{} {}, now not set", key, in_words(value)));
}

}  // namespace

std::map<std::string, std::string> telling(const std::vector<std::string>& variables) {
  std::map<std::string, std::string> all;
  for (const std::string& one : variables)
    if (const std::size_t equals = one.find('='); equals != one.npos && is_allowed(one.substr(0, equals)))
      all[one.substr(0, equals)] = without_paths(one.substr(equals + 1));
  return all;
}

json circumstances() {
  json all = environment();
  if (const std::string class_of = scheduling(); !class_of.empty()) all["scheduling"] = class_of;
  all["variables"] = telling(of_this_process());
  return all;
}

std::vector<std::string> differing(const json& then, const json& now) {
  json before = then, after = now;
  for (const char* of_the_build : {"plumbline", "revision", "compiler"})
    before.erase(of_the_build), after.erase(of_the_build);
  for (json* all : {&before, &after})
    if (all->contains("versions") && (*all)["versions"].is_object()) (*all)["versions"].erase("files");
  std::vector<std::string> all;
  add_differing(before, after, true, all);
  if (before.contains("versions") && after.contains("versions"))
    add_differing(before["versions"], after["versions"], true, all);
  if (before.contains("variables") && after.contains("variables"))
    add_differing(before["variables"], after["variables"], false, all);
  return all;
}

double megahertz() {
  std::ifstream in("/proc/cpuinfo");
  double sum = 0;
  int n = 0;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("cpu MHz")) sum += std::strtod(line.c_str() + line.find(':') + 1, nullptr), ++n;
  return n ? sum / n : 0;
}

double clock_step() {
  constexpr int looks = 1000;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < looks; ++i) {
    const std::int64_t begin = machine_time();
    std::int64_t now = begin;
    while (now == begin) now = machine_time();
    least = std::min(least, now - begin);
  }
  return static_cast<double>(least);
}

double load_average() {
  double minutes[1];
  return getloadavg(minutes, 1) == 1 ? minutes[0] : -1;
}

}  // namespace plumb
