# One library per room, named after its folder; tests and benchmarks stand beside the code.

# The exact arithmetic rests on IEEE rules: no contraction, no reassociation.
add_compile_options(-Wall -Wextra -Wshadow -Wno-missing-field-initializers -ffp-contract=off -fno-fast-math)
# GCC 12 warns of {fmt} and of std::string where nothing is wrong (its bugs 105329 and 105651 among them).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-stringop-overflow -Wno-restrict)
endif()
if(PLUMB_WERROR)
  add_compile_options(-Werror)
endif()
if(PLUMB_SANITIZE)
  add_compile_options(-fsanitize=${PLUMB_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PLUMB_SANITIZE})
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()
include_directories(${PROJECT_SOURCE_DIR})
# All of a room, or of its tests, at once.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)

# Headers that take seconds to parse are parsed once for a target (HEADERS), or as another target did (AS).
function(plumb_parse_once target)
  cmake_parse_arguments(ARG "" "AS" "HEADERS" ${ARGN})
  if(ARG_AS)
    target_precompile_headers(${target} REUSE_FROM ${ARG_AS})
  elseif(ARG_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARG_HEADERS})
  endif()
endfunction()

# plumb_room(words HOT SOURCES a.cc b.cc DEPS ...) makes the library plumb_words. How hard a release build works on it:
# most where the time of a run goes (HOT), least where almost none does (COLD). Rooms that share the parsed headers of
# another (plumb_parse_once) keep to its flags. A unity build (scripts/plumb, the sanitizers' presets) compiles the
# sources of a room together, in half the time: the names in their unnamed namespaces differ (scripts/lint).
function(plumb_room name)
  cmake_parse_arguments(ARG "HOT;COLD" "" "SOURCES;DEPS" ${ARGN})
  add_library(plumb_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(plumb_${name} PUBLIC ${ARG_DEPS})
  if(ARG_HOT)
    target_compile_options(plumb_${name} PRIVATE $<$<CONFIG:Release>:-O3>)
  else()
    target_compile_options(plumb_${name} PRIVATE ${PLUMB_UNCHECKED})
  endif()
  if(ARG_COLD)
    target_compile_options(plumb_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# What scripts/test runs under the sanitizers, and what that starts: the tests with the label memory, of code that reads
# bytes from outside, goes through buffers by itself or starts threads, and those with the label thread. The rest of unit
# and law: --preset address-whole.
add_custom_target(plumb_memory)
add_custom_target(plumb_thread)

# The pointers that -fsanitize=undefined checks before each use are those of HOT rooms, which go through memory by
# themselves: elsewhere that would take as long as the rest of the compiling. Of a function in a header the linker may
# take another room's copy; the address sanitizer and the library's asserts are in all.
set(PLUMB_UNCHECKED)
if(PLUMB_SANITIZE MATCHES undefined)
  set(PLUMB_UNCHECKED -fno-sanitize=null,alignment,object-size,pointer-overflow,vptr)
endif()

# plumb_test(dtype_test LABELS unit SOURCES dtype_test.cc DEPS plumb_words): one ctest. What headers define is compiled
# once for all tests of a folder, words_tests, of which this one runs its SOURCES; where a preset sanitizes, those of the
# labels memory and thread are a program of their own. APART is a program by itself, and SLOW is one whose own code, not
# that of the libraries, computes for seconds. The longest begin first by their COST. One that waits more than it computes
# runs in so many processes at a time (SHARDS). DEFINES are macros of its program, beside
# PLUMB_GOLDEN, the folder's pinned words; NEEDS is what it starts.
function(plumb_test name)
  if(NOT PLUMB_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "SLOW;APART" "COST;SHARDS" "SOURCES;DEPS;LABELS;DEFINES;NEEDS" ${ARGN})
  plumb_test_program("${ARG_LABELS}" program)
  set(only)
  if(ARG_SLOW OR ARG_APART)
    set(program ${name})
  else()
    list(TRANSFORM ARG_SOURCES REPLACE ".*/" "" OUTPUT_VARIABLE only)
    list(FILTER only INCLUDE REGEX "_test[.]cc$")
    add_custom_target(${name} DEPENDS ${program})
  endif()
  if(NOT TARGET ${program})
    add_executable(${program} $<TARGET_OBJECTS:plumb_of_sources>)
    target_link_libraries(${program} PRIVATE GTest::gtest GTest::gmock)
    target_compile_definitions(${program} PRIVATE PLUMB_GOLDEN="${CMAKE_CURRENT_SOURCE_DIR}/golden")
    if(ARG_SLOW)
      target_compile_options(${program} PRIVATE $<$<CONFIG:Release>:-O1> ${PLUMB_UNCHECKED})
    else()
      target_compile_options(${program} PRIVATE $<$<CONFIG:Release>:-O0> ${PLUMB_UNCHECKED})
      plumb_parse_once(${program} AS plumb_of_sources)
    endif()
  endif()
  target_sources(${program} PRIVATE ${ARG_SOURCES})
  target_link_libraries(${program} PRIVATE ${ARG_DEPS})
  target_compile_definitions(${program} PRIVATE ${ARG_DEFINES})
  if(ARG_NEEDS)
    add_dependencies(${program} ${ARG_NEEDS})
  endif()
  if(ARG_SHARDS)
    add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/scripts/cmake/sharded ${ARG_SHARDS} $<TARGET_FILE:${program}> ${only})
  else()
    add_test(NAME ${name} COMMAND ${program} ${only})
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  if(ARG_COST)
    set_tests_properties(${name} PROPERTIES COST ${ARG_COST})
  endif()
  foreach(label memory thread)
    if(${label} IN_LIST ARG_LABELS)
      add_dependencies(plumb_${label} ${program})
    endif()
  endforeach()
endfunction()

# The program of this folder's tests with these labels; and, once, its main function, beside GoogleTest's parsed headers.
function(plumb_test_program labels out)
  if(NOT TARGET plumb_of_sources)
    add_library(plumb_of_sources OBJECT ${PROJECT_SOURCE_DIR}/scripts/cmake/of_sources.cc)
    target_link_libraries(plumb_of_sources PRIVATE GTest::gtest GTest::gmock)
    target_compile_options(plumb_of_sources PRIVATE $<$<CONFIG:Release>:-O0> ${PLUMB_UNCHECKED})
    plumb_parse_once(plumb_of_sources HEADERS <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  file(RELATIVE_PATH program ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "^(reference|adapters|harness)/" "" program ${program})
  string(REPLACE "/" "_" program ${program}_tests)
  if(PLUMB_SANITIZE MATCHES thread AND thread IN_LIST labels)
    string(PREPEND program threaded_)
  elseif(PLUMB_SANITIZE AND memory IN_LIST labels)
    string(PREPEND program memory_)
  endif()
  set(${out} ${program} PARENT_SCOPE)
endfunction()

# plumb_benchmark(exact_benchmark SOURCES ... DEPS ...): built with the rest, run by hand.
function(plumb_benchmark name)
  if(NOT PLUMB_BENCHMARKS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} benchmark::benchmark benchmark::benchmark_main)
endfunction()

# plumb_environments(te found): the environments that scripts/environment made for a framework.
function(plumb_environments framework out)
  set(home "$ENV{PLUMB_HOME}")
  if(NOT home AND DEFINED ENV{XDG_CACHE_HOME})
    set(home "$ENV{XDG_CACHE_HOME}/plumbline")
  elseif(NOT home)
    set(home "$ENV{HOME}/.cache/plumbline")
  endif()
  file(GLOB whole "${home}/env/${framework}@*/plumbline")  # the set-up script writes this file last
  list(TRANSFORM whole REPLACE "/plumbline$" "")
  set(${out} "${whole}" PARENT_SCOPE)
endfunction()

# plumb_worker_tests(te TESTS worker_test laws_test): each of these Python tests of a worker, in each environment of
# the framework, labelled with its name.
function(plumb_worker_tests framework)
  cmake_parse_arguments(ARG "" "" "TESTS" ${ARGN})
  if(NOT PLUMB_TESTS)
    return()
  endif()
  plumb_environments(${framework} environments)
  foreach(environment IN LISTS environments)
    get_filename_component(release "${environment}" NAME)
    foreach(test IN LISTS ARG_TESTS)
      set(name ${framework}_${test}_${release})
      add_test(NAME ${name}
               COMMAND "${environment}/bin/python" -I -B "${PROJECT_SOURCE_DIR}/adapters/${framework}/${test}.py")
      set_tests_properties(${name} PROPERTIES LABELS ${framework} TIMEOUT 900)
    endforeach()
  endforeach()
endfunction()

# plumb_judged(te@2.20.2 te-fp8 EXPECTED systems/te-fp8 BACKENDS te@2.20.2 te@2.20.2,via=dense): where there is an environment
# of the release, a sample of a suite is judged anew, each case as the published record says.
function(plumb_judged release suite)
  cmake_parse_arguments(ARG "" "EXPECTED" "BACKENDS" ${ARGN})
  string(REGEX REPLACE "@.*" "" framework ${release})
  plumb_environments(${framework} environments)
  if(PLUMB_TESTS AND "${environments}" MATCHES "/${release}(;|$)")
    set(name ${framework}_judged_${suite}_${release})
    add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/scripts/testing/judged
             ${PROJECT_SOURCE_DIR}/results/${ARG_EXPECTED}.jsonl.xz ${suite} ${ARG_BACKENDS})
    set_tests_properties(${name} PROPERTIES LABELS ${framework} TIMEOUT 900 ENVIRONMENT PLUMB=$<TARGET_FILE:plumb>)
  endif()
endfunction()
