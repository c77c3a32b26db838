// A shared library that is opened when it is asked for: a program starts, and says why, where there is none.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace plumb::card {

struct Library {
  void* handle = nullptr;  // never closed
  std::string file;        // as it was opened
  std::string why;         // where it was not, or lacks something: one phrase
};

// Which one, and where it may lie. A variable of the environment names its file, and then no other is tried;
// else it is sought by its name as the system seeks libraries, then in the folders of the CUDA toolkit and of
// Python's packages (nvidia/PACKAGE/lib).
struct Sought {
  std::vector<std::string> names;  // "libnccl.so.2"; the first that there is
  std::string variable;            // "PLUMB_NCCL"; empty: none
  std::string package;             // "nccl"; empty: none
  std::string mend;                // what brings it
};

Library open_library(const Sought&);

// "cublas" or "cublasLt", of nvidia-cublas, whose calls are the same from CUDA 12 on.
Library open_product_library(const std::string& name, const std::string& variable);

// Null where it has no such function.
void* symbol(const Library&, const char* name);

// The same as the pointer that it is to be. A library without it says so in `why`, of the first that it
// lacks.
template <class Function>
void take(Library& library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(symbol(library, name));
  if (!function && library.handle && library.why.empty())
    library.why = fmt::format("{} has no {}", library.file, name);
}

}  // namespace plumb::card
