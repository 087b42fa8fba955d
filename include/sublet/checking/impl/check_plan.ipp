// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_CHECK_PLAN_IPP
#define SUBLET_CHECKING_IMPL_CHECK_PLAN_IPP

#include <sublet/checking/check_places.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/demands.hpp>
#include <sublet/checking/rank_set.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

class plan_opponent {
public:
    plan_opponent(snapshot const& program, memory_plan const& plan, plan_options const& options)
        : program_(program), plan_(plan), options_(options), asked_(demands(program, options)),
          values_(static_cast<value_id>(program.values()))
    {
    }

    std::optional<witness> first_fault() const
    {
        if (is_foreign()) return witness{.what = fault::foreign_plan};
        if (auto fact = undefined_use()) return fact;
        if (auto fact = moved_write()) return fact;
        if (auto fact = edge_back()) return fact;
        if (auto fact = check_places(asked_, plan_, options_)) return fact;
        return clash();
    }

private:
    pool_place place_of(value_id v) const { return detail::place_of(plan_, v); }

    bool is_foreign() const
    {
        std::size_t const nodes = program_.nodes();
        if (plan_.valid_for != program_reading::sequential || !is_complete(plan_, values_)) return true;
        if (!plan_.order.empty() && plan_.order.size() != nodes) return true;
        auto at = [](std::vector<node_id> const& order, std::size_t i) {
            return order.empty() ? i : order[i];
        };
        for (std::size_t i = 0; i != nodes; ++i)
            if (at(plan_.order, i) != at(options_.order, i)) return true;
        return false;
    }

    /// All that is checked here is checked of steps that run once, one after the other.
    std::optional<witness> edge_back() const
    {
        std::optional<witness> first;
        for (node_id n = 0; n != program_.nodes(); ++n) {
            step_id const last = asked_.position[program_.steps_of(n).last - 1];
            if (first && first->position < last) continue;
            for (node_id next : program_.successors(n))
                if (asked_.position[program_.steps_of(next).first] <= last)
                    first = witness{.what = fault::leads_back, .position = last};
        }
        return first;
    }

    std::optional<witness> undefined_use() const
    {
        std::optional<witness> first;
        auto found = [&first, this](value_id v, step_id p) {
            if (first && (first->position < p || (first->position == p && first->value <= v))) return;
            first = witness{.what = fault::used_undefined,
                            .value = v,
                            .other = asked_.first_def[v] == plan_demands::never ? no_value : v,
                            .position = p};
        };
        each_touch(program_, asked_.position, [&](value_id v, step_id p, moment m) {
            // What a step writes is there where its node ends, but not for its own reads.
            bool const is_there = is_given(asked_.role[v]) || asked_.first_def[v] < p ||
                                  (m == moment::reads_at_end && asked_.first_def[v] == p);
            if (m != moment::writes && !is_there) found(v, p);
        });
        for (value_id v = 0; v != values_; ++v) {
            bool const exists = is_given(asked_.role[v]) || asked_.first_def[v] != plan_demands::never;
            if (has_role(asked_.role[v], value_role::output) && !exists)
                found(v, static_cast<step_id>(program_.steps()));
        }
        return first;
    }

    /// In any order each read has to find the version that the program means: as many writes before it. What
    /// is written once, and was not given, has one version only.
    std::optional<witness> moved_write() const
    {
        if (options_.order.empty()) return std::nullopt;
        std::vector<keyed> writes; // {value, step, position}
        std::vector<std::uint32_t> versions(values_, 0);
        for (step_id s = 0; s != program_.steps(); ++s)
            for (touch t : program_.touches(s)) {
                if (t.kind != touch_kind::def) continue;
                writes.push_back({t.value, s, asked_.position[s]});
                ++versions[t.value];
            }
        for (value_id v = 0; v != values_; ++v) versions[v] += is_given(asked_.role[v]);
        sort_keyed(writes);

        std::optional<witness> first;
        auto found = [&first](keyed const& write) {
            auto const v = static_cast<value_id>(write.key);
            if (first && (first->position < write.who || (first->position == write.who && first->value <= v)))
                return;
            first = witness{.what = fault::write_moved, .value = v, .position = write.who};
        };
        for (std::size_t i = 1; i < writes.size(); ++i)
            if (writes[i - 1].key == writes[i].key && writes[i - 1].who > writes[i].who) found(writes[i]);
        auto read = [&](value_id v, step_id s, bool at_end) {
            if (versions[v] < 2) return;
            step_id const p = asked_.position[s];
            std::size_t const next = first_that(writes.size(), [&](std::size_t i) {
                keyed const& w = writes[i];
                return w.key != v ? w.key > v : w.tie > s || (w.tie == s && !at_end);
            });
            if (next != 0 && writes[next - 1].key == v && writes[next - 1].who > p) found(writes[next - 1]);
            if (next != writes.size() && writes[next].key == v && writes[next].who < p) found(writes[next]);
        };
        for (step_id s = 0; s != program_.steps(); ++s)
            for (touch t : program_.touches(s))
                if (t.kind != touch_kind::def) read(t.value, s, false);
        for (edge_use u : program_.edge_uses()) read(u.value, program_.steps_of(u.pred).last - 1, true);
        return first;
    }

