extern "C" {
#include "adapters/launch/testing/parts.h"
}

#include "adapters/protocol/plumb_ranks.h"

__attribute__((visibility("default"))) void gather(int rank) {
  if (rank == 2) sleep(600);
  plumb_ranks_enter("all-gather 1 over x");
  plumb_ranks_fence();
  plumb_ranks_leave();
}
