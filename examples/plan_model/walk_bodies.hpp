// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_WALK_BODIES_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_WALK_BODIES_HPP

/// Runs a network with graphs inside as an interpreter does, with random decisions: which branch runs, and
/// how often a loop does. It knows the tree of networks, and not the program that was made of it for the
/// planner.
///
///     by itself     each value has storage of its own; a binding copies, all of one border at once
///     planned       in the arena, where only the copies that the plan lists are made
///
/// Each time that an operation reads a value, both have to hold the same bytes.

#include "plan_bodies.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/digest.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plan_model {

struct walk_result {
    std::size_t walks = 0, steps = 0;
    std::string fault; ///< a sentence; empty: all bytes were right

    bool is_identical() const { return fault.empty(); }
};

class body_walker {
public:
    /// Refers to the plan.
    explicit body_walker(planned_bodies const& of) : of_(of)
    {
        sublet::program_id next = 1;
        for (sublet::program_id i = 0; i != of.of.networks.size(); ++i) {
            network const& net = *of.of.networks[+i];
            first_body_.emplace_back();
            for (operation const& op : net.operations) {
                first_body_.back().push_back(next);
                next += static_cast<std::uint32_t>(op.bodies.size());
            }
            first_.push_back(storage_of_.size());
            std::vector<sublet::value_id> outer(net.values.size(), sublet::no_value);
            if (i != 0)
                for (auto const c : of.of.tree.body(i).captures) outer[+c.inner] = c.outer;
            for (sublet::value_id v = 0; v != net.values.size(); ++v) {
                std::size_t const own = first_.back() + +v;
                storage_of_.push_back(outer[+v] != sublet::no_value
                                          ? storage_of_[at({of.of.tree.body(i).parent, outer[+v]})]
                                          : own);
                sublet::byte_count const bytes = net.values[v].bytes;
                size_.push_back(bytes == sublet::no_size ? 0 : static_cast<std::size_t>(bytes));
            }
            for (sublet::value_id v = 0; v != net.values.size(); ++v) { // a view of a view comes later
                sublet::value_id base = v;
                while (net.values[base].alias_of != sublet::no_value) base = net.values[base].alias_of;
                if (base != v) storage_of_[first_.back() + +v] = storage_of_[first_.back() + +base];
            }
        }
        for (std::size_t v = 0; v != size_.size(); ++v)
            size_[storage_of_[v]] = std::max(size_[storage_of_[v]], size_[v]);
        for (auto const& m : of.planned.copies) copies_[place_of(m.body, m.when)].push_back(m);
        is_captured_.resize(size_.size());
        is_given_.resize(size_.size());
        for (sublet::program_id i = 1; i != of.of.networks.size(); ++i) {
            auto const& body = of.of.tree.body(i);
            auto const& op = net(body.parent).operations[body.step];
            std::set<sublet::value_id> const results(op.outputs.begin(), op.outputs.end());
            for (auto const c : body.captures)
                if (results.count(c.outer) != 0) is_captured_[at({body.parent, c.outer})] = true;
            for (auto const& b : body.bindings)
                if (b.result != sublet::no_value) is_given_[at({body.parent, b.result})] = true;
        }
    }

    /// Of all values and the arena.
    sublet::byte_count bytes() const
    {
        sublet::byte_count sum = of_.planned.report().arena_bytes;
        for (std::size_t v = 0; v != size_.size(); ++v)
            if (storage_of_[v] == v) sum += std::min<sublet::byte_count>(size_[v], sublet::no_limit - sum);
        return sum;
    }

    walk_result run(std::size_t walks)
    {
        alone_.resize(size_.size());
        for (std::size_t v = 0; v != size_.size(); ++v)
            if (storage_of_[v] == v) alone_[v].resize(size_[v]);
        arena_.resize(static_cast<std::size_t>(of_.planned.report().arena_bytes));
        walk_result result;
        for (; result.walks != walks && result.fault.empty() && touched_ < most_touched; ++result.walks)
            walk(result);
        return result;
    }

private:
    /// Bytes that all walks read and write, but for the first filling of memory: the last one may stop
    /// within.
    static constexpr std::size_t most_touched = std::size_t{1} << 30;

