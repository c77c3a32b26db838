/* clang-format off */
/* How a program of several processes speaks with plumb-launch. C99 and POSIX, nothing else; a vendor's
 * program copies this file. Every rank:
 *
 *     plumb_ranks_join(plumb_ranks_rank(), plumb_ranks_world(), "");   before its library starts, or after
 *     plumb_ranks_world_is(size);                         what the library says, once it has started
 *     while ((line = plumb_ranks_request())) {            the same requests come to every rank
 *       plumb_ranks_enter("all-gather 3 over x");         around what may wait for others
 *       ...
 *       plumb_ranks_leave();
 *       plumb_ranks_reply(line);                          rank 0: a reply of the protocol; the others:
 *       free(line);                                       {"type":"done","id":7}, or what failed
 *     }
 *
 * A thread answers plumb-launch where the rank is while the main one is stuck, and ends the process two
 * seconds after the launcher is gone. The functions are called by one thread. A reply to a `hello` has the
 * id 0.
 *
 * Whoever ends all the others says before that it ends, as a rank that exits or is killed does by itself:
 *
 *     plumb_ranks_end();                                  then MPI_Abort(), also in a handler of errors
 *
 * A rank on another machine cannot open the arena. It has a copy, in which the operands of a request lie
 * when the request comes, and sends what it wrote before it replies:
 *
 *     char* arena = plumb_ranks_arena();                  after each request; NULL where the file that
 *                                                         `hello` names is here
 *     plumb_ranks_wrote(offset, bytes);                   nothing is sent where it is here
 *
 * Several files of a program and its libraries may include it, and are one rank together (with dlopen() where the
 * program is linked with -rdynamic); what is forked is none. It comes before headers of the system where the
 * compiler is told to know C alone (-std=c99).
 *
 * Ranks that know nothing of each other meet at the launcher, before the first request or in one:
 *
 *     plumb_ranks_put("id", "8f3c...");                   letters of ASCII, no quotes, no backslashes; else -1
 *     char* id = plumb_ranks_get("id");                   waits until somebody has put it; to be freed; NULL:
 *                                                         it is no such key, or the launcher is gone
 *     plumb_ranks_fence();                                waits until every rank has come
 */
/* clang-format on */
#ifndef PLUMB_RANKS_H
#define PLUMB_RANKS_H

#if defined __STRICT_ANSI__ && !defined _POSIX_C_SOURCE && !defined _GNU_SOURCE && !defined _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

struct plumb_line {
  char* text;
  struct plumb_line* next;
};

/* One for all files of a program. */
struct plumb_ranks_state {
  int socket, over, inside;
  long entered;
  char at[200];
  pthread_mutex_t lock;
  pthread_mutex_t reading; /* whoever reads the socket has it; before `lock` where both are had */
  char* heard;             /* from `heard_at` to `heard_to`, and not told yet */
  size_t heard_at, heard_to, heard_room;
  struct plumb_line *first, *last;
  char* answer; /* to get or fence */
  char* arena;  /* the copy */
  size_t size;
  void (*look)(void); /* says anew where the rank is, under the lock; NULL: that is known */
  long process;       /* that has joined; what it forks has not */
};
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((weak, visibility("default"))) struct plumb_ranks_state plumb_ranks = {
    -1,   0,    0,    0, "",  PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0, 0, NULL,
    NULL, NULL, NULL, 0, NULL, 0};
#ifdef __cplusplus
}
#endif

/* A whole number that is not negative; -1 where it is none. */
static int plumb_whole(const char* text) {
  char* end;
  const long number = strtol(text, &end, 10);
  return *text && !*end && number >= 0 && number <= 0x7fffffff ? (int)number : -1;
}

static int plumb_number_of(const char* const* names, int otherwise) {
  for (; *names; ++names)
    if (getenv(*names)) return plumb_whole(getenv(*names));
  return otherwise;
}

/* As whoever started the process says; -1 where it is no number. */
static inline int plumb_ranks_rank(void) {
  static const char* const names[] = {
      "PLUMB_RANK",          "OMPI_COMM_WORLD_RANK", "PMIX_RANK",      "PMI_RANK",
      "MV2_COMM_WORLD_RANK", "SLURM_PROCID",         "FLUX_TASK_RANK", NULL};
  return plumb_number_of(names, 0);
}
static inline int plumb_ranks_world(void) {
  static const char* const names[] = {
      "PLUMB_WORLD",  "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
      "SLURM_NTASKS", "FLUX_JOB_SIZE",        NULL};
  return plumb_number_of(names, 1);
}

