# SPDX-License-Identifier: BSL-1.0
# Ranges of open dimensions: one plan for every shape. Included by CMakeLists.txt, which has the functions.

add_executable(make_shaped make_shaped.cpp)
target_link_libraries(make_shaped PRIVATE sublet_warnings plan_model_onnx ${SUBLET_ONNX})
target_compile_features(make_shaped PRIVATE cxx_std_20)
add_test(NAME plan_model.make_shaped COMMAND make_shaped ${work})
set_tests_properties(plan_model.make_shaped PROPERTIES FIXTURES_SETUP plan_model_inputs)

# The size of each value at 50 shapes, as the formulas give it, and as the file gives it when it is read for this shape
# alone. `by_shape`: at most so many values have no formula.
add_executable(plan_model_shape_sweep shape_sweep.cpp)
target_link_libraries(plan_model_shape_sweep PRIVATE plan_model_shapes plan_model_reader sublet_warnings plan_model_onnx
                                                     ${SUBLET_ONNX})
function(sizes_at_shapes name by_shape)
  add_test(NAME plan_model.sizes_at_shapes_${name} WORKING_DIRECTORY ${work}
           COMMAND plan_model_shape_sweep ${ARGN} --most-by-shape ${by_shape})
  set_tests_properties(plan_model.sizes_at_shapes_${name} PROPERTIES FIXTURES_REQUIRED plan_model_inputs)
endfunction()
sizes_at_shapes(batch 0 shaped_batch.onnx --dim batch=1:64)
sizes_at_shapes(attention 0 shaped_attention.onnx --dim batch=1:16 --dim length=1:128)
sizes_at_shapes(image 0 shaped_image.onnx --dim batch=1:4 --dim height=16:256 --dim width=16:256)
sizes_at_shapes(image_of_tiles 0 shaped_image.onnx --dim batch=1:4 --dim height=32:256:32 --dim width=32:256:32)
sizes_at_shapes(sound 0 shaped_sound.onnx --dim samples=400:160000)
sizes_at_shapes(pairs 0 shaped_pairs.onnx --dim n=1:300)
sizes_at_shapes(root 2 shaped_root.onnx --dim n=1:300)
sizes_at_shapes(choice 3 shaped_choice.onnx --dim n=1:300)
sizes_at_shapes(scan 0 shaped_scan.onnx --dim batch=1:30)
sizes_at_shapes(declared 0 shaped_declared.onnx --dim x:0=1:30)
sizes_at_shapes(pyramid 0 shaped_pyramid.onnx --dim height=4:32:4)
sizes_at_shapes(unnamed 0 open_unnamed.onnx --dim x:0=1:64 --dim z:0=x:0)
sizes_at_shapes(two 0 open_two.onnx --dim batch=1:64 --dim length=1:128)
sizes_at_shapes(resnet50 0 light_resnet50.onnx --dim gpu_0/data_0:0=1:64)
sizes_at_shapes(shufflenet 0 light_shufflenet.onnx --dim gpu_0/data_0:0=1:64)

foreach(model batch_and_one batch_chance batch_differences batch_squared_1 batch_squared_4 batch_squared_8)
  sizes_at_shapes(${model} 0 ${model}.onnx --dim x:0=1:64)
endforeach()

# The whole output.
function(shaped_test name args operations values dimensions)
  string(REGEX MATCH "^[^ ]+" model "${args}")
  string(CONCAT expected "model: ${model}\noperations: ${operations}\nvalues: ${values}\nbuffers: [0-9]+\n"
                         "dimensions: ${dimensions}\nreads: [0-9]+\nreading_ms: [0-9.]+\n.*"
                         "\nexcess_percent: [0-9.]+\nplanning_ms: [0-9.]+\nverified: yes\n")
  cli_test(shaped_${name} EXIT 0 ARGS "${args}" STDOUT "${expected}" ${ARGN})
endfunction()
shaped_test(batch "shaped_batch.onnx --dim batch=1:64" 4 4 batch=1:64)
shaped_test(image "shaped_image.onnx --dim batch=1:4 --dim height=32:256:32 --dim width=32:256:32 --order best" 7 7
            "batch=1:4, height=32:256:32, width=32:256:32")
shaped_test(root "shaped_root.onnx --dim n=1:300" 8 8 n=1:300
            STDERR "plan_model: shaped_root.onnx: the sizes of 2 values are no formulas, first of 'root': they are read from the file at each shape\n")
shaped_test(scan "shaped_scan.onnx --dim batch=1:30" 2 3 batch=1:30
            STDERR "plan_model: shaped_scan.onnx: node 1 .Scan. is one step here: the graphs inside have bytes of their own\n")
shaped_test(fixed_too "open_two.onnx --dim batch=1:8 --dim length=5" 7 7 batch=1:8)
shaped_test(resnet50 "light_resnet50.onnx --dim gpu_0/data_0:0=1:1000 --align 64" 176 176 "gpu_0/data_0:0=1:1000"
            STDERR "plan_model: light_resnet50.onnx: axis 0 of input 'gpu_0/data_0' is declared as 1, and 1 Reshape is for this size alone: [^\n]*\n")
