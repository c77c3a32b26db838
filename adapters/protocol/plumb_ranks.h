/* How a program of several processes speaks with plumb-launch. C99 and POSIX, nothing else; a vendor's program copies
 * this file. Every rank:
 *
 *     plumb_ranks_join(plumb_ranks_rank(), plumb_ranks_world(), "");   before its library starts, or after
 *     plumb_ranks_world_is(size);                                      what the library says, once it has started
 *     while ((line = plumb_ranks_request())) {                         the same requests come to every rank
 *       plumb_ranks_enter("all-gather 3 over x");                      around what may wait for others
 *       ...
 *       plumb_ranks_leave();
 *       plumb_ranks_reply(line);                                       rank 0: a reply of the protocol
 *       free(line);                                                    others: {"type":"done","id":7}, or what failed
 *     }
 *
 * A thread answers plumb-launch where the rank is while the main one is stuck, and ends the process two seconds after
 * the launcher is gone. The functions are called by one thread. A reply to a `hello` has the id 0. */
#ifndef PLUMB_RANKS_H
#define PLUMB_RANKS_H

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct plumb_line {
  char* text;
  struct plumb_line* next;
};

static struct {
  int socket, over, inside;
  long entered;
  char at[200];
  pthread_mutex_t lock;
  pthread_cond_t arrived;
  struct plumb_line *first, *last;
} plumb_ranks = {-1, 0, 0, 0, "", PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, NULL};

static int plumb_number_of(const char* const* names, int otherwise) {
  for (; *names; ++names)
    if (getenv(*names)) return atoi(getenv(*names));
  return otherwise;
}

/* As whoever started the process says. */
static inline int plumb_ranks_rank(void) {
  static const char* const names[] = {"PLUMB_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",      "PMI_RANK",
                                      "MV2_COMM_WORLD_RANK", "SLURM_PROCID", "FLUX_TASK_RANK", NULL};
  return plumb_number_of(names, 0);
}
static inline int plumb_ranks_world(void) {
  static const char* const names[] = {"PLUMB_WORLD",         "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                      "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS",         "FLUX_JOB_SIZE", NULL};
  return plumb_number_of(names, 1);
}

/* A line, whole, by whichever thread. */
static int plumb_say(const char* line) {
  const size_t size = strlen(line);
  size_t at = 0;
  int failed = 0;
  pthread_mutex_lock(&plumb_ranks.lock);
  while (at <= size && !failed) {
    const ssize_t n = at < size ? send(plumb_ranks.socket, line + at, size - at, MSG_NOSIGNAL)
                                : send(plumb_ranks.socket, "\n", 1, MSG_NOSIGNAL);
    if (n > 0) at += (size_t)n;
    failed = n < 0 && errno != EINTR;
  }
  pthread_mutex_unlock(&plumb_ranks.lock);
  return failed ? -1 : 0;
}

static inline int plumb_ranks_reply(const char* line) { return plumb_say(line); }

static void plumb_say_where(void) {
  char line[300];
  pthread_mutex_lock(&plumb_ranks.lock);
  snprintf(line, sizeof line, "{\"type\":\"at\",\"inside\":%s,\"entered\":%ld,\"at\":\"%s\"}",
           plumb_ranks.inside ? "true" : "false", plumb_ranks.entered, plumb_ranks.at);
  pthread_mutex_unlock(&plumb_ranks.lock);
  plumb_say(line);
}

static void plumb_heard(char* text) {
  struct plumb_line* line;
  if (strncmp(text, "{\"type\":\"where\"", 15) == 0) {
    free(text);
    plumb_say_where();
    return;
  }
  line = (struct plumb_line*)malloc(sizeof *line);
  line->text = text, line->next = NULL;
  pthread_mutex_lock(&plumb_ranks.lock);
  if (plumb_ranks.last) plumb_ranks.last->next = line;
  if (!plumb_ranks.first) plumb_ranks.first = line;
  plumb_ranks.last = line;
  pthread_cond_signal(&plumb_ranks.arrived);
  pthread_mutex_unlock(&plumb_ranks.lock);
}

static void* plumb_listen(void* unused) {
  size_t size = 0, room = 1 << 16;
  char *buffer = (char*)malloc(room), *end;
  ssize_t n;
  (void)unused;
  while ((n = recv(plumb_ranks.socket, buffer + size, room - size, 0)) != 0) {
    if (n < 0 && errno != EINTR) break;
    if (n > 0) size += (size_t)n;
    while ((end = (char*)memchr(buffer, '\n', size))) {
      const size_t length = (size_t)(end - buffer);
      char* text = (char*)malloc(length + 1);
      memcpy(text, buffer, length), text[length] = 0;
      memmove(buffer, end + 1, size -= length + 1);
      plumb_heard(text);
    }
    if (size == room) buffer = (char*)realloc(buffer, room *= 2);
  }
  free(buffer);
  pthread_mutex_lock(&plumb_ranks.lock);
  plumb_ranks.over = 1;
  pthread_cond_signal(&plumb_ranks.arrived);
  pthread_mutex_unlock(&plumb_ranks.lock);
  sleep(2);
  _exit(0);
}

static int plumb_connect_unix(const char* path) {
  struct sockaddr_un address;
  const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  if (s >= 0 && connect(s, (struct sockaddr*)&address, sizeof address) == 0) return s;
  if (s >= 0) close(s);
  return -1;
}

/* HOST:PORT */
static int plumb_connect_tcp(const char* where) {
  struct addrinfo hints, *found = NULL, *a;
  char host[256];
  int s = -1;
  const char* colon = strrchr(where, ':');
  if (!colon || (size_t)(colon - where) >= sizeof host) return -1;
  memcpy(host, where, (size_t)(colon - where)), host[colon - where] = 0;
  memset(&hints, 0, sizeof hints);
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host, colon + 1, &hints, &found) != 0) return -1;
  for (a = found; a && s < 0; a = a->ai_next) {
    s = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (s >= 0 && connect(s, a->ai_addr, a->ai_addrlen) != 0) close(s), s = -1;
  }
  freeaddrinfo(found);
  return s;
}