/* As realloc(); without memory the rank ends, and says why. */
static void* plumb_room(void* before, size_t size) {
  void* room = realloc(before, size);
  if (room) return room;
  fprintf(stderr, "plumb_ranks: no memory for %lu bytes\n", (unsigned long)size);
  _exit(1);
}

static char* plumb_copy(const char* text) {
  const size_t size = strlen(text) + 1;
  return (char*)memcpy(plumb_room(NULL, size), text, size);
}

/* A line and what follows it, whole, by whichever thread. */
static int plumb_send(const char* line, const char* more, size_t bytes) {
  struct iovec parts[3];
  struct msghdr message;
  int failed = 0;
  memset(&message, 0, sizeof message);
  message.msg_iov = parts, message.msg_iovlen = 3;
  parts[0].iov_base = (void*)line, parts[0].iov_len = strlen(line);
  parts[1].iov_base = (void*)"\n", parts[1].iov_len = 1;
  parts[2].iov_base = (void*)more, parts[2].iov_len = bytes;
  pthread_mutex_lock(&plumb_ranks.lock);
  while (message.msg_iovlen > 0 && !failed) {
    const ssize_t n = sendmsg(plumb_ranks.socket, &message, MSG_NOSIGNAL);
    size_t sent = n > 0 ? (size_t)n : 0;
    while (message.msg_iovlen > 0 && sent >= message.msg_iov->iov_len)
      sent -= message.msg_iov->iov_len, ++message.msg_iov, --message.msg_iovlen;
    if (message.msg_iovlen > 0)
      message.msg_iov->iov_base = (char*)message.msg_iov->iov_base + sent, message.msg_iov->iov_len -= sent;
    failed = n < 0 && errno != EINTR;
  }
  pthread_mutex_unlock(&plumb_ranks.lock);
  return failed ? -1 : 0;
}

static int plumb_say(const char* line) { return plumb_send(line, "", 0); }
static inline int plumb_ranks_reply(const char* line) { return plumb_say(line); }

static void plumb_say_where(void) {
  char line[300];
  pthread_mutex_lock(&plumb_ranks.lock);
  if (plumb_ranks.look) plumb_ranks.look();
  snprintf(line, sizeof line, "{\"type\":\"at\",\"inside\":%s,\"entered\":%ld,\"at\":\"%s\"}",
           plumb_ranks.inside ? "true" : "false", plumb_ranks.entered, plumb_ranks.at);
  pthread_mutex_unlock(&plumb_ranks.lock);
  plumb_say(line);
}

static size_t plumb_number_after(const char* line, const char* key) {
  const char* at = strstr(line, key);
  return at ? (size_t)strtoull(at + strlen(key), NULL, 10) : 0;
}

/* A new copy of the arena: what nobody writes reads as ones, as far as the harness promises it. */
static void plumb_new_arena(size_t size, size_t unused) {
  const size_t most_ones = (size_t)64 << 20;
  const int nothing = open("/dev/zero", O_RDWR | O_CLOEXEC);
  if (plumb_ranks.arena) munmap(plumb_ranks.arena, plumb_ranks.size);
  plumb_ranks.size = size ? size : 1;
  plumb_ranks.arena =
      (char*)mmap(NULL, plumb_ranks.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, nothing, 0);
  close(nothing);
  if (plumb_ranks.arena == MAP_FAILED) {
    fprintf(stderr, "plumb_ranks: no memory for a copy of %lu bytes of the arena\n", (unsigned long)size);
    _exit(1);
  }
  if (unused < size)
    memset(plumb_ranks.arena + unused, 0xff, size - unused < most_ones ? size - unused : most_ones);
}

/* Reads once, or waits; 0 where the launcher is gone. Who waits in recv() is woken, too, when the launcher takes
 * in what was sent: poll() alone wakes for what comes. */
static int plumb_recv(char* to, size_t room, size_t* came) {
  struct pollfd there = {plumb_ranks.socket, POLLIN, 0};
  ssize_t n;
  poll(&there, 1, -1);
  do n = recv(plumb_ranks.socket, to, room, 0);
  while (n < 0 && errno == EINTR);
  *came = n > 0 ? (size_t)n : 0;
  return n > 0;
}

/* What follows a line. */
static int plumb_read_bytes(char* to, size_t bytes) {
  const size_t there = plumb_ranks.heard_to - plumb_ranks.heard_at;
  size_t came = bytes < there ? bytes : there;
  memcpy(to, plumb_ranks.heard + plumb_ranks.heard_at, came);
  plumb_ranks.heard_at += came;
  for (to += came, bytes -= came; bytes > 0; to += came, bytes -= came)
    if (!plumb_recv(to, bytes, &came)) return 0;
  return 1;
}

