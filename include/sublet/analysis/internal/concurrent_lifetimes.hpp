// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_INTERNAL_CONCURRENT_LIFETIMES_HPP
#define SUBLET_ANALYSIS_INTERNAL_CONCURRENT_LIFETIMES_HPP

/// Live ranges in a partial order: the positions, one or more, at which each buffer begins and ends.
///
///     0 ──► 1 ──► 3       a: defined at 0, used at 1 and 2     begins {0}  ends {1, 2}
///     └───► 2 ──► ┘       b: defined at 1, used at 3           begins {1}  ends {3}
///                         c: defined at 2, used at 3           begins {2}  ends {3}
///
/// v can reuse the bytes of u in every execution if and only if every end of u precedes every begin of v. The
/// relation is transitive. An input has no begin: it is live before all positions, so it reuses no bytes. An
/// output ends at a position after all others, so its bytes are not reused.

#include <sublet/analysis/dependences.hpp>
#include <sublet/core/internal/arithmetic.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace sublet::detail {

/// By buffer, positions of a dependence graph.
struct concurrent_live_ranges {
    /// Ascending; every def is one of these or follows one; empty: given.
    csr_rows<buffer_id, position_id> begins;
    /// Ascending; every touch is one of these or precedes one; `positions`: never.
    csr_rows<buffer_id, position_id> ends;
    std::uint32_t positions = 0;

    [[nodiscard]] std::size_t buffers() const { return begins.rows(); }
    [[nodiscard]] position_id first(buffer_id b) const
    {
        return begins[b].empty() ? position_id{0} : begins[b].front();
    }
    /// The position after the highest at which it is needed.
    [[nodiscard]] position_id last(buffer_id b) const
    {
        auto const row = ends[b];
        return row.empty() ? first(b) + 1 : smaller(+row.back(), positions - 1) + 1;
    }
    [[nodiscard]] bool is_kept(buffer_id b) const { return !ends[b].empty() && ends[b].back() == positions; }
};

/// Whether one position precedes another in every execution; queried for a < b only.
///
/// Semantics:      a strict order that the numbers of positions extend.
/// Minimal model:  archetype::precedence.   Ordinary models: precedence, token_sets.
template <class O>
concept precedence_oracle = requires(O& o, position_id a, position_id b) {
    { o.before(a, b) } -> std::convertible_to<bool>;
};

/// v can reuse the bytes of u in every execution.  O(ends of u x begins of v) calls
template <precedence_oracle Oracle>
[[nodiscard]] bool reusable_by(concurrent_live_ranges const& lives, buffer_id u, buffer_id v, Oracle& oracle)
{
    if (lives.begins[v].empty()) return false;
    for (position_id begin : lives.begins[v])
        for (position_id end : lives.ends[u])
            if (end >= begin || !oracle.before(end, begin)) return false;
    return true;
}

/// The live ranges of the classes of values; `buffer_of` a value is `no_buffer` if it is to be ignored.
///
/// Requires:   `g` is the graph of `p`, without an error; `role` has one entry per value.
/// Ensures:    an end is omitted if one of its first 16 edges leads to another touch of the buffer, and so is
///             a begin after another touch.
/// Complexity: O(values + steps + touches) time and memory.
[[nodiscard]] concurrent_live_ranges concurrent_lifetimes(snapshot const& p, dependence_graph const& g,
                                                          std::size_t buffers,
                                                          table<value_id, buffer_id> const& buffer_of,
                                                          table<value_id, value_role> const& role);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/concurrent_lifetimes.ipp>
#endif

#endif
