// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_TAKEN_BRANCHES_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_TAKEN_BRANCHES_HPP

#include "../plan_model/infer_shapes.hpp"

#include <onnx/onnx_pb.h>

namespace run_network {

/// Puts the nodes of the branch that runs in the place of each If of the main graph of which shapes or
/// constants decide the condition. A value of the branch has its name behind the name of the first result of
/// the If: "y/hidden"; a result of the If is an Identity of one of them.
///
/// Ensures:    whether there was any. An If inside the branch is now one of the main graph.
/// Complexity: O(bytes of the model).
bool put_taken_branches(onnx::ModelProto& model, plan_model::inferred_shapes const& found);

} // namespace run_network

#endif
