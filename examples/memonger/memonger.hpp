// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_MEMONGER_MEMONGER_HPP
#define SUBLET_EXAMPLES_MEMONGER_MEMONGER_HPP

/// The calls that a user of Caffe2's memonger knew, on sublet. Each writes its plan into the net, and proves
/// every time that all operators read what they read before. A net that has been planned stays as it is.

#include "net_def.hpp"

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace memonger {

struct savings {
    std::uint64_t before = 0, after = 0; ///< bytes of all blobs that are not the caller's
    std::size_t shared_blobs = 0;
    bool was_planned = false;     ///< nothing has been done
    bool has_sizes = true;        ///< otherwise blobs share as if all were equal
    std::vector<std::string> log; ///< what replaced what
};

using names = std::set<std::string>;
using predicate = std::function<bool(std::string const&)>;

/// For executors that run operators as they are listed. `static_blobs` keep storage of their own.
savings optimize_inference_fast(net_def& net, names const& static_blobs);

/// For executors that run operators as soon as their inputs are there.
savings optimize_inference_for_dag(net_def& net, names const& static_blobs);

/// The same of gradients only; what the net gives away, such as those of parameters, stays.
savings share_grad_blobs(net_def& net, predicate const& is_gradient, names const& dont_share,
                         bool share_activations = false);

/// As optimize_inference_fast, by colouring the interference graph, the largest blobs first.
savings compute_assignments(net_def& net, names const& static_blobs);

/// Inserts `Free` operators behind the last use of each blob. Returns how many blobs are freed.
std::size_t release_blobs_when_used(net_def& net, names const& dont_free);

} // namespace memonger

#endif