/* A line that is nobody's request; 0 where it is one. Of `bytes` what follows the line is read, too. */
static int plumb_own_line(const char* text) {
  if (strncmp(text, "{\"type\":\"where\"", 15) == 0) {
    plumb_say_where();
  } else if (strncmp(text, "{\"type\":\"arena\"", 15) == 0) {
    plumb_new_arena(plumb_number_after(text, "\"size\":"), plumb_number_after(text, "\"free\":"));
  } else if (strncmp(text, "{\"type\":\"bytes\"", 15) == 0) {
    const size_t at = plumb_number_after(text, "\"at\":"), bytes = plumb_number_after(text, "\"bytes\":");
    if (at > plumb_ranks.size || bytes > plumb_ranks.size - at ||
        !plumb_read_bytes(plumb_ranks.arena + at, bytes))
      _exit(1);
  } else if (strncmp(text, "{\"type\":\"answer\"", 16) == 0) {
    const char* value = strstr(text, "\"value\":\"");
    char* answer = plumb_copy(value ? value + 9 : "");
    char* end = strrchr(answer, '"');
    if (end) *end = 0;
    pthread_mutex_lock(&plumb_ranks.lock);
    plumb_ranks.answer = answer;
    pthread_mutex_unlock(&plumb_ranks.lock);
  } else {
    return 0;
  }
  return 1;
}

static void plumb_add_request(const char* text) {
  struct plumb_line* line = (struct plumb_line*)plumb_room(NULL, sizeof *line);
  line->text = plumb_copy(text), line->next = NULL;
  pthread_mutex_lock(&plumb_ranks.lock);
  if (plumb_ranks.last) plumb_ranks.last->next = line;
  if (!plumb_ranks.first) plumb_ranks.first = line;
  plumb_ranks.last = line;
  pthread_mutex_unlock(&plumb_ranks.lock);
}

/* Every whole line that was heard is told, to whom it concerns. */
static void plumb_tell_lines(void) {
  for (;;) {
    char* line = plumb_ranks.heard + plumb_ranks.heard_at;
    const size_t there = plumb_ranks.heard_to - plumb_ranks.heard_at;
    char* end = there ? (char*)memchr(line, '\n', there) : NULL;
    if (!end) return;
    *end = 0;
    plumb_ranks.heard_at += (size_t)(end - line) + 1;
    if (!plumb_own_line(line)) plumb_add_request(line);
  }
}

/* Of whoever has `reading`: what has come, or what comes next. */
static void plumb_hear(void) {
  const size_t there = plumb_ranks.heard_to - plumb_ranks.heard_at;
  size_t came;
  if (there) memmove(plumb_ranks.heard, plumb_ranks.heard + plumb_ranks.heard_at, there);
  plumb_ranks.heard_at = 0, plumb_ranks.heard_to = there;
  if (plumb_ranks.heard_room - there < 1 << 15) {
    plumb_ranks.heard_room = 2 * there + (1 << 16);
    plumb_ranks.heard = (char*)plumb_room(plumb_ranks.heard, plumb_ranks.heard_room);
  }
  if (!plumb_recv(plumb_ranks.heard + there, plumb_ranks.heard_room - there, &came)) {
    pthread_mutex_lock(&plumb_ranks.lock);
    plumb_ranks.over = 1;
    pthread_mutex_unlock(&plumb_ranks.lock);
  }
  plumb_ranks.heard_to += came;
  plumb_tell_lines();
}

/* Hears what comes while the main thread is elsewhere. Where it listens by itself, which saves a switch
 * between two threads for each line, this one looks again after a moment. */
static void* plumb_listen(void* unused) {
  const struct timespec moment = {0, 100 * 1000 * 1000};
  int over = 0;
  (void)unused;
  while (!over) {
    struct pollfd there = {plumb_ranks.socket, POLLIN, 0};
    poll(&there, 1, -1);
    if (pthread_mutex_trylock(&plumb_ranks.reading) == 0) {
      if (poll(&there, 1, 0) > 0) plumb_hear();
      pthread_mutex_unlock(&plumb_ranks.reading);
    } else {
      nanosleep(&moment, NULL);
    }
    pthread_mutex_lock(&plumb_ranks.lock);
    over = plumb_ranks.over;
    pthread_mutex_unlock(&plumb_ranks.lock);
  }
  sleep(2);
  _exit(0);
}

