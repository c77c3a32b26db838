/* What g++'s libraries and ours ask of glibc that came after 2.28: in terms of what was there. It is linked
   into each portable program before the library itself (scripts/portable/stubs). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

int __xstat(int, const char*, struct stat*);
int __lxstat(int, const char*, struct stat*);
int __fxstat(int, int, struct stat*);

/* 2.34: until then a program brought the function that runs its constructors; a later library does as it is
 * told. */
typedef int Main(int, char**, char**);
int start_of_old(Main*, int, char**, void (*init)(int, char**, char**), void (*fini)(void),
                 void (*rtld_fini)(void), void*);
__asm__(".symver start_of_old, __libc_start_main@GLIBC_2.2.5");
#pragma GCC visibility push(hidden)
extern void (*const __init_array_start[])(int, char**, char**);
extern void (*const __init_array_end[])(int, char**, char**);
void _init(void);

static void construct(int argc, char** argv, char** environment) {
  _init();
  for (void (*const* each)(int, char**, char**) = __init_array_start; each != __init_array_end; ++each)
    (*each)(argc, argv, environment);
}

int __libc_start_main(Main* begin, int argc, char** argv, void (*init)(void), void (*fini)(void),
                      void (*rtld_fini)(void), void* stack_end) {
  (void)init, (void)fini;
  return start_of_old(begin, argc, argv, construct, NULL, rtld_fini, stack_end);
}

/* 2.33: these were inline functions of a header. 1 is the version of struct stat. */
int stat(const char* path, struct stat* out) { return __xstat(1, path, out); }
int lstat(const char* path, struct stat* out) { return __lxstat(1, path, out); }
int fstat(int file, struct stat* out) { return __fxstat(1, file, out); }
int stat64(const char* path, struct stat64* out) { return __xstat(1, path, (struct stat*)out); }
int lstat64(const char* path, struct stat64* out) { return __lxstat(1, path, (struct stat*)out); }
int fstat64(int file, struct stat64* out) { return __fxstat(1, file, (struct stat*)out); }

/* 2.32: false is always true enough, at the price of atomic counts. */
char __libc_single_threaded = 0;

/* 2.36 */
uint32_t arc4random(void) {
  uint32_t out;
  if (getrandom(&out, sizeof out, 0) != sizeof out) abort();
  return out;
}

/* 2.30: without it the wait is by the clock of the day, and who waits looks at the clock again. */
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  typedef int Wait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
  Wait* const later = (Wait*)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
  if (later) return later(condition, mutex, clock, until);
  struct timespec now, day;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &day);
  int64_t const second = 1000000000;
  int64_t const left = (until->tv_sec - now.tv_sec) * second + until->tv_nsec - now.tv_nsec + day.tv_nsec;
  int64_t const seconds = left >= 0 ? left / second : -((second - 1 - left) / second);
  day.tv_sec += seconds;
  day.tv_nsec = left - seconds * second;
  return pthread_cond_timedwait(condition, mutex, &day);
}

/* 2.35: in which object lies an address, and where are its tables for unwinding? */
static int search(struct dl_phdr_info* object, size_t size, void* asked) {
  (void)size;
  struct dl_find_object* out = asked;
  uintptr_t const pc = (uintptr_t)out->dlfo_map_start;
  int inside = 0;
  for (int n = 0; n < object->dlpi_phnum; ++n) {
    ElfW(Phdr) const* part = &object->dlpi_phdr[n];
    uintptr_t const begin = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD && begin <= pc && pc < begin + part->p_memsz) {
      inside = 1;
      out->dlfo_map_end = (void*)(begin + part->p_memsz);
    }
    if (part->p_type == PT_GNU_EH_FRAME) out->dlfo_eh_frame = (void*)begin;
  }
  if (!inside) out->dlfo_eh_frame = NULL;
  return inside;
}

int _dl_find_object(void* pc, struct dl_find_object* out) {
  *out = (struct dl_find_object){.dlfo_map_start = pc};
  return dl_iterate_phdr(search, out) && out->dlfo_eh_frame ? 0 : -1;
}
