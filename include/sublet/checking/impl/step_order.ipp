// SPDX-License-Identifier: BSL-1.0

/// Edges of data, program and hand-offs, and for bytes that are written again the waits between groups of
/// accesses of blocks of segments; then a topological order, the listed one if it is one. Reachability:
/// 512 queried steps are columns of bits, united along the edges in one descending sweep.

#include <sublet/checking/detail/step_order.hpp>
#include <sublet/checking/internal/places.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <span>
#include <bit>

// --- step order ------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_COLD_DECL byte_order::byte_order(snapshot const& p, plan_requirements const& required,
                                        table<position_id, step_id> const& listed, bool with_commuting)
{
    std::size_t const values = p.values();
    table<value_id, std::uint32_t> writes(values, 0); // by root: steps, and one if it is given
    table<value_id, step_id> last(values, no_step);
    for (value_id v = 0; v != values; ++v)
        if (is_given(required.role[v])) writes[required.root[v]] = 1;
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (value_id const r = required.root[t.value]; t.writes() && last[r] != s) {
                last[r] = s;
                ++writes[r];
            }
    for (value_id v : p.commuting())
        if (!with_commuting) writes[required.root[v]] = 0;
    std::vector<sort_key> borders; // {root, byte, 0}
    for (value_id v = 0; v != values; ++v)
        if (value_id const r = required.root[v]; writes[r] > 1) {
            borders.push_back({r, required.offset_in_root[v], 0});
            borders.push_back({r, required.end_in_root(v), 0});
        }
    if (borders.empty()) return;
    sort_unique(borders);

    auto add = [&](step_id s, value_id v, bool is_write) {
        if (writes[required.root[v]] > 1) accesses_.push_back({s, v, is_write, false});
    };
    auto const at_end = csr_rows<step_id, value_id>::gathered(p.steps(), [&p](auto add_use) {
        for (edge_use u : p.edge_uses()) add_use(p.steps_of(u.pred).last - 1, u.value);
    });
    for (step_id s : listed) {
        for (touch t : p.touches(s))
            if (t.kind != touch::access::view) add(s, t.value, t.writes());
        for (value_id v : at_end[s]) add(s, v, false);
    }
    std::size_t const leaves = std::bit_ceil(borders.size()); // block b has the halves 2 b and 2 b + 1
    auto index_of = [&borders](value_id r, byte_count at) {
        sort_key const border{r, at, 0};
        return partition_point(borders.size(), [&](std::size_t i) { return !(borders[i] < border); });
    };
    std::vector<unsigned char> is_whole(2 * leaves); // by block: some access covers it
    auto list_blocks = [&](auto add_whole, auto add_part) {
        auto number = [](std::size_t block) { return static_cast<std::uint32_t>(block); };
        for (std::uint32_t i = 0; i != accesses_.size(); ++i) {
            value_id const v = accesses_[i].value, r = required.root[v];
            std::size_t const begin = leaves + index_of(r, required.offset_in_root[v]);
            std::size_t const end = leaves + index_of(r, required.end_in_root(v));
            if (begin >= end) continue;
            for (std::size_t low = begin, high = end; low < high; low = (low + 1) / 2, high /= 2) {
                if (low % 2 != 0) add_whole(number(low), 2 * i);
                if (high % 2 != 0) add_whole(number(high - 1), 2 * i);
            }
            std::size_t size = 1;
            for (std::size_t low = begin, high = end - 1; low != 0; low /= 2, high /= 2, size *= 2) {
                if (low * size < begin || (low + 1) * size > end) add_part(number(low), 2 * i + 1);
                if (high != low && (high + 1) * size > end) add_part(number(high), 2 * i + 1);
            }
        }
    };
    list_blocks([&](std::uint32_t block, std::uint32_t) { is_whole[block] = 1; },
                [](std::uint32_t, std::uint32_t) {});
    accesses_in_ = csr_rows<std::uint32_t, std::uint32_t>::gathered(2 * leaves, [&](auto add_access) {
        list_blocks(add_access, [&](std::uint32_t block, std::uint32_t a) {
            if (is_whole[block] != 0) add_access(block, a);
        });
    });
}

/// What a step reads that changes nothing and only makes views of other storage.
SUBLET_COLD_DECL std::optional<counterexample> unwritten_views(std::span<touch const> touches, step_id s,
                                                               plan_requirements const& required)
{
    std::vector<value_id> viewed; // roots
    for (touch t : touches) {
        if (t.writes()) return std::nullopt;
        if (t.makes_view()) viewed.push_back(required.root[t.value]);
    }
    value_id const first = viewed.front();
    sort_ascending(viewed);
    for (touch t : touches)
        if (!std::binary_search(viewed.begin(), viewed.end(), required.root[t.value]))
            return counterexample{fault::forgotten_write,
                                  counterexample::view{.value = t.value, .other = first, .step = s}};
    return std::nullopt;
}

