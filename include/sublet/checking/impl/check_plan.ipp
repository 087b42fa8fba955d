// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/detail/available_values.hpp>
#include <sublet/checking/detail/places.hpp>
#include <sublet/checking/detail/step_order.hpp>
#include <sublet/detail/facts.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <cstdint>
#include <utility>

// --- node ends -------------------------------------------------------------------------------------------

namespace sublet {

namespace detail {

SUBLET_DECL node_ends ends_of_nodes(snapshot const& p, detail::plan_requirements const& required)
{
    node_ends ends;
    std::vector<node_id> open;
    ends.is_endless.assign(p.nodes(), 1);
    for (node_id n = 0; n != p.nodes(); ++n)
        if (p.successors(n).empty()) {
            ends.is_endless[n] = 0;
            open.push_back(n);
        }
    while (!open.empty()) {
        node_id const n = open.back();
        open.pop_back();
        for (node_id before : p.predecessors(n))
            if (std::exchange(ends.is_endless[before], 0)) open.push_back(before);
    }
    for (value_id v = 0; v != p.values(); ++v)
        if (has_role(required.role[v], value_role::output)) ends.outputs.push_back(v);
    ends.read_by_edges = csr_rows<node_id, value_id>::gathered(p.nodes(), [&p](auto add) {
        for (edge_use u : p.edge_uses()) add(u.pred, u.value);
    });
    return ends;
}

} // namespace detail

} // namespace sublet

// --- unwritten reads -------------------------------------------------------------------------------------

namespace sublet::detail {

/// Making a view needs the bytes of its root; so does a write through it, if anything makes the root at all.
SUBLET_DECL bool needs_root(touch t, plan_requirements const& required)
{
    if (t.kind != touch::access::write_view) return t.views_what_is_there();
    value_id const r = required.root[t.value];
    return is_given(required.role[r]) || required.first_def[r] != plan_requirements::never;
}

} // namespace sublet::detail

namespace sublet {

namespace detail {

SUBLET_DECL std::optional<counterexample> find_unwritten_read(snapshot const& p,
                                                              detail::plan_requirements const& required,
                                                              node_ends const& ends,
                                                              flow_options const& options)
{
    std::optional<counterexample> first;
    auto found = [&](value_id v, position_id position) {
        if (first && (first->position() < position || (first->position() == position && first->value() <= v)))
            return;
        bool const is_ever_written = required.first_def[v] != detail::plan_requirements::never;
        first =
            counterexample{fault::used_undefined,
                           counterexample::access{
                               .value = v, .other = is_ever_written ? v : no_value, .position = position}};
    };
    if (p.nodes() == 0) {
        for (value_id v : ends.outputs)
            if (!is_given(required.role[v])) found(v, 0);
        return first;
    }
    detail::shared_sets sets(p.values());
    auto const written =
        find_along_paths(detail::along::all_paths, p, sets, 0, [&](node_id n, detail::shared_sets::set now) {
            for (touch t : p.touches(p.steps_of(n)))
                if (t.defines()) now = sets.with(now, t.value);
            return now;
        });
    auto has_to_be_written = [&](value_id v) {
        bool const is_never_written = required.first_def[v] == detail::plan_requirements::never;
        return !is_given(required.role[v]) && (!options.allows_undefined || is_never_written);
    };
    table<value_id, node_id> written_in(p.values(), no_node);
    std::vector<detail::shared_sets::set> at_exits;
    for (node_id n = 0; n != p.nodes(); ++n) {
        if (!written.is_reached[n]) continue;
        auto read = [&](value_id v, position_id position) {
            if (written_in[v] != n && has_to_be_written(v) && !sets.has(written.entering[n], v))
                found(v, position);
        };
        step_range const node_steps = p.steps_of(n);
        for (step_id s = node_steps.first; s != node_steps.last; ++s) {
            for (touch t : p.touches(s))
                if (t.defines()) written_in[t.value] = n;
                else read(t.value, required.position[s]);
            for (touch t : p.touches(s)) // a view needs its root, which the step may make
                if (needs_root(t, required)) read(required.root[t.value], required.position[s]);
        }
        for (value_id v : ends.read_by_edges[n]) read(v, required.position[node_steps.last - 1]);
        if (p.successors(n).empty()) at_exits.push_back(written.leaving[n]);
    }
    if (at_exits.empty()) return first;
    detail::shared_sets::set const at_end = sets.common(at_exits);
    for (value_id v : ends.outputs)
        if (has_to_be_written(v) && !sets.has(at_end, v)) found(v, position_id::of(p.steps()));
    return first;
}

} // namespace detail

} // namespace sublet

// --- check plan ------------------------------------------------------------------------------------------

namespace sublet::detail {

class plan_checker {
public:
    plan_checker(snapshot const& program, memory_plan const& plan, plan_options const& options)
        : program_(program), plan_(plan), options_(options), required_(derive_requirements(program, options)),
          values_(static_cast<std::uint32_t>(program.values()))
    {
    }

    std::optional<counterexample> first_fault() const
    {
        if (is_foreign()) return counterexample{fault::foreign_plan};
        if (auto fact = misnamed_view(program_, required_)) return fact;
        if (auto fact = undefined_use()) return fact;
        if (auto fact = moved_write()) return fact;
        if (auto fact = back_edge()) return fact;
        if (auto fact = check_places(required_, plan_, options_)) return fact;
        return clash();
    }

private:
    pool_place place_of(value_id v) const { return detail::place_of(plan_, v); }

    bool is_foreign() const
    {
        std::size_t const nodes = program_.nodes();
        if (plan_.valid_for != program_reading::sequential || !is_complete(plan_, values_)) return true;
        if (!plan_.order.empty() && plan_.order.size() != nodes) return true;
        if (plan_.order.empty() && options_.order.empty()) return false;
        auto at = [](std::vector<node_id> const& order, std::size_t i) {
            return order.empty() ? node_id::of(i) : order[i];
        };
        for (std::size_t i = 0; i != nodes; ++i)
            if (at(plan_.order, i) != at(options_.order, i)) return true;
        return false;
    }

