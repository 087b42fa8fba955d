// SPDX-License-Identifier: BSL-1.0
/// Fewest slots: a maximum matching of each buffer with one that may reuse it covers the buffers by
/// chains, and what it reaches gives an antichain as large, pool by pool. Exact assignment: values by
/// falling size, fixed ones merged and dominated ones left out; co-components can share no slot, so each
/// is searched by itself, the smallest first (detail/slot_size_search.hpp).

#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>

#include <sublet/impl/config.hpp>
#include <sublet/sharing/detail/chains.hpp>
#include <sublet/sharing/detail/coloring.hpp>
#include <sublet/sharing/detail/slot_size_search.hpp>

// --- fewest slots ----------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL bool chain_cover::is_optimal() const { return antichain.size() == plan.slots; }

SUBLET_DECL live_range_lists ranges_of(reuse_ranges const& members)
{
    std::vector<std::uint32_t> first{0};
    std::vector<live_range> ranges;
    first.reserve(members.size() + 1);
    for (std::size_t i = 0; i != members.size(); ++i) {
        members.for_each_range(i, [&](live_range r) { ranges.push_back(r); });
        SUBLET_EXPECTS(ranges.size() < ~std::uint32_t{0}, "sublet: more ranges than 32-bit ids");
        first.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    return {live_range_lists::source::automatic, static_cast<std::uint32_t>(members.size()), std::move(first),
            std::move(ranges)};
}

SUBLET_DECL chain_cover fewest_slots(concurrent_live_ranges const& lives, conflict_ranges const& conflicts,
                                     fewest_slots_options const& options)
{
    std::size_t const buffers = lives.buffers();
    auto const bytes = options.bytes.tabulate(buffers);
    auto const pool_of = options.pool.tabulate(buffers);
    auto const eligible = options.eligible.tabulate(buffers);

    chain_cover cover;
    cover.plan.slot_of.assign(buffers, no_slot);
    std::vector<sort_key> order; // by pool, then by begin
    table<buffer_id, unsigned char> is_in_antichain(buffers);
    for (buffer_id b = 0; b != buffers; ++b) {
        SUBLET_EXPECTS(pool_of[b] != no_pool, "sublet: buffer % names pool %, which is out of range", b,
                       pool_of[b]);
        if (bytes[b] != 0 && eligible[b]) order.push_back({pool_of[b], reuse_ranges::begin_key(lives, b), b});
    }
    sort_by_key(order);
    std::vector<buffer_id> current;
    for (std::size_t k = 0; k != order.size(); ++k) {
        current.push_back(order[k].id);
        if (k + 1 != order.size() && order[k + 1].key == order[k].key) continue;
        reuse_ranges const members(lives, conflicts, std::exchange(current, {}));
        range_matching const matched = match_ranges(ranges_of(members), members.size());
        for (std::size_t i = 0; i != members.size(); ++i) { // a buffer comes before those that may reuse it
            std::uint32_t const predecessor = matched.row_of[i];
            cover.plan.slot_of[members[i]] = predecessor == range_matching::none
                                                 ? slot_id{cover.plan.slots++}
                                                 : cover.plan.slot_of[members[predecessor]];
            is_in_antichain[members[i]] = matched.is_row_reached(i) && !matched.column_reached[i];
        }
    }
    for (buffer_id b = 0; b != buffers; ++b) {
        if (bytes[b] != 0 && !eligible[b]) {
            cover.plan.slot_of[b] = cover.plan.slots++;
            is_in_antichain[b] = 1;
        }
        if (is_in_antichain[b] && conflicts.undecided == 0) cover.antichain.push_back(b);
    }
    return cover;
}

SUBLET_DECL byte_count least_slot_bytes(concurrent_live_ranges const& lives, conflict_ranges const& conflicts,
                                        fewest_slots_options options)
{
    if (conflicts.undecided != 0) return 0;
    auto const bytes = options.bytes.tabulate(lives.buffers());
    std::vector<sort_key> sizes;
    for (buffer_id b = 0; b != lives.buffers(); ++b)
        if (bytes[b] != 0) sizes.push_back({bytes[b], 0, b});
    sort_by_key(sizes);
    byte_count sum = 0, below = 0;
    for (sort_key const& k : sizes) {
        if (k.key == below) continue;
        options.bytes = [&](buffer_id b) { return bytes[b] < k.key ? byte_count{0} : byte_count{1}; };
        std::uint32_t const slots = fewest_slots(lives, conflicts, options).plan.slots;
        sum = checked_add(sum, checked_multiply(slots, k.key - below));
        below = k.key;
    }
    return sum;
}

// --- assign exact ----------------------------------------------------------------------------------------

SUBLET_DECL std::optional<counterexample> find_clash(bit_rows const& interferes,
                                                     table<value_id, pool_id> const& pool_of,
                                                     table<value_id, slot_id> const& fixed)
{
    for (value_id v = 0; v != fixed.size(); ++v)
        for (value_id w = v + 1; w != fixed.size() && fixed[v] != no_slot; ++w)
            if (fixed[v] == fixed[w] && (interferes.test(v, w) || pool_of[v] != pool_of[w]))
                return fixed_together(v, w, fixed[v]);
    return std::nullopt;
}

/// Cliques of co-components: one clique of each component together form a clique of the graph.
class joined_cliques {
public:
    /// Row i of `found`: i + 1 of `members`; the last one completes the first such clique.
    template <class Members>
    void add(Members const& members, csr_rows<std::uint32_t, value_id> const& found)
    {
        auto const part = static_cast<std::uint32_t>(last_.size());
        first_.push_back(static_cast<std::uint32_t>(rows_.rows()));
        for (std::uint32_t c = 0; c != found.rows(); ++c) {
            for (value_id i : found[c]) rows_.append(members[i]);
            closed_.push_back({members[found[c].back()], 0, part});
            rows_.close_row();
        }
        last_.push_back(static_cast<std::uint32_t>(rows_.rows()));
    }

    /// The ranks that each complete a clique with one more member.
    std::vector<sort_key> const& closed()
    {
        sort_by_key(closed_);
        return closed_;
    }

    /// Maximal cliques among the prefixes, the largest first: none is a subset of an earlier one.
    template <class Append>
    void for_each(std::size_t count, Append append)
    {
        std::vector<value_id> last_clique;
        for (std::size_t size = closed_.size(); size != 0; --size) {
            sort_key const& closing = closed_[size - 1];
            if (last_clique.empty() || last_clique[size - 1] != closing.key) {
                bit_rows clique(1, count);
                for (std::size_t part = 0; part != first_.size(); ++part)
                    if (first_[part] != last_[part])
                        for (value_id r : rows_[last_[part] - 1]) clique.set(0, r);
                last_clique.clear();
                for (value_id r = 0; r != count; ++r)
                    if (clique.test(0, r)) last_clique.push_back(r);
                append(last_clique);
            }
            --last_[closing.id];
        }
    }

private:
    csr_rows<std::uint32_t, value_id> rows_;
    std::vector<std::uint32_t> first_, last_; // by part, in rows_
    std::vector<sort_key> closed_;            // {rank, 0, part}
};

SUBLET_DECL void number_slots(std::vector<sort_key> const& by_rank, table<value_id, slot_id> const& slot_of,
                              table<value_id, slot_id> const& fixed, table<value_id, byte_count> const& bytes,
                              table<value_id, pool_id> const& pool_of, exact_assignment& result)
{
    table<slot_id, slot_id> number(slot_of.size(), no_slot); // of provisional slots
    table<slot_id, unsigned char> is_taken;
    for (std::size_t r = 0; r != slot_of.size(); ++r) {
        slot_id const given = fixed[value_id{by_rank[r].id}];
        if (given == no_slot) continue;
        number[slot_of[r]] = given;
        if (is_taken.size() <= given) is_taken.resize(given + std::size_t{1});
        is_taken[given] = 1;
    }
    slot_id next = 0;
    for (std::size_t r = 0; r != slot_of.size(); ++r) {
        slot_id& current = number[slot_of[r]];
        if (current == no_slot) {
            while (next < is_taken.size() && is_taken[next] != 0) ++next;
            current = next++;
        }
        value_id const v = by_rank[r].id;
        result.slot_of[v] = current;
        if (result.slots <= current) {
            result.slots = current + 1;
            result.slot_bytes.resize(result.slots, 0);
            result.slot_pool.resize(result.slots, 0);
        }
        if (result.slot_bytes[current] != 0) continue;
        result.slot_bytes[current] = bytes[v];
        result.slot_pool[current] = pool_of[v];
        result.total_bytes += bytes[v];
    }
}

SUBLET_DECL exact_assignment assign_by_matrix(bit_rows const& interferes, std::size_t values,
                                              exact_options const& options)
{
    auto const bytes = options.bytes.tabulate(values, "bytes");
    auto const pool_of = options.pool.tabulate(values, "pool");
    auto fixed = options.fixed.tabulate(values, "fixed");
    std::vector<sort_key> by_rank;
    byte_count sum = 0;
    for (value_id v = 0; v != values; ++v) {
        SUBLET_EXPECTS(bytes[v] != no_size, "sublet: value %, of unknown size, cannot share a slot", v);
        SUBLET_EXPECTS(pool_of[v] != no_pool, "sublet: value % names pool %, which is out of range", v,
                       pool_of[v]);
        if (bytes[v] == 0) fixed[v] = no_slot;
        else by_rank.push_back({descending(bytes[v]), descending(interferes.count(v)), v});
        sum = checked_add(sum, bytes[v]);
    }
    sort_by_key(by_rank);
    exact_assignment result;
    result.slot_of.assign(values, no_slot);
    if (!result.refute(find_clash(interferes, pool_of, fixed))) return result;

    // From here on values are numbered by rank.
    std::size_t const count = by_rank.size();
    reduced_graph reduced(count);
    std::vector<sort_key> by_slot;
    for (value_id r = 0; r != count; ++r) {
        value_id const v = by_rank[r].id;
        for (value_id q = 0; q != r; ++q) {
            value_id const u = by_rank[q].id;
            bool const is_apart = fixed[u] != fixed[v] && fixed[u] != no_slot && fixed[v] != no_slot;
            if (is_apart || interferes.test(u, v) || pool_of[u] != pool_of[v]) reduced.connect(q, r);
        }
        if (fixed[v] != no_slot) by_slot.push_back({fixed[v], 0, r});
    }
    sort_by_key(by_slot);
    for (std::size_t i = 1, leader = 0; i < by_slot.size(); ++i)
        if (by_slot[i].key != by_slot[leader].key) leader = i;
        else reduced.merge(by_slot[i].id, by_slot[leader].id);
    reduced.merge_dominated();

    auto const co_components = reduced.co_components();
    std::vector<sort_key> part_order; // the smallest first: unused work budget goes to the others
    for (std::uint32_t p = 0; p != co_components.rows(); ++p)
        part_order.push_back({co_components[p].size(), 0, p});
    sort_by_key(part_order);
    table<value_id, slot_id> slot_of(count, no_slot); // of all co-components, in order
    std::uint32_t slots = 0;
    joined_cliques cliques;
    for (std::size_t i_part = 0; i_part != part_order.size(); ++i_part) {
        auto const members = co_components[part_order[i_part].id];
        bit_rows current(members.size(), members.size());
        table<value_id, byte_count> size;
        for (std::size_t i = 0; i != members.size(); ++i) {
            size.push_back(bytes[value_id{by_rank[members[i]].id}]);
            for (std::size_t k = 0; k != members.size(); ++k)
                if (reduced.interferes().test(members[i], members[k])) current.set(i, k);
        }
        slot_size_result const found =
            search_slot_sizes(current, size, (options.nodes - result.nodes) / (part_order.size() - i_part));
        result.nodes += found.nodes;
        result.lower_bound += found.lower_bound;
        std::uint32_t const before = slots;
        for (std::size_t i = 0; i != members.size(); ++i) {
            slot_of[members[i]] = before + found.slot_of[i];
            slots = larger(slots, slot_of[members[i]] + 1);
        }
        cliques.add(members, found.proof.cliques);
    }
    reduced.assign_merged(slot_of);
    number_slots(by_rank, slot_of, fixed, bytes, pool_of, result);
    for (sort_key const& k : cliques.closed())
        result.clique_bytes += bytes[value_id{by_rank[to_size(k.key)].id}];
    cliques.for_each(count, [&](std::vector<value_id> const& clique) {
        for (value_id r : clique) result.cliques.append(by_rank[r].id);
        result.cliques.close_row();
    });
    return result;
}

SUBLET_DECL exact_assignment assign_exact(csr_graph const& g, exact_options const& options)
{
    bit_rows interferes(g.rows(), g.rows());
    for (value_id v = 0; v != g.rows(); ++v)
        for (value_id w : values_next_to(g, v)) {
            SUBLET_EXPECTS(w != v, "sublet: value % interferes with itself", v);
            interferes.set(v, w);
        }
    for (value_id v = 0; v != g.rows(); ++v)
        for (value_id w : values_next_to(g, v))
            SUBLET_EXPECTS(interferes.test(w, v),
                           "sublet: an interference graph has each edge in the rows of both its ends");
    return assign_by_matrix(interferes, g.rows(), options);
}

} // namespace sublet::detail