SUBLET_DECL std::optional<counterexample> first_moved_write(snapshot const& program,
                                                            plan_requirements const& required)
{
    table<position_id, step_id> listed(program.steps());
    for (step_id s = 0; s != program.steps(); ++s) listed[position_id::of(+s)] = s;
    byte_order const order(program, required, listed, false);
    std::optional<counterexample> first;
    auto found = [&first](value_id v, position_id p) {
        if (first && (first->position() < p || (first->position() == p && first->value() <= v))) return;
        first = counterexample{fault::write_moved, counterexample::access{.value = v, .position = p}};
    };
    struct moves { // of the accesses so far; positions from 1
        position_id highest = 0, highest_write = 0;
        value_id last_written = no_value;
    };
    order.each_block([&](std::span<byte_order::access const> accesses) { // as the program lists them
        moves of_whole, of_parts;
        for (byte_order::access const& one : accesses) {
            position_id const p = required.position[one.step] + 1;
            auto compare_with = [&](moves const& earlier) {
                if (one.writes && p < earlier.highest) found(one.value, p - 1);
                if (!one.writes && p < earlier.highest_write)
                    found(earlier.last_written, earlier.highest_write - 1);
            };
            compare_with(of_whole);
            if (!one.is_part) compare_with(of_parts);
            moves& its = one.is_part ? of_parts : of_whole;
            if (one.writes && p >= its.highest_write) its.highest_write = p, its.last_written = one.value;
            its.highest = larger(its.highest, p);
        }
    });
    return first;
}

SUBLET_DECL std::optional<counterexample> misnamed_view(snapshot const& p, plan_requirements const& required)
{
    std::optional<counterexample> forgotten;
    for (step_id s = 0; s != p.steps(); ++s) {
        std::span<touch const> const touches = p.touches(s);
        bool makes_view = false;
        for (touch t : touches) {
            if (!t.defines()) continue;
            value_id const r = required.root[t.value];
            makes_view = makes_view || t.makes_view();
            if (t.makes_view() == (r == t.value))
                return counterexample{
                    fault::unclear_view,
                    counterexample::view{.value = t.value, .other = r == t.value ? no_value : r, .step = s}};
        }
        if (makes_view && !forgotten && touches.size() > 1 && !p.only_views(s))
            forgotten = unwritten_views(touches, s, required);
    }
    return forgotten;
}

/// Checks that every value is defined once, before its uses; fills in the defining steps.
SUBLET_DECL std::optional<counterexample> find_def_fault(snapshot const& p, plan_requirements const& required,
                                                         table<value_id, step_id>& def_of)
{
    auto const& role = required.role;
    def_of = table<value_id, step_id>(p.values(), no_step);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) {
            if (!t.defines()) continue;
            bool const is_second = def_of[t.value] != no_step && def_of[t.value] != s;
            if (bool const is_there = is_given(role[t.value]); is_there || is_second)
                return counterexample{
                    fault::several_defs,
                    counterexample::access{.value = t.value, .step = s, .is_given = is_there}};
            def_of[t.value] = s;
        }
    auto undefined = [&](value_id v, step_id s) {
        return counterexample{
            fault::used_undefined,
            counterexample::access{.value = v, .other = def_of[v] == no_step ? no_value : v, .step = s}};
    };
    auto exists = [&](value_id v) { return is_given(role[v]) || def_of[v] != no_step; };
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (value_id const r = required.root[t.value]; t.views_what_is_there() && !exists(r))
                return undefined(r, s);
            else if (!t.defines() && (!exists(t.value) || def_of[t.value] == s)) return undefined(t.value, s);
    for (edge_use u : p.edge_uses())
        if (!exists(u.value)) return undefined(u.value, p.steps_of(u.pred).last - 1);
    for (value_id v = 0; v != p.values(); ++v)
        if (has_role(role[v], value_role::output) && !exists(v)) return undefined(v, no_step);
    return std::nullopt;
}

/// A topological order: the listed order if it is one, else depth-first (the latest ready step first). Steps
/// on a cycle, or after one, are missing.
SUBLET_DECL table<position_id, step_order::point>
    topological_order(csr_rows<step_order::point, step_order::point> const& after)
{
    std::size_t const points = after.rows();
    table<position_id, step_order::point> order;
    std::vector<std::uint32_t> waits_for(points, 0); // by point: how many
    std::vector<step_order::point> ready;
    order.reserve(points);
    bool is_listed_order = true;
    for (step_order::point s = 0; s != points; ++s)
        for (step_order::point next : after[s]) {
            ++waits_for[next];
            is_listed_order = is_listed_order && s < next;
        }
    for (step_order::point s = 0; s != points; ++s)
        if (is_listed_order) order.push_back(s);
        else if (waits_for[s] == 0) ready.push_back(s);
    while (!ready.empty()) {
        order.push_back(ready.back());
        ready.pop_back();
        for (step_order::point next : after[order.back()])
            if (--waits_for[next] == 0) ready.push_back(next);
    }
    return order;
}

