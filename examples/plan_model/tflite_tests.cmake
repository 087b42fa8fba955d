# SPDX-License-Identifier: BSL-1.0
# plan_model on TensorFlow Lite files, which make_tflite writes.

add_executable(make_tflite make_tflite.cpp)
target_link_libraries(make_tflite PRIVATE sublet_warnings plan_model_flatbuffers)
target_compile_features(make_tflite PRIVATE cxx_std_20)
file(MAKE_DIRECTORY ${work})
add_test(NAME plan_model.make_tflite COMMAND make_tflite ${work})
set_tests_properties(plan_model.make_tflite PROPERTIES FIXTURES_SETUP plan_model_inputs)

# The numbers: operations, values, buffers, naive bytes, lower bound, arena. All are run, too.
foreach(row "chain 3 3 1 16 16 16" "views 3 3 2 32 32 32" "squeezed 3 3 1 16 16 16" "view_of_input 3 3 2 32 32 32"
            "reshape_that_grows 3 3 3 64 48 48" "softmax 3 3 3 48 32 32" "gelu 3 3 2 32 32 32"
            "constants 3 3 3 48 32 32" "sparse 3 3 1 16 16 16" "names 3 3 3 48 32 32" "types 20 20 20 224 48 48"
            "scalar 3 3 3 36 32 32" "zero 3 3 1 16 16 16" "nothing 0 0 0 0 0 0" "custom 3 3 3 48 32 32"
            "later_code 3 3 3 48 32 32" "old_codes 3 3 1 16 16 16" "sum 3 3 2 32 32 32" "sum_of_three 3 3 2 32 32 32"
            "state 3 3 3 48 48 48" "state_twice 3 3 3 48 48 48" "marked 3 3 3 48 48 48" "handles 5 4 1 16 16 16")
  separate_arguments(row)
  list(POP_FRONT row name)
  plan_test(t_${name} t_${name}.tflite ${row})
  cli_test(t_${name}_run EXIT 0 ARGS "t_${name}.tflite --run --check digest" STDOUT ".*\nrun: identical\n.*")
  cli_test(t_${name}_any EXIT 0 ARGS "t_${name}.tflite --semantics concurrent --run" STDOUT ".*\nrun: identical\n.*")
endforeach()
plan_test(t_chain_off "t_chain.tflite --in-place off" 3 3 3 48 32 32)
plan_test(t_chain_listed "t_chain.tflite --in-place listed" 3 3 3 48 32 32)
plan_test(t_softmax_in_place "t_softmax.tflite --in-place softmax" 3 3 2 32 32 32)
plan_test(t_open t_open.tflite 3 3 1 16 16 16
          STDERR "plan_model: t_open.tflite: 2 values have dimensions of any size, first 'a': planned for the sizes in the file, mostly 1\n")
plan_test(t_branch t_branch.tflite 3 3 3 48 32 32
          STDERR "plan_model: t_branch.tflite: operator 1 .IF. runs subgraphs 1 and 2, and their values are not planned\nplan_model: t_branch.tflite: of its 3 subgraphs only the first is planned\n")
cli_test(t_names_csv EXIT 0 ARGS "t_names.tflite --csv t_names.csv" STDOUT ".*" CSV t_names.csv CSV_ROW "tensor 1,0,2,16,[0-9]+")
cli_test(t_names_twice EXIT 0 ARGS "t_names.tflite --csv t_twice.csv" STDOUT ".*" CSV t_twice.csv CSV_ROW "x [(]tensor 2[)],1,3,16,[0-9]+")
cli_test(t_names_thrice EXIT 0 ARGS "t_names.tflite --csv t_thrice.csv" STDOUT ".*" CSV t_thrice.csv CSV_ROW "x [(]tensor 2[)] [(]tensor 3[)],2,3,16,[0-9]+")
cli_test(t_custom_dot EXIT 0 ARGS "t_custom.tflite --dot t_custom.dot --quiet" FILE t_custom.dot FILE_TEXT "operator 0 .Own[?]Kernel.")
cli_test(t_function EXIT 0 ARGS "t_function.tflite --capacity 512"
         STDOUT "'r', 256 bytes: spilled after operator 1 [(]CONV_2D[)], recomputed by operator 0 [^\n]*\n[^\n]*\n")
cli_test(t_random EXIT 0 ARGS "t_random.tflite --capacity 512"
         STDOUT "'r', 256 bytes: spilled after operator 1 [(]CONV_2D[)], copied before [^\n]*\n[^\n]*\n")
refusal(t_handles_order "t_handles.tflite --order t_handles.order"
        "t_handles.order: operator 3 .ASSIGN_VARIABLE. must run after operator 1 .READ_VARIABLE., because one of them mutates value 'variables and tables'")
refusal(t_ranges "t_chain.tflite --dim x:0=1:4" "t_chain.tflite: is a TensorFlow Lite file, which gives a size for each dimension: [^\n]*")

# --- offsets for TensorFlow Lite Micro ---------------------------------------------------------------------

