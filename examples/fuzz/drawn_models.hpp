// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_FUZZ_DRAWN_MODELS_HPP
#define SUBLET_EXAMPLES_FUZZ_DRAWN_MODELS_HPP

#include "plan_answers.hpp"
#include "random_source.hpp"

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <string>

namespace fuzz {

inline std::string numbered(std::string stem, std::size_t number) { return stem += std::to_string(number); }

struct drawn_model {
    onnx::ModelProto model;
    model_facts facts;
};

/// A valid model of operators that nobody knows, and of views that everybody knows: views of views, results
/// written over operands, values that are written again before and after they are read through other views,
/// results that are not there, graphs within nodes, values of no bytes.
drawn_model draw_plan(random_source& d);

/// A valid model of standard operators, with the shapes that they give: what run_network can run.
onnx::ModelProto draw_layers(random_source& d);

} // namespace fuzz

#endif
