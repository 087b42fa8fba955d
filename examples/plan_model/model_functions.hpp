// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_MODEL_FUNCTIONS_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_MODEL_FUNCTIONS_HPP

#include <onnx/onnx_pb.h>

#include <string>
#include <unordered_map>

namespace plan_model {

/// The functions that a model defines, which take the place of operators of these names. Refers to the model.
class model_functions {
public:
    explicit model_functions(onnx::ModelProto const& model);

    /// The function that the node calls; nullptr: it calls none.
    onnx::FunctionProto const* find(onnx::NodeProto const& node) const;

private:
    std::unordered_map<std::string, onnx::FunctionProto const*> by_name_;
};

/// The nodes of a function as a graph of its own, with the attributes of the call. An operand or result that
/// the call leaves out has the empty name.
///
/// Complexity: O(bytes of the function and of the call's attributes that it names).
onnx::GraphProto graph_of_call(onnx::NodeProto const& call, onnx::FunctionProto const& function);

/// Puts the nodes of functions in the place of their calls, in functions and graphs inside, too. A value
/// inside has its name behind the name of the call's first result: "y/hidden".
///
/// Throws: input_error, naming the file, if a function calls itself, or if the model would have more than 200
/// 000
///         nodes and calls, more than 64 MiB, or graphs nested more than 100 deep.
void inline_functions(std::string const& file, onnx::ModelProto& model);

} // namespace plan_model

#endif
