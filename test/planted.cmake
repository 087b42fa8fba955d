# SPDX-License-Identifier: BSL-1.0
# Plants mistakes in a small source tree and expects layers.cmake and systems.cmake to report exactly these.
#   cmake -DTREE=scratch-folder -P test/planted.cmake
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${TREE})
set(umbrella)
set(layers)

# A header with these lines, listed correctly, and the complaint of layers.cmake about it.
function(plant header text complaint)
  file(WRITE ${TREE}/include/sublet/${header} "${text}\n")
  file(APPEND ${TREE}/CMakeLists.txt "include/sublet/${header}\n")
  if(complaint)
    set(layers "${layers}${header}: ${complaint}\n" PARENT_SCOPE)
  endif()
  if(NOT header MATCHES "^(adapt|execution)|(detail|internal)/")
    set(umbrella "${umbrella}#include <sublet/${header}>\n" PARENT_SCOPE)
  endif()
endfunction()

plant(adapt/fine.hpp "#include <boost/graph/graph_traits.hpp>\n#include <sublet/graph/concepts.hpp>" "")
plant(analysis/back.hpp "#include <sublet/sharing/linear.hpp>" "may not include <sublet/sharing/linear.hpp>")
plant(analysis/detail/fine.hpp "#include <sublet/structures/internal/range_sets.hpp>" "")
plant(analysis/fine.hpp "#include <vector>\n// #include <iostream>\n#include <sublet/graph/snapshot.hpp>" "")
plant(analysis/heavy.hpp "#include <iostream>" "is too expensive for a header: <iostream>")
plant(analysis/quoted.hpp "#include \"sublet/core/units.hpp\""
      "includes a file of the library in quotes: \"sublet/core/units.hpp\"")
plant(checking/curious.hpp "#include <sublet/graph/program.hpp>\n#include <sublet/structures/internal/range_sets.hpp>"
      "may not include <sublet/structures/internal/range_sets.hpp>")
plant(checking/friendly.hpp "#include <sublet/analysis/lifetimes.hpp>"
      "may not include <sublet/analysis/lifetimes.hpp>")
plant(core/units.hpp "#include <sublet/core/plan.hpp>\n#include <sublet/plan_memory.hpp> // why not"
      "may not include <sublet/plan_memory.hpp>")
plant(execution/fine.hpp "#include <memory>\n#include <sublet/checking/check_plan.hpp>" "")
plant(graph/boosted.hpp "  #  include <boost/graph/graph_traits.hpp>"
      "only adapt/ may include Boost: <boost/graph/graph_traits.hpp>")
plant(graph/jsonic.hpp "#include <nlohmann/json.hpp>" "only adapt/ may include nlohmann's JSON: <nlohmann/json.hpp>")
plant(homeless/fine.hpp "" "is in no stage of the table")
plant(placement/detail/shapes.hpp "#include <sublet/core/plan.hpp>" "")
plant(placement/internal/fine.hpp "#include <sublet/placement/detail/shapes.hpp>" "")
plant(placement/fine.hpp "#include <sublet/core/units.hpp>\n#include <sublet/placement/detail/shapes.hpp>" "")
plant(placement/graphic.hpp "#include <sublet/graph/snapshot.hpp>"
      "may not include <sublet/graph/snapshot.hpp>")
plant(plan_memory.hpp "#include <sublet/placement/internal/fine.hpp>" "")
plant(plan_flow.hpp "#include <sublet/placement/detail/shapes.hpp>"
      "may not include <sublet/placement/detail/shapes.hpp>: it is internal to another stage")
plant(sharing/greedy.hpp "#include <sublet/placement/internal/fine.hpp>"
      "may not include <sublet/placement/internal/fine.hpp>")

