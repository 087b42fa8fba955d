// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_FLOW_PLAN_HPP
#define SUBLET_CHECKING_CHECK_FLOW_PLAN_HPP

/// The opponent of plans for control flow: follows what lies in the arena along every path, and looks for a
/// read that would not find what was written for it.
///
///        0: def a             b lies where a lies. Over node 2 that is good. Over node 1 it is not: the
///        /      \             witness is "values a and b at position 1, bytes [0, 64)": there b is written,
///     1: def b   2:           a was written before, and somebody reads it later.
///        \      /
///        3: use a
///
/// Who is alive where is not asked. What matters of the arena at a point of the program is the set of values
/// whose bytes are intact there, whatever path led to it. A write adds its value and takes away all that
/// overlaps it, so those left lie apart, in one order by offset, and whom a write hits stands next to it.
/// Where paths meet, what is intact on all of them is.
///
/// Source: Kildall, "A unified approach to global program optimization", POPL 1973 (the greatest solution of
/// such equations, by going down from "everything"). Only where a read fails is a path looked for, to say
/// why.

#include <sublet/checking/check_places.hpp>
#include <sublet/checking/demands.hpp>
#include <sublet/checking/rank_set.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/keyed.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sublet {

struct flow_options {
    /// A value may be read on a path that has not written it: the read finds anything, and it may be so.
    bool allows_undefined = false;
};

namespace detail {

template <std::same_as<snapshot> S>
class flow_opponent {
public:
    /// Requires: the plan's order names every node once, and the plan has an entry a value.
    flow_opponent(S const& program, memory_plan const& plan, plan_options options, flow_options const& flow)
        : program_(program), plan_(plan), options_(in_order_of(plan, std::move(options))), flow_(flow),
          asked_(demands(program, options_)), values_(static_cast<value_id>(program.values()))
    {
    }

    std::optional<witness> first_fault()
    {
        find_ends();
        if (auto fact = undefined_use()) return fact;
        if (auto fact = check_places(asked_, plan_, options_)) return fact;
        return clash();
    }

private:
    static plan_options in_order_of(memory_plan const& plan, plan_options options)
    {
        options.order = plan.order;
        return options;
    }
    node_id node_at(std::size_t i) const
    {
        return plan_.order.empty() ? static_cast<node_id>(i) : plan_.order[i];
    }
    step_id end_of(node_id n) const { return program_.steps_of(n).last; }
    bool is_read(touch t) const { return t.kind != touch_kind::def; }

    /// Gathers what is read where nodes end: by edges, by whoever takes the outputs.
    void find_ends()
    {
        std::size_t const nodes = program_.nodes();
        is_endless_.assign(nodes, 1);
        std::vector<node_id> open;
        for (node_id n = 0; n != nodes; ++n)
            if (program_.successors(n).empty()) is_endless_[n] = 0, open.push_back(n);
        while (!open.empty()) {
            node_id const n = open.back();
            open.pop_back();
            for (node_id before : program_.predecessors(n))
                if (std::exchange(is_endless_[before], 0)) open.push_back(before);
        }
        for (value_id v = 0; v != values_; ++v)
            if (has_role(asked_.role[v], value_role::output)) outputs_.push_back(v);
        read_at_end_ = csr_rows::gathered(nodes, [this](auto add) {
            for (edge_use u : program_.edge_uses()) add(u.pred, u.value);
        });
    }

