# SPDX-License-Identifier: BSL-1.0
# What headers.awk prints of sample.hpp is sample.txt; and mistakes are found: check.awk reports exactly those planted in
# planted.xml, and Doxygen, with the settings of the reference, that members of sample.hpp have no text.
#   cmake -DROOT=. -DAWK=awk -DTREE=scratch-folder [-DDOXYGEN=doxygen -DSETTINGS=Doxyfile] -P test/reference/planted.cmake
cmake_minimum_required(VERSION 3.25)
cmake_path(ABSOLUTE_PATH ROOT)
file(REMOVE_RECURSE ${TREE})
file(MAKE_DIRECTORY ${TREE})
set(here ${CMAKE_CURRENT_LIST_DIR})
set(sample include/sublet/graph/sample.hpp)

set(printed)
foreach(essays 0 1)
  execute_process(COMMAND ${AWK} -v includes=include -v essays=${essays} -f ${ROOT}/reference/headers.awk ${sample}
                  WORKING_DIRECTORY ${here} OUTPUT_VARIABLE part COMMAND_ERROR_IS_FATAL ANY)
  string(APPEND printed "${part}")
endforeach()
file(READ ${here}/sample.txt expected)
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR "headers.awk prints something else than sample.txt:\n${printed}")
endif()

file(WRITE ${TREE}/names.txt "function ${sample}\nthing ${sample}\n")
execute_process(COMMAND ${AWK} -v examples=01_lost -f ${here}/check.awk ${TREE}/names.txt ${here}/planted.xml
                OUTPUT_VARIABLE printed RESULT_VARIABLE result)
set(expected "planted.xml: a label that is no section: Requires: a label that stayed text.
planted.xml: without_text names what is not public: sublet::detail::list
planted.xml: without_text is no public name
planted.xml: without_text has no text
planted.xml: hidden_ is private
planted.xml: sublet::detail::base is not public
${sample}: thing has no text
${sample}: is not in the index by task
01_lost: has no page
no section is kind=\"pre\"
no section is <title>Throws
no section is <title>Source
no section is <title>Semantics
2 names, 13 complaints
")
if(result EQUAL 0 OR NOT printed STREQUAL expected)
  message(FATAL_ERROR "check.awk ends with ${result} and prints instead of the planted mistakes:\n${printed}")
endif()

if(DOXYGEN)
  file(READ ${SETTINGS} settings)
  string(APPEND settings "\nINPUT = \"${here}/${sample}\"\nOUTPUT_DIRECTORY = \"${TREE}\"\nUSE_MDFILE_AS_MAINPAGE =\nLAYOUT_FILE =\n"
         "FILTER_PATTERNS = \"*.hpp='${AWK}' -v 'includes=${here}/include' -f '${ROOT}/reference/headers.awk'\"\n")
  file(WRITE ${TREE}/Doxyfile "${settings}")
  execute_process(COMMAND ${DOXYGEN} ${TREE}/Doxyfile ERROR_VARIABLE printed RESULT_VARIABLE result)
  if(result EQUAL 0 OR NOT printed MATCHES "sample.hpp:[0-9]+: [a-z]+: Member without_text\\(\\) "
     OR NOT printed MATCHES "sample.hpp:[0-9]+: [a-z]+: Member list ")
    message(FATAL_ERROR "doxygen ends with ${result} and does not miss the text of members:\n${printed}")
  endif()
endif()
