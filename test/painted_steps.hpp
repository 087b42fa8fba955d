// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_PAINTED_STEPS_HPP
#define SUBLET_TEST_PAINTED_STEPS_HPP

/// Runs drawn programs step by step, in any order, and notes what each step has read: every byte is a number
/// that depends on all that was read to make it.

#include "random_program.hpp"
#include "random_tasks.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/digest.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

/// A drawn program by what its steps access: reads of a step come before its writes, and those at the end of
/// a node behind them.
struct painted_steps {
    struct accesses {
        std::vector<sublet::value_id> reads, writes, reads_at_end;
    };
    std::vector<accesses> steps;
    sublet::plan_options options;
    std::vector<sublet::value_id> alias_of;
    std::vector<sublet::value_role> role;
    std::vector<sublet::byte_count> offset; // of views

    painted_steps(std::vector<accesses> what, sublet::plan_options of, std::vector<sublet::value_role> roles)
        : steps(std::move(what)), options(std::move(of)), alias_of(roles.size(), sublet::no_value),
          role(std::move(roles)), offset(role.size(), 0)
    {
    }
    explicit painted_steps(random_tasks const& tasks)
        : options(tasks.options()), alias_of(tasks.alias_of), role(tasks.role), offset(tasks.view_offset())
    {
        for (random_tasks::task const& t : tasks.tasks) {
            accesses& its = steps.emplace_back();
            its.reads = t.uses;
            its.reads.insert(its.reads.end(), t.early.begin(), t.early.end());
            for (sublet::value_id v : t.defs)
                if (alias_of[v] == sublet::no_value || tasks.is_part(v)) its.writes.push_back(v);
        }
    }
    explicit painted_steps(random_program const& p)
        : options(p.options()), alias_of(p.alias_of), role(p.role), offset(p.values(), 0)
    {
        for (random_program::turn const& turn : p.turns()) {
            if (steps.size() <= turn.id) steps.resize(+turn.id + 1);
            accesses& its = steps[turn.id];
            its.reads = turn.what->uses;
            its.reads.insert(its.reads.end(), turn.what->early.begin(), turn.what->early.end());
            for (auto const* row : {&turn.what->defs, &turn.what->scratch})
                for (sublet::value_id v : *row)
                    if (alias_of[v] == sublet::no_value) its.writes.push_back(v);
            its.reads_at_end = turn.uses_at_end;
        }
    }
};

/// The bytes of a run, each a number that depends on all that was read to make it. Every value has storage of
/// its own, or its place in a plan.
class painted_run {
public:
    painted_run(painted_steps const& drawn, sublet::memory_plan const* plan) : drawn_(drawn), plan_(plan)
    {
        for (sublet::value_id v = 0; v != drawn.role.size(); ++v)
            if (drawn.alias_of[v] == sublet::no_value && sublet::detail::is_given(drawn.role[v]))
                write(v, 7 + +v);
    }

    void run(sublet::step_id s)
    {
        painted_steps::accesses const& its = drawn_.steps[s];
        std::uint64_t sum = sublet::fold_digest(1, +s);
        for (sublet::value_id v : its.reads) sum = sublet::fold_digest(sum, contents(v));
        for (sublet::value_id v : its.writes) write(v, sublet::fold_digest(sum, +v));
        for (sublet::value_id v : its.reads_at_end) sum = sublet::fold_digest(sum, contents(v));
        found_[round_of_[s]++ * 1'000'000 + +s] = sum;
    }

    /// What each step has read, in each round, and at the end the outputs and the storage of the caller.
    std::map<std::uint64_t, std::uint64_t> results() const
    {
        auto all = found_;
        for (sublet::value_id v = 0; v != drawn_.role.size(); ++v)
            if (sublet::has_role(drawn_.role[v], sublet::value_role::output) ||
                sublet::has_role(drawn_.role[v], sublet::value_role::external))
                all[kept + +v] = contents(v);
        return all;
    }

private:
    using cell = std::pair<std::uint64_t, sublet::byte_count>; // memory, byte

    cell place_of(sublet::value_id v) const
    {
        sublet::byte_count begin = 0;
        sublet::value_id root = v;
        for (; drawn_.alias_of[root] != sublet::no_value; root = drawn_.alias_of[root])
            begin += drawn_.offset[root];
        if (plan_ == nullptr || plan_->buffer_of[root] == sublet::no_buffer) return {1000 + +root, begin};
        return {plan_->pool_of(root), plan_->offset_of(root) + begin};
    }
    sublet::byte_count bytes_of(sublet::value_id v) const // one, if their number is unknown
    {
        sublet::byte_count const said = drawn_.options.bytes[v];
        return said == sublet::no_size ? 1 : said;
    }
    void write(sublet::value_id v, std::uint64_t seed)
    {
        auto const [memory, begin] = place_of(v);
        for (sublet::byte_count i = 0; i != bytes_of(v); ++i)
            bytes_[{memory, begin + i}] = sublet::fold_digest(seed, i);
    }
    std::uint64_t contents(sublet::value_id v) const
    {
        auto const [memory, begin] = place_of(v);
        std::uint64_t sum = 0;
        for (sublet::byte_count i = 0; i != bytes_of(v); ++i) {
            auto const found = bytes_.find({memory, begin + i});
            sum = sublet::fold_digest(sum, found == bytes_.end() ? 0 : found->second);
        }
        return sum;
    }

    painted_steps const& drawn_;
    sublet::memory_plan const* plan_;
    static constexpr std::uint64_t kept = 1'000'000'000;

    std::map<cell, std::uint64_t> bytes_;
    std::map<sublet::step_id, std::uint64_t> round_of_; // of each step, the next one
    std::map<std::uint64_t, std::uint64_t> found_;
};

#endif