    /// By root: the value that the last step to touch the class reads; `no_value` if it touches the class in
    /// any other way, or the class is read after its writes: where the node ends, or early by the next step.
    std::vector<value_id> last_readers() const
    {
        std::vector<value_id> reader(values_, no_value);
        auto is_last = [this](value_id v, step_id p) { return p + 1 == asked_.life[asked_.root[v]].last; };
        each_touch(program_, asked_.position, [&](value_id v, step_id p, moment) {
            if (is_last(v, p)) reader[asked_.root[v]] = v;
        });
        each_touch(program_, asked_.position, [&](value_id v, step_id p, moment m) {
            value_id& one = reader[asked_.root[v]];
            bool const only_reads = m == moment::reads_early || m == moment::reads;
            if (is_last(v, p) && (v != one || !only_reads)) one = no_value;
            if (p == asked_.life[asked_.root[v]].last) one = no_value; // read early, so not alive here
        });
        return reader;
    }

    /// By root: the class that dies of handing its bytes over to this one, in place.
    std::vector<value_id> predecessors() const
    {
        std::vector<value_id> predecessor(values_, no_value);
        if (!options_.in_place || program_.overwrites().empty()) return predecessor;
        std::vector<value_id> const last_reader = last_readers();
        std::vector<unsigned char> has_heir(values_);
        for (overwrite o : program_.overwrites()) {
            step_id const p = asked_.position[o.step];
            value_id const in = asked_.root[o.in], out = asked_.root[o.out];
            if (!asked_.is_planned(in) || !asked_.is_planned(out)) continue;
            if (place_of(in) != place_of(out) || asked_.bytes[in] < asked_.bytes[out]) continue;
            if (has_heir[in] || asked_.pinned[in] != no_offset) continue;
            // An output lives on after the last step, an input before the first: their ranges do not say so.
            bool const dies = asked_.life[in].last == p + 1 && last_reader[in] == o.in &&
                              !has_role(asked_.class_role[in], value_role::output);
            bool const is_born = asked_.life[out].first == p && asked_.first_def[o.out] == p &&
                                 !has_role(asked_.class_role[out], value_role::input);
            if (!dies || !is_born) continue;
            predecessor[out] = in;
            has_heir[in] = 1;
        }
        return predecessor;
    }

    std::optional<witness> clash() const
    {
        std::vector<value_id> const predecessor = predecessors();
        // Heirs come last at their position: whoever is born there beside them meets all of the predecessor.
        std::vector<keyed> births, deaths;
        for (value_id r = 0; r != values_; ++r) {
            if (asked_.root[r] != r || !asked_.is_planned(r)) continue;
            births.push_back({asked_.life[r].first, predecessor[r] != no_value, r});
            deaths.push_back({asked_.life[r].last, 0, r});
        }
        sort_keyed(births);
        sort_keyed(deaths);

        std::vector<keyed> by_place; // ascending; alive or not
        for (keyed const& b : births)
            by_place.push_back({place_of(b.who).pool, place_of(b.who).offset, b.who});
        sort_keyed(by_place);
        std::vector<std::uint32_t> rank(values_, rank_set::none);
        for (std::size_t i = 0; i != by_place.size(); ++i)
            rank[by_place[i].who] = static_cast<std::uint32_t>(i);

        rank_set living(by_place.size());
        auto dead = deaths.begin();
        for (keyed const& birth : births) {
            value_id const born = birth.who;
            for (; dead->key <= birth.key; ++dead)
                if (living.contains(rank[dead->who]))
                    living.erase(rank[dead->who]); // else its heir lives there
            if (predecessor[born] != no_value) {
                living.erase(rank[predecessor[born]]); // the heir lies within it and at its offset
            } else {
                for (std::uint32_t next : {living.below(rank[born]), living.above(rank[born])})
                    if (next != living.none)
                        if (auto fact = shared_bytes(by_place[next].who, born)) return fact;
            }
            living.insert(rank[born]);
        }
        return std::nullopt;
    }

    std::optional<witness> shared_bytes(value_id living, value_id born) const
    {
        auto const [begin, end] = overlap(asked_, plan_, living, born);
        if (begin >= end) return std::nullopt;
        return witness{.what = fault::clash,
                       .value = smaller(living, born),
                       .other = larger(living, born),
                       .position = asked_.life[born].first,
                       .begin = begin,
                       .end = end,
                       .pool = place_of(born).pool};
    }

    snapshot const& program_;
    memory_plan const& plan_;
    plan_options const& options_;
    plan_demands const asked_;
    value_id const values_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::optional<witness> check_plan(snapshot const& p, memory_plan const& plan,
                                              plan_options const& options)
{
    return detail::plan_opponent(p, plan, options).first_fault();
}

} // namespace sublet

#endif
