// SPDX-License-Identifier: BSL-1.0

/// With one order, a table of the last touches decides. With a dependence graph, an oracle does, by
/// default a backward search, extended as far as queries of one target need. With control flow, a pair is
/// taken if the ranges of its buffers, with those joined before, meet only where the steps allow it.

#include <sublet/analysis/control_flow.hpp>
#include <sublet/analysis/internal/flow_ranges.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/range_lists.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/sharing/in_place.hpp>

#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

// --- in place --------------------------------------------------------------------------------------------

namespace sublet {

SUBLET_DECL buffer_table take_in_place(snapshot const& p, table<position_id, step_id> const& steps,
                                       buffer_table table, in_place_fit fit)
{
    std::vector<memory_plan::in_place_pair> pairs =
        detail::match_in_place(p, steps, table, fit == in_place_fit::equal);
    return detail::join_in_place(std::move(table), std::move(pairs));
}

} // namespace sublet

// --- in place concurrent ---------------------------------------------------------------------------------

namespace sublet::detail {

/// Ancestors of a position by backward search, extended on demand. For few queries, or many on one target.
class ancestor_search {
public:
    explicit ancestor_search(dependence_graph const& g) : g_(g), leads_to_(g.positions(), no_position) {}

    bool before(position_id a, position_id b)
    {
        if (to_ != b) {
            to_ = low_ = b;
            mark(b);
        }
        for (; leads_to_[a] != b && low_ > a + 1; --low_)
            if (leads_to_[low_ - 1] == b) mark(low_ - 1);
        return leads_to_[a] == b;
    }

private:
    void mark(position_id from)
    {
        for (position_id at : g_.before[from]) leads_to_[at] = to_;
    }

    dependence_graph const& g_;
    table<position_id, position_id> leads_to_; // the last target that it was found to precede
    position_id to_ = no_position;
    position_id low_ = 0; // positions from here on have marked their predecessors
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL buffer_table take_in_place(snapshot const& p, dependence_graph const& g, buffer_table table)
{
    detail::ancestor_search search(g);
    return take_in_place(p, g, std::move(table), search);
}

} // namespace sublet

// --- in place flow ---------------------------------------------------------------------------------------

namespace sublet::detail {

/// The last read of `operand` by `step`, outside the live range of the buffer: a result may be written over
/// it there.
struct last_read {
    step_id step = 0;
    value_id operand = no_value;
};

/// Of a buffer. Where two are joined, the smaller one is put into the other one.
struct joined_life {
    std::map<position_id, position_id> ranges;        // from begin to end; they do not touch
    std::multimap<position_id, last_read> last_reads; // by position
    std::multimap<step_id, value_id> made;            // by step, if it declares pairs