    /// The sequential reading requires that steps run once, one after the other.
    std::optional<counterexample> back_edge() const
    {
        std::optional<counterexample> first;
        if (program_.graph().items() == 0) return first;
        for (node_id n = 0; n != program_.nodes(); ++n) {
            position_id const last = required_.position[program_.steps_of(n).last - 1];
            if (first && first->position() < last) continue;
            for (node_id next : program_.successors(n))
                if (required_.position[program_.steps_of(next).first] <= last)
                    first = counterexample{fault::leads_back, counterexample::waiting{.position = last}};
        }
        return first;
    }

    std::optional<counterexample> undefined_use() const
    {
        std::optional<counterexample> first;
        auto found = [&first, this](value_id v, position_id p) {
            if (first && (first->position() < p || (first->position() == p && first->value() <= v))) return;
            first =
                counterexample{fault::used_undefined,
                               counterexample::access{
                                   .value = v,
                                   .other = required_.first_def[v] == plan_requirements::never ? no_value : v,
                                   .position = p}};
        };
        each_touch(program_, required_.position, [&](value_id v, position_id p, access_kind m) {
            // A def is visible to reads at the end of the node, but not to reads of its own step.
            bool const is_there = is_given(required_.role[v]) || required_.first_def[v] < p ||
                                  (m == access_kind::reads_at_end && required_.first_def[v] == p);
            bool const is_made = m >= access_kind::views && m <= access_kind::writes;
            bool const needs_its_root = m == access_kind::views || m == access_kind::views_and_reads;
            if (!is_made && !is_there) found(v, p);
            if (value_id const r = required_.root[v]; needs_its_root && r != v &&
                                                      !is_given(required_.role[r]) &&
                                                      required_.first_def[r] > p)
                found(r, p); // a view of storage that is not there
        });
        for (value_id v = 0; v != values_; ++v) {
            bool const exists =
                is_given(required_.role[v]) || required_.first_def[v] != plan_requirements::never;
            if (has_role(required_.role[v], value_role::output) && !exists)
                found(v, position_id::of(program_.steps()));
        }
        return first;
    }

