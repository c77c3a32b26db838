# Programs for machines with an older glibc than this one's, and without our libraries: the same objects, linked once more,
# with glibc as PLUMB_GLIBC had it (scripts/portable/stubs) and everything but OpenBLAS inside. `--target portable` makes
# them in portable/bin, and scripts/bundle packs them.
set(PLUMB_GLIBC 2.28 CACHE STRING "The oldest glibc on which portable programs run")
set(PLUMB_PORTABLE ${PROJECT_BINARY_DIR}/portable)
add_custom_target(portable)
add_custom_target(portable-mpi)  # what the bundle has beside with Open MPI's wheel
if(PLUMB_SANITIZE)
  function(plumb_portable)
  endfunction()
  return()
endif()

set(tools ${PROJECT_SOURCE_DIR}/scripts/portable)
set(glibc ${PLUMB_PORTABLE}/glibc)
add_custom_command(OUTPUT ${glibc}/libc.so DEPENDS ${tools}/stubs ${tools}/since.c
  COMMAND ${tools}/stubs ${PLUMB_GLIBC} ${glibc} COMMENT "glibc ${PLUMB_GLIBC} to link with" VERBATIM)
foreach(library benchmark fmt)
  add_custom_command(OUTPUT ${PLUMB_PORTABLE}/${library}/lib${library}.a DEPENDS ${tools}/static-library
    COMMAND ${tools}/static-library ${library} ${PLUMB_PORTABLE}/${library} ${CMAKE_CXX_COMPILER}
    COMMENT "A static ${library}" VERBATIM)
endforeach()

# Of OpenBLAS what is called, with the kernels of processors since AVX2 and the oldest ones, which run on any: a fifth of it.
find_library(PLUMB_OPENBLAS_STATIC NAMES libopenblas.a)
set(called cblas_sgemm cblas_dgemm openblas_set_num_threads openblas_get_config openblas_get_corename)
set(old ATHLON BANIAS COPPERMINE KATMAI NORTHWOOD CORE2 PENRYN DUNNINGTON NEHALEM OPTERON OPTERON_SSE3 BARCELONA BOBCAT ATOM
        NANO SANDYBRIDGE BULLDOZER PILEDRIVER STEAMROLLER EXCAVATOR)
list(TRANSFORM called PREPEND "-Wl,-u," OUTPUT_VARIABLE wanted)
list(TRANSFORM old REPLACE "(.+)" "-Wl,--defsym=gotoblas_\\1=gotoblas_PRESCOTT" OUTPUT_VARIABLE aliases)
string(REPLACE ";" "; " exported "${called}")
file(CONFIGURE OUTPUT ${PLUMB_PORTABLE}/openblas.map CONTENT "{ global: ${exported}; local: *; };\n")
set(openblas ${PLUMB_PORTABLE}/lib/libopenblas.so.0)
add_custom_command(OUTPUT ${openblas} DEPENDS ${glibc}/libc.so ${PLUMB_PORTABLE}/openblas.map
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PLUMB_PORTABLE}/lib
  COMMAND ${CMAKE_CXX_COMPILER} -shared -s -o ${openblas} -static-libgcc -L${glibc} ${wanted} ${aliases}
          -Wl,--as-needed,-soname,libopenblas.so.0,--gc-sections,--version-script=${PLUMB_PORTABLE}/openblas.map
          ${PLUMB_OPENBLAS_STATIC} -Wl,--push-state,--no-as-needed -lpthread -Wl,--pop-state
  COMMENT "OpenBLAS, as far as it is called" VERBATIM)

set(libraries ${PLUMB_PORTABLE}/fmt/libfmt.a ${PLUMB_PORTABLE}/benchmark/libbenchmark.a)
add_custom_target(plumb_portable_libraries DEPENDS ${glibc}/libc.so ${libraries} ${openblas})
add_dependencies(portable plumb_portable_libraries)

# plumb_portable(plumb-local): portable/bin/plumb-local, by the target portable, or another one. The static libraries come before
# the shared ones that the rooms link, of which nothing is needed then.
function(plumb_portable program)
  set(of portable ${ARGN})
  list(GET of -1 of)
  get_target_property(linked ${program} LINK_LIBRARIES)
  get_target_property(options ${program} LINK_OPTIONS)
  set(made ${program}-portable)
  add_executable(${made} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${program}>)
  if(options)
    target_link_options(${made} PRIVATE ${options})
  endif()
  set_target_properties(${made} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY ${PLUMB_PORTABLE}/bin
                        LINK_DEPENDS "${PLUMB_PORTABLE}/glibc/libc.so;${PLUMB_PORTABLE}/fmt/libfmt.a")
  set(static ${PLUMB_PORTABLE}/fmt/libfmt.a,${PLUMB_PORTABLE}/benchmark/libbenchmark.a)
  target_link_options(${made} PRIVATE -s -static-libstdc++ -static-libgcc -L${PLUMB_PORTABLE}/glibc
                      LINKER:--as-needed,--gc-sections,--whole-archive,${static},--no-whole-archive)
  target_link_libraries(${made} PRIVATE ${linked} -Wl,--push-state,--no-as-needed -lpthread -ldl -lrt -lm -Wl,--pop-state)
  add_dependencies(${made} plumb_portable_libraries)
  add_dependencies(${of} ${made})
endfunction()
