// SPDX-License-Identifier: BSL-1.0

/// One sweep over positions with the active classes ordered by offset; a few are first compared without that
/// order, each with those that are live where it starts. The facts are derived again
/// (graph/internal/plan_requirements.hpp) and share no code with a planner.

#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/detail/step_order.hpp>
#include <sublet/checking/internal/left_out_order.hpp>
#include <sublet/checking/internal/places.hpp>
#include <sublet/core/internal/asked_options.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <cstdint>

namespace sublet::detail {

class plan_checker {
public:
    plan_checker(snapshot const& program, memory_plan const& plan, plan_options const& options)
        : program_(program), plan_(plan), options_(options), required_(derive_requirements(program, options)),
          values_(static_cast<std::uint32_t>(program.values()))
    {
    }

    std::optional<counterexample> first_fault()
    {
        if (is_foreign()) return counterexample{fault::foreign_plan};
        if (auto fact = misnamed_view(program_, required_)) return fact;
        if (auto fact = undefined_use()) return fact;
        if (!options_.order.empty())
            if (auto fact = first_moved_write(program_, required_)) return fact;
        if (auto fact = back_edge()) return fact;
        if (auto fact = needs_left_out(program_, options_, required_)) return fact;
        if (auto fact = check_places(required_, plan_, options_)) return fact;
        auto const positions = position_id::of(larger(program_.steps(), std::size_t{1}));
        if (auto fact = hold_carried(required_, plan_, options_, positions)) return fact;
        if (auto fact = clash(required_)) return fact;
        if (auto fact = shared_page(required_, plan_, options_)) return fact;
        if (auto fact = shared_bank(required_, plan_, options_)) return fact;
        return check_guards(required_, plan_, options_,
                            [this](auto const& guarded) { return clash(guarded); });
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
        if (first && first->other() != no_value) {
            auto use = *first->as<counterexample::access>();
            for (step_id s = 0; s != program_.steps(); ++s)
                if (required_.position[s] == required_.first_def[use.value] &&
                    required_.position[s] > use.position)
                    use.maker = s;
            first->of = use;
        }
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

    /// By root: the class that this one overwrites in place. Empty: the program declares no pairs.
    table<value_id, value_id> overwritten_classes() const
    {
        table<value_id, value_id> overwritten;
        if (!options_.in_place || program_.overwrites().empty()) return overwritten;
        overwritten.assign(values_, no_value);
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

    /// Of a few classes no two that live together share a byte: where one starts, it is compared with
    /// all that are live. False also if they are not few, or if one is written over another one in place.
    bool are_few_and_apart(plan_requirements const& required) const
    {
        constexpr std::size_t most = 256;
        struct occupied {
            std::uint32_t first, last, pool; // positions
            byte_count begin, size;
        };
        occupied few[most]; // by their first position
        std::size_t count = 0;
        for (value_id r = 0; r != values_; ++r) {
            if (required.root[r] != r || !required.is_planned(r)) continue;
            if (count == most) return false;
            live_range const life = required_.life[r];
            std::size_t at = count++;
            for (; at != 0 && life.first < few[at - 1].first; --at) few[at] = few[at - 1];
            auto const [pool, offset] = place_of(r);
            few[at] = {life.first, life.last, pool, offset, required.bytes[r]};
        }
        std::size_t live = 0; // of those that have started: they are moved to the front
        for (std::size_t i = 0; i != count; ++i) {
            occupied const now = few[i];
            std::size_t kept = 0;
            for (std::size_t k = 0; k != live; ++k) {
                occupied const other = few[k];
                if (other.last <= now.first) continue; // it has ended
                bool const is_above = now.begin >= other.begin;
                byte_count const distance = is_above ? now.begin - other.begin : other.begin - now.begin;
                if (now.pool == other.pool && distance < (is_above ? other.size : now.size)) return false;
                few[kept++] = other;
            }
            few[kept] = now;
            live = kept + 1;
        }
        return true;
    }

    std::optional<counterexample> clash(plan_requirements const& required) const
    {
        if (are_few_and_apart(required)) return std::nullopt;
        table<value_id, value_id> const overwritten = overwritten_classes();
        auto is_over = [&](value_id r) { return !overwritten.empty() && overwritten[r] != no_value; };
        std::vector<sort_key> by_place; // active or not
        by_place.reserve(values_);
        for (value_id r = 0; r != values_; ++r) {
            if (required_.root[r] != r || !required_.is_planned(r)) continue;
            auto const [pool, offset] = place_of(r);
            by_place.push_back({pool, offset, r});
        }
        std::size_t const positions = larger(program_.steps(), std::size_t{1});
        sort_by_key(by_place);
        table<value_id, std::uint32_t> rank(values_, rank_set::none);
        for (std::size_t i = 0; i != by_place.size(); ++i)
            rank[by_place[i].id] = static_cast<std::uint32_t>(i);
        // By position: in row 2 p the ranks of classes that end there, and in row 2 p + 1 the roots of those
        // that start, ascending.
        auto const events = csr_rows<std::size_t, std::uint32_t>::gathered(2 * positions + 1, [&](auto add) {
            for (value_id r = 0; r != values_; ++r) {
                if (rank[r] == rank_set::none) continue;
                add(2 * std::size_t{required_.life[r].last}, rank[r]);
                add(2 * std::size_t{required_.life[r].first} + 1, r);
            }
        });

        rank_set active(by_place.size());
        auto reaches_into = [&](std::uint32_t below, std::uint32_t above) {
            sort_key const &low = by_place[below], &high = by_place[above];
            return low.key == high.key && low.tie + required.bytes[low.id] > high.tie;
        };
        for (position_id at = 0; at != positions; ++at) {
            for (std::uint32_t ended : events[2 * std::size_t{at}])
                if (active.contains(ended)) active.erase(ended); // else an in-place result is active there
            auto const starts = events[2 * std::size_t{at} + 1];
            for (value_id incoming : starts) {
                if (is_over(incoming)) continue;
                std::uint32_t const its = rank[incoming], below = active.below(its),
                                    above = active.above(its);
                if (below != active.none && reaches_into(below, its))
                    return shared_bytes(required, by_place[below].id, incoming);
                if (above != active.none && reaches_into(its, above))
                    return shared_bytes(required, by_place[above].id, incoming);
                active.insert(its);
            }
            // In-place results come last: others that start here are compared with the operand.
            if (overwritten.empty()) continue;
            for (value_id incoming : starts) {
                if (!is_over(incoming)) continue;
                active.erase(rank[overwritten[incoming]]); // the result lies within it, at its offset
                active.insert(rank[incoming]);
            }
        }
        return std::nullopt;
    }

    std::optional<counterexample> shared_bytes(plan_requirements const& required, value_id active,
                                               value_id incoming) const
    {
        auto const [begin, end] = overlap(required, plan_, active, incoming);
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
    plan_requirements required_;
    std::uint32_t const values_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_plan(snapshot const& p, memory_plan const& plan, plan_options const& options)
{
    detail::expect_steps_run_once(p);
    auto const asked = detail::with_said_views(p, detail::asked_options(options, p.values()));
    detail::expect_pages(options);
    return detail::plan_checker(p, plan, *asked).first_fault();
}

} // namespace sublet