    /// Accesses of one byte, of which one writes, must keep their order in the program. Bytes that are written
    /// once, and not given, have no such accesses: every read comes after that write.
    std::optional<counterexample> moved_write() const
    {
        if (options_.order.empty()) return std::nullopt;
        table<position_id, step_id> listed(program_.steps());
        for (step_id s = 0; s != program_.steps(); ++s) listed[position_id::of(+s)] = s;
        byte_order const order(program_, required_, listed);
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
                position_id const p = required_.position[one.step] + 1;
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

    /// Empty: a step is at the position of its number.
    table<position_id, step_id> steps_by_position() const
    {
        table<position_id, step_id> step_at(options_.order.empty() ? 0 : program_.steps());
        if (!step_at.empty())
            for (step_id s = 0; s != program_.steps(); ++s) step_at[required_.position[s]] = s;
        return step_at;
    }

    /// By root: the position of the last node end at which a value of the class is read, plus 1; or 0. Empty:
    /// there is no such read.
    table<value_id, position_id> reads_at_end() const
    {
        table<value_id, position_id> after(program_.edge_uses().empty() ? 0 : values_);
        for (edge_use u : program_.edge_uses()) {
            position_id& its = after[required_.root[u.value]];
            its = larger(its, position_id{required_.position[program_.steps_of(u.pred).last - 1] + 1});
        }
        return after;
    }

    /// The touches of the step of a pair, and of the next step, by root; made anew for each step.
    class pair_touches {
    public:
        pair_touches(snapshot const& program, plan_requirements const& required)
            : program_(program), required_(required), read_(program.values(), no_value),
              written_(program.values(), no_value), touched_at_(program.values(), no_step)
        {
        }

        /// `next` may be none.
        void move_to(step_id s, step_id next)
        {
            if (s == step_) return;
            if (step_ != no_step)
                for (touch t : program_.touches(step_)) read_[root(t)] = written_[root(t)] = no_value;
            step_ = s;
            next_ = next;
            auto name = [](value_id& one, value_id v) { one = one == no_value || one == v ? v : several; };
            for (touch t : program_.touches(s)) {
                bool const only_reads = t.kind == touch::access::use || t.kind == touch::access::use_early;
                name(read_[root(t)], only_reads ? t.value : several);
                if (t.writes()) name(written_[root(t)], t.value);
            }
            if (next != no_step)
                for (touch t : program_.touches(next)) touched_at_[root(t)] = next;
        }
        /// The step only reads `v`, and touches no other value of the class.
        bool only_reads(value_id v) const { return read_[required_.root[v]] == v; }
        /// The step writes another value of the class of `out`.
        bool writes_more(value_id out) const
        {
            value_id const written = written_[required_.root[out]];
            return written != no_value && written != out;
        }
        bool is_touched_next(value_id root) const { return next_ != no_step && touched_at_[root] == next_; }

    private:
        static constexpr value_id several = no_value - 1; // no program has so many ids
        value_id root(touch t) const { return required_.root[t.value]; }

        snapshot const& program_;
        plan_requirements const& required_;
        step_id step_ = no_step, next_ = no_step;
        table<value_id, value_id> read_, written_; // by root: the only one, if there is one
        table<value_id, step_id> touched_at_;      // by root
    };

    /// By root: the class that this one overwrites in place.
    table<value_id, value_id> overwritten_classes() const
    {
        table<value_id, value_id> overwritten(values_, no_value);
        if (!options_.in_place || program_.overwrites().empty()) return overwritten;
        table<position_id, step_id> const step_at = steps_by_position();
        table<value_id, position_id> const read_at_end = reads_at_end();
        table<value_id, unsigned char> is_overwritten(values_);
        // The step only reads `v` of the class, which is not read after the step's writes: at the end of the
        // node, or early by the next step.
        pair_touches touches(program_, required_);
        auto is_last_reader = [&](position_id next, value_id v) {
            value_id const r = required_.root[v];
            bool const is_read_at_end = !read_at_end.empty() && read_at_end[r] == next;
            return touches.only_reads(v) && !is_read_at_end && !touches.is_touched_next(r);
        };
        for (overwrite o : program_.overwrites()) {
            position_id const p = required_.position[o.step];
            bool const is_last = p + 1 == program_.steps();
            touches.move_to(o.step, is_last            ? no_step
                                    : step_at.empty() ? step_id{p + 1}
                                                      : step_at[p + 1]);
            value_id const in = required_.root[o.in], out = required_.root[o.out];
            if (!required_.is_planned(in) || !required_.is_planned(out)) continue;
            if (place_of(in) != place_of(out) || required_.bytes[in] < required_.bytes[out]) continue;
            if (required_.offset_in_root[o.in] != required_.offset_in_root[o.out]) continue;
            if (touches.writes_more(o.out)) continue;
            if (is_overwritten[in] || required_.pinned[in] != no_offset) continue;
            // Outputs are live after the last step, inputs before the first; their ranges do not show it.
            bool const ends_here = required_.life[in].last == p + 1 &&
                                   !has_role(required_.class_role[in], value_role::output) &&
                                   is_last_reader(p + 1, o.in);
            bool const starts_here = required_.life[out].first == p && required_.first_def[o.out] == p &&
                                     !has_role(required_.class_role[out], value_role::input);
            if (!ends_here || !starts_here) continue;
            overwritten[out] = in;
            is_overwritten[in] = 1;
        }
        return overwritten;
    }

    std::optional<counterexample> clash() const
    {
        table<value_id, value_id> const overwritten = overwritten_classes();
        std::vector<sort_key> by_place; // active or not
        by_place.reserve(values_);
        for (value_id r = 0; r != values_; ++r) {
            if (required_.root[r] != r || !required_.is_planned(r)) continue;
            auto const [pool, offset] = place_of(r);
            by_place.push_back({pool, offset, r});
        }
        std::size_t const positions = larger(program_.steps(), std::size_t{1});
        using starts_at = csr_rows<position_id, value_id>; // ascending roots
        starts_at const starts = starts_at::gathered(positions, [&](auto add) {
            for (sort_key const& b : by_place) add(required_.life[b.id].first, b.id);
        });
        sort_by_key(by_place);
        table<value_id, std::uint32_t> rank(values_);
        for (std::size_t i = 0; i != by_place.size(); ++i)
            rank[by_place[i].id] = static_cast<std::uint32_t>(i);
        using ends_at = csr_rows<position_id, std::uint32_t>; // ranks
        ends_at const ends = ends_at::gathered(positions + 1, [&](auto add) {
            for (sort_key const& b : by_place) add(required_.life[b.id].last, rank[b.id]);
        });

        rank_set active(by_place.size());
        auto reaches_into = [&](std::uint32_t below, std::uint32_t above) {
            sort_key const &low = by_place[below], &high = by_place[above];
            return low.key == high.key && low.tie + required_.bytes[low.id] > high.tie;
        };
        for (position_id at = 0; at != positions; ++at) {
            for (std::uint32_t ended : ends[at])
                if (active.contains(ended)) active.erase(ended); // else an in-place result is active there
            for (value_id incoming : starts[at]) {
                if (overwritten[incoming] != no_value) continue;
                std::uint32_t const its = rank[incoming], below = active.below(its),
                                    above = active.above(its);
                if (below != active.none && reaches_into(below, its))
                    return shared_bytes(by_place[below].id, incoming);
                if (above != active.none && reaches_into(its, above))
                    return shared_bytes(by_place[above].id, incoming);
                active.insert(its);
            }
            // In-place results come last: others that start here are compared with the operand.
            for (value_id incoming : starts[at]) {
                if (overwritten[incoming] == no_value) continue;
                active.erase(rank[overwritten[incoming]]); // the result lies within it, at its offset
                active.insert(rank[incoming]);
            }
        }
        return std::nullopt;
    }

    std::optional<counterexample> shared_bytes(value_id active, value_id incoming) const
    {
        auto const [begin, end] = overlap(required_, plan_, active, incoming);
        if (begin >= end) return std::nullopt;
        return counterexample{fault::clash,
                              counterexample::overlap{.value = smaller(active, incoming),
                                                      .other = larger(active, incoming),
                                                      .position = required_.life[incoming].first,
                                                      .pool = place_of(incoming).pool,
                                                      .begin = begin,
                                                      .end = end}};
    }

    snapshot const& program_;
    memory_plan const& plan_;
    plan_options const& options_;
    plan_requirements const required_;
    std::uint32_t const values_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_plan(snapshot const& p, memory_plan const& plan, plan_options const& options)
{
    detail::expect_steps_run_once(p);
    auto const asked = detail::with_said_views(p, detail::asked_options(options, p.values()));
    return detail::plan_checker(p, plan, *asked).first_fault();
}

} // namespace sublet

// --- check symbolic plan ---------------------------------------------------------------------------------

namespace sublet::detail {

class symbolic_checker {
public:
    symbolic_checker(snapshot const& program, symbolic_plan const& plan, symbolic_options const& options)
        : program_(program), plan_(plan), options_(options), max_batch_(options.max_batch)
    {
    }

    std::optional<counterexample> first_fault() const
    {
        if (is_foreign()) return counterexample{.what = fault::foreign_plan, .batch = 1};
        for (byte_count batch : {byte_count{1}, max_batch_})
            if (verdict valid = check_plan(program_, plan_.at(batch), options_.at(batch)); !valid) {
                valid.error().batch = batch;
                return valid.error();
            }
        plan_requirements const required = derive_requirements(program_, options_.at(max_batch_));
        std::optional<counterexample> fact = too_small(required);
        if (!fact) fact = misaligned(required);
        if (!fact) fact = clash(required);
        if (fact && fact->batch != 0) confirm(*fact);
        return fact;
    }

private:
    bool is_foreign() const
    {
        if (plan_.max_batch != max_batch_ || plan_.buffer_of.size() != program_.values()) return true;
        for (buffer_id b : plan_.buffer_of)
            if (b != no_buffer && b >= plan_.buffers.size()) return true;
        for (symbolic_plan::buffer const& b : plan_.buffers)
            if (b.pool >= plan_.arena.size() || b.alignment == 0 || !b.size.is_known() || !b.start.is_known())
                return true;
        return false;
    }

