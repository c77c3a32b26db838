/* A whole backend in C, without a library: it gathers sharded arrays.

       cc -O2 -o example adapters/protocol/example.c
       plumb run --backend ./example "on x=2: reshard f32[4@x] -> f32[4]"

   It looks for the members it needs in the text of a request, which is enough for a page that names them all. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct axis {
  char name[64];
  long size;
};

/* What follows "key": in a text that has it. */
static const char* member(const char* text, const char* key) {
  char quoted[80];
  snprintf(quoted, sizeof quoted, "\"%s\":", key);
  const char* at = strstr(text, quoted);
  if (!at) {
    fprintf(stderr, "the request has no %s\n", quoted);
    exit(1);
  }
  return at + strlen(quoted);
}

static long number(const char* text, const char* key) { return strtol(member(text, key), NULL, 10); }

/* [["x",2],["y",3]] */
static int axes_of(const char* at, struct axis* axes) {
  int n = 0;
  while (n < 64 && sscanf(at, "%*[[,]\"%63[^\"]\",%ld]", axes[n].name, &axes[n].size) == 2) {
    ++n;
    at = strchr(at, ']') + 1;
  }
  return n;
}

/* [["x"],["y","z"]] beside the shape [8,4]: the bytes of the largest block, and the axes as JSON. */
static long block_bytes(const char* spec, long element, const struct axis* axes, char* names) {
  const char *size = member(spec, "shape") + 1, *split = member(spec, "split") + 1;
  long bytes = element;
  strcpy(names, "[");
  while (*split == '[') {
    long parts = 1;
    for (++split; *split != ']'; ++split) {
      const struct axis* a = axes;
      if (*split != '"') continue;
      const size_t length = strchr(split + 1, '"') - split - 1;
      while (strlen(a->name) != length || strncmp(a->name, split + 1, length) != 0) ++a;
      parts *= a->size;
      sprintf(names + strlen(names), "%s\"%s\"", names[1] ? "," : "", a->name);
      split += length + 1;
    }
    char* next;
    bytes *= (strtol(size, &next, 10) + parts - 1) / parts;
    size = next + 1;
    split += split[1] == ',' ? 2 : 1;
  }
  strcat(names, "]");
  return bytes;
}

/* Every device gets a copy of the whole array, in blocks from `free` on; then comes the table. */
static void run(const char* request, int file, FILE* replies) {
  const char *one = member(request, "case"), *source = member(one, "operands"), *result = member(one, "chain");
  const long id = number(request, "id"), size = number(request, "arena"), start = number(request, "free");
  const long offset = number(request, "offset"), bytes = number(request, "bytes");
  const char *split = member(result, "split"), *end = strstr(split, "\"unfinished\"");
  if (memchr(split, '"', end - split - 1)) {
    fprintf(replies, "{\"type\":\"unsupported\",\"id\":%ld,\"reason\":\"a result that is split\"}\n", id);
    return;
  }
  struct axis axes[64];
  const int n = axes_of(member(member(one, "mesh"), "axes"), axes);
  long devices = 1, rank = 0, shape[64], elements = 1;
  for (int i = 0; i < n; ++i) devices *= axes[i].size;
  for (const char* at = member(source, "shape") + 1; *at != ']'; at += *at == ',') {
    char* next;
    elements *= shape[rank++] = strtol(at, &next, 10);
    at = next;
  }

  char* arena = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (arena == MAP_FAILED) perror("mmap"), exit(1);
  const long padded = (bytes + 7) / 8 * 8, table = start + devices * padded;
  int64_t* row = (int64_t*)(arena + table);
  for (long d = 0; d < devices; ++d) {
    memcpy(arena + start + d * padded, arena + offset, bytes);
    *row++ = d, *row++ = 0, *row++ = start + d * padded, *row++ = bytes, *row++ = rank;
    for (long i = 0; i < rank; ++i) *row++ = 1, *row++ = 0, *row++ = shape[i];
  }
  const long table_bytes = (char*)row - (arena + table);
  munmap(arena, size);

  char text[4096] = "", names[4096];
  sscanf(member(result, "text"), "\"%4095[^\"]\"", text);
  const long in = block_bytes(source, elements ? bytes / elements : 0, axes, names);
  fprintf(replies, "{\"type\":\"result\",\"id\":%ld,\"table\":{\"offset\":%ld,\"rows\":%ld,\"bytes\":%ld},", id, table,
          devices, table_bytes);
  fprintf(replies, "\"claims\":[\"%s\"],\"trace\":[", text);
  if (strcmp(names, "[]") != 0)
    fprintf(replies, "{\"kind\":\"all-gather\",\"axes\":%s,\"in\":%ld,\"out\":%ld}", names, in, bytes);
  fprintf(replies, "]}\n");
}

int main(void) {
  const char* options = getenv("PLUMB_OPTIONS");
  if (options && strcmp(options, "{}") != 0) {
    fprintf(stderr, "it has no options, such as %s\n", options);
    return 2;
  }
  const char *in = getenv("PLUMB_REQUESTS"), *out = getenv("PLUMB_REPLIES");
  FILE* requests = in ? fdopen(atoi(in), "r") : NULL;
  FILE* replies = out ? fdopen(atoi(out), "w") : NULL;
  if (!requests || !replies) {
    fprintf(stderr, "PLUMB_REQUESTS and PLUMB_REPLIES name no open descriptors: it is started by plumb, and has one process\n");
    return 2;
  }
  char *line = NULL, path[4096] = "";
  size_t room = 0;
  int file = -1;
  while (getline(&line, &room, requests) > 0) {
    if (strstr(line, "\"type\":\"hello\"")) {
      sscanf(member(line, "arena"), "\"%4095[^\"]\"", path);
      file = open(path, O_RDWR);
      fprintf(replies, "{\"type\":\"hello\",\"version\":1,\"name\":\"example.c\",\"capabilities\":{\"ops\":[\"reshard\"],"
                       "\"reductions\":[],\"free\":false,\"chains\":false}}\n");
    } else {
      run(line, file, replies);
    }
    fflush(replies);
  }
  return 0;
}
