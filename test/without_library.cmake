# SPDX-License-Identifier: BSL-1.0
# A program that defines SUBLET_SEPARATE_COMPILATION and links no definitions: the linker says what is missing.
# With the library it is headers.two_compiled_units.
#   cmake -DROOT=... -DWORK=... -DCOMPILER=... -P without_library.cmake
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(missing "sublet::detail::link_libsublet_or_include_sublet_src_hpp_in_one_file")
set(ENV{LC_ALL} C)

# Sets `result` and `output`.
macro(build)
  execute_process(COMMAND ${COMPILER} -std=c++20 -Wall -Wextra -Wpedantic -Werror -I${ROOT}/include
                          -DSUBLET_SEPARATE_COMPILATION ${ARGN}
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
endmacro()

set(source ${ROOT}/test/consumer/main.cpp)
foreach(level IN ITEMS -O0 -O2)
  build(${level} -c ${source} -o ${WORK}/unit${level}.o)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "does not compile:\n${output}")
  endif()
endforeach()
foreach(flags IN ITEMS -O0 -O2 "-O2;-Wl,--gc-sections")
  list(GET flags 0 level)
  build(${flags} ${WORK}/unit${level}.o -o ${WORK}/program)
  if(result EQUAL 0 OR NOT output MATCHES "${missing}")
    message(FATAL_ERROR "${flags}: does not name ${missing}:\n${output}")
  endif()
endforeach()
