// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_LEAST_COST_HPP
#define SUBLET_TEST_LEAST_COST_HPP

/// The least cost at which a program of few values runs with at most so many live bytes: brute force for
/// tests of advise_memory().
///
///     moves between two steps    give up a value; copy it out; copy it back; run a step again
///     live bytes at a step       all that is there, and its results; of operands that are given up those
///                                that are only read early do not count with the results, and in-place
///                                pairs save the bytes of the smaller one
///
/// least_cost_of_moves() makes one move at a time. least_cost() gets the same from fewer states:
///
///     a value goes     only where bytes are needed, or where no later step has a use for it
///     a copy back      only of what the next step or a step that may run again reads; it pays for the copy
///                      out, too, which was possible, and took no bytes, right after the value was made
///     a step again     only where it makes something that is not there and has a use

#include "tiny_program.hpp"

#include <sublet/advise_memory.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

struct run_costs {
    std::vector<sublet::byte_count> again; // of running each step again; no_size: it may not
    sublet::byte_count out = 1, back = 1;  // of copying a byte; a second copy back needs no second copy out
};

/// The options with these costs.
inline sublet::advice_options with_costs(sublet::advice_options how, run_costs const& costs)
{
    how.step_cost = costs.again;
    how.copy_cost = costs.out + costs.back;
    return how;
}

/// `no_size`: it does not run within the capacity.
inline sublet::byte_count least_cost_of_moves(tiny_program const& p, run_costs const& costs,
                                              sublet::byte_count capacity)
{
    using sublet::byte_count, sublet::value_id;
    using set = tiny_program::set;
    using state = std::tuple<std::size_t, set, set>; // steps done, values that are there, copied out
    std::map<state, byte_count> least;
    std::set<std::pair<byte_count, state>> open;
    auto reach = [&](state to, byte_count cost) {
        if (p.sum(std::get<1>(to)) > capacity) return;
        auto const known = least.emplace(to, sublet::no_size).first;
        if (known->second <= cost) return;
        open.erase({known->second, to});
        known->second = cost;
        open.insert({cost, to});
    };
    reach({0, p.inputs, 0}, 0);
    while (!open.empty()) {
        auto const [cost, from] = *open.begin();
        open.erase(open.begin());
        auto const [at, here, home] = from;
        if (at == p.steps.size() && (p.outputs & ~here) == 0) return cost;
        for (value_id v = 0; v != p.bytes.size(); ++v) {
            set const one = 1u << v;
            if ((here & one) != 0 && (p.fixed & p.needed_from(at) & one) == 0)
                reach({at, here & ~one, home}, cost);
            if (p.copies && (here & one) != 0 && (p.fixed & one) == 0)
                reach({at, here, home | one}, cost + costs.out * p.bytes[v]);
            if ((home & one) != 0) reach({at, here | one, home}, cost + costs.back * p.bytes[v]);
        }
        for (std::size_t s = 0; s <= at && s != p.steps.size(); ++s) {
            tiny_program::step const& its = p.steps[s];
            bool const is_next = s == at;
            set const operands = its.uses | its.early;
            bool const may_run =
                is_next || (p.remats && its.may_recompute && costs.again[s] != sublet::no_size);
            if (!may_run || (operands & ~here) != 0) continue;
            set const kept = p.fixed & p.needed_from(is_next ? at + 1 : at);
            for (set given_up = 0; given_up <= operands; ++given_up) {
                if ((given_up & ~operands) != 0 || (given_up & kept) != 0) continue;
                byte_count const writing = p.sum(here & ~(given_up & its.early & ~its.uses)) +
                                           p.sum(its.defs) - p.saved(its, given_up);
                set const made = is_next ? its.defs : its.defs & ~p.never_recomputed;
                if (writing <= capacity)
                    reach({at + is_next, (here & ~given_up) | made, home},
                          cost + (is_next ? 0 : costs.again[s]));
            }
        }
    }
    return sublet::no_size;
}

class least_cost_search {
public:
    using set = tiny_program::set;

    least_cost_search(tiny_program const& p, run_costs const& costs, sublet::byte_count capacity)
        : p_(p), costs_(costs), capacity_(capacity)
    {
        for (std::size_t at = 0; at <= p.steps.size(); ++at) useful_.push_back(useful_from(at));
    }

    /// `no_size`: it does not run within the capacity. At most so many states are looked at; if there are
    /// more, `is_cut` is set.
    sublet::byte_count find(std::size_t most_states)
    {
        if (p_.sum(p_.inputs) > capacity_) return sublet::no_size;
        reach(0, p_.inputs, 0, 0);
        while (!open_.empty()) {
            auto const [cost, from] = open_.top();
            open_.pop();
            if (least_.at(from) != cost) continue;
            if (++states == most_states) {
                is_cut = true;
                break;
            }
            std::size_t const at = from >> 58;
            set const here = static_cast<set>(from >> 29 & all_values),
                      paid = static_cast<set>(from & all_values);
            if (at == p_.steps.size() && (p_.outputs & ~here) == 0) return cost;
            expand(at, here, paid, cost);
        }
        return sublet::no_size;
    }

