# SPDX-License-Identifier: BSL-1.0
# Interrupts PROGRAM, at once, soon, and in the middle of a search that does not end by itself: it stops with the
# best placement found so far, and writes all rows of it. Before the program has begun, the signal ends it or is lost.
cmake_minimum_required(VERSION 3.25)
file(MAKE_DIRECTORY ${WORK})

# 150 buffers with alignments from 1 to 32: no search ends soon.
set(rows "id,lower,upper,size,alignment\n")
set(state 1)
macro(draw below result)
  math(EXPR state "(${state} * 1103515245 + 12345) & 0x7fffffff")
  math(EXPR ${result} "(${state} >> 8) % ${below}")
endmacro()
foreach(i RANGE 1 150)
  draw(40 first)
  draw(12 more)
  draw(90 less)
  draw(6 shift)
  math(EXPR end "${first} + 1 + ${more}")
  math(EXPR size "1 + ${less}")
  math(EXPR alignment "1 << ${shift}")
  string(APPEND rows "b${i},${first},${end},${size},${alignment}\n")
endforeach()
file(WRITE ${WORK}/open.csv "${rows}")

function(interrupt limit when)
  file(REMOVE ${WORK}/best.csv)
  execute_process(
    COMMAND sh -c "\"$0\" --minimize --input=open.csv --output=best.csv --time-limit=${limit} >out.txt 2>err.txt &
                   ${when}; kill -INT $!; wait $!" ${PROGRAM}
    WORKING_DIRECTORY ${WORK} RESULT_VARIABLE status)
  if(status EQUAL 130 AND NOT EXISTS ${WORK}/best.csv)
    return()
  endif()
  file(READ ${WORK}/out.txt out)
  if(NOT status EQUAL 3 OR NOT out MATCHES "status: feasible\n")
    message(FATAL_ERROR "exit status ${status}, expected 3 and a placement after ${when}: ${out}")
  endif()
  file(STRINGS ${WORK}/best.csv lines)
  list(LENGTH lines count)
  list(FILTER lines INCLUDE REGEX "^b[0-9]+,[0-9]+,[0-9]+,[0-9]+,[0-9]+,[0-9]+$")
  list(LENGTH lines placed)
  if(NOT count EQUAL 151 OR NOT placed EQUAL 150)
    message(FATAL_ERROR "${placed} rows of 150 in ${count} lines after ${when}")
  endif()
  set(printed "${out}" PARENT_SCOPE)
endfunction()

foreach(when IN ITEMS ": at once" "sleep 0.005" "sleep 0.02" "sleep 0.1")
  interrupt(2 ${when})
endforeach()
# The first line of progress shows that the search has begun.
file(REMOVE ${WORK}/err.txt)
set(printed "")
interrupt(100 ": >>err.txt; for i in $(seq 3000); do grep -q found err.txt && break; sleep 0.1; done")
if(NOT printed MATCHES "seconds: [0-9]?[0-9][.]")
  message(FATAL_ERROR "the search went on: ${printed}")
endif()
