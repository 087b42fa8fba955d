// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_TINY_PROGRAM_HPP
#define SUBLET_TEST_TINY_PROGRAM_HPP

#include "random_source.hpp"

#include <sublet/advise_memory.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

/// A program of few values, in which storage may be freed, copied and made again between any two steps.
struct tiny_program {
    using set = unsigned; // of values, a bit for each
    struct step {
        set uses = 0, early = 0, defs = 0;
        std::vector<std::pair<sublet::value_id, sublet::value_id>> pairs;
        bool may_recompute = false;
    };
    std::vector<step> steps;
    std::vector<sublet::byte_count> bytes;
    set inputs = 0, outputs = 0, fixed = 0; // fixed: never moved
    set never_recomputed = 0;               // results of steps that run once
    bool copies = true, remats = true;

    sublet::snapshot program() const
    {
        return sublet::sequence(steps.size(), bytes.size(),
                                [this](sublet::step_id s, sublet::effect_sink& sink) {
                                    for (sublet::value_id v = 0; v != bytes.size(); ++v) {
                                        if (steps[s].uses >> v & 1) sink.use(v);
                                        if (steps[s].early >> v & 1) sink.use_early(v);
                                        if (steps[s].defs >> v & 1) sink.def(v);
                                    }
                                    for (auto [in, out] : steps[s].pairs) sink.may_overwrite(in, out);
                                    sink.may_recompute(steps[s].may_recompute);
                                });
    }
    sublet::plan_options options(sublet::byte_count capacity) const
    {
        auto role = [this](sublet::value_id v) {
            auto const given = inputs >> v & 1 ? sublet::value_role::input : sublet::value_role::intermediate;
            return outputs >> v & 1 ? given | sublet::value_role::output : given;
        };
        return {.bytes = bytes, .role = role, .pools = {{capacity, 1}}};
    }
    sublet::memory_advice advice(sublet::byte_count capacity) const
    {
        return sublet::advise_memory(
            program(), options(capacity),
            {.copies = copies,
             .remats = remats,
             .step_cost = [this](sublet::step_id s) { return may_run_again(steps[s]) ? 0 : sublet::no_size; },
             .movable = [this](sublet::value_id v) { return (fixed >> v & 1) == 0; }});
    }

    bool may_run_again(step const& s) const { return s.may_recompute && (s.defs & never_recomputed) == 0; }
    sublet::byte_count sum(set values) const
    {
        sublet::byte_count all = 0;
        for (sublet::value_id v = 0; v != bytes.size(); ++v)
            if (values >> v & 1) all += bytes[v];
        return all;
    }
    /// The values that steps from `at` on or the caller may need again as they are.
    set needed_from(std::size_t at) const
    {
        set all = outputs;
        for (; at != steps.size(); ++at) all |= steps[at].uses | steps[at].early;
        return all;
    }
    /// The bytes that results save in place, of operands that are given up: the best of all choices.
    sublet::byte_count saved(step const& s, set given_up, std::size_t from = 0, set taken = 0) const
    {
        if (from == s.pairs.size()) return 0;
        auto const [in, out] = s.pairs[from];
        sublet::byte_count const without = saved(s, given_up, from + 1, taken);
        bool const is_free = (given_up & s.uses) >> in & 1 && !(taken >> in & 1) && !(taken >> out & 1);
        if (!is_free) return without;
        return std::max(without, std::min(bytes[in], bytes[out]) +
                                     saved(s, given_up, from + 1, taken | 1u << in | 1u << out));
    }

    /// The least peak of all ways to run the steps once in their order, with copies and steps run again in
    /// between: a search over {steps done, values that are there, values that were copied out}.
    sublet::byte_count least_peak() const
    {
        using state = std::tuple<std::size_t, set, set>;
        std::map<state, sublet::byte_count> peak;
        std::set<std::pair<sublet::byte_count, state>> open;
        auto reach = [&](state to, sublet::byte_count most) {
            auto const [known, is_new] = peak.emplace(to, most);
            if (!is_new && known->second <= most) return;
            if (!is_new) open.erase({known->second, to});
            known->second = most;
            open.insert({most, to});
        };
        reach({0, inputs, 0}, sum(inputs));
        while (!open.empty()) {
            auto const [most, from] = *open.begin();
            open.erase(open.begin());
            auto const [at, here, home] = from;
            if (at == steps.size() && (outputs & ~here) == 0) return most;
            for (sublet::value_id v = 0; v != bytes.size(); ++v) {
                set const one = 1u << v;
                bool const may_go = (here & one) != 0 && ((fixed & needed_from(at)) & one) == 0;
                if (may_go) reach({at, here & ~one, home}, most);
                if (copies && (here & one) != 0) reach({at, here, home | one}, most);
                if ((home & one) != 0) reach({at, here | one, home}, std::max(most, sum(here | one)));
            }
            for (std::size_t s = 0; s <= at && s != steps.size(); ++s) {
                step const& its = steps[s];
                bool const is_next = s == at;
                set const operands = its.uses | its.early;
                if ((!is_next && !(remats && may_run_again(its))) || (operands & ~here) != 0) continue;
                set const kept = fixed & needed_from(is_next ? at + 1 : at);
                for (set given_up = 0; given_up <= operands; ++given_up) {
                    if ((given_up & ~operands) != 0 || (given_up & kept) != 0) continue;
                    sublet::byte_count const writing = sum(here & ~(given_up & its.early & ~its.uses)) +
                                                       sum(its.defs) - saved(its, given_up);
                    reach({at + is_next, (here & ~given_up) | its.defs, home},
                          std::max({most, sum(here), writing}));
                }
            }
        }
        FAIL("the steps cannot be run");
        return 0;
    }
};

inline tiny_program draw_tiny(random_source& pick)
{
    tiny_program p;
    auto add = [&] {
        p.bytes.push_back(1 + pick.below(20));
        return 1u << (p.bytes.size() - 1);
    };
    for (std::uint32_t i = pick.below(3); i-- != 0;) p.inputs |= add();
    for (std::uint32_t s = 0, n = 2 + pick.below(4); s != n && p.bytes.size() < 6; ++s) {
        tiny_program::step its;
        for (sublet::value_id v = 0; v != p.bytes.size(); ++v) {
            if (pick.below(3) == 0) its.uses |= 1u << v;
            else if (pick.below(6) == 0) its.early |= 1u << v;
        }
        for (std::uint32_t i = 1 + (pick.below(4) == 0); i-- != 0;) {
            its.defs |= add();
            auto const out = sublet::value_id::of(p.bytes.size() - 1);
            for (sublet::value_id in = 0; in != out; ++in)
                if (its.uses >> in & 1 && pick.below(3) == 0) its.pairs.push_back({in, out});
        }
        its.may_recompute = pick.below(4) != 0;
        p.steps.push_back(its);
    }
    for (sublet::value_id v = 0; v != p.bytes.size(); ++v) {
        if (pick.below(5) == 0) p.outputs |= 1u << v;
        if (pick.below(8) == 0) p.fixed |= 1u << v;
        if (pick.below(8) == 0) p.never_recomputed |= 1u << v;
    }
    p.copies = pick.below(3) == 0;
    p.remats = !p.copies || pick.below(3) != 0;
    return p;
}

#endif
