/* The least program of several ranks, in C. It can do nothing. */
#include "adapters/protocol/plumb_ranks.h"

static long number_after(const char* line, const char* key) {
  const char* at = strstr(line, key);
  return at ? atol(at + strlen(key)) : 0;
}

int main(void) {
  char *line, reply[200];
  const int rank = plumb_ranks_rank(), world = plumb_ranks_world();
  if (plumb_ranks_join(rank, world, "") != 0) return 1;
  plumb_ranks_world_is(world);
  while ((line = plumb_ranks_request())) {
    const int hello = strstr(line, "\"type\":\"hello\"") != NULL;
    const long id = hello ? 0 : number_after(line, "\"id\":");
    plumb_ranks_enter("nothing");
    plumb_ranks_leave();
    if (rank > 0)
      snprintf(reply, sizeof reply, "{\"type\":\"done\",\"id\":%ld}", id);
    else if (hello)
      snprintf(reply, sizeof reply, "{\"type\":\"hello\",\"version\":1,\"name\":\"vendor\"}");
    else
      snprintf(reply, sizeof reply, "{\"type\":\"unsupported\",\"id\":%ld,\"reason\":\"it is an example\"}", id);
    plumb_ranks_reply(reply);
    free(line);
  }
  return 0;
}
