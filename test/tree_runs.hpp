// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_TREE_RUNS_HPP
#define SUBLET_TEST_TREE_RUNS_HPP

/// An interpreter that runs a random tree as it was drawn, with the kernel and the decisions of an executor:
/// it knows neither the flat program nor a plan.

#include "random_tree.hpp"
#include "tree_memory.hpp"
#include <sublet/execution/digest.hpp>
#include <sublet/testing/synthetic.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace tree_runs {

using sublet::program_body;
using sublet::program_id;
using sublet::step_id;
using sublet::value_id;

/// Each result depends on all bytes of all operands, the step and the program.
struct kernel {
    template <class Call>
    void operator()(Call const& call) const
    {
        sublet::synthetic_kernel{.seed = 77 + std::uint64_t{+call.program}}(call);
    }
};

/// Decisions by program, step and how many there were; after many of them the run goes straight to its end.
struct decisions {
    std::uint64_t seed = 0;
    std::uint64_t asked = 0;
    std::size_t operator()(program_id program, step_id step, std::size_t alternatives, bool is_loop,
                           bool is_successor)
    {
        std::uint64_t const at = ++asked;
        if (at > 60) return is_loop || is_successor ? 0 : at % alternatives;
        std::uint64_t const hash = sublet::fold_digest(
            sublet::fold_digest(sublet::fold_digest(seed, std::uint64_t{+program}), std::uint64_t{+step}),
            at);
        return hash % alternatives;
    }
};

/// Alignments that an executor takes.
inline void round_alignments(random_tree& t)
{
    for (auto& p : t.programs)
        for (auto& a : p.alignment) a = a > 2 ? 4 : a;
}

class interpreter {
public:
    interpreter(random_tree const& t, std::uint64_t seed) : t_(t), memory_{t}, choose_{seed} {}

    void run()
    {
        memory_.open(root_);
        auto const& p = t_.programs[0];
        for (value_id v = 0; v != p.bytes.size(); ++v)
            if (sublet::detail::is_given(p.role[v]) && p.alias_of[v] == sublet::no_value)
                give(v, bytes(root_, v));
        nodes(root_);
    }
    /// The contents of an input, external or state value.
    static void give(value_id v, std::span<std::byte> to) { sublet::fill_noise(to, 1000 + +v); }
    std::span<std::byte const> output(value_id v) { return bytes(root_, v); }
    std::size_t steps() const { return steps_; }

private:
    using activation = tree_memory::activation;

    /// One step, as a kernel sees it.
    struct call {
        interpreter& self;
        activation const& in_it;
        program_id program;
        step_id step;
        std::vector<value_id> reads, makes;
        auto const& uses() const { return reads; }
        auto const& defs() const { return makes; }
        std::span<std::byte const> in(std::size_t i) const { return self.bytes(in_it, reads[i]); }
        std::span<std::byte> out(std::size_t j) const { return self.bytes(in_it, makes[j]); }
        bool is_view(std::size_t j) const { return self.t_.is_view(program, makes[j]); }
        static bool is_update(std::size_t) { return false; }
        static std::size_t scratch_count() { return 0; }
        static std::span<std::byte> scratch(std::size_t) { return {}; }
    };

    std::span<std::byte> bytes(activation const& a, value_id v)
    {
        auto& all = memory_.cells[a.cell(t_, v)];
        return {reinterpret_cast<std::byte*>(all.data()), all.size()};
    }

    void nodes(activation const& a)
    {
        auto const& p = t_.programs[a.program];
        sublet::node_id n = 0;
        while (n != p.nodes.size()) {
            step_id number = 0;
            for (std::size_t before = 0; before != n; ++before)
                number = number + p.nodes[before].steps.size();
            for (auto const& s : p.nodes[n].steps) {
                step(a, s, number);
                number = number + 1;
            }
            if (p.is_list) {
                ++n;
                continue;
            }
            auto const& to = p.nodes[n].successors;
            if (to.empty()) return;
            n = to[to.size() == 1 ? 0 : choose_(a.program, number - 1, to.size(), false, true)];
        }
    }

    void step(activation const& a, random_tree::step const& s, step_id number)
    {
        call now{*this, a, a.program, number, s.uses, {}};
        if (s.bodies.empty()) {
            now.reads.insert(now.reads.end(), s.early.begin(), s.early.end());
            now.makes = s.defs;
            kernel{}(now);
            ++steps_;
            return;
        }
        std::set<value_id> captured, given;
        for (program_id b : s.bodies) {
            for (auto c : t_.programs[b].how.captures) captured.insert(c.outer);
            for (auto c : t_.programs[b].how.bindings) given.insert(c.result);
        }
        call first = now;
        first.reads.insert(first.reads.end(), s.early.begin(), s.early.end());
        for (value_id v : s.defs) {
            if (given.count(v) != 0) continue;
            (captured.count(v) != 0 ? first : now).makes.push_back(v);
        }
        if (!first.makes.empty()) {
            kernel{}(first);
            ++steps_;
        }
        for (std::size_t b = 0; b != s.bodies.size();) {
            auto is_branch = [&](std::size_t i) {
                return t_.programs[s.bodies[i]].how.kind == program_body::run_kind::branch;
            };
            std::size_t end = b + 1;
            while (is_branch(b) && end != s.bodies.size() && is_branch(end)) ++end;
            body(a, s.bodies[b + (end - b == 1 ? 0 : choose_(a.program, number, end - b, false, false))],
                 number);
            b = end;
        }
        kernel{}(now);
        ++steps_;
    }

    void body(activation const& outer, program_id i, step_id number)
    {
        using sublet::flat_tree;
        activation a{i, &outer, {}};
        memory_.open(a);
        memory_.copy(a, flat_tree::move_time::enter);
        if (t_.programs[i].how.kind != program_body::run_kind::loop) {
            nodes(a);
        } else {
            while (choose_(outer.program, number, 2, true, false) != 0) {
                nodes(a);
                memory_.copy(a, flat_tree::move_time::again);
            }
        }
        memory_.copy(a, flat_tree::move_time::leave);
    }

    random_tree const& t_;
    tree_memory::apart memory_;
    decisions choose_;
    activation root_;
    std::size_t steps_ = 0;
};

} // namespace tree_runs

#endif