/* Of the main thread: waits until there is what it waits for, or the launcher is gone; then it has `lock`. */
static void plumb_await(char** answer) {
  pthread_mutex_lock(&plumb_ranks.reading);
  for (;;) {
    pthread_mutex_lock(&plumb_ranks.lock);
    if ((answer ? *answer != NULL : plumb_ranks.first != NULL) || plumb_ranks.over) break;
    pthread_mutex_unlock(&plumb_ranks.lock);
    plumb_hear();
  }
  pthread_mutex_unlock(&plumb_ranks.reading);
}

/* The launcher sees it at once, and what was said is heard. */
static inline void plumb_ranks_end(void) {
  if (plumb_ranks.process == (long)getpid()) shutdown(plumb_ranks.socket, SHUT_WR);
}

/* In a process that was forked: the launcher has to see the rank's end, whoever lives on. */
static void plumb_forked(void) { close(plumb_ranks.socket), plumb_ranks.socket = -1; }

static int plumb_connect_unix(const char* path) {
  struct sockaddr_un address;
  const int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  if (strlen(path) < sizeof address.sun_path) memcpy(address.sun_path, path, strlen(path));
  if (s >= 0 && connect(s, (struct sockaddr*)&address, sizeof address) == 0) return s;
  if (s >= 0) close(s);
  return -1;
}

/* HOST:PORT */
static int plumb_connect_tcp(const char* where) {
  struct addrinfo hints, *found = NULL, *a;
  char host[256];
  const int at_once = 1;
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
    if (s >= 0) setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  }
  freeaddrinfo(found);
  return s;
}

/* Processes of one machine see each other's open files: they have booted together, and count processes
 * together. */
static inline void plumb_ranks_machine(char* to, size_t size) {
  char boot[64] = "", processes[64] = "";
  FILE* file = fopen("/proc/sys/kernel/random/boot_id", "r");
  if (file && !fgets(boot, sizeof boot, file)) boot[0] = 0;
  if (file) fclose(file);
  boot[strcspn(boot, "\n")] = 0;
  if (readlink("/proc/self/ns/pid", processes, sizeof processes - 1) < 0) processes[0] = 0;
  snprintf(to, size, "%s %s", boot, processes);
}

/* PLUMB_LAUNCH is the address and PLUMB_TOKEN the token, or it is "file:" and a file that has both, a line each. */
static int plumb_find_launcher(char* where, char* token) {
  const char *launch = getenv("PLUMB_LAUNCH"), *word = getenv("PLUMB_TOKEN");
  FILE* file;
  int found;
  if (!launch) return -1;
  if (strncmp(launch, "file:", 5) != 0) {
    if (!word) return -1;
    snprintf(where, 300, "%s", launch), snprintf(token, 100, "%s", word);
    return 0;
  }
  if (!(file = fopen(launch + 5, "r"))) return -1;
  found = fgets(where, 300, file) && fgets(token, 100, file) ? 0 : -1;
  where[strcspn(where, "\n")] = token[strcspn(token, "\n")] = 0;
  fclose(file);
  return found;
}