    /// Confirms a conflict for a batch: two overlapping values may be an in-place pair for that batch.
    void confirm(counterexample& fact) const
    {
        byte_count const batch = *fact.batch;
        verdict const valid = check_plan(program_, plan_.at(batch), options_.at(batch));
        if (!valid) fact = valid.error();
        fact.batch = valid ? 0 : batch;
    }

    /// Checks sizes and tops of the plan's buffers; check_plan() derives sizes from the program instead.
    std::optional<counterexample> too_small(plan_requirements const& required) const
    {
        auto const bytes = options_.bytes.tabulate(program_.values(), "bytes");
        for (value_id v = 0; v != plan_.buffer_of.size(); ++v) {
            if (plan_.buffer_of[v] == no_buffer) continue;
            symbolic_plan::buffer const& b = plan_.buffers[plan_.buffer_of[v]];
            affine_bytes const needed = bytes[required.root[v]];
            for (byte_count batch : {byte_count{1}, max_batch_})
                if (b.size.at(batch) < needed.at(batch)) {
                    byte_count const at = b.offset_at(batch);
                    return counterexample{
                        .what = fault::outside_arena,
                        .of = counterexample::place{.value = v,
                                                    .pool = b.pool,
                                                    .begin = at,
                                                    .end = checked_add(at, needed.at(batch)),
                                                    .needed = checked_add(at, b.size.at(batch))},
                        .batch = batch};
                }
        }
        for (symbolic_plan::buffer const& b : plan_.buffers)
            if (!never_above(b.top(), plan_.arena[b.pool], max_batch_))
                return counterexample{.what = fault::outside_arena,
                                      .of =
                                          counterexample::place{.value = b.root,
                                                                .pool = b.pool,
                                                                .begin = b.offset_at(max_batch_),
                                                                .end = b.top().at(max_batch_),
                                                                .needed = plan_.arena[b.pool].at(max_batch_)},
                                      .batch = 0};
        return std::nullopt;
    }

    /// Offsets are aligned for every batch if their rounding is a multiple; or if nothing is rounded and both
    /// affine coefficients are multiples.
    std::optional<counterexample> misaligned(plan_requirements const& required) const
    {
        for (value_id v = 0; v != plan_.buffer_of.size(); ++v) {
            if (plan_.buffer_of[v] == no_buffer) continue;
            symbolic_plan::buffer const& b = plan_.buffers[plan_.buffer_of[v]];
            byte_count const of_pool = b.pool < options_.pools.size() ? options_.pools[b.pool].alignment : 1;
            for (byte_count needed : {required.alignment[v], of_pool}) {
                auto is_multiple = [needed](byte_count n) { return n % needed == 0; };
                if (is_multiple(b.alignment)) continue;
                if (max_padding(b.start, b.alignment) == 0 && is_multiple(b.start.fixed) &&
                    is_multiple(b.start.per_batch))
                    continue;
                byte_count batch = smaller(max_batch_, byte_count{2}), at = b.offset_at(batch);
                if (is_multiple(at)) batch = 0;
                return counterexample{
                    .what = fault::misaligned,
                    .of = counterexample::place{.value = v, .pool = b.pool, .begin = at, .needed = needed},
                    .batch = batch};
            }
        }
        return std::nullopt;
    }

    /// As plan_checker::clash(), for both ends of the batch range; in-place pairs are in one buffer.
    std::optional<counterexample> clash(plan_requirements const& required) const
    {
        auto const bytes = options_.bytes.tabulate(program_.values(), "bytes");
        table<buffer_id, live_range> life(plan_.buffers.size());
        table<buffer_id, symbolic_plan::buffer> needed = plan_.buffers; // sized by their values
        for (symbolic_plan::buffer& b : needed) b.size = {};
        for (value_id v = 0; v != plan_.buffer_of.size(); ++v) {
            buffer_id const b = plan_.buffer_of[v];
            if (b == no_buffer) continue;
            life[b] = hull(life[b], required.life[required.root[v]]);
            needed[b].size = least_above(needed[b].size, bytes[required.root[v]], max_batch_);
        }
        std::vector<sort_key> range_starts, range_ends, by_start;
        for (buffer_id b = 0; b != plan_.buffers.size(); ++b) {
            if (is_empty(life[b])) continue;
            range_starts.push_back({life[b].first, 0, b});
            range_ends.push_back({life[b].last, 0, b});
            by_start.push_back({plan_.buffers[b].pool, plan_.buffers[b].start.at(1), b});
        }
        sort_by_key(range_starts);
        sort_by_key(range_ends);
        sort_by_key(by_start);
        table<buffer_id, std::uint32_t> rank(plan_.buffers.size(), rank_set::none);
        for (std::size_t i = 0; i != by_start.size(); ++i)
            rank[by_start[i].id] = static_cast<std::uint32_t>(i);

        rank_set active(by_start.size());
        auto next_end = range_ends.begin();
        for (sort_key const& starting : range_starts) {
            for (; next_end->key <= starting.key; ++next_end) active.erase(rank[next_end->id]);
            std::uint32_t const below = active.below(rank[starting.id]),
                                above = active.above(rank[starting.id]);
            if (below != active.none)
                if (auto fact = reaches_into(needed[by_start[below].id], needed[starting.id], starting.key))
                    return fact;
            if (above != active.none)
                if (auto fact = reaches_into(needed[starting.id], needed[by_start[above].id], starting.key))
                    return fact;
            active.insert(rank[starting.id]);
        }
        return std::nullopt;
    }

