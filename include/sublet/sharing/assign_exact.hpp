// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_ASSIGN_EXACT_HPP
#define SUBLET_SHARING_ASSIGN_EXACT_HPP

/// Give every value a slot so that values that interfere never share one, and the slots are the fewest bytes.
///
///     a: 40 - b: 8 - c: 8 - d: 40         largest first, d joins a, and b and c open slots of their own:
///                                         40 + 8 + 8 bytes in three slots, where two would take 40 + 40
///
/// A slot is as large as its largest tenant. To use few bytes so is as hard as to colour graphs, but the
/// sizes of networks and their interference leave little to decide, once it is the sizes of slots that are
/// searched for (staircases.hpp). Before that, what cannot matter is taken away. A value with a larger one
/// beside it that interferes with whatever it interferes with, but not with it, goes where that one goes.
/// Values that are fixed to one slot are one value. And where all of some interfere with all others, as they
/// do if pools are kept apart, each of the two is a problem of its own.
///
/// Source: the reductions are folklore of graph colouring; for the search see staircases.hpp.

#include <sublet/analysis/bit_rows.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/keyed.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

struct exact_options {
    per_value<byte_count> bytes = byte_count{1}; ///< 0: needs no slot
    per_value<pool_id> pool = pool_id{0};        ///< only values of one pool share
    per_value<slot_id> fixed = no_slot;          ///< a slot that is prescribed
    /// So many slots are tried for values at most. A count and not a time, so that the same problem has the
    /// same answer everywhere.
    std::uint64_t nodes = 10'000'000;
};

struct exact_assignment : sized_slot_plan {
    byte_count lower_bound = 0;  ///< no plan has fewer bytes
    byte_count clique_bytes = 0; ///< what of it `cliques` show; the rest was searched
    /// Each row values of which no two may share, the largest first. So the first slot holds the first of
    /// each row, or a larger one, the second slot the second, and so on. With fixed slots, a value stands for
    /// all that are fixed to its slot.
    csr_rows cliques;
    std::uint64_t nodes = 0;          ///< slots tried
    std::optional<fixed_clash> clash; ///< the fixed slots cannot be kept: nothing has a slot

    [[nodiscard]] bool is_optimal() const { return !clash && total_bytes == lower_bound; }
};

namespace detail {

/// Why the fixed slots cannot be kept, the lowest pair.
std::optional<fixed_clash> find_clash(bit_rows const& interferes, std::vector<pool_id> const& pool_of,
                                      std::vector<slot_id> const& fixed);

/// Names for slots: what is fixed has its own, the others take what is left, the largest first. `by_rank` are
/// values, the largest first, `slot_of` their slots by any numbers below their count.
void name_slots(std::vector<keyed> const& by_rank, std::vector<slot_id> const& slot_of,
                std::vector<slot_id> const& fixed, std::vector<byte_count> const& bytes,
                std::vector<pool_id> const& pool_of, exact_assignment& result);

exact_assignment assign_by_matrix(bit_rows const& interferes, std::size_t values,
                                  exact_options const& options);

} // namespace detail

/// Of an interference graph: a vertex is a value, and each edge stands in the rows of both its ends.
///
/// Ensures:    values that interfere, and those of different pools, have different slots. A value of 0 bytes
///             has `no_slot`, and a fixed one the slot that it is fixed to; if two of those clash, the lowest
///             pair is the answer. `total_bytes` is `lower_bound` unless nodes ran out. Slots that are not
///             fixed are numbered the largest first, leaving out those that are; one below them that nobody
///             takes has 0 bytes. The order of the edges, and how often one stands in a row, makes no
///             difference.
/// Complexity: exponential in the worst case, but for `nodes`; O(V^3 / 64) before. O(V^2) bits of memory, and
///             O(V) words for each slot, and for each up to the highest that is fixed.
/// Throws:     precondition_error for a loop, an edge that only one of its ends knows, a size of `no_size`,
///             a pool id that is none, or if all values together exceed 64 bits.
[[nodiscard]] exact_assignment assign_exact(csr_graph const& g, exact_options const& options = {});

/// The same of what `interference` finds, which knows whether it fitted.
///
/// Throws: precondition_error if it did not.
template <class Found>
    requires requires(Found const& found) {
                 {
                     found.fits()
                     } -> std::same_as<bool>;
                 {
                     found.graph()
                     } -> std::same_as<csr_graph const&>;
             }
[[nodiscard]] exact_assignment assign_exact(Found const& found, exact_options const& options = {})
{
    return assign_exact(found.graph(), options);
}

/// The same of any graph; values are the numbers of its vertices in the order of `vertices(g)`.
template <class G>
    requires(!std::same_as<G, csr_graph> && graph<G>)
[[nodiscard]] exact_assignment assign_exact(G const& g, exact_options const& options = {})
{
    return assign_exact(as_graph(g), options);
}

/// The same of values 0 ... values - 1, of which u and v interfere if `interfere(u, v)`. It is asked once a
/// pair, with u < v.
template <class Interfere>
    requires std::predicate<Interfere&, value_id, value_id>
[[nodiscard]] exact_assignment assign_exact(std::size_t values, Interfere interfere,
                                            exact_options const& options = {})
{
    SUBLET_EXPECTS(values < no_value, "sublet: more values than 32-bit ids");
    bit_rows interferes(values, values);
    for (value_id v = 0; v != values; ++v)
        for (value_id u = 0; u != v; ++u)
            if (detail::ask(interfere, u, v)) {
                interferes.set(u, v);
                interferes.set(v, u);
            }
    return detail::assign_by_matrix(interferes, values, options);
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/assign_exact.ipp>
#endif

#endif
