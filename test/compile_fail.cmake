# SPDX-License-Identifier: BSL-1.0
# A wrong program must not compile, and must give one error that says why. Its first lines state:
#     // expect: <regex that the compiler's output matches>
#     // flags: <further flags>                                (optional)
#     // lines: <the most lines that g++ may print>            (optional; 20)
#     // cases: <number of wrong programs in the file, compiled with -DCASE=1, 2 ...; 0 is right>  (optional: one)
#     // begins in the library                                 (optional: the first line names no file of the user)
# Programs named ok_*.cpp are the control group: they must compile without a message, or else the wrong ones
# might fail for another reason, such as a missing header. The errors must be the same in both forms of the
# library; -DHEADER_ONLY=ON selects the header-only form.
#   cmake -DCOMPILER=c++ -DINCLUDE=include -DSOURCE=test/compile_fail/x.cpp -P test/compile_fail.cmake
cmake_minimum_required(VERSION 3.25)

file(READ ${SOURCE} text LIMIT 2000)
string(REGEX MATCH "// flags: ([^\n]*)" unused "${text}")
separate_arguments(flags UNIX_COMMAND "${CMAKE_MATCH_1}")
if(NOT HEADER_ONLY)
  list(PREPEND flags -DSUBLET_SEPARATE_COMPILATION)
endif()
set(ENV{LC_ALL} C) # GCC translates its messages and its quotes
cmake_path(GET SOURCE STEM name)
execute_process(COMMAND ${COMPILER} --version OUTPUT_VARIABLE version)
set(cases 1)
if(text MATCHES "\n// cases: ([0-9]+)")
  set(cases ${CMAKE_MATCH_1})
  set(control 0)
endif()

function(compile case)
  execute_process(COMMAND ${COMPILER} -std=c++20 -Wall -Wextra -Wpedantic -fsyntax-only
                          -I${INCLUDE} -DCASE=${case} ${flags} ${SOURCE}
                  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  # If g++ cannot deduce a class, it reports one error for that and another with the reason: they count as one.
  string(REPLACE "error: class template argument deduction failed" "" counted "${output}")
  # Errors at one position are one mistake: designators out of order also leave out what they pass over.
  string(REGEX MATCHALL "[^\n ]*:[0-9]+: (fatal )?error: " errors "${counted}")
  list(REMOVE_DUPLICATES errors)
  list(LENGTH errors errors)
  string(REGEX MATCHALL "\n" lines "${output}")
  list(LENGTH lines lines)
  set(most_lines 20)
  if(text MATCHES "\n// lines: ([0-9]+)")
    set(most_lines ${CMAKE_MATCH_1})
  endif()
  string(REGEX REPLACE "\n.*" "" first_line "${output}")
  message(NOTICE "${output}")

  if(name MATCHES "^ok_" OR case EQUAL 0)
    if(NOT result EQUAL 0 OR output)
      message(FATAL_ERROR "case ${case}: does not compile cleanly")
    endif()
  elseif(NOT text MATCHES "^// expect: ([^\n]+)\n")
    message(FATAL_ERROR "case ${case}: the first line is not \"// expect: <regex>\"")
  elseif(result EQUAL 0)
    message(FATAL_ERROR "case ${case}: compiles, and must not")
  elseif(NOT errors EQUAL 1)
    message(FATAL_ERROR "case ${case}: gives ${errors} errors instead of one")
  else()
    string(REGEX REPLACE "^// expect: ([^\n]+)\n.*" "\\1" expected "${text}")
    if(NOT output MATCHES "${expected}")
      message(FATAL_ERROR "case ${case}: does not say \"${expected}\"")
    endif()
    if(version MATCHES "Free Software Foundation") # clang lists every overload
      if(lines GREATER ${most_lines})
        message(FATAL_ERROR "case ${case}: prints ${lines} lines instead of at most ${most_lines}")
      endif()
      if(NOT text MATCHES "\n// begins in the library\n" AND NOT first_line MATCHES "/${name}[.]cpp")
        message(FATAL_ERROR "case ${case}: begins with a line about the library: ${first_line}")
      endif()
    endif()
  endif()
endfunction()

if(DEFINED control)
  compile(${control})
endif()
foreach(case RANGE 1 ${cases})
  compile(${case})
endforeach()