# Definitions: correct ones; of a header that does not exist; not included; with internal names; in a cycle.
plant(analysis/split.hpp "#include <sublet/analysis/impl/split.ipp>" "")
file(WRITE ${TREE}/include/sublet/analysis/impl/split.ipp
     "#include <algorithm>\n#include <sublet/analysis/split.hpp>\nnamespace sublet {\n")
plant(analysis/detail/inner.hpp "#include <sublet/analysis/impl/inner.ipp>" "")
file(WRITE ${TREE}/include/sublet/analysis/impl/inner.ipp "#include <sublet/analysis/detail/inner.hpp>\n")
plant(checking/one.hpp "#include <sublet/checking/impl/one.ipp>" "")
file(WRITE ${TREE}/include/sublet/checking/impl/one.ipp "#include <sublet/checking/two.hpp>\n")
plant(checking/two.hpp "#include <sublet/checking/one.hpp>" "")
file(WRITE ${TREE}/include/sublet/checking/impl/lost.ipp "#include <sublet/structures/internal/range_sets.hpp>\n")
file(WRITE ${TREE}/include/sublet/checking/impl/two.ipp "#include <vector>\nnamespace {\n")
file(WRITE ${TREE}/include/sublet/impl/src/analysis.hpp
     "#include <sublet/analysis/impl/inner.ipp>\n#include <sublet/analysis/impl/split.ipp>\n")
file(WRITE ${TREE}/include/sublet/impl/src/checking.hpp "#include <sublet/checking/impl/one.ipp>\n")

string(REPLACE "#include <sublet/homeless/fine.hpp>\n" "" umbrella "${umbrella}")
plant(sublet.hpp "${umbrella}#include <sublet/analysis/detail/fine.hpp>" "")

# A header that no list names.
file(WRITE ${TREE}/include/sublet/core/symbolic_plan.hpp "")
set(lost "checking/impl/lost.ipp: defines what checking/lost.hpp does not declare: it does not exist\n"
         "checking/impl/lost.ipp: is not included by impl/src/checking.hpp\n"
         "checking/impl/lost.ipp: may not include <sublet/structures/internal/range_sets.hpp>\n"
         "checking/impl/two.ipp: is not included by checking/two.hpp\n"
         "checking/impl/two.ipp: is not included by impl/src/checking.hpp\n"
         "checking/impl/two.ipp: has names with internal linkage: in the header-only form each file would have its own\n")
string(JOIN "" lost ${lost})
string(REGEX REPLACE "(checking/friendly[^\n]*\n)" "\\1${lost}" layers "${layers}")
string(REGEX REPLACE "(analysis/heavy[^\n]*\n)"
       "analysis/detail/fine.hpp: is in the umbrella, which is for public headers\n\\1" layers "${layers}")
string(CONCAT lost "core/symbolic_plan.hpp: is not in the list of headers in CMakeLists.txt\n"
                   "core/symbolic_plan.hpp: is not in the umbrella\n")
string(REGEX REPLACE "(core/units.hpp: [^\n]*\n)" "${lost}\\1" layers "${layers}")
string(APPEND layers "sublet.hpp: may not include <sublet/analysis/detail/fine.hpp>: it is internal to another stage\n"
                     "checking/one.hpp, checking/two.hpp: include each other, some by their definitions\n")

# An example that uses an internal header, and one that does not.
file(WRITE ${TREE}/examples/fine.cpp "#include <sublet/plan_memory.hpp>\n")
file(WRITE ${TREE}/examples/inner.hpp "#include <sublet/placement/detail/shapes.hpp>\n")
string(APPEND layers "examples/inner.hpp: uses an internal header: "
                     "#include <sublet/placement/detail/shapes.hpp>\n")

# A table of the systems with a row without a test, rows with missing tests, a missing row, an unknown row and
# a duplicate row.
string(CONCAT cases "TEST_CASE(\"one; [two]\")\nTEST_CASE(\n    \"a sentence that is \"\n    \"split\")\n"
                    "// TEST_CASE of a sentence\n")