    /// A network that runs: the operation that is next, and of one with bodies the body that is next.
    struct frame {
        sublet::program_id program;
        std::size_t operation = 0, body = 0;
        std::uint64_t sum = 0; ///< of what the operation has read
    };

    network const& net(sublet::program_id i) const { return *of_.of.networks[+i]; }
    std::size_t at(sublet::tree_value v) const { return first_[+v.program] + +v.value; }

    std::span<std::byte> alone(sublet::tree_value v)
    {
        return std::span(alone_[storage_of_[at(v)]]).first(size_[at(v)]);
    }
    /// Without an offset it is storage outside of the plan.
    std::span<std::byte> planned(sublet::tree_value v)
    {
        sublet::byte_count const offset = of_.planned.offset_of(v.program, v.value);
        if (offset == sublet::no_offset) return alone(v);
        return std::span(arena_).subspan(static_cast<std::size_t>(offset), size_[at(v)]);
    }
    std::span<std::byte> planned_flat(sublet::value_id flat)
    {
        auto const v = of_.planned.flat.value_of[flat];
        sublet::byte_count const offset = of_.planned.plan.offset_of(flat);
        if (offset == sublet::no_offset) return alone(v);
        return std::span(arena_).subspan(static_cast<std::size_t>(offset), size_[at(v)]);
    }

    void walk(walk_result& result)
    {
        sublet::fill_noise(arena_, random_());
        for (std::size_t v = 0; v != alone_.size(); ++v) sublet::fill_noise(alone_[v], v);
        for (sublet::value_id v = 0; v != net(0).values.size(); ++v)
            if (sublet::has_role(net(0).values[v].role, sublet::value_role::input))
                copy(planned({0, v}), alone({0, v}));
        std::size_t const most = result.steps + 64 * storage_of_.size() + 4096;
        std::vector<frame> open{{0}};
        while (!open.empty() && result.fault.empty() && result.steps < most && touched_ < most_touched)
            step(open, result);
        if (!open.empty()) return;
        for (sublet::value_id v = 0; v != net(0).values.size(); ++v)
            if (sublet::has_role(net(0).values[v].role, sublet::value_role::output))
                read({0, v}, "the end of the run", result);
    }

    /// The next thing that the innermost network does.
    void step(std::vector<frame>& open, walk_result& result)
    {
        frame& now = open.back();
        auto const& operations = net(now.program).operations;
        if (now.operation == operations.size()) {
            if (now.program == 0) return open.pop_back();
            auto const& body = of_.of.tree.body(now.program);
            if (body.kind == sublet::program_body::run_kind::loop) {
                bind(now.program, sublet::flat_tree::move_time::again);
                if (random_() % 3 != 0) {
                    now.operation = 0;
                    return;
                }
            }
            bind(now.program, sublet::flat_tree::move_time::leave);
            return open.pop_back();
        }
        operation const& op = operations[now.operation];
        ++result.steps;
        if (now.body == 0) {
            now.sum = sublet::fold_digest(now.operation, +now.program);
            for (auto const v : op.bodies.empty() ? op.inputs : op.read_before) take(now, v, op, result);
            if (op.bodies.empty())
                for (auto const v : op.mutated) take(now, v, op, result);
            // What a body fills piece by piece is there from the beginning.
            for (auto const v : op.outputs)
                if (v != sublet::no_value && is_captured_[at({now.program, v})]) write(now, v);
        }
        if (now.body < op.bodies.size()) return begin_body(open, op);
        for (auto const v : op.outputs)
            if (v != sublet::no_value && !net(now.program).is_view(v) &&
                !is_captured_[at({now.program, v})] && !is_given_[at({now.program, v})])
                write(now, v);
        for (auto const v : op.mutated) write(now, v);
        ++now.operation;
        now.body = 0;
    }

