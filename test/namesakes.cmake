# SPDX-License-Identifier: BSL-1.0
# Every header has the test of its name, in the folder of its name.
#   cmake -DROOT=. -P test/namesakes.cmake
cmake_minimum_required(VERSION 3.25)

set(missing 0)
file(GLOB_RECURSE headers RELATIVE ${ROOT}/include/sublet ${ROOT}/include/sublet/*.hpp)
foreach(header IN LISTS headers)
  string(REGEX REPLACE "\\.hpp$" ".cpp" namesake ${header})
  if(NOT EXISTS ${ROOT}/test/${namesake})
    message(NOTICE "${header}: has no test/${namesake}")
    math(EXPR missing "${missing} + 1")
  endif()
endforeach()
if(missing)
  message(FATAL_ERROR "${missing} headers without a test")
endif()