/// A cycle.  Requires: `listed` are the points neither on a cycle nor after one; others exist.
SUBLET_DECL std::vector<step_order::point>
    find_cycle(csr_rows<step_order::point, step_order::point> const& after,
               table<position_id, step_order::point> const& listed)
{
    std::size_t const points = after.rows();
    std::vector<unsigned char> is_listed(points), is_passed(points);
    for (step_order::point s : listed) is_listed[s] = 1;
    std::vector<step_order::point> waits_for(points, no_step); // each remaining one waits for a remaining one
    step_order::point at = no_step;
    for (step_order::point s = 0; s != points; ++s)
        if (!is_listed[s])
            for (step_order::point next : after[s]) waits_for[at = next] = s;
    for (; !is_passed[at]; at = waits_for[at]) is_passed[at] = 1;
    std::vector<step_order::point> backwards{at}, cycle;
    for (step_order::point s = waits_for[at]; s != at; s = waits_for[s]) backwards.push_back(s);
    for (; !backwards.empty(); backwards.pop_back()) cycle.push_back(backwards.back());
    return cycle;
}

/// Follows the accesses of each block as listed: between two writes of the whole, reads of the whole and
/// writes of parts alternate in groups, and each waits for the group before its own. A read of a part waits
/// for the last write of the whole, which waits for all.
class block_waits {
public:
    /// One waits for the other: steps and joins.
    struct wait {
        step_order::point from;
        step_order::point to;
    };

    /// Joins are numbered from `steps` on.
    explicit block_waits(std::size_t steps) : points_(steps) {}

    void follow(std::span<byte_order::access const> accesses)
    {
        written_ = no_step;
        former_.clear();
        latest_.clear();
        part_reads_.clear();
        bool are_writes = false; // the latest
        for (byte_order::access const& a : accesses) {
            if (a.writes == a.is_part) {
                if (!latest_.empty() && are_writes == a.writes && latest_.back() == a.step) continue;
                if (latest_.empty() || are_writes != a.writes) {
                    former_.swap(latest_);
                    latest_.clear();
                    are_writes = a.writes;
                    waiting_ = 0;
                }
                if (former_.empty()) add(written_, a.step);
                else wait_for_former(a.step);
                latest_.push_back(a.step);
            } else if (!a.writes) {
                add(written_, a.step);
                part_reads_.push_back(a.step);
            } else {
                if (latest_.empty() && part_reads_.empty()) add(written_, a.step);
                for (step_id s : latest_) add(s, a.step);
                for (step_id s : part_reads_) add(s, a.step);
                former_.clear();
                latest_.clear();
                part_reads_.clear();
                written_ = a.step;
            }
        }
    }
    [[nodiscard]] std::size_t points() const { return points_; }
    [[nodiscard]] std::vector<wait> const& waits() const { return waits_; }

private:
    void add(step_order::point from, step_order::point to)
    {
        if (from != no_step && from != to) waits_.push_back({from, to});
    }
    void wait_for_former(step_id s)
    {
        if (former_.size() == 1 || former_.back() == s || ++waiting_ == 1) {
            for (step_id one : former_) add(one, s);
            return;
        }
        if (waiting_ == 2) { // and perhaps more
            join_ = static_cast<step_order::point>(points_++);
            for (step_id one : former_) add(one, join_);
        }
        add(join_, s);
    }

    std::size_t points_;
    std::vector<wait> waits_;
    step_id written_ = no_step;
    step_order::point join_ = no_step;
    std::vector<step_id> former_, latest_, part_reads_;
    std::size_t waiting_ = 0; // for the former
};

