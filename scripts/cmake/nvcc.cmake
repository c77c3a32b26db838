# The same sources for a card, where there is nvcc: by a command, for as a language of CMake it would be tried out at
# length whenever a build begins. No library of a GPU is linked; libcuda is opened when a program asks for a card.
find_program(PLUMB_NVCC nvcc HINTS /usr/local/cuda/bin DOC "The CUDA compiler; where there is none nothing is for a card")
if(PLUMB_NVCC AND NOT PLUMB_SANITIZE)
  get_filename_component(toolkit "${PLUMB_NVCC}" REALPATH)
  get_filename_component(toolkit "${toolkit}/../.." ABSOLUTE)
  find_library(PLUMB_CUDART cudart_static HINTS "${toolkit}/lib64" "${toolkit}/lib")
  set(PLUMB_CUDART_INCLUDE "${toolkit}/include")
endif()
if(NOT PLUMB_CUDART)
  message(STATUS "No CUDA compiler is used: the backend cuda has device=host alone")
endif()

set(card_flags -ccbin ${CMAKE_CXX_COMPILER} -x cu -std=c++20 -O3 -I ${PROJECT_SOURCE_DIR}
    --expt-relaxed-constexpr -fmad=false -Xcompiler=-Wall,-Wextra,-ffp-contract=off)
set(card_kinds -gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90
    -gencode=arch=compute_100,code=[sm_100,compute_100] -Xfatbin=-compress-all)

# plumb_card_object(device.cc object): device.cc compiled for cards, as an object file.
function(plumb_card_object source object)
  plumb_for_cards(${source} ${CMAKE_CURRENT_BINARY_DIR}/${source}.card.o ${card_kinds} -c)
  set(${object} ${CMAKE_CURRENT_BINARY_DIR}/${source}.card.o PARENT_SCOPE)
endfunction()

# plumb_card_module(kernels.cu module): the same as a module, which a driver loads.
function(plumb_card_module source module)
  plumb_for_cards(${source} ${CMAKE_CURRENT_BINARY_DIR}/${source}.fatbin ${card_kinds} -fatbin)
  set(${module} ${CMAKE_CURRENT_BINARY_DIR}/${source}.fatbin PARENT_SCOPE)
endfunction()

# plumb_card_ptx(device.cc ptx): what nvcc makes of it before ptxas does, as text, of one kind of card; the unnamed namespaces
# have the names that they have in its object.
function(plumb_card_ptx source ptx)
  cmake_path(GET source FILENAME name)
  plumb_for_cards(${source} ${CMAKE_CURRENT_BINARY_DIR}/${name}.ptx -arch=compute_90 -ptx)
  set(${ptx} ${CMAKE_CURRENT_BINARY_DIR}/${name}.ptx PARENT_SCOPE)
endfunction()

# plumb_translated_ptx(plumb_ptx kernels.ptx ...): an object library of its kernels in C++, for adapters/cuda/testing.
set(translator ${PROJECT_SOURCE_DIR}/scripts/ptx)
function(plumb_translated_ptx library)
  foreach(ptx ${ARGN})
    add_custom_command(OUTPUT ${ptx}.cc DEPENDS ${ptx} ${translator}/translate.py ${translator}/instructions.py ${translator}/text.py
      COMMAND ${Python3_EXECUTABLE} -B ${translator}/translate.py ${ptx} ${ptx}.cc VERBATIM)
    list(APPEND sources ${ptx}.cc)
  endforeach()
  add_library(${library} OBJECT ${sources})
  target_compile_options(${library} PRIVATE -w)
  set_target_properties(${library} PROPERTIES UNITY_BUILD OFF POSITION_INDEPENDENT_CODE ON)
endfunction()

function(plumb_for_cards source made)
  cmake_path(ABSOLUTE_PATH source)
  add_custom_command(OUTPUT ${made} DEPFILE ${made}.d DEPENDS ${source}
    COMMAND ${PLUMB_NVCC} ${card_flags} ${ARGN} -MD -MF ${made}.d -MT ${made} ${source} -o ${made}
    COMMENT "Compiling ${source} for cards" VERBATIM)
endfunction()
