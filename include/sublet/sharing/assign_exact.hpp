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
#include <sublet/sharing/hosts.hpp>
#include <sublet/sharing/staircases.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
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
    /// Row i: i + 1 values of which no two may share. So the i-th largest slot holds the last of row i.
    csr_rows cliques;
    std::uint64_t nodes = 0;          ///< slots tried
    std::optional<fixed_clash> clash; ///< the fixed slots cannot be kept: nothing has a slot

    [[nodiscard]] bool is_optimal() const { return !clash && total_bytes == lower_bound; }
};

namespace detail {

/// Why the fixed slots cannot be kept, the lowest pair.
template <std::same_as<bit_rows> Bits>
std::optional<fixed_clash> find_clash(Bits const& interferes, std::vector<pool_id> const& pool_of,
                                      std::vector<slot_id> const& fixed)
{
    for (value_id v = 0; v != fixed.size(); ++v)
        for (value_id w = v + 1; w != fixed.size() && fixed[v] != no_slot; ++w)
            if (fixed[v] == fixed[w] && (interferes.test(v, w) || pool_of[v] != pool_of[w]))
                return fixed_clash{.value = v, .other = w, .slot = fixed[v]};
    return std::nullopt;
}

template <std::same_as<bit_rows> Bits>
exact_assignment assign_by_matrix(Bits const& interferes, std::size_t values, exact_options const& options)
{
    auto const bytes = options.bytes.tabulate(values);
    auto const pool_of = options.pool.tabulate(values);
    auto fixed = options.fixed.tabulate(values);
    std::vector<keyed> by_size;
    byte_count sum = 0;
    for (value_id v = 0; v != values; ++v) {
        SUBLET_EXPECTS(bytes[v] != no_size, "sublet: a value of unknown size cannot share a slot");
        SUBLET_EXPECTS(pool_of[v] != no_value, "sublet: a pool id is out of range");
        if (bytes[v] == 0) fixed[v] = no_slot;
        else by_size.push_back({falling(bytes[v]), falling(interferes.count(v)), v});
        sum = checked_add(sum, bytes[v]);
    }
    sort_keyed(by_size);
    exact_assignment result;
    result.slot_of.assign(values, no_slot);
    result.clash = find_clash(interferes, pool_of, fixed);
    if (result.clash) return result;

    // From here on a value is its rank.
    auto const count = static_cast<value_id>(by_size.size());
    hosted_values<Bits> hosted(count);
    std::vector<keyed> by_slot;
    for (value_id r = 0; r != count; ++r) {
        value_id const v = by_size[r].who;
        for (value_id q = 0; q != r; ++q) {
            value_id const u = by_size[q].who;
            bool const is_apart = fixed[u] != fixed[v] && fixed[u] != no_slot && fixed[v] != no_slot;
            if (is_apart || interferes.test(u, v) || pool_of[u] != pool_of[v]) hosted.connect(q, r);
        }
        if (fixed[v] != no_slot) by_slot.push_back({fixed[v], 0, r});
    }
    sort_keyed(by_slot);
    for (std::size_t i = 1, host = 0; i < by_slot.size(); ++i)
        if (by_slot[i].key != by_slot[host].key) host = i;
        else hosted.join(by_slot[i].who, by_slot[host].who);
    hosted.find_hosts();

    std::vector<slot_id> slot_of(count, no_slot); // by rank; slots of all parts, one after the other
    std::vector<value_id> largest;                // by slot, the rank of its first tenant
    csr_rows const parts = hosted.parts();
    csr_rows cliques;           // of the parts
    std::vector<keyed> closed;  // {rank of the last member, its part, row of `cliques`}
    std::vector<keyed> in_turn; // the smallest first: what they do not need is for the others
    for (std::uint32_t p = 0; p != parts.rows(); ++p) in_turn.push_back({parts[p].size(), 0, p});
    sort_keyed(in_turn);
    for (std::size_t turn = 0; turn != in_turn.size(); ++turn) {
        value_id const p = in_turn[turn].who;
        auto const members = parts[p];
        Bits mine(members.size(), members.size());
        std::vector<byte_count> size;
        for (std::size_t i = 0; i != members.size(); ++i) {
            size.push_back(bytes[by_size[members[i]].who]);
            for (std::size_t k = 0; k != members.size(); ++k)
                if (hosted.interferes().test(members[i], members[k])) mine.set(i, k);
        }
        staircase const found =
            find_staircase(mine, size, (options.nodes - result.nodes) / (in_turn.size() - turn));
        result.nodes += found.nodes;
        result.lower_bound += found.lower_bound;
        auto const first_slot = static_cast<slot_id>(largest.size());
        for (std::size_t i = 0; i != members.size(); ++i) {
            slot_id const s = slot_of[members[i]] = first_slot + found.slot_of[i];
            if (largest.size() <= s) largest.resize(s + std::size_t{1}, no_value);
            largest[s] = smaller(largest[s], members[i]);
        }
        for (std::size_t c = 0; c != found.proof.cliques.rows(); ++c) {
            for (value_id i : found.proof.cliques[c]) cliques.append(members[i]);
            closed.push_back(
                {members[found.proof.cliques[c].back()], p, static_cast<std::uint32_t>(cliques.rows())});
            cliques.close_row();
        }
    }
    hosted.settle(slot_of);
    sort_keyed(closed);
    std::vector<std::uint32_t> current(parts.rows(), no_value); // by part, the row of `cliques`
    for (keyed const& k : closed) {
        current[k.tie] = k.who;
        for (std::size_t p = 0; p != parts.rows(); ++p)
            if (p != k.tie && current[p] != no_value)
                for (value_id r : cliques[current[p]]) result.cliques.append(by_size[r].who);
        for (value_id r : cliques[k.who]) result.cliques.append(by_size[r].who);
        result.cliques.close_row();
        result.clique_bytes += bytes[by_size[static_cast<value_id>(k.key)].who];
    }

    // Names: what is fixed has its own, the others take what is left, the largest first.
    std::vector<slot_id> name(largest.size(), no_slot);
    std::vector<unsigned char> is_taken;
    for (keyed const& k : by_slot) {
        name[slot_of[k.who]] = static_cast<slot_id>(k.key);
        if (is_taken.size() <= k.key) is_taken.resize(k.key + 1);
        is_taken[k.key] = 1;
    }
    slot_id next = 0;
    for (value_id r = 0; r != count; ++r) {
        slot_id& mine = name[slot_of[r]];
        if (mine == no_slot) {
            while (next < is_taken.size() && is_taken[next] != 0) ++next;
            mine = next++;
        }
        value_id const v = by_size[r].who;
        result.slot_of[v] = mine;
        if (result.slots <= mine) {
            result.slots = mine + 1;
            result.slot_bytes.resize(result.slots, 0);
            result.slot_pool.resize(result.slots, 0);
        }
        if (result.slot_bytes[mine] != 0) continue;
        result.slot_bytes[mine] = bytes[v];
        result.slot_pool[mine] = pool_of[v];
        result.total_bytes += bytes[v];
    }
    return result;
}

} // namespace detail

