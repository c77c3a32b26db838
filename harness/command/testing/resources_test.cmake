# ctest reads what `plumb doctor --resources` prints: a test of 16 ranks runs, one of more than any machine has does not.
set(folder ${CMAKE_CURRENT_BINARY_DIR}/resources)
file(WRITE ${folder}/CTestTestfile.cmake "
add_test(many ${CMAKE_COMMAND} -E true)
set_tests_properties(many PROPERTIES RESOURCE_GROUPS \"ranks:16\")
add_test(too_many ${CMAKE_COMMAND} -E true)
set_tests_properties(too_many PROPERTIES RESOURCE_GROUPS \"ranks:1000000\")
")
execute_process(COMMAND ${PLUMB} doctor --resources OUTPUT_FILE ${folder}/resources.json COMMAND_ERROR_IS_FATAL ANY)
foreach(row "many;0" "too_many;8")
  list(GET row 0 name)
  list(GET row 1 wanted)
  execute_process(COMMAND ${CMAKE_CTEST_COMMAND} -R "^${name}$" --resource-spec-file ${folder}/resources.json
                  WORKING_DIRECTORY ${folder} RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT code EQUAL wanted)
    message(FATAL_ERROR "${name} ends with ${code}, and not with ${wanted}:\n${said}")
  endif()
endforeach()