    [[nodiscard]] bool has(position_id position) const
    {
        auto const after = ranges.upper_bound(position);
        return after != ranges.begin() && std::prev(after)->second > position;
    }
    [[nodiscard]] bool overlaps(live_range r) const
    {
        auto const after = ranges.lower_bound(r.last);
        return after != ranges.begin() && std::prev(after)->second > r.first;
    }
    void add(live_range r)
    {
        auto at = ranges.upper_bound(r.first);
        if (at != ranges.begin() && std::prev(at)->second >= r.first) --at;
        for (; at != ranges.end() && at->first <= r.last; at = ranges.erase(at))
            r = hull(r, {at->first, at->second});
        ranges.emplace_hint(at, r.first, r.last);
    }
};

SUBLET_DECL table<node_id, unsigned> loop_depths(snapshot const& p)
{
    loop_forest const forest = loops(p.graph());
    table<node_id, unsigned> depth(p.nodes(), 0);
    for (node_id n : forest.preorder) { // outer headers first
        if (forest.parent[n] != no_node) depth[n] = depth[forest.parent[n]];
        depth[n] += forest.is_header(n);
    }
    return depth;
}

class in_place_coalescer {
public:
    in_place_coalescer(snapshot const& p, live_range_lists const& lives,
                       sublet::table<step_id, position_id> const& position, buffer_table& table)
        : p_(p), table_(table), joined_(table.buffers.size()), life_(table.buffers.size())
    {
        for (buffer_id b = 0; b != joined_.size(); ++b) joined_[b] = b;
        sublet::table<buffer_id, unsigned char> has_pair(table.buffers.size(), 0);
        for (overwrite o : p.overwrites())
            has_pair[table.buffer_of[o.in]] = has_pair[table.buffer_of[o.out]] = 1;
        unsorted_ranges all;
        for (value_id v = 0; v != p.values(); ++v)
            if (has_pair[table.buffer_of[v]])
                for (live_range r : lives[v]) all.add(table.buffer_of[v], r);
        buffer_range_lists const by_buffer(
            all.lists(table.buffers.size(), lives.method(), lives.positions()));
        for (buffer_id b = 0; b != life_.size(); ++b)
            for (live_range r : by_buffer[b])
                life_[b].ranges.emplace_hint(life_[b].ranges.end(), r.first, r.last);
        std::vector<buffer_id> changed; // by the step
        std::vector<value_id> used;
        step_id last = no_step;
        for (overwrite o : p.overwrites()) { // by step
            pairs_.push_back({o.step, std::uint64_t{o.in} << 32 | o.out, 0});
            if (std::exchange(last, o.step) == o.step) continue;
            changed.clear();
            used.clear();
            for (touch t : p.touches(o.step)) {
                buffer_id const b = table.buffer_of[t.value];
                (t.defines() ? made_ : read_).push_back({o.step, t.value, 0});
                if (t.kind == touch::access::use) used.push_back(t.value);
                if (t.kind == touch::access::write) changed.push_back(b);
                if (t.defines()) life_[b].made.emplace(o.step, t.value);
            }
            sort_ascending(changed);
            sort_ascending(used);
            for (value_id in : overwritable_operands(p, o.step)) {
                joined_life& life = life_[table.buffer_of[in]];
                if (!life.has(position[o.step]) && is_listed(used, in) &&
                    !is_listed(changed, table.buffer_of[in]))
                    life.last_reads.emplace(position[o.step], last_read{o.step, in});
            }
        }
        for (std::vector<sort_key>* keys : {&pairs_, &made_, &read_}) sort_by_key(*keys);
    }

    /// The declared pairs, the largest weight first.
    std::vector<overwrite> candidates() const
    {
        table<node_id, unsigned> const depth = loop_depths(p_);
        std::vector<sort_key> by_worth;
        auto const pairs = p_.overwrites(); // by step
        node_id n = 0;
        for (std::size_t i = 0; i != pairs.size(); ++i) {
            while (p_.steps_of(n).last <= pairs[i].step) ++n;
            byte_count worth = table_.buffers[table_.buffer_of[pairs[i].in]].size;
            for (unsigned d = 0; d != depth[n] && worth < no_size / 8; ++d) worth *= 8;
            by_worth.push_back({descending(worth), 0, static_cast<std::uint32_t>(i)});
        }
        sort_by_key(by_worth);
        std::vector<overwrite> by_weight;
        for (sort_key const& k : by_worth) by_weight.push_back(pairs[k.id]);
        return by_weight;
    }

    buffer_id buffer_of(value_id v)
    {
        buffer_id b = table_.buffer_of[v];
        while (joined_[b] != b) b = joined_[b] = joined_[joined_[b]];
        return b;
    }

    void join(overwrite pair)
    {
        if (!is_listed(read_, sort_key{pair.step, pair.in, 0}) ||
            !is_listed(made_, sort_key{pair.step, pair.out, 0}))
            return;
        buffer_id const a = buffer_of(pair.in), b = buffer_of(pair.out);
        if (!lie_alike(pair)) return;
        if (a == b || !are_alike(table_.buffers[a], table_.buffers[b])) return;
        bool const is_a_smaller = life_[a].ranges.size() < life_[b].ranges.size();
        joined_life &few = life_[is_a_smaller ? a : b], &many = life_[is_a_smaller ? b : a];
        for (auto const& [first, last] : few.ranges)
            if (many.overlaps({first, last})) return;
        if (!is_overwrite_declared(few, many) || !is_overwrite_declared(many, few)) return;

        buffer_id const into = smaller(a, b), from = larger(a, b); // the table stays sorted by root
        buffer &to = table_.buffers[into], &merged = table_.buffers[from];
        to.life = hull(to.life, merged.life);
        to.role = to.role | merged.role;
        to.alignment = larger(to.alignment, merged.alignment);
        joined_[from] = into;
        // If the result is alive at a last read, no other may overwrite that operand.
        drop_last_reads(few, many);
        drop_last_reads(many, few);
        for (auto const& [first, last] : few.ranges) many.add({first, last});
        if (few.last_reads.size() > many.last_reads.size()) few.last_reads.swap(many.last_reads);
        many.last_reads.merge(few.last_reads);
        if (few.made.size() > many.made.size()) few.made.swap(many.made);
        many.made.merge(few.made);
        joined_life joined = std::move(many);
        life_[from] = {};
        life_[into] = std::move(joined);
    }

