# SPDX-License-Identifier: BSL-1.0
# Every header has the test of its name, in the folder of its name, which includes it first: where each test is
# compiled by itself, every header is seen to stand alone.
#   cmake -DROOT=. -P test/namesakes.cmake
cmake_minimum_required(VERSION 3.25)

set(missing 0)
file(GLOB_RECURSE headers RELATIVE ${ROOT}/include/sublet ${ROOT}/include/sublet/*.hpp)
list(FILTER headers EXCLUDE REGEX "^src[.]hpp$|(^|/)impl/") # definitions, which are tested with what declares them
foreach(header IN LISTS headers)
  string(REGEX REPLACE "\\.hpp$" ".cpp" namesake ${header})
  if(NOT EXISTS ${ROOT}/test/${namesake})
    message(NOTICE "${header}: has no test/${namesake}")
    math(EXPR missing "${missing} + 1")
    continue()
  endif()
  file(STRINGS ${ROOT}/test/${namesake} first REGEX "^#" LIMIT_COUNT 1)
  if(NOT first STREQUAL "#include <sublet/${header}>")
    message(NOTICE "${header}: test/${namesake} includes another one before")
    math(EXPR missing "${missing} + 1")
  endif()
endforeach()
if(missing)
  message(FATAL_ERROR "${missing} headers without a test that begins with them")
endif()