    std::optional<counterexample> reaches_into(symbolic_plan::buffer const& a, symbolic_plan::buffer const& b,
                                               std::uint64_t when) const
    {
        if (a.pool != b.pool || never_above(a.top(), b.start, max_batch_)) return std::nullopt;
        counterexample::overlap both{.value = smaller(a.root, b.root),
                                     .other = larger(a.root, b.root),
                                     .position = position_id::of(when),
                                     .pool = a.pool};
        // If they swap their order: the last batch with a below b, and the next one.
        byte_count last = 1, beyond = max_batch_;
        while (beyond - last > 1) {
            byte_count const middle = last + (beyond - last) / 2;
            (a.start.at(middle) <= b.start.at(middle) ? last : beyond) = middle;
        }
        for (byte_count batch : {last, beyond}) {
            byte_count const begin = larger(a.offset_at(batch), b.offset_at(batch));
            byte_count const end =
                smaller(a.offset_at(batch) + a.size.at(batch), b.offset_at(batch) + b.size.at(batch));
            if (begin >= end) continue;
            both.begin = begin;
            both.end = end;
            return counterexample{.what = fault::clash, .of = both, .batch = batch};
        }
        return counterexample{.what = fault::clash, .of = both, .batch = 0};
    }

    snapshot const& program_;
    symbolic_plan const& plan_;
    symbolic_options const& options_;
    byte_count const max_batch_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_plan(snapshot const& p, symbolic_plan const& plan, symbolic_options const& options)
{
    auto const asked = detail::with_said_views(p, detail::tabulated_options(options, p.values()));
    return detail::symbolic_checker(p, plan, *asked).first_fault();
}

} // namespace sublet

// --- check flow plan -------------------------------------------------------------------------------------

namespace sublet::detail {

/// Requires: check_places accepts the plan; `required` has the plan's order.
class flow_checker {
public:
    flow_checker(snapshot const& program, memory_plan const& plan, plan_requirements const& required,
                 node_ends const& ends, plan_options const& options)
        : program_(program), plan_(plan), required_(required), ends_(ends), in_place_(options.in_place),
          bytes_(options.bytes.tabulate(program.values())), pieces_(find_pieces()), classes_(required, plan),
          available_(classes_), held_(classes_.size()), written_(classes_.size()),
          query_{program, required, classes_, {}, {}}
    {
    }

    std::optional<counterexample> first_fault()
    {
        query_.entry_overlap.assign(classes_.size(), no_value);
        std::vector<value_id> const disjoint = given();
        if (program_.nodes() == 0) return clash_of_given();
        sets_along_paths const available_in = find_available(program_, classes_, disjoint, available_);
        query_.is_reached = available_in.is_reached;
        std::size_t ends = 0;
        for (node_id n = 0; n != program_.nodes(); ++n) {
            reads_outputs_.push_back(program_.successors(n).empty() || ends_.is_endless[n]);
            ends += reads_outputs_[n];
        }
        std::vector<value_id> outputs; // at one end of the program all, at several only those that matter
        for (value_id v : ends_.outputs)
            if (ends < 2 || is_contested(v)) outputs.push_back(v);
        for (std::size_t i = 0; i != program_.nodes(); ++i) {
            node_id const n = node_at(i);
            if (!available_in.is_reached[n]) continue;
            available_.become(available_in.entering[n]);
            step_range const node_steps = program_.steps_of(n);
            for (step_id s = node_steps.first; s != node_steps.last; ++s)
                if (auto fact = fault_at(s, n)) return fact;
            for (value_id v : ends_.read_by_edges[n])
                if (auto fact = check_available(v, n, node_steps.last)) return fact;
            if (reads_outputs_[n])
                for (value_id v : outputs) {
                    if (auto fact = check_available(v, n, node_steps.last)) return fact;
                    for (value_id piece : pieces_[required_.root[v]])
                        if (auto fact = check_available(piece, n, node_steps.last)) return fact;
                }
            available_.sets().release();
        }
        return clash_of_given();
    }

private:
    /// By root that no step makes and that is not given: the views through which it is written.
    csr_rows<value_id, value_id> find_pieces() const
    {
        return csr_rows<value_id, value_id>::gathered(program_.values(), [this](auto add) {
            table<value_id, unsigned char> is_listed(program_.values());
            for (touch t : program_.touches({0, step_id::of(program_.steps())}))
                if (t.kind == touch::access::write_view && !needs_root(t, required_) &&
                    !std::exchange(is_listed[t.value], 1))
                    add(required_.root[t.value], t.value);
        });
    }
    bool have_common_bytes(value_id a, value_id b) const
    {
        if (required_.offset_in_root[b] < required_.offset_in_root[a]) std::swap(a, b);
        byte_count const apart = required_.offset_in_root[b] - required_.offset_in_root[a];
        return bytes_[b] != 0 && (bytes_[a] == no_size || bytes_[a] > apart);
    }
    /// Two given values that overlap, although nothing reads them.
    std::optional<counterexample> clash_of_given() const
    {
        bool const has_step = program_.nodes() != 0;
        for (std::uint32_t rank = 0; rank != query_.entry_overlap.size(); ++rank)
            if (value_id const other = query_.entry_overlap[rank]; other != no_value)
                return classes_.clash(classes_.root_at(rank), other,
                                      has_step ? required_.position[program_.steps_of(0).first]
                                               : position_id{0});
        return std::nullopt;
    }

    node_id node_at(std::size_t i) const
    {
        return plan_.order.empty() ? node_id::of(i) : plan_.order[i];
    }

    /// The given values that overlap no other given value; records the others in entry_overlap.
    std::vector<value_id> given()
    {
        std::size_t const values = program_.values();
        std::vector<value_id> by_place(classes_.size(), no_value), disjoint;
        for (value_id v = 0; v != values; ++v)
            if (classes_.is_placed(v) && is_given(required_.role[v])) by_place[classes_.rank_of(v)] = v;
        auto end_of = [this](value_id v) {
            value_id const r = required_.root[v];
            return place_of(plan_, r).offset + required_.bytes[r];
        };
        value_id highest = no_value;
        for (value_id v : by_place) {
            if (v == no_value) continue;
            if (highest != no_value && classes_.overlaps(highest, v)) {
                query_.entry_overlap[classes_.rank_of(v)] = highest;
                query_.entry_overlap[classes_.rank_of(highest)] = v;
            }
            if (highest == no_value || place_of(plan_, highest).pool != place_of(plan_, v).pool ||
                end_of(highest) < end_of(v))
                highest = v;
        }
        for (value_id v = 0; v != values; ++v)
            if (classes_.is_placed(v) && is_given(required_.role[v]) &&
                query_.entry_overlap[classes_.rank_of(v)] == no_value)
                disjoint.push_back(v);
        return disjoint;
    }

