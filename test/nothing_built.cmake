# SPDX-License-Identifier: BSL-1.0
# A build folder in which nothing is built: what needs no building is installed, and a line says what else there is.
#   cmake -DROOT=... -DWORK=... -DCOMPILER=... -DGENERATOR=... -P nothing_built.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result)
    message(FATAL_ERROR "${ARGN}: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} -S ${ROOT} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DSUBLET_BUILD_TESTS=OFF
                     -DSUBLET_BUILD_BENCH=OFF -DSUBLET_CUDA=OFF -DSUBLET_HEADER_ONLY=ON)
run(${CMAKE_COMMAND} --install ${WORK}/build --prefix ${WORK}/installed)
foreach(line "sublet::compiled is not built, and so not installed: build the target sublet_compiled first"
             "pack is not built, and so not installed: build the target pack first")
  if(NOT output MATCHES "sublet: ${line}\n")
    message(FATAL_ERROR "the installation does not say \"${line}\":\n${output}")
  endif()
endforeach()

foreach(header sublet.hpp planning/impl/plan_memory.ipp)
  if(NOT EXISTS ${WORK}/installed/include/sublet/${header})
    message(FATAL_ERROR "not installed: ${header}")
  endif()
endforeach()

# A project finds the headers. It can ask whether there is the compiled form.
file(WRITE ${WORK}/project/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(asks LANGUAGES CXX)
find_package(sublet REQUIRED)
if(NOT TARGET sublet::sublet OR TARGET sublet::compiled)
  message(FATAL_ERROR \"other targets than those that are installed\")
endif()
")
run(${CMAKE_COMMAND} -S ${WORK}/project -B ${WORK}/project/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
                     -DCMAKE_PREFIX_PATH=${WORK}/installed)
