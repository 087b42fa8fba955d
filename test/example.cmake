# SPDX-License-Identifier: BSL-1.0
# Runs an example and compares its output with the expected file.
#   cmake -DPROGRAM=build/examples/NAME -DEXPECTED=examples/expected/NAME.txt -P test/example.cmake
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE result OUTPUT_VARIABLE printed)
message(NOTICE "${printed}")
if(NOT result EQUAL 0)
  message(FATAL_ERROR "exits with ${result}")
endif()
file(READ ${EXPECTED} expected)
if(NOT printed STREQUAL expected)
  message(NOTICE "instead of\n${expected}")
  message(FATAL_ERROR "prints something else than ${EXPECTED}")
endif()
