// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_CUDA_RUNS_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_CUDA_RUNS_HPP

#include "arguments.hpp"
#include "compare_runs.hpp"
#include "read_layers.hpp"
#include "weights.hpp"

#include <string>
#include <vector>

namespace run_network {

struct cuda_outcome {
    std::vector<mode_run> runs; ///< empty: no device
    std::string why;            ///< why there is none, or which device it is
};

cuda_outcome run_on_cuda(layered_network const& all, weights& given, arguments const& args);

} // namespace run_network

#endif