    /// Walks back from each value's reads, as far as nothing writes it.
    std::optional<witness> undefined_use() const
    {
        struct read {
            node_id node;
            step_id position;
        };
        std::size_t const nodes = program_.nodes();
        std::optional<witness> first;
        auto found = [&](value_id v, step_id position) {
            if (first && (first->position < position || (first->position == position && first->value <= v)))
                return;
            bool const is_written = asked_.first_def[v] != plan_demands::never;
            first = witness{.what = fault::used_undefined,
                            .value = v,
                            .other = is_written ? v : no_value,
                            .position = position};
        };
        if (nodes == 0) {
            for (value_id v : outputs_)
                if (!is_given(asked_.role[v])) found(v, 0);
            return first;
        }
        csr_rows const writers = csr_rows::gathered(values_, [this](auto add) {
            for (node_id n = 0; n != program_.nodes(); ++n)
                for (touch t : program_.touches(program_.steps_of(n)))
                    if (!is_read(t)) add(t.value, n);
        });
        std::vector<read> reads; // that no write in their node comes before
        std::vector<value_id> written_in(values_, no_node);
        std::vector<std::uint32_t> reader_of; // by read: the value
        auto note = [&](value_id v, node_id n, step_id position) {
            if (written_in[v] == n || is_given(asked_.role[v])) return;
            if (flow_.allows_undefined && asked_.first_def[v] != plan_demands::never) return;
            reads.push_back({n, position});
            reader_of.push_back(v);
        };
        for (node_id n = 0; n != nodes; ++n) {
            step_range const mine = program_.steps_of(n);
            for (step_id s = mine.first; s != mine.last; ++s)
                for (touch t : program_.touches(s)) {
                    if (is_read(t)) note(t.value, n, asked_.position[s]);
                    else written_in[t.value] = n;
                }
            for (value_id v : read_at_end_[n]) note(v, n, asked_.position[mine.last - 1]);
            if (program_.successors(n).empty())
                for (value_id v : outputs_) note(v, n, static_cast<step_id>(program_.steps()));
        }
        csr_rows const reads_of = csr_rows::gathered(values_, [&](auto add) {
            for (std::size_t i = 0; i != reads.size(); ++i) add(reader_of[i], static_cast<std::uint32_t>(i));
        });
        std::vector<value_id> is_passed(nodes, no_value); // for which value last
        std::vector<node_id> open;
        for (value_id v = 0; v != values_; ++v) {
            if (reads_of[v].empty()) continue;
            for (node_id n : writers[v]) is_passed[n] = v; // what leaves it is written
            for (std::uint32_t r : reads_of[v]) {
                open.push_back(reads[r].node);
                while (!open.empty()) {
                    node_id const n = open.back();
                    open.pop_back();
                    if (n == 0) found(v, reads[r].position);
                    for (node_id before : program_.predecessors(n))
                        if (std::exchange(is_passed[before], v) != v) open.push_back(before);
                }
            }
        }
        return first;
    }

    // ---- What is intact. ----

    bool is_placed(value_id v) const { return plan_.buffer_of[v] != no_buffer; }
    common_bytes overlap(value_id a, value_id b) const
    {
        return detail::overlap(asked_, plan_, asked_.root[a], asked_.root[b]);
    }
    bool meet(value_id a, value_id b) const
    {
        auto const [begin, end] = overlap(a, b);
        return begin < end;
    }
    witness clash_of(value_id a, value_id b, step_id position) const
    {
        auto const [begin, end] = overlap(a, b);
        return {.what = fault::clash,
                .value = a,
                .other = b,
                .position = position,
                .begin = begin,
                .end = end,
                .pool = place_of(plan_, a).pool};
    }

    void rank_classes()
    {
        std::vector<keyed> by_place;
        for (value_id r = 0; r != values_; ++r)
            if (asked_.root[r] == r && is_placed(r))
                by_place.push_back({place_of(plan_, r).pool, place_of(plan_, r).offset, r});
        sort_keyed(by_place);
        rank_ = std::vector<std::uint32_t>(values_, rank_set<>::none);
        for (keyed const& k : by_place) {
            rank_[k.who] = static_cast<std::uint32_t>(at_.size());
            at_.push_back(k.who);
        }
        members_ = csr_rows::gathered(at_.size(), [this](auto add) {
            for (value_id v = 0; v != values_; ++v)
                if (is_placed(v)) add(rank_[asked_.root[v]], v);
        });
    }
    std::uint32_t rank_of(value_id v) const { return rank_[asked_.root[v]]; }

    /// Call `see(rank)` for those in `set`, which lie apart, that v's class overlaps; it may take them out.
    template <class See>
    void each_hit(rank_set<> const& set, value_id v, See see) const
    {
        std::uint32_t const mine = rank_of(v), below = set.below(mine);
        if (below != rank_set<>::none && meet(at_[below], v)) see(below);
        for (std::uint32_t above = set.above(mine); above != rank_set<>::none && meet(at_[above], v);
             above = set.above(above))
            see(above);
    }