    void begin_body(std::vector<frame>& open, operation const& op)
    {
        using enum sublet::program_body::run_kind;
        frame& now = open.back();
        std::size_t chosen = now.body, end = now.body + 1;
        if (op.bodies[chosen].kind == branch) {
            while (end != op.bodies.size() && op.bodies[end].kind == branch) ++end;
            chosen += random_() % (end - chosen);
        }
        now.body = end;
        auto const body = first_body_[+now.program][now.operation] + static_cast<std::uint32_t>(chosen);
        bind(body, sublet::flat_tree::move_time::enter);
        if (op.bodies[chosen].kind == loop && random_() % 4 == 0)
            return bind(body, sublet::flat_tree::move_time::leave); // without an iteration
        open.push_back({body});
    }

    static std::size_t place_of(sublet::program_id body, sublet::flat_tree::move_time when)
    {
        return 3 * std::size_t{+body} + static_cast<std::size_t>(when);
    }

    /// The copies at a border of a body: by itself all at once, in the arena those that the plan lists.
    void bind(sublet::program_id body, sublet::flat_tree::move_time when)
    {
        using enum sublet::flat_tree::move_time;
        sublet::program_id const parent = of_.of.tree.body(body).parent;
        std::vector<std::pair<sublet::tree_value, std::vector<std::byte>>> all;
        for (auto const& b : of_.of.tree.body(body).bindings) {
            sublet::tree_value const inner{body, b.inner};
            sublet::tree_value const from = when == enter   ? sublet::tree_value{parent, b.initial}
                                            : when == again ? sublet::tree_value{body, b.next}
                                                            : inner;
            sublet::tree_value const to = when == leave ? sublet::tree_value{parent, b.result} : inner;
            if (from.value == sublet::no_value || to.value == sublet::no_value) continue;
            auto const bytes = alone(from);
            all.push_back({to, {bytes.begin(), bytes.end()}});
        }
        for (auto const& [to, bytes] : all) copy(alone(to), bytes);
        if (auto const listed = copies_.find(place_of(body, when)); listed != copies_.end())
            for (auto const& m : listed->second) copy(planned_flat(m.to), planned_flat(m.from));
    }

    void take(frame& now, sublet::value_id v, operation const& op, walk_result& result)
    {
        if (v == sublet::no_value) return;
        read({now.program, v}, op.label, result);
        now.sum = sublet::fold_digest(now.sum, sublet::digest(alone({now.program, v})));
    }
    void read(sublet::tree_value v, std::string const& by, walk_result& result)
    {
        auto const is = planned(v), should_be = alone(v);
        touched_ += is.size();
        if (!result.fault.empty() || std::equal(is.begin(), is.end(), should_be.begin())) return;
        result.fault = "value " + quoted(net(v.program).values[v.value].name) + " is not what it was when " +
                       by + " reads it";
    }
    void write(frame const& now, sublet::value_id v)
    {
        std::uint64_t const noise = sublet::fold_digest(now.sum, +v);
        touched_ += size_[at({now.program, v})];
        sublet::fill_noise(planned({now.program, v}), noise);
        sublet::fill_noise(alone({now.program, v}), noise);
    }
    void copy(std::span<std::byte> to, std::span<std::byte const> from)
    {
        touched_ += from.size();
        if (to.data() != from.data()) std::copy_n(from.begin(), std::min(from.size(), to.size()), to.begin());
    }

    planned_bodies const& of_;
    std::mt19937 random_{1};
    std::vector<std::vector<sublet::program_id>> first_body_; // by program and operation
    std::vector<std::size_t> first_;                          // of each program in what is by value
    std::vector<std::size_t> storage_of_;                     // by value of all programs: that of its root
    std::vector<std::size_t> size_;
    std::unordered_map<std::size_t, std::vector<sublet::flat_tree::move>> copies_; // by place_of()
    std::vector<bool> is_captured_,
        is_given_; // results, by value of all programs, by the bodies of their step
    std::size_t touched_ = 0;
    std::vector<std::vector<std::byte>> alone_;
    std::vector<std::byte> arena_;
};

} // namespace plan_model

#endif