# `file` is what make_tflite expects. With the table, pack finds that no two tensors overlap.
function(tflm_test name args file)
  cli_test(tflm_${name} EXIT 0 ARGS "${args} --tflm ${name}.tflm --csv ${name}.tflm.csv --quiet")
  set_property(TEST plan_model.tflm_${name} APPEND PROPERTY FIXTURES_SETUP tflm_${name})
  add_test(NAME plan_model.tflm_${name}_is_expected
           COMMAND ${CMAKE_COMMAND} -E compare_files ${work}/${name}.tflm ${work}/${file})
  add_test(NAME plan_model.tflm_${name}_is_valid
           COMMAND pack --minimize --quiet --input=${work}/${name}.tflm.csv --pins=${work}/${name}.tflm)
  set_tests_properties(plan_model.tflm_${name}_is_expected plan_model.tflm_${name}_is_valid PROPERTIES FIXTURES_REQUIRED "tflm_${name};plan_model_inputs")
endfunction()
tflm_test(views t_views.tflite expected_views.tflm)
tflm_test(chain t_chain.tflite expected_views.tflm)
tflm_test(shared "t_views.tflite --in-place on" expected_shared.tflm)
tflm_test(constants t_constants.tflite expected_constants.tflm)
tflm_test(state t_state.tflite expected_state.tflm)
add_test(NAME plan_model.tflm_overlapping
         COMMAND pack --minimize --quiet --input=${work}/views.tflm.csv --pins=${work}/overlapping.tflm)
set_tests_properties(plan_model.tflm_overlapping PROPERTIES WILL_FAIL ON FIXTURES_REQUIRED "tflm_views;plan_model_inputs")
cli_test(tflm_run EXIT 0 ARGS "t_views.tflite --tflm run.tflm --run --check digest" STDOUT ".*\nrun: identical\n.*")
refusal(tflm_of_onnx "chain.onnx --tflm no.tflm" "chain.onnx: is no TensorFlow Lite file, and option --tflm is about these only")
refusal(tflm_of_three "t_branch.tflite --tflm no.tflm" "t_branch.tflite: has 3 subgraphs, .*")
refusal(tflm_far "t_far.tflite --tflm no.tflm" "no.tflm: the offset of tensor 0, 4294967296, does not fit .*")
refusal(tflm_align "t_chain.tflite --tflm no.tflm --align 24" "option --tflm needs an alignment that is a multiple of 16, not 24")
refusal(tflm_nowhere "t_chain.tflite --tflm no/folder.tflm" "no/folder.tflm: cannot be written")
foreach(word "--order best" "--dim x:0=1:4" "--capacity 4" "--limits 50%" "--semantics concurrent")
  string(MAKE_C_IDENTIFIER "tflm_with${word}" name)
  refusal(${name} "t_chain.tflite --tflm no.tflm ${word}" "option --tflm writes one plan for the order of the file: .*")
endforeach()

# --- wrong files -------------------------------------------------------------------------------------------

function(tflite_refusal name sentence)
  refusal(t_${name} t_${name}.tflite "t_${name}.tflite: ${sentence}")
endfunction()
foreach(name truncated identifier wild_root)
  tflite_refusal(${name} "is truncated or damaged: .*")
endforeach()
tflite_refusal(version "is of version 2 of the format, and only 3 is read")
tflite_refusal(no_subgraph "holds no subgraph")
tflite_refusal(branch_beyond "operator 1 .IF. runs subgraph 3, and there are 3")
tflite_refusal(branch_negative "operator 1 .IF. runs subgraph -1, and there are 3")
tflite_refusal(branch_unsaid "operator 1 .IF. does not say which subgraph it runs")
tflite_refusal(text "value 'a' has no element type of a fixed size")
tflite_refusal(unknown_type "value 'a' has no element type of a fixed size")
tflite_refusal(negative "value 'a' has no static shape")
tflite_refusal(unranked "value 'a' has no shape")
tflite_refusal(huge "value 'a' is larger than 64 bits can count")
tflite_refusal(huge_sum ".* 64 bits.*")
tflite_refusal(no_buffer "value 'a' is stored in buffer 7, and there are 1")
tflite_refusal(stored_short "value 'a' has 16 bytes, and is stored in 12")
tflite_refusal(stored_beyond "value 'a' is stored at byte 1000000, beyond the end of the file")
tflite_refusal(misordered "the graph is not in topological order: operator 0 .RELU. uses value 'a', which operator 1 .RELU. defines")
tflite_refusal(own_result "the graph is not in topological order: .*value 'a'.*")
tflite_refusal(undefined "operator 0 .RELU. uses value 'ghost', which nothing defines")
tflite_refusal(output_undefined "graph output 'ghost' is never defined")
tflite_refusal(twice "operator 1 .RELU. makes value 'a', which is made by operator 0 .RELU.")
tflite_refusal(twice_input "operator 1 .RELU. makes value 'x', which is a graph input, a constant or a variable")
tflite_refusal(input_listed_twice "graph input 'x' is listed twice")
tflite_refusal(operand_beyond "operator 0 .RELU. refers to tensor 4, and there are 4")
tflite_refusal(operand_negative "operator 0 .RELU. refers to tensor -2, and there are 4")
tflite_refusal(input_beyond "a graph input is tensor 4, and there are 4")
tflite_refusal(output_negative "a graph output is tensor -2, and there are 4")
tflite_refusal(code_beyond "operator 0 has operator code 3, and there are 3")
