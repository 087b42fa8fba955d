// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_COLOR_GRAPH_HPP
#define SUBLET_SHARING_COLOR_GRAPH_HPP

/// Give every value a slot so that values that interfere never share one, whatever their interference graph.
///
///     a --- b        a: slot 0    b: slot 1    c: slot 0    d: slot 1    e: slot 2
///     |     |
///     e     c        a ring of five needs three slots, though no three of it interfere;
///      \   /         a ring of four needs two
///        d
///
/// A program with branches can have any graph, and for any graph the fewest slots are hard to find. So each
/// value takes, when its turn comes, the lowest slot that none of its neighbours has, and all depends on
/// whose turn comes when. With the answer comes a clique, values that all interfere: no plan has fewer slots
/// than that has members, and where the plan has no more, it is optimal.
///
/// Source: Brélaz 1979 (see dsatur.hpp); Matula and Beck 1983 (see coloring_orders.hpp); Pemmaraju, Raman and
/// Varadarajan, "Max-coloring and online coloring with bandwidths on interval graphs", TALG, 2011 (by_size,
/// which Caffe2's `memonger` had, too).

#include <sublet/graph/concepts.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

/// Whose turn comes first. What is said here of slots and bytes holds if no slot is fixed.
enum class coloring_order : std::uint8_t {
    automatic,     ///< by_size where sizes differ, else dsatur
    dsatur,        ///< who has the fewest slots to choose from: for few slots; bipartite: the fewest
    smallest_last, ///< at most degeneracy + 1 slots; chordal: the fewest
    by_size,       ///< the largest: no slot grows, for few bytes; intervals: at most 8 times the fewest
    given          ///< as the caller says
};

struct coloring_options {
    coloring_order by = coloring_order::automatic;
    per_value<byte_count> bytes = byte_count{1}; ///< 0: needs no slot
    per_value<slot_id> fixed = no_slot;          ///< a slot that is prescribed
    std::vector<value_id> order = {};            ///< for `given`: every vertex once; empty: 0, 1, 2 ...
};

struct graph_coloring {
    slot_plan plan;
    std::vector<byte_count> slot_bytes; ///< by slot: of its largest tenant
    byte_count total_bytes = 0;
    std::vector<value_id> clique; ///< ascending; they all interfere, so no plan has fewer slots than these
    byte_count least_bytes = 0;   ///< no plan has fewer bytes
    std::optional<fixed_clash> clash; ///< the fixed slots cannot be kept: nothing has a slot

    /// Proven to have the fewest slots. False: not proven.
    [[nodiscard]] bool is_optimal() const { return !clash && plan.slots == clique.size(); }
    /// Proven to have the fewest bytes. False: not proven.
    [[nodiscard]] bool has_least_bytes() const { return !clash && total_bytes == least_bytes; }
};

namespace detail {

/// The vertices in the order in which they are to have a slot; for dsatur in any.
std::vector<value_id> in_turn(coloring_order by, csr_graph const& g, std::vector<byte_count> const& bytes,
                              std::vector<value_id> const& given);

std::optional<fixed_clash> find_clash(csr_graph const& g, std::vector<slot_id> const& slot_of);

} // namespace detail

/// Colour an interference graph: a vertex is a value, and each edge stands in the rows of both its ends.
///
/// Ensures:    values that interfere have different slots. A value of 0 bytes has `no_slot`, and a fixed one
///             the slot that it is fixed to; if two of those clash, the lowest pair is the answer. `slots`
///             counts what lies below a fixed slot too; a slot that nobody takes has 0 bytes. by_size, of
///             equal sizes the one with more neighbours comes first, then the lower id; other ties: see the
///             orders. The order of the edges, and how often one stands in a row, makes no difference.
/// Complexity: O((V + E) log V) time; O(V + E) memory, and O(the highest fixed slot).
/// Throws:     precondition_error for a loop, an edge that stands less often in the row of its other end, a
///             size of `no_size`, an order that does not name every vertex once or is given unasked, or if
///             all slots together exceed 64 bits.
[[nodiscard]] graph_coloring color_graph(csr_graph const& g, coloring_options const& options = {});

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
[[nodiscard]] graph_coloring color_graph(Found const& found, coloring_options const& options = {})
{
    return color_graph(found.graph(), options);
}

/// The same of any graph; values are the numbers of its vertices in the order of `vertices(g)`.
template <graph G>
    requires(!std::same_as<G, csr_graph>)
[[nodiscard]] graph_coloring color_graph(G const& g, coloring_options const& options = {})
{
    return color_graph(as_graph(g), options);
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/color_graph.ipp>
#endif

#endif