file(WRITE ${TREE}/test/shown.cpp "${cases}")
set(table "| row | feature | shown by |\n|---|---|---|\n")
function(row name shown)
  set(table "${table}| ${name} | what it does | ${shown} |\n" PARENT_SCOPE)
endfunction()
set(good "`test/shown.cpp` \"one; [two]\"<br>`test/shown.cpp` \"a sentence that is split\"")
row(M1 "${good}")
row(M2 "by hand")
row(M3 "`test/other.cpp` \"one; [two]\"")
row(M4 "`test/shown.cpp` \"a sentence that is\"")
row(M5 "`CMakeLists.txt` \"include/sublet/core/units.hpp\"")
row(M6 "`CMakeLists.txt` \"include/sublet/forgotten.hpp\"")
row(M8 "${good}<br>`test/shown.cpp`: one")
row(X1 "${good}")
foreach(name M9 P1 P2 P3 P4 P5 P6 P7 P8 T1 T2 T3 T4 T5 T6 T7 T8 T9 T10 R1 R2 R3 R4 R4
             02f0c1c9d7 a54000dc6a thread-1 thread-4 thread-7 thread-8 thread-10 thread-15 thread-16 thread-20
             S1 S2 S3 S4 S5 S6 singa-d693b6b2 singa-687 singa-680 singa-c41eb9ba singa-CopyData singa-int
             singa-abort singa-twice singa-parallel)
  row(${name} "${good}")
endforeach()
file(WRITE ${TREE}/test/systems.md "# Systems\n\n${table}")
string(CONCAT systems "M2: has no test\nM3: names test/other.cpp, which does not exist\n"
                      "M4: names text that is not in test/shown.cpp: a sentence that is\n"
                      "M6: names text that is not in CMakeLists.txt: include/sublet/forgotten.hpp\n"
                      "M8: has an entry that is not a file and a sentence\n"
                      "X1: is not one of the rows\nR4: is listed twice\nM7: is missing\n")

# A person in prose, an old name in code, and the same where they are allowed.
string(CONCAT text "// Who comes first: run_desk, nobody_else, whole.\nint run_desk;\n"
                   "char const* text = \"run_tape\"; // run_tape\n")
file(WRITE ${TREE}/words/include/sublet/core/units.hpp "${text}")
file(WRITE ${TREE}/words/bench/fine.cpp "int nobody_else; // whole\n")
string(CONCAT expected "include/sublet/core/units.hpp: a person in prose about things: "
                       "// Who comes first: run_desk, nobody_else, whole.\n"
                       "include/sublet/core/units.hpp: run_desk is an old name\n")
execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${TREE}/words -P ${CMAKE_CURRENT_LIST_DIR}/words.cmake
                RESULT_VARIABLE result ERROR_VARIABLE said)
string(REGEX REPLACE "CMake Error.*" "" said "${said}")
if(result EQUAL 0 OR NOT said STREQUAL "${expected}")
  message(FATAL_ERROR "words.cmake exits with ${result} and prints\n${said}instead of\n${expected}")
endif()

# Too many public names, some of them nested; too much in namespace detail; files that are too long, or need no reason.
file(REMOVE_RECURSE ${TREE}/crowd)
function(expect_budget title complaint)
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${TREE}/crowd -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/budget.cmake
                  RESULT_VARIABLE result ERROR_VARIABLE said)
  if(complaint STREQUAL "" AND NOT result EQUAL 0 OR complaint AND (result EQUAL 0 OR NOT said MATCHES "${complaint}"))
    message(FATAL_ERROR "${title}: budget.cmake exits with ${result} and prints\n${said}instead of ${complaint}")
  endif()
endfunction()
expect_budget("an empty folder" "")
set(declared)
foreach(i RANGE 1 200)
  string(APPEND declared "struct public_${i} {\n    struct inner {};\n};\n")
