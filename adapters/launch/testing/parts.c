/* The files have one rank together: what one enters the launcher hears of the other. Rank 2 sleeps before it, and
 * says a device that needs care. */
#include "adapters/launch/testing/parts.h"

#include "adapters/protocol/plumb_ranks.h"

int main(void) {
  char *line, key[1000];
  const char* const device =
      "an \"H100\", \xe9\xff 012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789";
  const int rank = plumb_ranks_rank();
  if (plumb_ranks_join(rank, plumb_ranks_world(), device) != 0) return 1;
  memset(key, 'k', sizeof key - 1), key[sizeof key - 1] = 0;
  if (plumb_ranks_put(key, "1") != 0) return 1;
  free(plumb_ranks_get(key));
  while ((line = plumb_ranks_request())) {
    if (!strstr(line, "\"type\":\"hello\"")) gather(rank);
    plumb_ranks_reply(rank ? "{\"type\":\"done\",\"id\":0}" : "{\"type\":\"hello\",\"version\":1,\"name\":\"parts\"}");
    free(line);
  }
  return 0;
}
