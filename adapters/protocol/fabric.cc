#include "adapters/protocol/fabric.h"

#include <algorithm>
#include <system_error>

namespace plumb {
namespace {

// Where devices are listed: InfiniBand, RoCE, EFA and Omni-Path; Slingshot; InfiniPath.
constexpr const char* fabrics[] = {"/sys/class/infiniband", "/sys/class/cxi", "/dev/ipath"};

}  // namespace

bool is_there(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::exists(path, none) &&
         (!std::filesystem::is_directory(path, none) || !std::filesystem::is_empty(path, none));
}

bool has_fabric() {
  return std::ranges::any_of(fabrics, [](const char* one) { return is_there(one); });
}

}  // namespace plumb
