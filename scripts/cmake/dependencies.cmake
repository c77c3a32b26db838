# Libraries come from the system; scripts/plumb installs them. What the system lacks is fetched where
# a network allows.
include(FetchContent)
set(FETCHCONTENT_QUIET ON)

# plumb_library(fmt 9.1 https://... hash): find_package first, else fetch.
macro(plumb_library package version url)
  find_package(${package} ${version} QUIET)
  if(NOT ${package}_FOUND)
    message(STATUS "${package} ${version} is not installed, fetching it")
    FetchContent_Declare(${package} URL ${url})
    FetchContent_MakeAvailable(${package})
  endif()
endmacro()

find_package(Threads REQUIRED)
plumb_library(fmt 9 https://github.com/fmtlib/fmt/archive/refs/tags/9.1.0.tar.gz)
plumb_library(nlohmann_json 3.11 https://github.com/nlohmann/json/releases/download/v3.11.2/json.tar.xz)
plumb_library(CLI11 2.1 https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.3.2.tar.gz)
if(PLUMB_TESTS)
  plumb_library(GTest 1.12 https://github.com/google/googletest/archive/refs/tags/release-1.12.1.tar.gz)
endif()
set(BENCHMARK_ENABLE_TESTING OFF)
plumb_library(benchmark 1.7 https://github.com/google/benchmark/archive/refs/tags/v1.7.1.tar.gz)
find_library(PLUMB_OPENBLAS openblas REQUIRED)
