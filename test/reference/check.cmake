# SPDX-License-Identifier: BSL-1.0
# Builds the reference and checks its pages.
#   cmake -DROOT=. -DBUILD=build -DAWK=awk -P test/reference/check.cmake
cmake_minimum_required(VERSION 3.25)
cmake_path(ABSOLUTE_PATH ROOT)

execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target docs COMMAND_ERROR_IS_FATAL ANY)
set(docs ${BUILD}/docs)
file(GLOB pages ${docs}/xml/*.xml)
file(GLOB examples RELATIVE ${ROOT}/examples ${ROOT}/examples/[0-9][0-9]_*.cpp)
string(REPLACE ".cpp" "" examples "${examples}")
list(JOIN examples " " examples)
execute_process(COMMAND ${AWK} -v examples=${examples} -f ${CMAKE_CURRENT_LIST_DIR}/check.awk ${docs}/names.txt ${pages}
                RESULT_VARIABLE result)
if(result)
  message(FATAL_ERROR "the reference is not complete")
endif()
# Doxygen does not warn of Markdown that it takes for something else.
foreach(name IN ITEMS index guide building examples_readme how_it_works)
  file(READ ${docs}/html/${name}.html page)
  string(REGEX MATCH "..........................(ilinebr|@code|@ref|&lt;t[dhr]|&lt;h[1-9]|&amp;#)[^\n]*" left "${page}")
  if(left)
    message(FATAL_ERROR "${name}.html shows commands of Doxygen: ${left}")
  endif()
endforeach()
# Only the HTML has the links from a function to its examples, and from an example to the functions.
file(READ ${docs}/html/group__header__plan__memory.html page)
if(NOT page MATCHES "class=.section examples.*01_first_plan_8cpp-example")
  message(FATAL_ERROR "plan_memory() has no link to an example")
endif()
file(READ ${docs}/html/01_first_plan_8cpp-example.html page)
if(NOT page MATCHES "href=.group__header__plan__memory.html#[^>]*>sublet::plan_memory<")
  message(FATAL_ERROR "the first example has no link to plan_memory()")
endif()
