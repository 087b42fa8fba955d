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

/// A valid model of unknown operators and of standard views: views of views, results that overwrite operands,
/// values that are written again before and after they are read through other views, absent results, nested
/// graphs, values of no bytes.
drawn_model draw_plan(random_source& d);

/// A valid model of standard operators, with inferred shapes: run_network can run it.
onnx::ModelProto draw_layers(random_source& d);

} // namespace fuzz

#endif