    /// The values intact where a walk along a node is.
    struct intact_set {
        std::vector<unsigned char> has;    // by value
        std::vector<std::uint32_t> counts; // by rank
        rank_set<> classes;
        std::vector<value_id> listed; // all of them, and maybe some that no longer are, or twice
    };
    void write(intact_set& now, value_id v) const
    {
        each_hit(now.classes, v, [&](std::uint32_t hit) {
            for (value_id member : members_[hit]) now.has[member] = 0;
            now.counts[hit] = 0;
            now.classes.erase(hit);
        });
        add(now, v);
    }
    void add(intact_set& now, value_id v) const
    {
        if (now.has[v]) return;
        now.has[v] = 1;
        now.listed.push_back(v);
        if (now.counts[rank_of(v)]++ == 0) now.classes.insert(rank_of(v));
    }
    /// Empties the set; ascending.
    std::vector<value_id> taken_from(intact_set& now) const
    {
        std::vector<value_id> values;
        for (value_id v : now.listed) {
            if (!now.has[v]) continue;
            values.push_back(v);
            now.has[v] = 0;
            if (--now.counts[rank_of(v)] == 0) now.classes.erase(rank_of(v));
        }
        now.listed.clear();
        sort_ascending(values);
        return values;
    }

    /// What the program is given. Who lies upon another of them cannot be there.
    std::vector<value_id> given()
    {
        spoilt_by_ = std::vector<value_id>(at_.size(), no_value);
        std::vector<value_id> values, of_rank(at_.size(), no_value);
        for (value_id v = 0; v != values_; ++v)
            if (is_placed(v) && is_given(asked_.role[v])) of_rank[rank_of(v)] = v;
        value_id furthest = no_value;
        for (value_id v : of_rank) {
            if (v == no_value) continue;
            if (furthest != no_value && meet(furthest, v)) {
                spoilt_by_[rank_of(v)] = furthest;
                spoilt_by_[rank_of(furthest)] = v;
            }
            if (furthest == no_value || place_of(plan_, furthest).pool != place_of(plan_, v).pool ||
                end_byte(furthest) < end_byte(v))
                furthest = v;
        }
        for (value_id v = 0; v != values_; ++v)
            if (is_placed(v) && is_given(asked_.role[v]) && spoilt_by_[rank_of(v)] == no_value)
                values.push_back(v);
        return values;
    }
    byte_count end_byte(value_id v) const { return place_of(plan_, v).offset + asked_.bytes[asked_.root[v]]; }

    /// By node, what is intact where it begins; no entry for a node that is not reached.
    void follow(intact_set& now)
    {
        std::size_t const nodes = program_.nodes();
        arriving_ = std::vector<std::vector<value_id>>(nodes);
        is_reached_.assign(nodes, 0);
        std::vector<unsigned char> is_stale(nodes, 0);
        auto arrive = [&](node_id n, std::vector<value_id> const& values) {
            std::vector<value_id>& known = arriving_[n];
            if (!std::exchange(is_reached_[n], 1)) {
                known = values;
                is_stale[n] = 1;
                return;
            }
            std::size_t kept = 0;
            for (std::size_t i = 0, j = 0; i != known.size() && j != values.size();) {
                if (known[i] == values[j]) known[kept++] = known[i];
                if (known[i] < values[j]) ++i;
                else if (known[i] > values[j]) ++j;
                else ++i, ++j;
            }
            if (kept == known.size()) return;
            known.resize(kept);
            is_stale[n] = 1;
        };
        arrive(0, given());
        for (bool is_over = false; !is_over;) {
            is_over = true;
            for (std::size_t i = 0; i != nodes; ++i) {
                node_id const n = node_at(i);
                if (!std::exchange(is_stale[n], 0)) continue;
                is_over = false;
                for (value_id v : arriving_[n]) add(now, v);
                for (touch t : program_.touches(program_.steps_of(n)))
                    if (!is_read(t) && is_placed(t.value)) write(now, t.value);
                std::vector<value_id> const leaving = taken_from(now);
                for (node_id s : program_.successors(n)) arrive(s, leaving);
            }
        }
    }

