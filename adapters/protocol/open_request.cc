#include "adapters/protocol/open_request.h"

#include <sys/mman.h>

namespace plumb {

OpenRequest* open_request(int descriptor) {
  void* at = ::mmap(nullptr, sizeof(OpenRequest), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return at == MAP_FAILED ? nullptr : static_cast<OpenRequest*>(at);
}

}  // namespace plumb
