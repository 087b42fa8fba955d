# SPDX-License-Identifier: BSL-1.0
# Counts, and fails above a budget:
#   the names that public headers declare, with the types that these declare in turn: before you add one, ask what the
#   user would call, and look for an existing name that says it;
#   the share of public headers that lies in namespace detail: insides belong in detail/ or internal/;
#   the lines of each file: one subject a file, about 500 lines. What is longer is listed here, with its reason.
#   cmake -DROOT=. [-DPRINT=ON] -P test/budget.cmake          PRINT: names and shares by header, the longest files
cmake_minimum_required(VERSION 3.25)
cmake_path(ABSOLUTE_PATH ROOT)

set(most_names 395) # advise_limits, with schedules(), its checker and the types of both, nested_executor, formulas, aliases(), waits(), carry, penalty
set(most_detail 15) # percent of all lines of code
set(most_lines 600)
set(long_reporting/detail/html_script.hpp "made of page/, where the script and the style are files")
set(long_core/detail/counterexample_text.hpp "one sentence for each fault")

set(over)
file(GLOB_RECURSE files RELATIVE ${ROOT}/include/sublet ${ROOT}/include/sublet/*.hpp ${ROOT}/include/sublet/*.ipp)
set(lengths)
foreach(file IN LISTS files)
  file(READ ${ROOT}/include/sublet/${file} text)
  string(REGEX REPLACE "[^\n]" "" text "${text}")
  string(LENGTH "${text}" count)
  list(APPEND lengths "${count} ${file}")
  if(count GREATER most_lines AND NOT DEFINED long_${file})
    list(APPEND over "${file} has ${count} lines: more than one subject?")
  elseif(NOT count GREATER most_lines AND DEFINED long_${file})
    list(APPEND over "${file} has ${count} lines, and needs no reason")
  endif()
endforeach()

set(public ${files})
list(FILTER public EXCLUDE REGEX "(^|/)(detail|internal|impl)/|^src[.]hpp$|[.]ipp$")
list(TRANSFORM public PREPEND ${ROOT}/include/sublet/)
find_program(AWK NAMES awk)
set(count 0)
set(share 0)
if(AWK AND public)
  execute_process(COMMAND ${AWK} -v nested=1 -f ${CMAKE_CURRENT_LIST_DIR}/public_names.awk ${public}
                  OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "\n" found "${names}")
  list(LENGTH found count)
  execute_process(COMMAND ${AWK} -f ${CMAKE_CURRENT_LIST_DIR}/detail_lines.awk ${public}
                  OUTPUT_VARIABLE shares COMMAND_ERROR_IS_FATAL ANY)
  if(shares MATCHES "([0-9]+) ([0-9]+) all")
    math(EXPR share "(100 * ${CMAKE_MATCH_1} + ${CMAKE_MATCH_2} - 1) / ${CMAKE_MATCH_2}")
  endif()
endif()
if(count GREATER most_names)
  list(APPEND over "names: ${count} of ${most_names}")
endif()
if(share GREATER most_detail)
  list(APPEND over "namespace detail has ${share} % of the code of public headers, of ${most_detail}")
endif()
if(PRINT)
  list(SORT lengths COMPARE NATURAL ORDER DESCENDING)
  list(SUBLIST lengths 0 20 longest)
  list(JOIN longest "\n" longest)
  message(NOTICE "${names}${shares}${longest}")
endif()
message(NOTICE "names: ${count} of ${most_names}; in namespace detail: ${share} % of ${most_detail}")
if(over)
  list(JOIN over "\n" over)
  message(FATAL_ERROR "over the budget:\n${over}")
endif()