SUBLET_DECL step_order order_of_steps(snapshot const& p, plan_requirements const& required,
                                      std::vector<handoff> const& handoffs)
{
    step_order found;
    found.steps = p.steps();
    found.fault = find_def_fault(p, required, found.def_of);
    if (found.fault) return found;
    auto const& def_of = found.def_of;
    block_waits blocks(p.steps());
    if (p.has_writes()) {
        table<position_id, step_id> listed(p.steps());
        for (step_id s = 0; s != p.steps(); ++s) listed[required.position[s]] = s;
        byte_order(p, required, listed).each_block([&](auto accesses) { blocks.follow(accesses); });
    }
    found.after = csr_rows<step_order::point, step_order::point>::gathered(blocks.points(), [&](auto add) {
        for (step_id s = 0; s != p.steps(); ++s)
            for (touch t : p.touches(s)) {
                value_id const needed = t.makes_view() ? required.root[t.value] : t.value;
                step_id const maker = def_of[needed];
                if (t.makes() || maker == no_step || maker == s) continue;
                bool const may_be_first = t.kind == touch::access::write_view; // to write the storage
                if (!may_be_first || required.position[maker] < required.position[s]) add(maker, s);
            }
        for (edge_use u : p.edge_uses()) {
            step_id const reader = p.steps_of(u.pred).last - 1;
            if (def_of[u.value] != no_step && def_of[u.value] != reader) add(def_of[u.value], reader);
        }
        for (node_id n = 0; n != p.nodes(); ++n) {
            step_range const node_steps = p.steps_of(n);
            for (step_id s = node_steps.first + 1; s != node_steps.last; ++s) add(s - 1, s);
            for (node_id next : p.successors(n)) add(node_steps.last - 1, p.steps_of(next).first);
        }
        for (handoff h : handoffs)
            if (h.from < p.steps() && h.to < p.steps()) add(h.from, h.to);
        for (block_waits::wait w : blocks.waits()) add(w.from, w.to);
    });
    found.step_at = topological_order(found.after);
    if (found.step_at.size() != blocks.points()) {
        for (step_order::point s : find_cycle(found.after, found.step_at))
            if (s < p.steps()) found.cycle.push_back(s);
        found.fault = counterexample{fault::cycle, counterexample::waiting{.step = found.cycle.front()}};
        return found;
    }
    found.position = std::vector<position_id>(blocks.points(), 0);
    for (position_id at = 0; at != found.step_at.size(); ++at) found.position[found.step_at[at]] = at;
    return found;
}

// --- reachability queries --------------------------------------------------------------------------------

SUBLET_DECL void reachability_queries::add(std::uint32_t row, step_order::point last, std::uint64_t id)
{
    position_id const end = order_.position[last];
    position_id first = end;
    each_in(row, [&](position_id at) { first = smaller(first, at); });
    auto const reach = static_cast<std::uint64_t>(std::bit_width(end - first));
    if (reach != 0) queries_.push_back({reach << 32 | end, id, row});
}

SUBLET_DECL std::uint64_t reachability_queries::first_failed()
{
    sort_by_key(queries_);
    first_failed_ = none;
    for (std::size_t i = 0; i != queries_.size();) i = answer_batch(i);
    queries_.clear();
    return first_failed_;
}

SUBLET_DECL std::size_t reachability_queries::answer_batch(std::size_t begin)
{
    std::uint64_t const bits = queries_[begin].key >> 32, reach = std::uint64_t{1} << bits;
    position_id const lowest = position_of(queries_[begin]);
    position_id const floor = lowest < reach ? 0u : lowest - static_cast<std::uint32_t>(reach - 1);
    std::size_t end = begin;
    columns_.clear();
    for (; end != queries_.size() && queries_[end].key >> 32 == bits; ++end) {
        position_id const at = position_of(queries_[end]);
        if (!columns_.empty() && columns_.back() == at) continue;
        if (columns_.size() == 64 * words || at - lowest > larger(reach, std::uint64_t{64 * words})) break;
        columns_.push_back(at);
    }
    fill_rows(floor);

    std::size_t column = 0;
    for (std::size_t i = begin; i != end; ++i) {
        position_id const last = position_of(queries_[i]);
        if (columns_[column] != last) ++column;
        each_in(queries_[i].id, [&](position_id at) {
            std::uint64_t const word = bits_[(at - floor) * words + column / 64];
            if ((word >> column % 64 & 1) == 0) first_failed_ = smaller(first_failed_, queries_[i].tie);
        });
    }
    return end;
}

SUBLET_DECL void reachability_queries::fill_rows(position_id floor)
{
    position_id const top = columns_.back();
    std::size_t const needed = (top - floor + std::size_t{1}) * words;
    if (bits_.size() < needed) bits_ = std::vector<std::uint64_t>(needed);
    std::size_t column = columns_.size();
    for (position_id at = top + 1; at-- != floor;) {
        std::uint64_t row[words] = {};
        for (step_order::point next : order_.after[order_.step_at[at]]) {
            position_id const above = order_.position[next];
            if (above > top) continue;
            for (std::size_t w = 0; w != words; ++w) row[w] |= bits_[(above - floor) * words + w];
        }
        if (column != 0 && columns_[column - 1] == at) {
            --column;
            row[column / 64] |= std::uint64_t{1} << column % 64;
        }
        for (std::size_t w = 0; w != words; ++w) bits_[(at - floor) * words + w] = row[w];
    }
}

} // namespace sublet::detail
