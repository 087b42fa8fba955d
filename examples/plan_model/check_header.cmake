# SPDX-License-Identifier: BSL-1.0
# Writes both headers of a plan by PROGRAM with the words of ARGS in the folder WORK, as NAME.hpp and NAME.h. They
# compile without a warning with CXX, as C++17 and C++20, as C99, C11 and C++11; both say the same of every value;
# the command in their first comment makes them again. An edited header does not compile.
# EDITS: a list of "file|text|text in its place|what the compiler says", the texts are regular expressions.
# VALUES: a list of identifiers that some values have. SCOPE: the namespace (default: NAME).
cmake_minimum_required(VERSION 3.25)
separate_arguments(ARGS UNIX_COMMAND "${ARGS}")
if(NOT SCOPE)
  set(SCOPE ${NAME})
endif()
string(TOUPPER ${SCOPE} upper)
set(folder ${WORK}/headers/${NAME})
file(MAKE_DIRECTORY ${folder})

execute_process(COMMAND ${PROGRAM} ${ARGS} --quiet --header ${folder}/${NAME}.hpp --c-header ${folder}/${NAME}.h
                WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY)
foreach(kind IN ITEMS hpp h)
  set(file ${folder}/${NAME}.${kind})
  file(READ ${file} text)
  if(NOT text MATCHES "To make it again:\n[ /*]+  plan_model ([^\n]*)\n")
    message(FATAL_ERROR "${file} does not say how to make it again")
  endif()
  set(command "${CMAKE_MATCH_1}")
  if(text MATCHES "${WORK}")
    message(FATAL_ERROR "${file} has the path of a folder")
  endif()
  file(RENAME ${file} ${folder}/first.${kind})
  execute_process(COMMAND sh -c "cd '${WORK}' && '${PROGRAM}' --quiet ${command} && mv '${NAME}.${kind}' '${folder}'"
                  COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${file} ${folder}/first.${kind} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

set(flags -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror)
function(compile file as result)
  execute_process(COMMAND ${CXX} ${as} ${flags} -fsyntax-only ${folder}/${file}
                  RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  set(${result} ${status} PARENT_SCOPE)
  set(said "${said}" PARENT_SCOPE)
endfunction()

set(uses_cpp)
set(uses_c)
foreach(value IN LISTS VALUES)
  string(APPEND uses_cpp "static_assert(${SCOPE}::offset_of_${value} % ${SCOPE}::arena_alignment == 0, \"\");\n")
  string(APPEND uses_c "unsigned char take_${value}[1 + ${upper}_OFFSET_OF_${value} + ${upper}_LAST_STEP_OF_${value}];\n")
endforeach()
file(WRITE ${folder}/use.cpp "#include \"${NAME}.hpp\"\n#include \"${NAME}.hpp\"\n${uses_cpp}int main() {}\n")
file(WRITE ${folder}/use.c "#include \"${NAME}.h\"\n#include \"${NAME}.h\"\n${uses_c}int main(void) { return 0; }\n")
foreach(call "use.cpp|-std=c++17" "use.cpp|-std=c++20" "use.c|-xc -std=c99" "use.c|-xc -std=c11"
             "use.c|-xc++ -std=c++11")
  string(REPLACE "|" ";" call "${call}")
  list(GET call 1 as)
  list(GET call 0 file)
  separate_arguments(as)
  compile(${file} "${as}" status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${file} as ${as}: does not compile without warnings:\n${said}")
  endif()
endforeach()

# Both headers, value by value.
file(READ ${folder}/${NAME}.hpp text)
if(text MATCHES "row rows")
  file(WRITE ${folder}/both.cpp "#include \"${NAME}.hpp\"
#include \"${NAME}.h\"
#include <cstring>
int main()
{
    if (${SCOPE}::arena_bytes != ${upper}_ARENA_BYTES || ${SCOPE}::arena_alignment != ${upper}_ARENA_ALIGNMENT) return 1;
    if (${SCOPE}::value_count != ${upper}_VALUE_COUNT || ${SCOPE}::step_count != ${upper}_STEP_COUNT) return 1;
    for (unsigned i = 0; i != ${upper}_VALUE_COUNT; ++i) {
        ${SCOPE}::row const& a = ${SCOPE}::rows[i];
        ${SCOPE}_row const& b = ${SCOPE}_rows[i];
        if (std::strcmp(a.name, b.name) != 0 || a.buffer != b.buffer || a.offset != b.offset) return 1;
        if (a.bytes != b.bytes || a.first != b.first || a.last != b.last) return 1;
    }
}
")
  execute_process(COMMAND ${CXX} -std=c++17 ${flags} -o ${folder}/both ${folder}/both.cpp COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${folder}/both COMMAND_ERROR_IS_FATAL ANY)
endif()

foreach(edit IN LISTS EDITS)
  string(REGEX MATCH "^([a-z]+)[|]([^|]*)[|]([^|]*)[|](.*)$" edit "${edit}")
  set(kind ${CMAKE_MATCH_1})
  set(from "${CMAKE_MATCH_2}")
  set(to "${CMAKE_MATCH_3}")
  set(expected "${CMAKE_MATCH_4}")
  file(READ ${folder}/first.${kind} text)
  string(REGEX REPLACE "${from}" "${to}" edited "${text}")
  if(edited STREQUAL text)
    message(FATAL_ERROR "${NAME}.${kind} has no ${from}")
  endif()
  file(WRITE ${folder}/${NAME}.${kind} "${edited}")
  if(kind STREQUAL "hpp")
    set(calls "use.cpp|-std=c++17")
  else()
    set(calls "use.c|-xc -std=c99" "use.c|-xc -std=c11" "use.c|-xc++ -std=c++11")
  endif()
  foreach(call IN LISTS calls)
    string(REPLACE "|" ";" call "${call}")
    list(GET call 1 as)
    list(GET call 0 file)
    separate_arguments(as)
    compile(${file} "${as}" status)
    if(status EQUAL 0)
      message(FATAL_ERROR "${NAME}.${kind} with ${to}: compiles as ${as}, and must not")
    elseif(NOT as MATCHES "c99" AND NOT said MATCHES "${expected}")
      message(FATAL_ERROR "${NAME}.${kind} with ${to}: does not say ${expected}:\n${said}")
    endif()
  endforeach()
  file(WRITE ${folder}/${NAME}.${kind} "${text}")
endforeach()
