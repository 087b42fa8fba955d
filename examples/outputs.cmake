# SPDX-License-Identifier: BSL-1.0
# Checks that every program fails with one sentence if its output is lost: on a full disk, in a closed pipe,
# and with standard output closed from the begin.
cmake_minimum_required(VERSION 3.25)

# Adds a test for each program of a folder and its subfolders. All but the numbered ones print their help.
function(outputs_are_checked folder)
  if(NOT EXISTS /dev/full)
    return()
  endif()
  get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(subfolder IN LISTS below)
    outputs_are_checked(${subfolder})
  endforeach()
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "EXECUTABLE" OR target MATCHES "_tests?$")
      continue()
    endif()
    set(arguments --help)
    if(target MATCHES "^[0-9]")
      set(arguments)
    endif()
    add_test(NAME outputs.${target}
             COMMAND ${CMAKE_COMMAND} "-DPROGRAM=$<TARGET_FILE:${target}>;${arguments}"
                     -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
  endforeach()
endfunction()
if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

list(GET PROGRAM 0 file)
cmake_path(GET file FILENAME name)
function(run way script)
  execute_process(COMMAND sh -c "${script}" ${PROGRAM} RESULT_VARIABLE status ERROR_VARIABLE error
                  OUTPUT_VARIABLE ignored)
  set(status ${status} PARENT_SCOPE)
  set(error "${error}" PARENT_SCOPE)
  set(context "${way}: exit status ${status}, stderr:\n${error}" PARENT_SCOPE)
endfunction()

run("as it is" [["$0" "$@"]])
if(NOT status EQUAL 0 OR NOT error STREQUAL "")
  message(FATAL_ERROR "${context}")
endif()

set(fifo ${CMAKE_CURRENT_BINARY_DIR}/outputs_${name}.fifo)
foreach(way IN ITEMS "full disk" "closed pipe" "closed output")
  if(way STREQUAL "full disk")
    run(${way} [["$0" "$@" >/dev/full]])
  elseif(way STREQUAL "closed pipe") # closed for reading before the program begins
    file(REMOVE ${fifo})
    run(${way} "mkfifo '${fifo}' && exec 3<>'${fifo}' 4>'${fifo}' 3>&- && \"$0\" \"$@\" >&4")
    file(REMOVE ${fifo})
  else()
    run(${way} [["$0" "$@" >&-]])
  endif()
  if(NOT status EQUAL 2 OR NOT error STREQUAL "${name}: standard output cannot be written\n")
    message(FATAL_ERROR "${context}")
  endif()
endforeach()
