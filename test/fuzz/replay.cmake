# SPDX-License-Identifier: BSL-1.0
# Runs a test case on inputs that a fuzzer found: lines of FILE, hexadecimal, after one that names the test.
#   cmake -DPROGRAM=... -DFILE=... -P replay.cmake
file(STRINGS ${FILE} inputs)
list(POP_FRONT inputs test)
string(REGEX REPLACE "^[^:]*: " "" test "${test}")
if(NOT inputs)
  message(FATAL_ERROR "${FILE} has no input")
endif()
foreach(bytes IN LISTS inputs)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env SUBLET_BYTES=${bytes} ${PROGRAM} "--test-case=${test}"
                  OUTPUT_VARIABLE printed ERROR_VARIABLE printed RESULT_VARIABLE status)
  if(NOT status EQUAL 0 OR NOT printed MATCHES "test cases: +1 ")
    message(SEND_ERROR "SUBLET_BYTES=${bytes} ${PROGRAM} '--test-case=${test}'\n${printed}")
  endif()
endforeach()
