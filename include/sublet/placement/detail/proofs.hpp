// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_PROOFS_HPP
#define SUBLET_PLACEMENT_DETAIL_PROOFS_HPP

/// What is proved of shapes, in terms of the buffers of a problem.

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/bound.hpp>
#include <sublet/placement/detail/shapes.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

/// Ascending by shape.
std::vector<buffer_id> buffers_in(placement_shapes const& all, std::vector<std::uint32_t> const& some);

/// The buffer of a shape with the highest score; the first of equal ones.
template <class Score>
buffer_id best_part(placement_shapes const& all, std::uint32_t shape, Score score)
{
    buffer_id best = no_buffer;
    byte_count most = 0;
    for (shape_part const& p : all.parts)
        if (p.shape == shape && (best == no_buffer || score(p) > most)) {
            best = p.buffer;
            most = score(p);
        }
    return best;
}

/// A contradiction that rules out every placement of the shapes (`bytes` is `no_limit`), or an empty proof.
placement::proof contradiction(placement_problem const& problem, placement_shapes const& shapes);

/// The bound of the shapes as a proof in terms of buffers and positions.
placement::proof proof_of(placement_problem const& problem, placement_shapes const& shapes,
                          placement_bound const& bound);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/proofs.ipp>
#endif

#endif