    /// Removes buffers that were merged into others.
    void renumber()
    {
        table<buffer_id, buffer_id> number(table_.buffers.size(), no_buffer);
        buffer_table result;
        for (buffer_id b = 0; b != table_.buffers.size(); ++b) {
            if (joined_[b] != b) continue;
            number[b] = buffer_id::of(result.buffers.size());
            result.buffers.push_back(table_.buffers[b]);
        }
        for (value_id v = 0; v != table_.buffer_of.size(); ++v)
            result.buffer_of.push_back(number[buffer_of(v)]);
        result.offset_in_root = std::move(table_.offset_in_root);
        table_ = std::move(result);
    }

private:
    /// In buffers that begin at the same byte.
    bool lie_alike(overwrite pair) const
    {
        table<value_id, byte_count> const& begin = table_.offset_in_root;
        return begin.empty() || begin[pair.in] == begin[pair.out];
    }
    static bool are_alike(buffer const& a, buffer const& b)
    {
        return a.is_planned() && b.is_planned() && a.size == b.size && a.pool == b.pool && a.kind == b.kind &&
               a.pinned == no_offset && b.pinned == no_offset &&
               (a.alignment % b.alignment == 0 || b.alignment % a.alignment == 0);
    }
    /// Whether at each last read of `from` where `to` is alive, the step declares that all that it writes of
    /// `to` may overwrite that operand. (Occupants alive before the step overlap with `from` itself.)
    bool is_overwrite_declared(joined_life const& from, joined_life const& to) const
    {
        auto is_declared = [&](last_read h) {
            auto const [first, last] = to.made.equal_range(h.step);
            for (auto made = first; made != last; ++made) {
                sort_key const pair{h.step, std::uint64_t{h.operand} << 32 | made->second, 0};
                if (!is_listed(pairs_, pair) || !lie_alike({h.step, h.operand, made->second})) return false;
            }
            return true;
        };
        return !is_any_last_read(from.last_reads, to, [&](auto at) { return !is_declared(at->second); });
    }
    /// Whether `holds` for a last read at which `to` is alive.
    ///
    /// Complexity: O(log n) for each of these, and for each read or for each range of `to`, which are fewer.
    template <class Reads, class Holds>
    static bool is_any_last_read(Reads& reads, joined_life const& to, Holds holds)
    {
        if (reads.size() <= to.ranges.size()) {
            for (auto at = reads.begin(); at != reads.end();)
                if (auto const now = at++; to.has(now->first) && holds(now)) return true;
            return false;
        }
        for (auto const& [first, last] : to.ranges)
            for (auto at = reads.lower_bound(first); at != reads.end() && at->first < last;)
                if (holds(at++)) return true;
        return false;
    }
    static void drop_last_reads(joined_life& from, joined_life const& to)
    {
        is_any_last_read(from.last_reads, to, [&](auto at) { return from.last_reads.erase(at), false; });
    }

    snapshot const& p_;
    buffer_table& table_;
    table<buffer_id, buffer_id> joined_; // union-find: leads to the buffer that b is part of
    table<buffer_id, joined_life> life_; // the union over its members
    // Of steps with pairs: {step, operand and result}, and {step, value} for what it makes and reads.
    std::vector<sort_key> pairs_, made_, read_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL buffer_table take_in_place(snapshot const& p, live_range_lists const& lives,
                                       table<step_id, position_id> const& position, buffer_table table)
{
    if (p.overwrites().empty()) return table;
    SUBLET_EXPECTS(table.apart.empty(),
                   "sublet: take_in_place() of every path keeps no values apart in banks");
    detail::in_place_coalescer joiner(p, lives, position, table);
    for (overwrite pair : joiner.candidates()) joiner.join(pair);
    joiner.renumber();
    return table;
}

} // namespace sublet
