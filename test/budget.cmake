# SPDX-License-Identifier: BSL-1.0
# Counts headers, definitions, public headers and the names that these declare, and fails where one is over its budget:
# before a file or a public name is added, look for the one that it belongs to.
#   cmake -DROOT=. [-DPRINT=ON] -P test/budget.cmake          PRINT: every public name, with its header
cmake_minimum_required(VERSION 3.25)
cmake_path(ABSOLUTE_PATH ROOT)

set(most_headers 125)
set(most_definitions 88)
set(most_public 60)
set(most_names 407) # still too many: 220 would be right

file(GLOB_RECURSE headers ${ROOT}/include/sublet/*.hpp)
file(GLOB_RECURSE definitions ${ROOT}/include/sublet/*.ipp)
set(public ${headers})
list(FILTER public EXCLUDE REGEX "/(detail|impl)/|/src[.]hpp$")
foreach(what headers definitions public)
  list(LENGTH ${what} count_${what})
endforeach()
find_program(AWK NAMES awk)
if(AWK AND public)
  execute_process(COMMAND ${AWK} -f ${CMAKE_CURRENT_LIST_DIR}/public_names.awk ${public} OUTPUT_VARIABLE found
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "\n" names "${found}")
  list(LENGTH names count_names)
  if(PRINT)
    message(NOTICE "${found}")
  endif()
else()
  set(count_names 0)
endif()
set(over 0)
foreach(what headers definitions public names)
  message(NOTICE "${what}: ${count_${what}} of ${most_${what}}")
  if(count_${what} GREATER most_${what})
    set(over 1)
  endif()
endforeach()
if(over)
  message(FATAL_ERROR "over the budget")
endif()
