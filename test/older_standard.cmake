# SPDX-License-Identifier: BSL-1.0
# Each public header, included first and compiled as C++17, g++'s default: the compiler prints one sentence and stops.
#   cmake -DROOT=. -DCOMPILER=g++ [-DBOOST=folder] [-DJSON=folder] [-DCUDA=folder] -P test/older_standard.cmake
cmake_minimum_required(VERSION 3.25)

file(GLOB headers RELATIVE ${ROOT}/include ${ROOT}/include/sublet/*.hpp ${ROOT}/include/sublet/*/*.hpp
                                           ${ROOT}/include/sublet/impl/src/*.hpp)
list(FILTER headers EXCLUDE REGEX "/(detail|internal)/")
foreach(folder IN LISTS BOOST JSON CUDA)
  list(APPEND folders -idirafter ${folder}) # behind the standard library's, whichever they are
endforeach()
if(NOT CUDA)
  list(FILTER headers EXCLUDE REGEX "/cuda")
endif()
if(NOT JSON)
  list(FILTER headers EXCLUDE REGEX "adapt/json")
endif()

# Compiles, and sets `result`, `output`, and `errors` to the lines with an error.
macro(check header standard)
  set(flags -std=${standard} -Wall -Wextra -Wpedantic -fsyntax-only -I${ROOT}/include ${folders})
  if(${header} MATCHES "/src")
    list(APPEND flags -DSUBLET_SEPARATE_COMPILATION)
  endif()
  execute_process(COMMAND ${COMPILER} ${flags} -include ${header} -x c++ /dev/null
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX MATCHALL "[^\n]*: (fatal )?error: [^\n]*" errors "${output}")
endmacro()

set(ENV{LC_ALL} C) # GCC translates its messages
set(count 0)
set(most_lines 0)
set(complaints 0)
foreach(header IN LISTS headers)
  check(${header} c++17)
  string(REGEX MATCHALL "\n" lines "${output}")
  list(LENGTH lines lines)
  # The second error stops the compiler.
  if(result EQUAL 0 OR lines GREATER 16
     OR NOT errors MATCHES "^[^;]*sublet needs C[+][+]20: compile with -std=c[+][+]20[^;]*;[^;]*: fatal error: [^;]*$")
    message(NOTICE "${header} prints ${lines} lines:\n${output}")
    math(EXPR complaints "${complaints} + 1")
  endif()
  if(lines GREATER most_lines)
    set(most_lines ${lines})
  endif()
  math(EXPR count "${count} + 1")
endforeach()
message(NOTICE "${count} headers, at most ${most_lines} lines each")
check(sublet/core/units.hpp c++20)
if(NOT result EQUAL 0 OR output)
  message(FATAL_ERROR "as C++20 it does not compile cleanly:\n${output}")
endif()
if(complaints OR count LESS 50)
  message(FATAL_ERROR "${complaints} mistakes, ${count} headers")
endif()
