// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_READ_ORDER_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_READ_ORDER_HPP

#include "network.hpp"

#include <sublet/core/units.hpp>

#include <string>
#include <vector>

namespace plan_model {

/// Reads an order of the operations: a text file with one node index, counted from 0, on each line.
///
/// Ensures: every operation is named once; an operation that reads a value that another one mutates stays on
///          the same side of it. (That values are defined before they are used is left to the planner.)
/// Throws:  input_error, naming the file.
std::vector<sublet::node_id> read_order(std::string const& file, network const& net);

} // namespace plan_model

#endif
