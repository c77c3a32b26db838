# What an installation has beside the programs, in share/plumbline as it lies here: workers, rows and recipes of backends,
# what a backend's author copies, suites, every room's page, and the scripts that a user runs beside the tool. No tests.
set(PLUMB_SHARE ${CMAKE_INSTALL_DATADIR}/plumbline)
set(PLUMB_SCRIPTS environment nightly nightly-parts plot timeline)
file(GLOB_RECURSE shared RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
     adapters/*.py adapters/backend.json adapters/environment adapters/*.environment adapters/plumb_ranks.h adapters/example.c
     adapters/*.md reference/*.md harness/*.md suites/*.md suites/*.cases scripts/night/*.py scripts/night/*.js scripts/night/*.md)
file(GLOB recipes RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS scripts/*.environment)
list(FILTER shared EXCLUDE REGEX "(^|/)(testing|golden|__pycache__)/|_(test|benchmark)[.]py$")
foreach(file ${shared} ${recipes} adapters/protocol/serve.h scripts/audit.py scripts/bench_records.py scripts/environments.py scripts/record.py scripts/squares.py
             scripts/slurm.sbatch README.md CHANGELOG.md LICENSE results/README.md results/figures.md results/kinds results/schema.json
             "results/maps/jax@0.10.2,style=explicit.png")
  get_filename_component(folder ${file} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${file} DESTINATION ${PLUMB_SHARE}/${folder} COMPONENT share)
endforeach()
foreach(script ${PLUMB_SCRIPTS})
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/${script} DESTINATION ${PLUMB_SHARE}/scripts COMPONENT share)
endforeach()

set(PLUMB_LIBEXEC ${CMAKE_INSTALL_LIBEXECDIR}/plumbline)
install(TARGETS plumb RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS plumb-launch plumb-local plumb-liar RUNTIME DESTINATION ${PLUMB_LIBEXEC})
foreach(program plumb-mpi plumb-nccl)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${PLUMB_LIBEXEC})
  endif()
endforeach()
install(TARGETS plumb-cuda RUNTIME DESTINATION ${PLUMB_LIBEXEC} OPTIONAL)

# In their place a wheel has the portable ones (scripts/wheel), and beside them OpenBLAS and the licences of what is inside.
install(PROGRAMS ${PLUMB_PORTABLE}/bin/plumb DESTINATION bin COMPONENT portable EXCLUDE_FROM_ALL)
foreach(program plumb-launch plumb-local plumb-liar plumb-cuda plumb-nccl)
  install(PROGRAMS ${PLUMB_PORTABLE}/bin/${program} DESTINATION libexec/plumbline COMPONENT portable EXCLUDE_FROM_ALL)
endforeach()
install(FILES ${PLUMB_PORTABLE}/lib/libopenblas.so.0 DESTINATION lib/plumbline COMPONENT portable EXCLUDE_FROM_ALL)
# scripts/gpu-check runs it, of the bundle alone.
install(PROGRAMS ${PLUMB_PORTABLE}/bin/kernels_benchmark DESTINATION libexec/plumbline COMPONENT kernels EXCLUDE_FROM_ALL OPTIONAL)
foreach(package libopenblas-dev libfmt-dev libbenchmark-dev nlohmann-json3-dev libcli11-dev libstdc++6)
  install(FILES /usr/share/doc/${package}/copyright DESTINATION ${PLUMB_SHARE}/licences RENAME ${package}
          COMPONENT portable EXCLUDE_FROM_ALL OPTIONAL)
endforeach()
