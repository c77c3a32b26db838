#include "switch.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace plumb_mutant {
namespace {

struct Reached {
  char* bytes = nullptr;
  long size = 0;
};

// Shared by all processes of a test, and whole where one of them dies.
Reached reached_file() {
  const char* path = std::getenv("PLUMB_MUTANTS_REACHED");
  if (!path) return {};
  const int file = open(path, O_RDWR);
  struct stat known;
  if (file < 0 || fstat(file, &known) != 0) std::abort();
  void* at = mmap(nullptr, known.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (at == MAP_FAILED) std::abort();
  return {static_cast<char*>(at), known.st_size};
}

int choice() {
  const char* number = std::getenv("PLUMB_MUTANT");
  return number ? std::atoi(number) : std::getenv("PLUMB_MUTANTS_REACHED") ? -1 : 0;
}

}  // namespace

int chosen = choice();

void note(int n, char what) {
  static const Reached file = reached_file();
  if (n < file.size) file.bytes[n] = what;
}

}  // namespace plumb_mutant
