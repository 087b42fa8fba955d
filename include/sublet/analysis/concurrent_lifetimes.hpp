// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_CONCURRENT_LIFETIMES_HPP
#define SUBLET_ANALYSIS_CONCURRENT_LIFETIMES_HPP

/// From when to when each buffer needs its storage, if only a partial order of the steps is known.
///
///     0 ──► 1 ──► 3       a: defined at 0, used at 1 and 2     begins {0}  ends {1, 2}
///     └───► 2 ──► ┘       b: defined at 1, used at 3           begins {1}  ends {3}
///                         c: defined at 2, used at 3           begins {2}  ends {3}
///
/// A live range has two ends; here either may be several positions, none of which needs to be the last. u may
/// give its bytes to v, in every execution, if and only if every end of u comes before every begin of v. That
/// relation is transitive: who got the bytes of who got the bytes of u comes after u.
///
/// An input begins nowhere: it is there before all positions, so nobody can give it anything. An output ends
/// at a position behind all others: it gives to nobody.

#include <sublet/analysis/dependences.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <vector>

namespace sublet {

/// Rows of positions of a dependence graph, by buffer.
struct concurrent_lives {
    csr_rows begins; ///< ascending; no def of the buffer comes before all of these; empty: given
    csr_rows ends;   ///< ascending; every touch comes before one of these or is one; `positions`: never
    step_id positions = 0;

    [[nodiscard]] std::size_t buffers() const { return begins.rows(); }
    /// The lowest position at which the buffer is there.
    [[nodiscard]] step_id first(buffer_id b) const { return begins[b].empty() ? 0 : begins[b].front(); }
    /// The position behind the highest at which it is needed.
    [[nodiscard]] step_id last(buffer_id b) const
    {
        auto const mine = ends[b];
        return mine.empty() ? first(b) + 1 : smaller(mine.back(), positions - 1) + 1;
    }
    [[nodiscard]] bool is_kept(buffer_id b) const { return !ends[b].empty() && ends[b].back() == positions; }
};

/// Says whether one position comes before another in every execution; asked only for a < b.
///
/// Semantics:      a strict order that the numbers of positions extend.
/// Poorest model:  archetype::precedence.   Ordinary models: precedence, token_sets.
template <class O>
concept precedence_oracle = requires(O& o, step_id a, step_id b) {
                                {
                                    o.before(a, b)
                                    } -> std::convertible_to<bool>;
                            };

/// u can hand its bytes to v in every execution.  O(ends of u x begins of v) calls
template <precedence_oracle Oracle>
[[nodiscard]] bool gives_to(concurrent_lives const& lives, buffer_id u, buffer_id v, Oracle& oracle)
{
    if (lives.begins[v].empty()) return false;
    for (step_id begin : lives.begins[v])
        for (step_id end : lives.ends[u])
            if (end >= begin || !oracle.before(end, begin)) return false;
    return true;
}

/// The lives of `buffers` classes of values; `buffer_of`, by value, is `no_buffer` for one that does not
/// matter.
///
/// Requires:   `g` is the graph of `p`, without violation; `role` has an entry a value.
/// Ensures:    an end that an edge leads from to another end of the buffer is left out where it is one of the
///             first few of its edges, and so is a begin behind another.
/// Complexity: O(values + steps + touches) time and memory.
[[nodiscard]] concurrent_lives concurrent_lifetimes(snapshot const& p, dependence_graph const& g,
                                                    std::size_t buffers,
                                                    std::vector<buffer_id> const& buffer_of,
                                                    std::vector<value_role> const& role);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/concurrent_lifetimes.ipp>
#endif

#endif
