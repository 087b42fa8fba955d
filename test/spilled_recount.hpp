// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_SPILLED_RECOUNT_HPP
#define SUBLET_TEST_SPILLED_RECOUNT_HPP

/// A spilled program as lists, run and counted without the library:
///
///     contents    each step reads what it reads without spills, a step that runs again what it read at first
///     bytes       of all buffers that are live at each step
///     cost        of all copies and of all steps that run again

#include "view_sizes.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/spills.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct spilled_lists {
    using value_id = sublet::value_id;
    using kind = sublet::spilled_program::kind;
    struct step {
        sublet::spilled_program::step from;
        std::vector<sublet::touch> touches; // reads before writes
        std::vector<value_id> read_at_end;
    };
    std::vector<step> steps; // in the order in which they run
    std::vector<value_id> alias_of, origin;
    std::vector<sublet::value_role> role;
    std::vector<bool> is_home;

    /// A program without spills.
    spilled_lists(sublet::snapshot const& p, sublet::plan_options const& options,
                  std::vector<sublet::node_id> order)
        : spilled_lists(options, p.values())
    {
        for (sublet::node_id n = 0; order.size() < p.nodes(); ++n) order.push_back(n);
        for (sublet::node_id n : order) {
            for (sublet::step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s)
                add(p, s, {kind::original, s});
            for (sublet::edge_use u : p.edge_uses())
                if (u.pred == n) steps.back().read_at_end.push_back(u.value);
        }
        for (value_id v = 0; v != p.values(); ++v) origin.push_back(v);
    }
    spilled_lists(sublet::spilled_program const& spilled, sublet::plan_options const& options)
        : spilled_lists(options, spilled.program.values())
    {
        for (sublet::step_id s = 0; s != spilled.steps.size(); ++s) {
            add(spilled.program, s, spilled.steps[s]);
            for (sublet::edge_use u : spilled.program.edge_uses())
                if (u.pred == +s) steps.back().read_at_end.push_back(u.value);
        }
        origin.assign(spilled.origin.begin(), spilled.origin.end());
        for (value_id v : spilled.homes) is_home[v] = true;
    }

    value_id root(value_id v) const { return root_of(alias_of, v); }

private:
    spilled_lists(sublet::plan_options const& options, std::size_t values)
    {
        for (value_id v = 0; v != values; ++v) {
            alias_of.push_back(options.alias_of[v]);
            role.push_back(options.role[v]);
            is_home.push_back(false);
        }
    }
    void add(sublet::snapshot const& p, sublet::step_id s, sublet::spilled_program::step from)
    {
        auto const touches = p.touches(s);
        steps.push_back({from, {touches.begin(), touches.end()}, {}});
    }
};

/// What the steps of a program read, and what they leave, as one number for the contents of each buffer.
struct recounted_run {
    using value_id = sublet::value_id;
    std::map<sublet::step_id, std::uint64_t> read, read_at_end; // by step of the program
    std::map<value_id, std::uint64_t> contents;                 // by root
    std::string fault; // the first: what a step reads is not there, or differs from what it read at first

    explicit recounted_run(spilled_lists const& p)
    {
        using kind = spilled_lists::kind;
        for (value_id v = 0; v != p.role.size(); ++v)
            if (!p.is_home[v] && (sublet::has_role(p.role[v], sublet::value_role::input) ||
                                  sublet::has_role(p.role[v], sublet::value_role::external)))
                contents.emplace(p.root(v), fold(1, p.origin[p.root(v)]));
        for (std::size_t i = 0; i != p.steps.size(); ++i) {
            auto const& its = p.steps[i];
            bool const is_copy = its.from.kind == kind::copied_out || its.from.kind == kind::copied_back;
            auto content = [&](value_id v) {
                auto const found = contents.find(p.root(v));
                if (found != contents.end()) return found->second;
                say("step " + std::to_string(i) + " reads value " + std::to_string(+v) +
                    ", which is not there");
                return std::uint64_t{0};
            };
            std::uint64_t sum = is_copy ? 0 : fold(7, its.from.step);
            for (sublet::touch t : its.touches)
                if (!t.defines()) sum = is_copy ? content(t.value) : fold(sum, content(t.value));
            if (its.from.kind == kind::original) read[its.from.step] = sum;
            else if (!is_copy && read.count(its.from.step) == 0)
                say("step " + std::to_string(i) + " runs again before it ran");
            else if (!is_copy && read[its.from.step] != sum)
                say("step " + std::to_string(i) + " runs again with other operands");
            std::uint64_t made = sum;
            for (sublet::touch t : its.touches) {
                made = is_copy ? sum : fold(made, 3);
                if (!t.writes()) continue;
                std::uint64_t& its_content = contents[p.root(t.value)]; // perhaps written for the first time
                its_content = t.makes() ? made : fold(made, its_content);
            }
            for (value_id v : its.read_at_end) {
                std::uint64_t& all = read_at_end[its.from.step];
                all = fold(all, content(v));
            }
        }
    }