/// Of an interference graph: a vertex is a value, and each edge stands in the rows of both its ends.
///
/// Ensures:    values that interfere, and those of different pools, have different slots. A value of 0 bytes
///             has `no_slot`, and a fixed one the slot that it is fixed to; if two of those clash, the lowest
///             pair is the answer. `total_bytes` is `lower_bound` unless nodes ran out. Slots that are not
///             fixed are numbered the largest first, leaving out those that are; one below them that nobody
///             takes has 0 bytes. The order of the edges, and how often one stands in a row, makes no
///             difference.
/// Complexity: O(V^2) bits of memory, and O(V * slots). Exponential time in the worst case, bounded by
/// `nodes`. Throws:     precondition_error for a loop, an edge that only one of its ends knows, a size of
/// `no_size`, a
///             pool id that is none, or if all values together exceed 64 bits.
template <std::same_as<csr_graph> G>
[[nodiscard]] exact_assignment assign_exact(G const& g, exact_options const& options = {})
{
    bit_rows interferes(g.rows(), g.rows());
    for (std::size_t v = 0; v != g.rows(); ++v)
        for (value_id w : g[v]) {
            SUBLET_EXPECTS(w != v, "sublet: a value does not interfere with itself");
            interferes.set(v, w);
        }
    for (std::size_t v = 0; v != g.rows(); ++v)
        for (value_id w : g[v])
            SUBLET_EXPECTS(interferes.test(w, v),
                           "sublet: an interference graph has each edge in the rows of both its ends");
    return detail::assign_by_matrix(interferes, g.rows(), options);
}

/// The same of what `interference` finds, which knows whether it fitted.
///
/// Throws: precondition_error if it did not.
template <class Found>
    requires requires(Found const& found) {
        { found.fits() } -> std::same_as<bool>;
        { found.graph() } -> std::same_as<csr_graph const&>;
    }
[[nodiscard]] exact_assignment assign_exact(Found const& found, exact_options const& options = {})
{
    return assign_exact(found.graph(), options);
}

/// The same of any graph; values are the numbers of its vertices in the order of `vertices(g)`.
template <graph G>
    requires(!std::same_as<G, csr_graph>)
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

#endif
