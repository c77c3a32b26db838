#include "adapters/nccl/functions.h"

#include <fmt/format.h>

#include "adapters/card/library.h"

namespace plumb::nccl {
namespace {

constexpr int kOldest = NCCL_VERSION(2, 18, 0);  // ncclCommSplit

struct Found {
  Functions functions;
  std::string why;
};

card::Library open_nccl(Functions& f) {
  using card::take;
  card::Library library = card::open_library({{"libnccl.so.2"},
                                              "PLUMB_NCCL",
                                              "nccl",
                                              "pip install nvidia-nccl-cu13, or set PLUMB_NCCL to its file"});
  take(library, "ncclGetVersion", f.GetVersion);
  if (!f.GetVersion) return library;
  f.GetVersion(&f.version), f.file = library.file;
  if (f.version < kOldest) {
    library.why = fmt::format("{} is NCCL {}, and 2.18 is the oldest that is used", library.file,
                              version_in_words(f.version));
    return library;
  }
  take(library, "ncclGetUniqueId", f.GetUniqueId);
  take(library, "ncclCommInitRankConfig", f.CommInitRankConfig);
  take(library, "ncclCommSplit", f.CommSplit);
  take(library, "ncclCommDestroy", f.CommDestroy);
  take(library, "ncclCommAbort", f.CommAbort);
  take(library, "ncclCommGetAsyncError", f.CommGetAsyncError);
  take(library, "ncclGetErrorString", f.GetErrorString);
  take(library, "ncclGetLastError", f.GetLastError);
  take(library, "ncclAllReduce", f.AllReduce);
  take(library, "ncclReduce", f.Reduce);
  take(library, "ncclReduceScatter", f.ReduceScatter);
  take(library, "ncclAllGather", f.AllGather);
  take(library, "ncclSend", f.Send);
  take(library, "ncclRecv", f.Recv);
  take(library, "ncclGroupStart", f.GroupStart);
  take(library, "ncclGroupEnd", f.GroupEnd);
  take(library, "ncclRedOpCreatePreMulSum", f.RedOpCreatePreMulSum);
  take(library, "ncclRedOpDestroy", f.RedOpDestroy);
  card::Library later = library;
  take(later, "ncclCommRegister", f.CommRegister);
  take(later, "ncclCommDeregister", f.CommDeregister);
  take(later, "ncclMemAlloc", f.MemAlloc);
  take(later, "ncclMemFree", f.MemFree);
  return library;
}

const Found& the_nccl() {
  static const Found one = [] {
    Found found;
    found.why = open_nccl(found.functions).why;
    return found;
  }();
  return one;
}

}  // namespace

const Functions* functions(std::string& why) {
  why = the_nccl().why;
  return why.empty() ? &the_nccl().functions : nullptr;
}

// Up to 2.8 a version was 2804.
std::string version_in_words(int v) {
  return v < 10000 ? fmt::format("{}.{}.{}", v / 1000, v / 100 % 10, v % 100)
                   : fmt::format("{}.{}.{}", v / 10000, v / 100 % 100, v % 100);
}

}  // namespace plumb::nccl