endforeach()
file(WRITE ${TREE}/crowd/include/sublet/names.hpp "namespace sublet {\n${declared}} // namespace sublet\n")
expect_budget("400 names" "names: 400 of")
string(REPEAT "int inner();\n" 6 declared)
set(declared "namespace sublet::detail {\n${declared}} // namespace sublet::detail\n")
file(WRITE ${TREE}/crowd/include/sublet/names.hpp "${declared}namespace sublet {\nint a;\n}\n")
expect_budget("too much in namespace detail" "namespace detail has [67][0-9] %")
file(WRITE ${TREE}/crowd/include/sublet/names.hpp "namespace sublet {\nint a;\n}\n")
file(WRITE ${TREE}/crowd/include/sublet/detail/names.hpp "${declared}")
expect_budget("insides in detail/" "")
string(REPEAT "// line\n" 601 declared)
file(WRITE ${TREE}/crowd/include/sublet/impl/names.ipp "${declared}")
expect_budget("a long file" "impl/names.ipp has 601 lines")
file(WRITE ${TREE}/crowd/include/sublet/impl/names.ipp "// line\n")
file(WRITE ${TREE}/crowd/include/sublet/reporting/detail/html_script.hpp "${declared}")
expect_budget("a long file with a reason" "")
file(WRITE ${TREE}/crowd/include/sublet/reporting/detail/html_script.hpp "// line\n")
expect_budget("a reason without a long file" "has 1 lines, and needs no reason")

# A README with links to a file and to a heading that do not exist; one that is too long; one of another program.
set(pages ${TREE}/pages)
file(REMOVE_RECURSE ${pages})
file(WRITE ${pages}/examples/01_first_plan.cpp "// A program.\n#include <x>\n")
file(WRITE ${pages}/examples/expected/01_first_plan.txt "192 B\n")
set(readme "# A b; c\n[g](examples/guide.md), [h](examples/guide.md#a-b), [n](none.md), [o](#b-c)\n")
string(APPEND readme "```cpp\n#include <x>\n```\n```\n192 B\n```\n")
file(WRITE ${pages}/examples/guide.md "# Guide\n\n## A, b\n[back](../README.md)\n")
string(REPEAT "word; [x] " 1090 more)
function(expect_page title text complaint)
  file(WRITE ${pages}/README.md "${text}")
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${pages} -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/readme.cmake
                  RESULT_VARIABLE result ERROR_VARIABLE said)
  if(complaint STREQUAL "" AND NOT result EQUAL 0 OR complaint AND (result EQUAL 0 OR NOT said MATCHES "${complaint}"))
    message(FATAL_ERROR "${title}: readme.cmake exits with ${result} and prints\n${said}instead of ${complaint}")
  endif()
endfunction()
expect_page("two links lead nowhere" "${readme}" "nowhere:[ \n]*README.md: @.none.md.[ \n]*README.md: @.#b-c.: no such heading[ \n]*$")
string(REPLACE ", [n](none.md), [o](#b-c)" " and two" readme "${readme}")
expect_page("all is well" "${readme}${more}" "")
expect_page("too long" "${readme}${more}${more}" "words of the README: 43[0-9][0-9] of 2200.*over the budget")
string(REPLACE "\n192 B" "\n193 B" readme "${readme}")
expect_page("another output" "${readme}" "does not show this as it is in examples/:.*192 B")

foreach(script layers systems)
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${TREE} -P ${CMAKE_CURRENT_LIST_DIR}/${script}.cmake
                  RESULT_VARIABLE result ERROR_VARIABLE said)
  string(REGEX REPLACE "CMake Error.*" "" said "${said}")
  if(result EQUAL 0 OR NOT said STREQUAL "${${script}}")
    message(NOTICE "${script}.cmake exits with ${result} and prints\n${said}instead of\n${${script}}")
    message(FATAL_ERROR "the reported mistakes are not the planted ones")
  endif()
endforeach()
