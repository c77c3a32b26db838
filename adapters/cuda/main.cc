#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>

#include "adapters/cuda/cuda.h"
#include "adapters/cuda/faults.h"
#include "adapters/protocol/options.h"

namespace plumb::cuda {
namespace {

constexpr std::array<std::string_view, 3> kOrders{"direct", "ring", "tree"};  // as Order has them

// Whether it is an option of backend.json.
bool take(Cuda& cuda, const std::string& key, const std::string& value) {
  if (key == "plan") {
    const auto style = style_named(value);
    if (style) cuda.style = *style;
    return style.has_value();
  }
  if (key == "order") {
    const auto* at = std::ranges::find(kOrders, value);
    if (at != kOrders.end()) cuda.order = static_cast<Order>(at - kOrders.begin());
    return at != kOrders.end();
  }
  if (key == "device" && value == "host") return cuda.device = &this_processor(), true;
  return key == "device" && value == "card";
}

struct Wanted {
  bool cublaslt = false, grouped_call = false;
  const KernelFault* fault = nullptr;
};

// Takes the card where no other device was named, and the library where it is wanted; why there is none.
std::string find_all(Cuda& cuda, const Wanted& wanted) {
  std::string why;
  if (!cuda.device) cuda.device = card(why);
  if (cuda.device && wanted.fault) cuda.device = &faulty(*cuda.device, *wanted.fault);
  if (!cuda.device || !wanted.cublaslt) return why;
  cuda.products = cublaslt_products(wanted.grouped_call, why);
  if (!cuda.products) return why;
  const bool here = cuda.device->memory == memory_of_processor();
  if (cuda.products->stub && !here) return "the cuBLASLt is a stub, which is for device=host";
  if (!cuda.products->stub && here) return "cuBLASLt multiplies on a card, and device=host is none";
  return "";
}

int serve_all(const std::vector<std::string>& arguments) {
  Cuda cuda;
  Wanted wanted;
  for (const auto& [key, value] : options_and(arguments, "cuda"))
    if (key == "products" && (value == "kernels" || value == "cublaslt"))
      wanted.cublaslt = value == "cublaslt";
    else if (key == "grouped" && (value == "loop" || value == "call"))
      wanted.grouped_call = value == "call";
    else if (key == "fault")
      wanted.fault = &kernel_fault(value);
    else if (!take(cuda, key, value))
      throw std::invalid_argument(
          fmt::format("unknown option {}={}; `plumb backends cuda` lists them", key, value));
  if (wanted.grouped_call && !wanted.cublaslt)
    throw std::invalid_argument("grouped=call is of products=cublaslt");
  cuda.why = find_all(cuda, wanted);
  return serve(cuda);
}

}  // namespace
}  // namespace plumb::cuda

// Options come from PLUMB_OPTIONS, and as --NAME VALUE. `--list` prints the table of faults as JSON lines;
// `--check` says why there is no card here, in one line, and what needs none.
int main(int argc, char** argv) try {
  if (argc == 2 && std::string(argv[1]) == "--check") {
    std::string why;
    if (plumb::cuda::card(why)) return 0;
    std::fprintf(stderr, "%s; the same kernels on this processor: cuda,device=host\n", why.c_str());
    return 1;
  }
  if (argc == 2 && std::string(argv[1]) == "--list") {
    std::fputs(plumb::cuda::list_kernel_faults().c_str(), stdout);
    return 0;
  }
  return plumb::cuda::serve_all({argv + 1, argv + argc});
} catch (const std::invalid_argument& e) {
  std::fprintf(stderr, "plumb-cuda: %s\n", e.what());
  return 2;
}