    std::size_t states = 0;
    bool is_cut = false;

private:
    using key = std::uint64_t; // 6 bits steps done, 29 values that are there, 29 with a copy out that is paid
    static constexpr key all_values = (key{1} << 29) - 1;

    bool may_run_again(std::size_t s) const
    {
        return p_.remats && p_.steps[s].may_recompute && costs_.again[s] != sublet::no_size;
    }
    set operands(std::size_t s) const { return p_.steps[s].uses | p_.steps[s].early; }
    set made_again(std::size_t s) const { return p_.steps[s].defs & ~p_.never_recomputed; }

    /// What a step from `at` on may read, also one that runs again for it.
    set useful_from(std::size_t at) const
    {
        set all = p_.needed_from(at);
        for (set before = ~all; before != all;) {
            before = all;
            for (std::size_t s = 0; s != at; ++s)
                if (may_run_again(s) && (made_again(s) & all) != 0) all |= operands(s);
        }
        return all;
    }

    void reach(std::size_t at, set here, set paid, sublet::byte_count cost)
    {
        here &= useful_[at];
        paid &= useful_[at];
        key const to = key{at} << 58 | key{here} << 29 | paid;
        auto const known = least_.emplace(to, sublet::no_size).first;
        if (known->second <= cost) return;
        known->second = cost;
        open_.push({cost, to});
    }

    /// Each set of `others` that cannot be larger, has `must`, and is of at most so many bytes.
    template <class Take>
    void each_kept(set others, set must, sublet::byte_count room, Take const& take) const
    {
        if (p_.sum(others) <= room) return take(others);
        for (set kept = others & (others - 1);; kept = (kept - 1) & others) {
            sublet::byte_count const bytes = p_.sum(kept);
            bool is_one = (must & ~kept) == 0 && bytes <= room;
            for (sublet::value_id v = 0; is_one && v != p_.bytes.size(); ++v)
                is_one = ((others & ~kept) >> v & 1) == 0 || bytes + p_.bytes[v] > room;
            if (is_one) take(kept);
            if (kept == 0) break;
        }
    }

    void run(std::size_t s, std::size_t at, set here, set paid, sublet::byte_count cost)
    {
        using sublet::byte_count;
        tiny_program::step const& its = p_.steps[s];
        bool const is_next = s == at;
        std::size_t const to = at + is_next;
        set const kept = p_.fixed & p_.needed_from(to), held = operands(s);
        set const made = is_next ? its.defs : made_again(s);
        set may_go = its.early & ~its.uses;
        for (auto [in, out] : its.pairs) may_go |= 1u << in;
        may_go &= held & ~kept;
        for (set given_up = may_go;; given_up = (given_up - 1) & may_go) {
            byte_count const writing = p_.sum(held & ~(given_up & its.early & ~its.uses)) + p_.sum(its.defs) -
                                       p_.saved(its, given_up);
            byte_count const need = std::max(p_.sum(held), writing);
            if (need <= capacity_)
                each_kept(here & ~held & ~(made & ~kept), kept & here & ~held, capacity_ - need,
                          [&](set others) {
                              reach(to, ((held | others) & ~given_up) | made, paid,
                                    cost + (is_next ? 0 : costs_.again[s]));
                          });
            if (given_up == 0) break;
        }
    }

    void expand(std::size_t at, set here, set paid, sublet::byte_count cost)
    {
        using sublet::byte_count;
        std::size_t const end = p_.steps.size();
        set wanted = at == end ? p_.outputs : operands(at), there = p_.inputs;
        for (std::size_t s = 0; s != at; ++s) there |= p_.steps[s].defs;
        for (std::size_t s = 0; s <= at && s != end; ++s) {
            bool const is_useful =
                s == at || (may_run_again(s) && (made_again(s) & useful_[at] & ~here) != 0);
            if (!is_useful) continue;
            wanted |= operands(s);
            if ((operands(s) & ~here) == 0) run(s, at, here, paid, cost);
        }
        if (!p_.copies) return;
        set const kept = p_.fixed & p_.needed_from(at) & here;
        for (sublet::value_id v = 0; v != p_.bytes.size(); ++v) {
            set const one = 1u << v;
            byte_count const bytes = p_.bytes[v];
            if ((wanted & there & ~here & ~p_.fixed & one) == 0 || bytes > capacity_) continue;
            byte_count const price = bytes * (costs_.back + ((paid & one) != 0 ? 0 : costs_.out));
            each_kept(here, kept, capacity_ - bytes,
                      [&](set others) { reach(at, others | one, paid | one, cost + price); });
        }
    }

    tiny_program const& p_;
    run_costs const& costs_;
    sublet::byte_count capacity_;
    std::vector<set> useful_; // by the steps done
    std::unordered_map<key, sublet::byte_count> least_;
    using entry = std::pair<sublet::byte_count, key>;
    std::priority_queue<entry, std::vector<entry>, std::greater<entry>> open_;
};

/// `no_size`: it does not run within the capacity.
inline sublet::byte_count least_cost(tiny_program const& p, run_costs const& costs,
                                     sublet::byte_count capacity)
{
    return least_cost_search(p, costs, capacity).find(~std::size_t{0});
}

#endif
