// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_MEMONGER_MEMONGER_HPP
#define SUBLET_EXAMPLES_MEMONGER_MEMONGER_HPP

/// The calls of Caffe2's memonger, implemented with sublet. Each writes its plan into the net, and proves
/// every time that all operators read the same values as before. A planned net stays unchanged.

#include "net_def.hpp"

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace memonger {

struct savings {
    std::uint64_t before = 0, after = 0; ///< bytes of all blobs except external ones
    std::size_t shared_blobs = 0;
    bool was_planned = false;     ///< the call has changed nothing
    bool has_sizes = true;        ///< false: all blobs are taken as equally large
    std::vector<std::string> log; ///< which blob takes which storage
};

using names = std::set<std::string>;
using predicate = std::function<bool(std::string const&)>;

/// For executors that run operators in list order. `static_blobs` keep storage of their own.
savings optimize_inference_fast(net_def& net, names const& static_blobs);

/// For executors that run operators as soon as their inputs are defined.
savings optimize_inference_for_dag(net_def& net, names const& static_blobs);

/// The same for gradients only; gradients that are outputs of the net, such as those of parameters, keep
/// their storage.
savings share_grad_blobs(net_def& net, predicate const& is_gradient, names const& dont_share,
                         bool share_activations = false);

/// As optimize_inference_fast, by colouring the interference graph, largest blobs first.
savings compute_assignments(net_def& net, names const& static_blobs);

/// Inserts `Free` operators after the last use of each blob. Returns the number of freed blobs.
std::size_t release_blobs_when_used(net_def& net, names const& dont_free);

} // namespace memonger

#endif
