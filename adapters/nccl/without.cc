// In the place of the backend, where there were no headers of CUDA and NCCL when it was built.
#include <cstdio>
#include <string>

#include "adapters/protocol/json.h"
#include "adapters/protocol/serve.h"

namespace plumb::nccl {
namespace {

constexpr const char* kWhy = "built without the headers of CUDA and NCCL";

struct Without : Backend {
  nlohmann::json hello(const Mesh&) override {
    return {
        {"name",         "nccl"                                },
        {"versions",     {{"plumbline", PLUMB_VERSION}}        },
        {"devices",      {{"count", 65536}, {"kind", "no GPU"}}},
        {"capabilities", nlohmann::json::object()              }
    };
  }
  std::optional<Unsupported> prepare(const Request&) override {
    return Unsupported{kWhy, "adapters/nccl/CMakeLists.txt"};
  }
  Reply run(const Request&, Arena&) override { return Reneged{"it was not prepared", ""}; }
};

}  // namespace
}  // namespace plumb::nccl

// `--check` says what is missing here, in one line.
int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--check")
    return std::fprintf(stderr, "%s\n", plumb::nccl::kWhy), 1;
  plumb::nccl::Without backend;
  return plumb::serve(backend);
}
