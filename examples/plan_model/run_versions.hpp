// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_RUN_VERSIONS_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_RUN_VERSIONS_HPP

/// A network that may run in any order: its values, each written once.
///
///     sgd(w, dw)  writes w        w is read ... sgd(w, dw) makes w'      w and w' are the same bytes, so all
///                                                                        who read w come first
///
/// A network that is trained writes its weights again. Plans for every schedule are of versions of values;
/// the bytes are the caller's all the same, and a run leaves what it leaves in file order.

#include "network.hpp"
#include "timed_plan.hpp"

#include <sublet/analysis/versions.hpp>
#include <sublet/execution/digest.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plan_model {

/// The options refer to the network.
struct network_versions {
    sublet::versioned_program made;
    sublet::plan_options options;
    std::vector<unsigned char> is_again; ///< by version: it is written where an earlier one lies

    explicit network_versions(network const& net, wishes const& asked = {})
        : made(sublet::versions(as_program(net), sublet::versions_for(as_options(net, asked)))),
          options(sublet::with_versions(as_options(net, asked), made))
    {
        if (made.violation) throw input_error("its nodes are not listed in an order in which they can run");
        for (std::uint32_t number : made.number) is_again.push_back(number != 0);
    }
};

/// synthetic_kernel for versions: one that is written again is a view, and written all the same.
struct version_kernel {
    std::vector<unsigned char> const* is_again;

    template <class Call>
    void operator()(Call const& call) const
    {
        std::uint64_t sum = sublet::fold_digest(0, call.step);
        for (std::size_t i = 0; i != call.uses().size(); ++i)
            sum = sublet::fold_digest(sum, sublet::digest(call.in(i)));
        for (std::size_t j = 0; j != call.defs().size(); ++j)
            if (!call.is_view(j) || (*is_again)[call.defs()[j]])
                sublet::fill_noise(call.out(j), sublet::fold_digest(sum, j));
    }
};

} // namespace plan_model

#endif
