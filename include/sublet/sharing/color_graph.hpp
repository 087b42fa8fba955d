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

#include <sublet/contract.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/keyed.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/sharing/cliques.hpp>
#include <sublet/sharing/coloring_orders.hpp>
#include <sublet/sharing/dsatur.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
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

/// The graph with ascending rows, each edge once in both, and none at those who need no slot.
inline csr_graph simple_graph(csr_graph const& g, std::vector<byte_count> const& bytes)
{
    csr_rows const sorted = g.transposed(g.rows());
    SUBLET_EXPECTS(sorted.transposed(g.rows()) == sorted,
                   "sublet: an interference graph has each edge in the rows of both its ends");
    csr_rows rows;
    rows.reserve(sorted.rows(), sorted.items());
    for (std::size_t v = 0; v != sorted.rows(); ++v) {
        value_id before = no_value;
        for (value_id w : sorted[v]) {
            SUBLET_EXPECTS(w != v, "sublet: a value does not interfere with itself");
            if (w != before && bytes[v] != 0 && bytes[w] != 0) rows.append(w);
            before = w;
        }
        rows.close_row();
    }
    return csr_graph(std::move(rows));
}

/// The vertices in the order in which they are to have a slot; for dsatur in any.
inline std::vector<value_id> in_turn(coloring_order by, csr_graph const& g,
                                     std::vector<byte_count> const& bytes, std::vector<value_id> const& given)
{
    if (by == coloring_order::smallest_last) return smallest_last(g).order;
    std::vector<value_id> order;
    std::vector<keyed> keys;
    for (std::size_t v = 0; v != g.rows(); ++v) {
        order.push_back(static_cast<value_id>(v));
        keys.push_back({falling(bytes[v]), falling(g[v].size()), order.back()});
    }
    if (by == coloring_order::by_size) {
        sort_keyed(keys);
        for (std::size_t i = 0; i != keys.size(); ++i) order[i] = keys[i].who;
    } else if (!given.empty()) {
        std::vector<value_id> sorted = given;
        sort_ascending(sorted);
        SUBLET_EXPECTS(sorted == order, "sublet: an order of colouring names every vertex once");
        order = given;
    }
    return order;
}

/// Give each its lowest free slot, one after the other. With d neighbours one of the slots 0 ... d is free.
inline std::vector<slot_id> color_in_order(csr_graph const& g, std::vector<value_id> const& order,
                                           std::vector<slot_id> slot_of)
{
    std::vector<value_id> taken_for(g.rows(), no_value); // by slot: the last vertex that found it taken
    for (value_id v : order) {
        for (value_id w : g[v])
            if (slot_of[w] <= g[v].size()) taken_for[slot_of[w]] = v;
        slot_id s = 0;
        while (taken_for[s] == v) ++s;
        slot_of[v] = s;
    }
    return slot_of;
}

inline std::optional<fixed_clash> find_clash(csr_graph const& g, std::vector<slot_id> const& slot_of)
{
    for (std::size_t v = 0; v != g.rows(); ++v)
        for (value_id w : g[v])
            if (slot_of[v] == slot_of[w] && slot_of[v] != no_slot)
                return fixed_clash{.value = static_cast<value_id>(v), .other = w, .slot = slot_of[v]};
    return std::nullopt;
}

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
[[nodiscard]] inline graph_coloring color_graph(csr_graph const& g, coloring_options const& options = {})
{
    SUBLET_EXPECTS(options.order.empty() || options.by == coloring_order::given,
                   "sublet: an order of colouring is given, but another is asked for");
    auto const bytes = options.bytes.tabulate(g.rows());
    auto slot_of = options.fixed.tabulate(g.rows());
    byte_count size = 0;
    bool sizes_differ = false;
    for (std::size_t v = 0; v != g.rows(); ++v) {
        SUBLET_EXPECTS(bytes[v] != no_size, "sublet: a value of unknown size cannot share a slot");
        if (bytes[v] == 0) {
            slot_of[v] = no_slot;
            continue;
        }
        sizes_differ = sizes_differ || (size != 0 && bytes[v] != size);
        size = bytes[v];
    }
    csr_graph const interference = detail::simple_graph(g, bytes);
    clique_bound bound = find_cliques(interference, bytes);
    graph_coloring result;
    result.clique = std::move(bound.clique);
    result.least_bytes = bound.bytes;
    result.clash = detail::find_clash(interference, slot_of);
    if (result.clash) {
        result.plan.slot_of.assign(g.rows(), no_slot);
        return result;
    }

    coloring_order by = options.by;
    if (by == coloring_order::automatic) by = sizes_differ ? coloring_order::by_size : coloring_order::dsatur;
    std::vector<value_id> order = detail::in_turn(by, interference, bytes, options.order);
    std::erase_if(order, [&](value_id v) { return bytes[v] == 0 || slot_of[v] != no_slot; });
    slot_of = by == coloring_order::dsatur ? color_by_saturation(interference, order, std::move(slot_of))
                                           : detail::color_in_order(interference, order, std::move(slot_of));

    for (std::size_t v = 0; v != g.rows(); ++v) {
        slot_id const s = slot_of[v];
        if (s == no_slot) continue;
        if (result.slot_bytes.size() <= s) result.slot_bytes.resize(std::size_t{s} + 1, 0);
        result.slot_bytes[s] = larger(result.slot_bytes[s], bytes[v]);
    }
    result.plan = {std::move(slot_of), static_cast<slot_id>(result.slot_bytes.size())};
    for (byte_count slot : result.slot_bytes) result.total_bytes = checked_add(result.total_bytes, slot);
    return result;
}

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

#endif