/* -1 where there is no launcher, or it cannot be reached. `device` says which one the rank has, or "". */
static inline int plumb_ranks_join(int rank, int world, const char* device) {
  const char *where = getenv("PLUMB_LAUNCH"), *token = getenv("PLUMB_TOKEN");
  char host[100] = "", line[600];
  pthread_t thread;
  if (!where || !token) return -1;
  plumb_ranks.socket = strncmp(where, "unix:", 5) == 0  ? plumb_connect_unix(where + 5)
                       : strncmp(where, "tcp:", 4) == 0 ? plumb_connect_tcp(where + 4)
                                                        : -1;
  if (plumb_ranks.socket < 0) return -1;
  gethostname(host, sizeof host - 1);
  snprintf(line, sizeof line,
           "{\"type\":\"join\",\"token\":\"%s\",\"rank\":%d,\"world\":%d,\"host\":\"%s\",\"pid\":%ld,"
           "\"device\":\"%s\"}",
           token, rank, world, host, (long)getpid(), device);
  if (plumb_say(line) != 0) return -1;
  return pthread_create(&thread, NULL, plumb_listen, NULL) == 0 ? pthread_detach(thread) : -1;
}

static inline int plumb_ranks_world_is(int size) {
  char line[60];
  snprintf(line, sizeof line, "{\"type\":\"world\",\"size\":%d}", size);
  return plumb_say(line);
}

/* The next request, to be freed; NULL once there are no more. */
static inline char* plumb_ranks_request(void) {
  char* text = NULL;
  struct plumb_line* line;
  pthread_mutex_lock(&plumb_ranks.lock);
  while (!plumb_ranks.first && !plumb_ranks.over) pthread_cond_wait(&plumb_ranks.arrived, &plumb_ranks.lock);
  if ((line = plumb_ranks.first)) {
    text = line->text;
    if (!(plumb_ranks.first = line->next)) plumb_ranks.last = NULL;
    free(line);
  }
  plumb_ranks.entered = 0, plumb_ranks.at[0] = 0;
  pthread_mutex_unlock(&plumb_ranks.lock);
  return text;
}

/* Quotes and backslashes are left out. */
static inline void plumb_ranks_enter(const char* what) {
  char* to = plumb_ranks.at;
  pthread_mutex_lock(&plumb_ranks.lock);
  for (; *what && to < plumb_ranks.at + sizeof plumb_ranks.at - 1; ++what)
    if (*what != '"' && *what != '\\' && (unsigned char)*what >= ' ') *to++ = *what;
  *to = 0, plumb_ranks.inside = 1, ++plumb_ranks.entered;
  pthread_mutex_unlock(&plumb_ranks.lock);
}

static inline void plumb_ranks_leave(void) {
  pthread_mutex_lock(&plumb_ranks.lock);
  plumb_ranks.inside = 0;
  pthread_mutex_unlock(&plumb_ranks.lock);
}

#endif