    /// Whether a read of a value of the class may find other bytes.
    bool is_contested(value_id v)
    {
        if (!classes_.is_placed(v)) return false;
        if (is_contested_.empty()) {
            std::vector<value_id> given;
            for (value_id g = 0; g != program_.values(); ++g)
                if (classes_.is_placed(g) && is_given(required_.role[g])) given.push_back(g);
            is_contested_ =
                find_contested(program_, classes_, ends_.read_by_edges, ends_.outputs, reads_outputs_, given);
            for (std::uint32_t rank = 0; rank != classes_.size(); ++rank)
                if (query_.entry_overlap[rank] != no_value) is_contested_[rank] = 1;
        }
        return is_contested_[classes_.rank_of(v)] != 0;
    }

    std::optional<counterexample> check_available(value_id v, node_id n, step_id before)
    {
        if (!classes_.is_placed(v) || available_.has(v) || !is_contested(v)) return std::nullopt;
        return find_clobber_path(query_, v, n, before);
    }

    /// The first fault of a step: reads, then writes; what it holds and writes is disjoint, unless in place.
    std::optional<counterexample> fault_at(step_id s, node_id n)
    {
        enter(s);
        std::vector<value_id> unavailable; // held, but undefined on some path: these may overlap others
        for (touch t : program_.touches(s)) {
            if (!classes_.is_placed(t.value)) continue;
            if (value_id const r = required_.root[t.value]; needs_root(t, required_) && !is_listed(made_, r))
                if (auto fact = check_available(r, n, s)) return fact;
            if (t.kind == touch::access::write_view && !pieces_[required_.root[t.value]].empty() &&
                is_contested(t.value))
                for (value_id piece : pieces_[required_.root[t.value]]) // it changes bytes that may be there
                    if (piece != t.value && have_common_bytes(piece, t.value))
                        if (auto fact = check_available(piece, n, s)) return fact;
            if (t.defines()) continue;
            if (auto fact = check_available(t.value, n, s)) return fact;
            if (t.kind == touch::access::use_early) continue;
            if (available_.has(t.value)) held_.insert(classes_.rank_of(t.value));
            else unavailable.push_back(t.value);
        }
        std::optional<counterexample> fact;
        for (touch t : program_.touches(s)) {
            if (!t.defines() || !classes_.is_placed(t.value)) continue;
            auto report_clash = [&](value_id other) {
                if (!fact) fact = classes_.clash(other, t.value, required_.position[s]);
            };
            classes_.for_each_overlap(written_, t.value,
                                      [&](std::uint32_t other) { report_clash(classes_.root_at(other)); });
            classes_.for_each_overlap(held_, t.value, [&](std::uint32_t other) {
                if (!can_overwrite(classes_.root_at(other), t.value)) report_clash(classes_.root_at(other));
            });
            for (value_id other : unavailable)
                if (classes_.rank_of(other) != classes_.rank_of(t.value) &&
                    classes_.overlaps(other, t.value) && !can_overwrite(other, t.value))
                    report_clash(other);
            written_.insert(classes_.rank_of(t.value));
        }
        for (touch t : program_.touches(s)) {
            if (!classes_.is_placed(t.value)) continue;
            bool const defines_it = t.defines();
            (defines_it ? written_ : held_).erase(classes_.rank_of(t.value));
            if (defines_it) available_.write(t.value);
        }
        return fact;
    }
    /// Lists what the step makes, and what it says may be overwritten.
    void enter(step_id s)
    {
        made_.clear();
        held_values_.clear();
        pairs_.clear();
        if (program_.has_views())
            for (touch t : program_.touches(s))
                if (t.defines()) made_.push_back(t.value);
        sort_ascending(made_);
        if (!in_place_ || program_.overwrites(s).empty()) return;
        for (touch t : program_.touches(s))
            if (t.holds())
                held_values_.push_back({required_.root[t.value], t.kind == touch::access::write, t.value});
        for (overwrite o : program_.overwrites(s)) pairs_.push_back({o.in, o.out, 0});
        sort_by_key(held_values_);
        sort_by_key(pairs_);
    }
    /// Whether `out` lies within `in` and may overwrite all that the step holds of its class.
    bool can_overwrite(value_id in, value_id out) const
    {
        value_id const root = required_.root[in];
        if (pairs_.empty() || place_of(plan_, root) != place_of(plan_, required_.root[out])) return false;
        if (required_.bytes[required_.root[out]] > required_.bytes[root]) return false;
        std::size_t i = partition_point(held_values_.size(),
                                        [&](std::size_t at) { return held_values_[at].key >= root; });
        for (; i != held_values_.size() && held_values_[i].key == root; ++i) {
            value_id const v = held_values_[i].id;
            bool const is_changed = held_values_[i].tie != 0;
            if (is_changed || !is_listed(pairs_, sort_key{v, out, 0}) ||
                place_of(plan_, v) != place_of(plan_, out))
                return false;
        }
        return true;
    }

