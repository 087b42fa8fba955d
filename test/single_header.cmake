# SPDX-License-Identifier: BSL-1.0
# A program that has the single header only:  cmake -DROOT=... -DWORK=... -DCOMPILER=... -P single_header.cmake
function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${ROOT} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(result)
    message(FATAL_ERROR "${ARGN}: ${result}\n${output}${error}")
  endif()
endfunction()
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
execute_process(COMMAND awk -f include/single_header.awk sublet.hpp WORKING_DIRECTORY ${ROOT}
                OUTPUT_FILE ${WORK}/sublet-single.hpp RESULT_VARIABLE result)
if(result)
  message(FATAL_ERROR "no single header is made")
endif()
file(READ ${ROOT}/test/consumer/main.cpp program)
string(REPLACE "<sublet/plan_memory.hpp>" "\"sublet-single.hpp\"" program "${program}")
file(WRITE ${WORK}/main.cpp "${program}")
run(${COMPILER} -std=c++20 -Wall -Wextra -Werror ${WORK}/main.cpp -o ${WORK}/program)
run(${WORK}/program)

# A header that does not exist leaves no header that looks right.
execute_process(COMMAND awk -f include/single_header.awk none.hpp WORKING_DIRECTORY ${ROOT}
                OUTPUT_QUIET ERROR_VARIABLE error RESULT_VARIABLE result)
if(NOT result EQUAL 2 OR NOT error MATCHES "none.hpp: cannot be read")
  message(FATAL_ERROR "a missing header: ${result} ${error}")
endif()
