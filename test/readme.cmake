# SPDX-License-Identifier: BSL-1.0
# The README's program is examples/01 from its first #include on, and its output is that program's output.
#   cmake -DROOT=. -P test/readme.cmake
cmake_minimum_required(VERSION 3.25)
cmake_path(ABSOLUTE_PATH ROOT)

file(READ ${ROOT}/README.md readme)
file(READ ${ROOT}/examples/01_first_plan.cpp program)
file(READ ${ROOT}/examples/expected/01_first_plan.txt printed)
string(FIND "${program}" "#include" begin)
string(SUBSTRING "${program}" ${begin} -1 program)
foreach(part IN ITEMS program printed)
  string(FIND "${readme}" "```\n${${part}}```" as_text)
  string(FIND "${readme}" "```cpp\n${${part}}```" as_code)
  if(as_text EQUAL -1 AND as_code EQUAL -1)
    message(FATAL_ERROR "README.md does not show this as it is in examples/:\n${${part}}")
  endif()
endforeach()