    std::optional<witness> clash()
    {
        if (program_.nodes() == 0) return std::nullopt;
        rank_classes();
        intact_set now{std::vector<unsigned char>(values_, 0),
                       std::vector<std::uint32_t>(at_.size(), 0),
                       rank_set<>(at_.size()),
                       {}};
        follow(now);
        rank_set<> held(at_.size()), written(at_.size());
        for (std::size_t i = 0; i != program_.nodes(); ++i) {
            node_id const n = node_at(i);
            if (!is_reached_[n]) continue;
            for (value_id v : arriving_[n]) add(now, v);
            for (step_id s = program_.steps_of(n).first; s != end_of(n); ++s)
                if (auto fact = fault_at(s, n, now, held, written)) return fact;
            auto lost = [&](value_id v) -> std::optional<witness> {
                if (!is_placed(v) || now.has[v]) return std::nullopt;
                return why_lost(v, n, end_of(n));
            };
            for (value_id v : read_at_end_[n])
                if (auto fact = lost(v)) return fact;
            if (program_.successors(n).empty() || is_endless_[n])
                for (value_id v : outputs_)
                    if (auto fact = lost(v)) return fact;
            taken_from(now);
        }
        return std::nullopt;
    }

    /// Reads, then writes; what it holds and writes lies apart, but for what it may write over.
    std::optional<witness> fault_at(step_id s, node_id n, intact_set& now, rank_set<>& held,
                                    rank_set<>& written) const
    {
        std::vector<value_id> loose; // held, and on some path not written at all: these may overlap others
        for (touch t : program_.touches(s)) {
            if (!is_read(t) || !is_placed(t.value)) continue;
            if (!now.has[t.value])
                if (auto fact = why_lost(t.value, n, s)) return fact;
            if (t.kind != touch_kind::use) continue;
            if (now.has[t.value]) held.insert(rank_of(t.value));
            else loose.push_back(t.value);
        }
        std::optional<witness> fact;
        for (touch t : program_.touches(s)) {
            if (is_read(t) || !is_placed(t.value)) continue;
            auto hit = [&](value_id other) {
                if (!fact) fact = clash_of(other, t.value, asked_.position[s]);
            };
            each_hit(written, t.value, [&](std::uint32_t other) { hit(at_[other]); });
            each_hit(held, t.value, [&](std::uint32_t other) {
                if (!takes_over(s, at_[other], t.value)) hit(at_[other]);
            });
            for (value_id other : loose)
                if (rank_of(other) != rank_of(t.value) && meet(other, t.value) &&
                    !takes_over(s, other, t.value))
                    hit(other);
            written.insert(rank_of(t.value));
        }
        for (touch t : program_.touches(s)) {
            if (!is_placed(t.value)) continue;
            (is_read(t) ? held : written).erase(rank_of(t.value));
            if (!is_read(t)) write(now, t.value);
        }
        return fact;
    }
    /// All that the step holds of the class of `in` may be overwritten by `out`, which lies within it.
    bool takes_over(step_id s, value_id in, value_id out) const
    {
        if (!options_.in_place || place_of(plan_, in) != place_of(plan_, out)) return false;
        if (asked_.bytes[asked_.root[out]] > asked_.bytes[asked_.root[in]]) return false;
        for (touch t : program_.touches(s)) {
            if (t.kind != touch_kind::use || asked_.root[t.value] != asked_.root[in]) continue;
            bool is_declared = false;
            for (overwrite o : program_.overwrites(s))
                is_declared = is_declared || (o.in == t.value && o.out == out);
            if (!is_declared) return false;
        }
        return true;
    }

