// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_PROGRAM_TOKENS_HPP
#define SUBLET_SHARING_PROGRAM_TOKENS_HPP

/// Slots for the values of a program that are safe under every schedule, in one call.
///
///     auto p = sublet::from_graph(g, blobs, inputs, outputs);       any graph, a Boost graph for instance
///     auto s = sublet::share_by_tokens(p, {.bytes = sizes});
///     for (value v : ...) rename(v, s.slot_of[v]);
///
///     program ─► dependences ─► buffers ─► in place ─► tokens
///
/// What Caffe2's memonger was called for: a renaming of blobs, for executors that allocate each by itself.
/// Only a part of the program may take part, what others touch then keeps storage of its own.

#include <sublet/analysis/dependences.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/sharing/slot_choice.hpp>
#include <sublet/sharing/tokens.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace sublet {

/// Of a program, beside what plan_options say of its values.
struct program_token_options {
    slot_choice choice = slot_choice::grow_largest;
    std::size_t most_ranges = no_limit;
    /// By step. A buffer that is touched by one which takes no part keeps a slot of its own.
    per_value<bool> takes_part = true;
    std::vector<handoff> handoffs = {}; ///< order beyond data and edges that the execution keeps
};

/// Slots by value: views and what was written in place have that of their buffer.
struct program_token_plan : token_plan {
    std::optional<dependence_violation> violation; ///< why there is no plan
};

/// Give the values of a program slots that are safe under every schedule, in one call.
///
/// Requires:   no view has more bytes than its root. Of `values` neither `order` nor `pinned` is looked at:
/// slots
///             have no addresses.
/// Ensures:    a value has `no_slot` if it has 0 bytes or an unknown number, is external, not eligible, or
///             touched nowhere. In-place pairs are taken first, unless `values.in_place` is off.
/// Throws:     precondition_error where a precondition of a stage is broken.
[[nodiscard]] program_token_plan share_by_tokens(snapshot const& p, plan_options const& values,
                                                 program_token_options const& options = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/program_tokens.ipp>
#endif

#endif
