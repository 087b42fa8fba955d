# SPDX-License-Identifier: BSL-1.0
# Writes a plan for every shape by PROGRAM with the words of ARGS in the folder WORK, as functions of C in NAME.h. They
# compile without a warning with CXX as C99 and C++11, and give the bytes that PROGRAM prints for each shape; the command
# in their first comment makes them again.
cmake_minimum_required(VERSION 3.25)
separate_arguments(ARGS UNIX_COMMAND "${ARGS}")
set(folder ${WORK}/functions/${NAME})
file(MAKE_DIRECTORY ${folder})
execute_process(COMMAND ${PROGRAM} ${ARGS} --c-header ${folder}/${NAME}.h WORKING_DIRECTORY ${WORK}
                OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
file(READ ${folder}/${NAME}.h text)
if(NOT text MATCHES "To make it again:\n[ /*]+  plan_model ([^\n]*)\n")
  message(FATAL_ERROR "${NAME}.h does not say how to make it again")
endif()
set(command "${CMAKE_MATCH_1}")
file(RENAME ${folder}/${NAME}.h ${folder}/first.h)
execute_process(COMMAND sh -c "cd '${WORK}' && '${PROGRAM}' --quiet ${command} && mv '${NAME}.h' '${folder}'"
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${folder}/${NAME}.h ${folder}/first.h COMMAND_ERROR_IS_FATAL ANY)

set(tries)
string(REGEX MATCHALL "shape_[0-9]+: [^\n]*\narena_bytes_at_[0-9]+: [0-9]+" shapes "${printed}")
if(NOT shapes)
  message(FATAL_ERROR "no shape is printed: ${printed}")
endif()
foreach(shape IN LISTS shapes)
  string(REGEX MATCH "[0-9]+$" bytes "${shape}")
  string(REGEX MATCH ": ([^\n]*)\n" sizes "${shape}")
  string(REGEX MATCHALL "=[0-9]+" sizes "${CMAKE_MATCH_1}")
  list(JOIN sizes "," sizes)
  string(REPLACE "=" "" sizes "${sizes}")
  string(APPEND tries "    failed |= differs(${bytes}, try_shape(${sizes}));\n")
endforeach()
set(parameters)
set(arguments)
set(i 0)
string(REPLACE "," ";" sizes "${sizes}")
foreach(size IN LISTS sizes)
  list(APPEND parameters "long long a${i}")
  list(APPEND arguments "a${i}")
  math(EXPR i "${i} + 1")
endforeach()
list(JOIN parameters ", " parameters)
list(JOIN arguments ", " arguments)
file(WRITE ${folder}/use.c "#include \"${NAME}.h\"
#include \"${NAME}.h\"
static long long size[${NAME}_buffers + 1], offset[${NAME}_buffers + 1], bytes[${NAME}_pools], at[${NAME}_count + 1];
static long long try_shape(${parameters})
{
    int v, found = 0;
    ${NAME}_place(${arguments}, size, offset, bytes);
    ${NAME}_values(${arguments}, offset, at);
    for (v = 0; v != ${NAME}_count; ++v) {
        found += at[v] >= 0;
        if (at[v] < -1 || at[v] > bytes[0]) return -1;
    }
    return found < ${NAME}_buffers ? -2 : bytes[0];
}
static int differs(long long expected, long long is) { return expected != is; }
int main(void)
{
    int failed = 0;
${tries}    return failed;
}
")
foreach(as "-xc -std=c99" "-xc++ -std=c++11")
  separate_arguments(as)
  execute_process(COMMAND ${CXX} ${as} -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror -o ${folder}/use
                          ${folder}/use.c COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${folder}/use RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "the functions give other bytes than are printed")
  endif()
endforeach()