    snapshot const& program_;
    memory_plan const& plan_;
    plan_requirements const& required_;
    node_ends const& ends_;
    bool const in_place_;
    table<value_id, byte_count> const bytes_;
    csr_rows<value_id, value_id> const pieces_; // by root
    placed_classes const classes_;
    available_set available_; // at the current position
    rank_set held_, written_; // by the current step
    clobber_query query_;
    std::vector<value_id> made_;                // by the current step, if there are views
    std::vector<sort_key> held_values_, pairs_; // of the current step: {root, is changed, value}, {in, out}
    table<node_id, unsigned char> reads_outputs_;
    std::vector<unsigned char> is_contested_;   // by rank; empty until it is asked
};

/// Whether the plan is for this program and reading, and its order names every node once.
SUBLET_DECL bool is_flow_plan_of(snapshot const& p, memory_plan const& plan, plan_options const& options)
{
    if (plan.valid_for != program_reading::control_flow || !is_complete(plan, p.values())) return false;
    if (!options.order.empty() && options.order != plan.order) return false;
    if (plan.order.empty()) return true;
    table<node_id, unsigned char> is_named(p.nodes(), 0);
    for (node_id n : plan.order)
        if (n >= p.nodes() || std::exchange(is_named[n], 1)) return false;
    return plan.order.size() == p.nodes();
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_flow_plan(snapshot const& as_made, memory_plan const& plan,
                                    plan_options const& given, flow_options const& flow)
{
    detail::expect_listed_order(as_made, given.order);
    snapshot listed;
    snapshot const& p = detail::as_control_flow(as_made, listed);
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    plan_options const& options = *asked;
    if (!detail::is_flow_plan_of(p, plan, options)) return counterexample{fault::foreign_plan};
    plan_options in_order = options;
    in_order.order = plan.order;
    detail::plan_requirements const required = detail::derive_requirements(p, in_order);
    detail::node_ends const ends = ends_of_nodes(p, required);
    if (auto fact = detail::misnamed_view(p, required)) return fact;
    if (auto fact = find_unwritten_read(p, required, ends, flow)) return fact;
    if (auto fact = check_places(required, plan, in_order)) return fact;
    return detail::flow_checker(p, plan, required, ends, options).first_fault();
}

} // namespace sublet

// --- check concurrent plan -------------------------------------------------------------------------------

namespace sublet::detail {

/// Numbers the offsets where classes begin or end, by pool; `begin`, `end`: by root. Returns the count.
SUBLET_DECL std::uint32_t number_bounds(plan_requirements const& required, memory_plan const& plan,
                                        table<value_id, std::uint32_t>& begin,
                                        table<value_id, std::uint32_t>& end)
{
    std::vector<sort_key> bounds; // {pool, offset, class that begins or ends}
    for (value_id r = 0; r != required.root.size(); ++r) {
        if (required.root[r] != r || !required.is_planned(r)) continue;
        auto const [pool, offset] = place_of(plan, r);
        bounds.push_back({pool, offset, r});
        bounds.push_back({pool, offset + required.bytes[r], r});
    }
    sort_by_key(bounds);
    std::uint32_t number = 0;
    for (std::size_t i = 0; i != bounds.size(); ++i) {
        sort_key const& b = bounds[i];
        if (i != 0 && (bounds[i - 1].key != b.key || bounds[i - 1].tie != b.tie)) ++number;
        (place_of(plan, b.id).offset == b.tie ? begin : end)[b.id] = number;
    }
    return number + 1;
}

class concurrent_checker {
public:
    /// Requires: the plan is complete, and the order has no fault.
    concurrent_checker(snapshot const& program, memory_plan const& plan, bool in_place,
                       plan_requirements const& required, step_order const& order)
        : p_(program), plan_(plan), in_place_(in_place), required_(required), order_(order),
          touches_(program, required, order), last_reuser_(program.values(), no_value)
    {
    }

    /// Inserts the classes by first def and checks that each may reuse the bytes of those it replaces.
    std::optional<counterexample> clash()
    {
        table<value_id, std::uint32_t> begin(p_.values()), end(p_.values());
        std::vector<value_id> occupant(number_bounds(required_, plan_, begin, end), no_value);
        rank_set segments(occupant.size()); // starts of byte ranges with one occupant, or none
        segments.insert(0);
        auto split_at = [&](std::uint32_t at) {
            if (segments.contains(at)) return;
            occupant[at] = occupant[segments.below(at)];
            segments.insert(at);
        };
        bool no_clash = true;
        auto occupy = [&](value_id v) {
            split_at(begin[v]);
            split_at(end[v]);
            for (std::uint32_t at = begin[v]; at != end[v] && no_clash; at = segments.above(at)) {
                no_clash = may_reuse(occupant[at], v);
                if (at != begin[v]) segments.erase(at);
            }
            occupant[begin[v]] = v;
        };
        table<value_id, unsigned char> is_there(p_.values());
        for (value_id r = 0; r != p_.values() && no_clash; ++r) {
            if (required_.root[r] != r || !required_.is_planned(r) || !touches_.is_given(r)) continue;
            is_there[r] = 1;
            occupy(r);
        }
        for (step_id s : order_.step_at) {
            if (s >= p_.steps()) continue; // a join
            for (touch t : p_.touches(s)) {
                value_id const r = required_.root[t.value];
                if (!t.defines() || is_there[r] || !required_.is_planned(r) || !no_clash) continue;
                is_there[r] = 1;
                occupy(r);
            }
        }

        std::uint64_t const answer = queries_.first_failed();
        if (no_clash && answer == queries_.none) return std::nullopt;
        std::size_t const pair = answer != queries_.none ? to_size(answer) : pairs_.size() - 2;
        value_id const u = pairs_[pair], v = pairs_[pair + 1];
        auto const common = overlap(required_, plan_, u, v);
        return clash_schedule(order_, touches_, plan_, in_place_,
                              {.value = u,
                               .other = v,
                               .pool = place_of(plan_, u).pool,
                               .begin = common.begin,
                               .end = common.end});
    }

private:
    /// Whether v may reuse bytes of u: no if that is clear, else adds a query and assumes yes.
    bool may_reuse(value_id u, value_id v)
    {
        if (u == no_value || last_reuser_[u] == v) return true;
        last_reuser_[u] = v;
        std::uint64_t const name = pairs_.size();
        pairs_.push_back(u);
        pairs_.push_back(v);
        if (touches_.is_kept(u) || touches_.is_given(v)) return false;
        for (step_id d : touches_.begins()[v]) {
            for (step_id t : touches_.ends()[u]) {
                bool const is_past = t == d ? touches_.can_overwrite(d, u, v, plan_, in_place_)
                                            : order_.position[t] < order_.position[d];
                if (!is_past) return false;
            }
            queries_.add(u, d, name);
        }
        return true;
    }

