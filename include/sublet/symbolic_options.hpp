// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SYMBOLIC_OPTIONS_HPP
#define SUBLET_SYMBOLIC_OPTIONS_HPP

/// What a plan for every batch size is asked for.
///
///     {.bytes = sizes, .max_batch = 64}       sizes[v] is {fixed, per_batch}; batches are 1, 2 ... 64
///
/// All but the sizes is as in plan_options, and options_at() says what is asked for one batch. There are no
/// pins: where a value has to be for every batch cannot depend on the batch, and so cannot its neighbours.

#include <sublet/affine_bytes.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

/// Who may lie where something lay that grows otherwise.
enum class batch_mixing : std::uint8_t {
    proved, ///< whoever is proved to have room, for every batch
    apart   ///< what grows with the batch shares only with what does, what is fixed with what is fixed
};

struct symbolic_options {
    per_value<affine_bytes> bytes;                   ///< no default; `unknown_bytes` where it is not known
    byte_count max_batch = 1;                        ///< the plan holds for batches from 1 to this
    per_value<byte_count> alignment = byte_count{1}; ///< any integer >= 1
    per_value<value_role> role = value_role::intermediate;
    per_value<value_id> alias_of = no_value;
    per_value<pool_id> pool = pool_id{0};
    per_value<bool> eligible = true;
    std::vector<pool_limits> pools = {}; ///< capacities are those of the largest batch
    std::vector<node_id> order = {};
    batch_mixing mixing = batch_mixing::proved;
    bool in_place = true; ///< take in-place pairs whose sizes are equal for every batch
    bool check = true;
};

/// What is asked for one batch.
/// Throws: precondition_error if there is no such batch; and where a size is read that reaches 2^64 - 1.
[[nodiscard]] plan_options options_at(symbolic_options const& options, byte_count batch);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/symbolic_options.ipp>
#endif

#endif