static int plumb_start_listening(void) {
  pthread_t thread;
  sigset_t all, before;
  int failed;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the program's */
  failed = pthread_create(&thread, NULL, plumb_listen, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return failed ? -1 : pthread_detach(thread);
}

/* Without quotes, backslashes and control characters, what is no ASCII as `?`, and as much as there is room for. */
static void plumb_say_plainly(const char* what, char* to, size_t size) {
  char* const end = to + size - 1;
  for (; *what && to < end; ++what)
    if (*what != '"' && *what != '\\' && (unsigned char)*what >= ' ') *to++ = (unsigned char)*what < 127 ? *what : '?';
  *to = 0;
}

static void plumb_say_at(const char* what) { plumb_say_plainly(what, plumb_ranks.at, sizeof plumb_ranks.at); }

/* -1 where no launcher is reached. `device` says which one the rank has, or "", for the words of a hang. */
static inline int plumb_ranks_join(int rank, int world, const char* device) {
  char where[300] = "", token[100] = "", host[100] = "", machine[140], own[100], line[900];
  int last;
  if (plumb_find_launcher(where, token) != 0) return -1;
  plumb_ranks.socket = strncmp(where, "unix:", 5) == 0  ? plumb_connect_unix(where + 5)
                       : strncmp(where, "tcp:", 4) == 0 ? plumb_connect_tcp(where + 4)
                                                        : -1;
  if (plumb_ranks.socket < 0) return -1;
  /* Of a process that is killed Linux closes the last descriptor first; whoever starts the ranks has a lower one. */
  if ((last = fcntl(plumb_ranks.socket, F_DUPFD_CLOEXEC, 250)) >= 0) close(plumb_ranks.socket);
  if (last >= 0) plumb_ranks.socket = last;
  plumb_ranks.process = (long)getpid();
  atexit(plumb_ranks_end);
  pthread_atfork(NULL, NULL, plumb_forked);
  gethostname(host, sizeof host - 1);
  plumb_ranks_machine(machine, sizeof machine);
  plumb_say_plainly(device, own, sizeof own);
  snprintf(line, sizeof line,
           "{\"type\":\"join\",\"token\":\"%s\",\"rank\":%d,\"world\":%d,\"host\":\"%s\",\"pid\":%ld,"
           "\"device\":\"%s\",\"machine\":\"%s\"}",
           token, rank, world, host, (long)getpid(), own, machine);
  return plumb_say(line) == 0 ? plumb_start_listening() : -1;
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
  plumb_await(NULL);
  if ((line = plumb_ranks.first)) {
    text = line->text;
    if (!(plumb_ranks.first = line->next)) plumb_ranks.last = NULL;
    free(line);
  }
  plumb_ranks.entered = 0, plumb_ranks.at[0] = 0;
  pthread_mutex_unlock(&plumb_ranks.lock);
  return text;
}

static inline void plumb_ranks_enter(const char* what) {
  pthread_mutex_lock(&plumb_ranks.lock);
  plumb_say_at(what), plumb_ranks.inside = 1, ++plumb_ranks.entered;
  pthread_mutex_unlock(&plumb_ranks.lock);
}

static inline void plumb_ranks_leave(void) {
  pthread_mutex_lock(&plumb_ranks.lock);
  plumb_ranks.inside = 0;
  pthread_mutex_unlock(&plumb_ranks.lock);
}

static inline char* plumb_ranks_arena(void) { return plumb_ranks.arena; }

static inline int plumb_ranks_wrote(size_t at, size_t bytes) {
  char line[100];
  int failed = 0;
  while (plumb_ranks.arena && bytes > 0 && !failed) {
    const size_t some = bytes < (size_t)1 << 20 ? bytes : (size_t)1 << 20;
    snprintf(line, sizeof line, "{\"type\":\"bytes\",\"at\":%lu,\"bytes\":%lu}", (unsigned long)at,
             (unsigned long)some);
    failed = plumb_send(line, plumb_ranks.arena + at, some);
    at += some, bytes -= some;
  }
  return failed;
}

static int plumb_plain(const char* text) {
  for (; *text; ++text)
    if (*text == '"' || *text == '\\' || *text < ' ' || *text > '~') return 0;
  return 1;
}

/* Asks the launcher, and waits; the answer is to be freed. */
static char* plumb_ask(const char* line, const char* what) {
  char* answer;
  const int inside = plumb_ranks.inside;
  if (plumb_say(line) != 0) return NULL;
  if (!inside) plumb_ranks_enter(what);
  plumb_await(&plumb_ranks.answer);
  answer = plumb_ranks.answer, plumb_ranks.answer = NULL;
  pthread_mutex_unlock(&plumb_ranks.lock);
  if (!inside) plumb_ranks_leave();
  return answer;
}

static inline int plumb_ranks_put(const char* key, const char* value) {
  const size_t size = strlen(key) + strlen(value) + 60;
  char* line;
  int failed;
  if (!plumb_plain(key) || !plumb_plain(value)) return -1;
  line = (char*)plumb_room(NULL, size);
  snprintf(line, size, "{\"type\":\"put\",\"key\":\"%s\",\"value\":\"%s\"}", key, value);
  failed = plumb_say(line);
  free(line);
  return failed;
}

static inline char* plumb_ranks_get(const char* key) {
  const size_t size = strlen(key) + 40;
  char *line, *answer, what[200];
  if (!plumb_plain(key)) return NULL;
  line = (char*)plumb_room(NULL, size);
  snprintf(line, size, "{\"type\":\"get\",\"key\":\"%s\"}", key);
  snprintf(what, sizeof what, "get of %.180s", key);
  answer = plumb_ask(line, what);
  free(line);
  return answer;
}

static inline int plumb_ranks_fence(void) {
  char* answer = plumb_ask("{\"type\":\"fence\"}", "a fence");
  const int failed = answer ? 0 : -1;
  free(answer);
  return failed;
}

#endif