    /// The first difference from the run without spills, or none. `final_version`: of each value of the
    /// program the one that holds it.
    template <class Versions>
    std::string difference(recounted_run const& expected, spilled_lists const& program,
                           Versions const& final_version, spilled_lists const& spilled) const
    {
        if (!fault.empty()) return fault;
        if (read != expected.read) return "a step reads other contents";
        if (read_at_end != expected.read_at_end) return "other contents are read at the end of a node";
        for (value_id v = 0; v != program.role.size(); ++v) {
            if (!sublet::has_role(program.role[v], sublet::value_role::output) &&
                !sublet::has_role(program.role[v], sublet::value_role::external))
                continue;
            auto const left = contents.find(spilled.root(final_version[v]));
            auto const wanted = expected.contents.find(program.root(v));
            if (wanted == expected.contents.end()) continue;
            if (left == contents.end() || left->second != wanted->second)
                return "value " + std::to_string(+v) + " is left with other contents";
        }
        return {};
    }

private:
    static std::uint64_t fold(std::uint64_t sum, std::uint64_t next)
    {
        sum = (sum ^ next) * 0x9e3779b97f4a7c15u;
        return sum ^ (sum >> 29);
    }
    void say(std::string what)
    {
        if (fault.empty()) fault = std::move(what);
    }
};

/// The bytes that are live at each step, in a pool. Of values in place the largest that is live counts.
inline std::vector<sublet::byte_count>
recounted_bytes(spilled_lists const& p, sublet::plan_options const& options,
                std::vector<sublet::memory_plan::in_place_gain> const& in_place, sublet::pool_id pool)
{
    using namespace sublet;
    std::size_t const values = p.role.size(), steps = p.steps.size();
    struct life {
        std::size_t first = ~std::size_t{0}, last = 0; // [first, last)
        bool is_planned = true;
    };
    std::map<value_id, life> lives; // by root
    for (std::size_t i = 0; i != steps; ++i) {
        std::map<value_id, bool> holds; // by root: up to the end of the step, or only before it writes
        for (touch t : p.steps[i].touches) {
            bool& its = holds[p.root(t.value)];
            its = its || t.kind != touch::access::use_early;
            if (t.writes()) lives[p.root(t.value)].first = std::min(lives[p.root(t.value)].first, i);
        }
        for (value_id v : p.steps[i].read_at_end) holds[p.root(v)] = true;
        for (auto const& [root, to_the_end] : holds)
            lives[root].last = std::max(lives[root].last, i + (to_the_end ? 1 : 0));
    }
    for (value_id v = 0; v != values; ++v) {
        life& its = lives[p.root(v)];
        if (has_role(p.role[v], value_role::input)) {
            its.first = 0;
            its.last = std::max<std::size_t>(its.last, 1);
        }
        if (has_role(p.role[v], value_role::output)) its.last = steps;
        if (has_role(p.role[v], value_role::external) || !options.eligible[v]) its.is_planned = false;
    }
    std::map<value_id, value_id> shares_with;
    auto group = [&](value_id v) {
        v = p.root(v);
        while (shares_with.count(v) != 0) v = shares_with[v];
        return v;
    };
    for (memory_plan::in_place_pair const& pair : in_place)
        if (group(pair.in) != group(pair.out)) shares_with.emplace(group(pair.out), group(pair.in));

    std::vector<byte_count> bytes(steps, 0);
    for (std::size_t i = 0; i != steps; ++i) {
        std::map<value_id, byte_count> largest; // by group
        for (auto const& [root, its] : lives) {
            byte_count const size = options.bytes[root];
            bool const counts = its.is_planned && size != no_size && options.pool[root] == pool;
            if (counts && its.first <= i && i < its.last)
                largest[group(root)] = std::max(largest[group(root)], size);
        }
        for (auto const& [root, size] : largest) bytes[i] += size;
    }
    return bytes;
}

/// Of all copies, each way of a byte, and of all steps that run again.
inline sublet::byte_count recounted_cost(spilled_lists const& p, sublet::plan_options const& options,
                                         std::vector<sublet::byte_count> const& again, sublet::byte_count out,
                                         sublet::byte_count back)
{
    using kind = spilled_lists::kind;
    sublet::byte_count cost = 0;
    for (auto const& its : p.steps) {
        if (its.from.kind == kind::rematerialize) cost += again[its.from.step];
        if (its.from.kind != kind::copied_out && its.from.kind != kind::copied_back) continue;
        sublet::byte_count const bytes = options.bytes[p.origin[its.touches[0].value]];
        cost += bytes * (its.from.kind == kind::copied_out ? out : back);
    }
    return cost;
}

#endif