    /// A path on which v is written, then something else over it, and then step `before` of node n comes;
    /// none if v is not there only because some path does not write it.
    std::optional<witness> why_lost(value_id v, node_id n, step_id before) const
    {
        struct place {
            node_id node;
            step_id before;
            value_id spoiler; // the write that was met on the way here, if one was
            step_id step;
        };
        std::vector<unsigned char> is_seen(program_.nodes(), 0), is_seen_spoilt = is_seen;
        std::vector<place> open{{n, before, no_value, no_step}};
        while (!open.empty()) {
            place at = open.back();
            open.pop_back();
            bool is_written = false;
            for (step_id s = at.before; s != program_.steps_of(at.node).first && !is_written;) {
                --s;
                for (touch t : program_.touches(s)) is_written = is_written || (!is_read(t) && t.value == v);
                if (is_written || at.spoiler != no_value) continue;
                for (touch t : program_.touches(s))
                    if (!is_read(t) && is_placed(t.value) && rank_of(t.value) != rank_of(v) &&
                        meet(t.value, v))
                        at.spoiler = t.value, at.step = s;
            }
            bool const is_there = is_written || (at.node == 0 && is_given(asked_.role[v]));
            if (is_there && at.spoiler != no_value) return clash_of(v, at.spoiler, asked_.position[at.step]);
            if (is_written) continue;
            if (is_there && spoilt_by_[rank_of(v)] != no_value)
                return clash_of(v, spoilt_by_[rank_of(v)], asked_.position[program_.steps_of(0).first]);
            for (node_id from : program_.predecessors(at.node)) {
                std::vector<unsigned char>& seen = at.spoiler == no_value ? is_seen : is_seen_spoilt;
                if (!is_reached_[from] || std::exchange(seen[from], 1)) continue;
                open.push_back({from, end_of(from), at.spoiler, at.step});
            }
        }
        return std::nullopt;
    }

    S const& program_;
    memory_plan const& plan_;
    plan_options const options_; // in the plan's order
    flow_options const flow_;
    plan_demands const asked_;
    value_id const values_;
    std::vector<unsigned char> is_endless_; // by node: no path leads to the end of the program
    std::vector<value_id> outputs_;
    csr_rows read_at_end_;            // by node
    std::vector<std::uint32_t> rank_; // by root: classes ascend by pool and offset
    std::vector<value_id> at_;        // by rank: its root
    csr_rows members_;                // by rank: its values
    std::vector<value_id> spoilt_by_; // by rank, of what is given
    std::vector<std::vector<value_id>> arriving_;
    std::vector<unsigned char> is_reached_; // by node
};

/// Whether the plan is of such a program, and its order is one.
template <std::same_as<snapshot> S>
bool is_flow_plan_of(S const& p, memory_plan const& plan, plan_options const& options)
{
    if (plan.valid_for != program_reading::control_flow || !is_complete(plan, p.values())) return false;
    if (!options.order.empty() && options.order != plan.order) return false;
    if (plan.order.empty()) return true;
    std::vector<unsigned char> is_named(p.nodes(), 0);
    for (node_id n : plan.order)
        if (n >= p.nodes() || std::exchange(is_named[n], 1)) return false;
    return plan.order.size() == p.nodes();
}

} // namespace detail

/// Look for a path on which `plan` lets a step read other bytes than were written for it. None: it is proved.
///
/// Successors are alternatives, and every path from the entry counts. A step reads, then writes; what it
/// holds and writes lies apart, whatever is in it, unless it may write the result over that operand. An
/// operand of an edge is read where the predecessor ends. A write occupies all bytes of its class, and leaves
/// other values of the class what they were: who makes a view of a value reads it. Inputs are all there at
/// the entry; outputs are read where a node has no successor, and, as far as they are there, where a node of
/// an endless loop ends.
///
/// Requires:   one entry a value in every table; alignments of at least 1; `alias_of` without circles.
/// Ensures:    the first fault in this order: a plan of another program, reading or order; the first position
///             that reads what some path has not written (then by value); as check_places; by position of the
///             plan's order the first read that fails or write that falls upon what its step holds. The
///             witness says where what is lost was written over.
/// Complexity: O(values + touches + V + E) and the nodes that each value is read undefined or alive in; then
///             for each time that a node is looked at (once if there are no loops, once more whenever less
///             arrives there) O(log n) for each of its writes, for each value intact there and each it
///             spoils. Memory: the values intact at the beginnings of nodes.
/// Throws:     precondition_error where a requirement is broken.
template <program P>
[[nodiscard]] std::optional<witness> check_flow_plan(P const& p, memory_plan const& plan,
                                                     plan_options const& options,
                                                     flow_options const& flow = {})
{
    auto&& flat = as_snapshot(p);
    if (!detail::is_flow_plan_of(flat, plan, options)) return witness{.what = fault::foreign_plan};
    return detail::flow_opponent<snapshot>(flat, plan, options, flow).first_fault();
}

} // namespace sublet

#endif
