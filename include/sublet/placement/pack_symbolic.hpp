// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_PACK_SYMBOLIC_HPP
#define SUBLET_PLACEMENT_PACK_SYMBOLIC_HPP

/// An offset for every buffer that holds for every batch, in arenas nowhere much higher than they need be.
///
///     sizes for N = 1, some, the largest ─► pack() each ─► three orders of offsets
///     each order, fixed sizes first or last or as they come ─► stack_two_ended(), fit_two_ended()
///     the one that is nearest to what pack() made of that batch alone, where it is farthest from it
///     and if there it is not as low ─► improve_two_ended()
///
/// What one batch alone needs is the measure, not the bound: nobody has to be as good as no plan can be.
/// Greedy, with no guaranteed factor; but where all sizes are so many bytes times N, and nothing is aligned,
/// every batch has N times what pack() makes of a batch of 1, or less.

#include <sublet/affine_bytes.hpp>
#include <sublet/placement/pack.hpp>
#include <sublet/placement/result.hpp>
#include <sublet/symbolic_options.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

/// What one batch needs if it has a plan of its own.
struct batch_sample {
    byte_count batch = 1;
    placement own;
};

struct symbolic_packing {
    std::vector<affine_bytes> start;   ///< by buffer
    std::vector<affine_bytes> arena;   ///< by pool
    std::vector<batch_sample> samples; ///< ascending: 1, one between, the largest
};

namespace detail {

/// 1, the largest, and one between that is as many times the one as it is a part of the other.
std::vector<byte_count> sampled_batches(byte_count most);

} // namespace detail

/// Place buffers, each in its own pool, for every batch from 1 to `most`.
///
/// Requires:   sizes are known and not 0, lives not empty; alignments are combined with those of the pools.
/// Ensures:    of two buffers of a pool that are alive together, one starts nowhere below the top of the
///             other; with batch_mixing::apart every buffer that grows lies above all that do not. No top is
///             above the arena. Same problem and options, same placement.
/// Complexity: pack() three times; O(n log^2 p) for each order, n = buffers, p = the last position;
///             fit_two_ended() where they are few; and improve_two_ended() with a million buffers in all.
/// Throws:     precondition_error where sums of bytes for the largest batch exceed 64 bits.
[[nodiscard]] symbolic_packing pack_symbolic(std::vector<symbolic_buffer> const& buffers, byte_count most,
                                             batch_mixing mixing = batch_mixing::proved,
                                             pack_options const& options = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/pack_symbolic.ipp>
#endif

#endif