cli_test(shaped_json EXIT 0 ARGS "shaped_attention.onnx --dim batch=1:4 --dim length=1:64 --json"
         STDOUT "{.model.: .shaped_attention.onnx., [^\n]*.dimensions.: .batch=1:4, length=1:64., [^\n]*.shape_1.: .batch=1, length=1., .arena_bytes_at_1.: [0-9]+, .own_bytes_at_1.: [0-9]+, .lower_bound_bytes_at_1.: [0-9]+, [^\n]*.verified.: .yes.}\n")
cli_test(shaped_quiet EXIT 0 ARGS "shaped_batch.onnx --dim batch=1:64 --quiet")

refusal(shaped_wrong "shaped_wrong.onnx --dim batch=1:30"
        "shaped_wrong.onnx: has not one structure for all shapes: value 'b' is a view at one of them only: batch=30 and batch=1")
refusal(shaped_pyramid "shaped_pyramid.onnx --dim height=4:30"
        "shaped_pyramid.onnx: has not one structure for all shapes: value 'y' has a known size at one of them only .[^\n]*.: height=30 and height=4")
refusal(shaped_unknown "shaped_batch.onnx --dim width=1:4" "shaped_batch.onnx: no dimension is named 'width'. open is 'batch' [^\n]*")
refusal(shaped_no_axis "chain.onnx --dim x:1=1:3" "chain.onnx: input 'x' has no axis 1, but 1 dimensions")
refusal(shaped_stored "view_of_input.onnx --dim s:0=1:3" "view_of_input.onnx: [^\n]*")
refusal(shaped_unet "unet_b4_256.onnx --dim input0:0=1:8" "unet_b4_256.onnx: value 'convolution' is declared for one size alone of a dimension with a range, and for others it has no known size: [^\n]*")
refusal(shaped_twice "open_two.onnx --dim batch=1:3 --dim batch=2" "option --dim is given twice for dimension 'batch', and one is a range")
refusal(shaped_tflite "no_reader.tflite --dim x:0=1:3" "no_reader.tflite: is a TensorFlow Lite file, [^\n]*")
foreach(words batch=0:4 batch=1:0 batch=1:4:0 batch=-1:4 batch=1: batch=:4 batch=1:4:2:1 batch=1:4x =1:4 batch=1:99999999999999)
  refusal(shaped_${words} "open_two.onnx --dim ${words}"
          "option --dim has a range NAME=LEAST:MOST or NAME=LEAST:MOST:STRIDE of whole numbers from 1 on, not '${words}'")
endforeach()
refusal(shaped_empty "open_two.onnx --dim batch=5:4" "option --dim has a range of which the least size is above the most: 'batch=5:4'")
refusal(shaped_other "open_two.onnx --dim batch=a:4" "option --dim is NAME=N or INPUT:AXIS=N with a whole number N, not 'batch=a:4'")
refusal(shaped_other_twice "open_two.onnx --dim batch=1:4 --dim length=batch --dim length=5" "option --dim is given twice for dimension 'length', and one is a range")
plan_test(joined_fixed "open_unnamed.onnx --dim x:0=5 --dim z:0=x:0" 1 1 1 80 80 80)
foreach(other "--run" "--csv x.csv" "--capacity 8" "--limits 50%" "--semantics concurrent" "--header x.hpp")
  refusal("shaped with ${other}" "open_two.onnx --dim batch=1:4 ${other}" "option --dim has a range, which is about every shape: [^\n]*")
endforeach()

# Functions of C.
function(functions_of_c name args)
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND UNIX)
    add_test(NAME plan_model.functions_of_c_${name}
             COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:plan_model> -DWORK=${work} -DCXX=${CMAKE_CXX_COMPILER}
                     -DNAME=${name} "-DARGS=${args}" -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/check_functions.cmake)
    set_tests_properties(plan_model.functions_of_c_${name} PROPERTIES FIXTURES_REQUIRED plan_model_inputs)
  endif()
endfunction()
functions_of_c(attention "shaped_attention.onnx --dim batch=1:16 --dim length=1:128 --align 64")
functions_of_c(image "shaped_image.onnx --dim batch=1:4 --dim height=32:256:32 --dim width=32:256:32 --order best")
functions_of_c(joined "open_unnamed.onnx --dim x:0=1:64 --dim z:0=x:0")
functions_of_c(resnet50 "light_resnet50.onnx --dim gpu_0/data_0:0=1:64 --align 64")
refusal(functions_of_no_formulas "shaped_root.onnx --dim n=1:300 --c-header x.h --quiet"
        "shaped_root.onnx: the sizes of 2 values are no formulas: option --c-header writes functions of formulas")
refusal(functions_nowhere "shaped_batch.onnx --dim batch=1:64 --quiet --c-header no/folder.h" "no/folder.h: cannot be written")