    snapshot const& p_;
    memory_plan const& plan_;
    bool in_place_;
    plan_requirements const& required_;
    step_order const& order_;
    class_touches touches_;
    table<value_id, value_id> last_reuser_; // by root: the class that reused its bytes last
    std::vector<value_id> pairs_;           // checked pairs, flattened
    reachability_queries queries_{order_, touches_.ends()};
};

SUBLET_DECL bool is_foreign(memory_plan const& plan, std::size_t steps, std::size_t values)
{
    if (plan.valid_for != program_reading::concurrent || !is_complete(plan, values)) return true;
    for (handoff h : plan.handoffs)
        if (h.from >= steps || h.to >= steps) return true;
    return false;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_concurrent_plan(snapshot const& p, memory_plan const& plan,
                                          plan_options const& given)
{
    auto const asked = detail::with_said_views(p, detail::asked_options(given, p.values()));
    plan_options const& options = *asked;
    detail::expect_steps_run_once(p);
    detail::plan_requirements const required = detail::derive_requirements(p, options);
    if (detail::is_foreign(plan, p.steps(), p.values())) return counterexample{fault::foreign_plan};
    if (auto const unclear = detail::misnamed_view(p, required)) return unclear;
    detail::step_order const order = detail::order_of_steps(p, required, plan.handoffs);
    std::optional<counterexample> fact = order.fault;
    if (!fact) fact = check_places(required, plan, options);
    if (!fact) return detail::concurrent_checker(p, plan, options.in_place, required, order).clash();
    fact->schedule = order.cycle;
    return fact;
}

} // namespace sublet

// --- fits ------------------------------------------------------------------------------------------------

namespace sublet::detail {

/// The order of the plan without nodes that the program does not have; none if it lacks nodes that it has.
SUBLET_DECL std::optional<std::vector<node_id>> order_without_others(std::vector<node_id> const& order,
                                                                     std::size_t nodes)
{
    std::vector<node_id> rest;
    table<node_id, unsigned char> is_named(nodes, 0);
    for (node_id n : order) {
        if (n >= nodes) continue;
        if (std::exchange(is_named[n], 1)) return std::nullopt;
        rest.push_back(n);
    }
    if (!order.empty() && rest.size() != nodes) return std::nullopt;
    return rest;
}

/// Gives the buffers of the program that `required` describes the places that they have in `plan`.
SUBLET_DECL void keep_places(memory_plan const& plan, plan_requirements const& required, memory_plan& kept)
{
    std::size_t const values = required.root.size();
    table<buffer_id, buffer_id> number(plan.buffers.size(), no_buffer); // of the plan: in `kept`
    auto planned_buffer = [&plan](value_id v) {
        return v < plan.buffer_of.size() ? plan.buffer_of[v] : no_buffer;
    };
    kept.buffer_of.assign(values, no_buffer);
    for (value_id r = 0; r != values; ++r) {
        if (required.root[r] != r) continue;
        bool const is_touched = !is_empty(required.life[r]);
        bool const is_unsized = required.bytes[r] == no_size && required.eligible[r] &&
                                !has_role(required.class_role[r], value_role::external);
        if (is_unsized) kept.unsized.push_back(r);
        buffer_id const from = planned_buffer(r);
        if (from == no_buffer || required.bytes[r] == 0 || !is_touched) continue;
        memory_plan::placed_buffer one = plan.buffers[from];
        bool const is_first_byte = plan.offset_of(r) == one.offset;
        if (!is_first_byte || number[from] == no_buffer) {
            one.root = r;
            one.life = required.life[r];
            one.size = required.bytes[r];
            one.alignment = 1;
            one.offset = plan.offset_of(r);
            kept.buffer_of[r] = buffer_id::of(kept.buffers.size());
            if (is_first_byte) number[from] = kept.buffer_of[r];
            else one.over = no_buffer;
            kept.buffers.push_back(one);
            continue;
        }
        kept.buffer_of[r] = number[from];
        memory_plan::placed_buffer& its = kept.buffers[number[from]];
        its.life = hull(its.life, required.life[r]);
        its.size = larger(its.size, required.bytes[r]);
    }
    bool has_offsets = false;
    for (value_id v = 0; v != values; ++v) {
        kept.buffer_of[v] = kept.buffer_of[required.root[v]];
        has_offsets = has_offsets || required.offset_in_root[v] != 0;
        if (kept.buffer_of[v] == no_buffer || required.offset_in_root[v] != 0) continue;
        byte_count& alignment = kept.buffers[kept.buffer_of[v]].alignment;
        alignment = combine_alignment(alignment, required.alignment[v]);
    }
    if (has_offsets) kept.offset_in_root = required.offset_in_root;
    for (value_id v = 0; v != values; ++v) {
        value_id const r = required.root[v];
        byte_count const pin = required.pinned[r];
        if (required.is_empty_storage(r)) kept.empty.push_back({v, required.pool[r], pin == no_offset ? byte_count{0} : pin});
    }
    for (memory_plan::placed_buffer& one : kept.buffers) {
        if (one.over == no_buffer) continue;
        one.over = one.over < number.size() ? number[one.over] : no_buffer;
        bool const begins_where_it_ends =
            one.over != no_buffer && one.life.first + 1 == kept.buffers[one.over].life.last;
        if (begins_where_it_ends) ++one.life.first;
        else one.over = no_buffer;
    }
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL detail::fitted_plan fits(memory_plan const& plan, snapshot const& p, plan_options const& given,
                                     flow_options const& flow)
{
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    detail::fitted_plan result;
    memory_plan& kept = result.plan;
    auto const order = detail::order_without_others(plan.order, p.nodes());
    if (!detail::is_complete(plan, plan.buffer_of.size()) || ((*asked).order.empty() && !order)) {
        result.refute(counterexample{fault::foreign_plan});
        return result;
    }
    plan_options options = *asked;
    if (options.order.empty()) options.order = *order;
    kept.valid_for = plan.valid_for;
    kept.order = options.order;
    kept.arena_bytes = plan.arena_bytes;
    kept.blocks = plan.blocks;
    for (handoff h : plan.handoffs)
        if (h.from < p.steps() && h.to < p.steps()) kept.handoffs.push_back(h);
    detail::keep_places(plan, detail::derive_requirements(p, options), kept);
    switch (plan.valid_for) {
    case program_reading::sequential: result.refute(check_plan(p, kept, options)); break;
    case program_reading::concurrent: result.refute(check_concurrent_plan(p, kept, options)); break;
    case program_reading::control_flow: result.refute(check_flow_plan(p, kept, options, flow)); break;
    }
    return result;
}

} // namespace sublet
