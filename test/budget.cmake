# SPDX-License-Identifier: BSL-1.0
# Counts the names that public headers declare, and fails if there are more than the budget: before you add one,
# ask what the user would call, and look for an existing name that says it.
#   cmake -DROOT=. [-DPRINT=ON] -P test/budget.cmake          PRINT: every public name, with its header
cmake_minimum_required(VERSION 3.25)
cmake_path(ABSOLUTE_PATH ROOT)

set(most_names 240)

file(GLOB_RECURSE public ${ROOT}/include/sublet/*.hpp)
list(FILTER public EXCLUDE REGEX "/(detail|internal|impl)/|/src[.]hpp$")
find_program(AWK NAMES awk)
if(AWK AND public)
  execute_process(COMMAND ${AWK} -f ${CMAKE_CURRENT_LIST_DIR}/public_names.awk ${public} OUTPUT_VARIABLE found
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "\n" names "${found}")
  list(LENGTH names count)
  if(PRINT)
    message(NOTICE "${found}")
  endif()
else()
  set(count 0)
endif()
message(NOTICE "names: ${count} of ${most_names}")
if(count GREATER most_names)
  message(FATAL_ERROR "over the budget")
endif()
