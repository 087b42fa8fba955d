// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_INTERNAL_PACK_SYMBOLIC_HPP
#define SUBLET_PLACEMENT_INTERNAL_PACK_SYMBOLIC_HPP

/// Offsets affine in the batch size, valid for every batch up to a limit.
///
///     sizes for N = 1, a middle one, the largest ─► pack() each ─► three orders of offsets
///     each order; fixed sizes first, last or mixed ─► stack_affine(), fit_affine()
///     keep the result with the least worst ratio to pack() of that batch alone
///     if that ratio is above 1 ─► improve_affine()
///
/// The goal is what pack() needs for one batch alone, not the lower bound. Greedy, with no guaranteed
/// factor; but if all sizes are multiples of N and nothing is aligned, no batch needs more than N times what
/// pack() needs for a batch of 1.

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/internal/pack_options.hpp>

#include <vector>

namespace sublet::detail {

struct batch_sample {
    byte_count batch = 1;
    placement own;
};

struct symbolic_packing {
    table<buffer_id, affine_bytes> start;
    table<pool_id, affine_bytes> arena;
    std::vector<batch_sample> samples; ///< ascending: 1, a middle one, the largest
};

/// 1, a power of two near the square root of `most`, and `most`, ascending.
std::vector<byte_count> sampled_batches(byte_count most);

/// Places buffers, each in its own pool, for every batch from 1 to `most`.
///
/// Requires:   sizes are known and not 0, live ranges not empty; alignments include those of the pools.
/// Ensures:    of two buffers of a pool that are live together, one starts at or above the top of the other
///             for every batch; with symbolic_options::mixing_rule::apart every buffer that grows lies above
///             all that do not. No top is above the arena. Same problem and options, same placement.
/// Complexity: pack() three times; O(n log^2 p) for each order, n = buffers, p = the last position;
///             fit_affine() if they are few; and improve_affine() with a million buffers in all.
/// Throws:     precondition_error where sums of bytes for the largest batch exceed 64 bits.
[[nodiscard]] symbolic_packing
pack_symbolic(table<buffer_id, symbolic_plan::buffer> const& buffers, byte_count most,
              symbolic_options::mixing_rule mixing = symbolic_options::mixing_rule::proved,
              pack_options const& options = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/pack_symbolic.ipp>
#endif

#endif
