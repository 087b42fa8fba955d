// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RUN_ENVIRONMENT_HPP
#define SUBLET_TEST_RUN_ENVIRONMENT_HPP

/// Random programs, and all that a run needs: inputs, bound storage, and a kernel that records what each step
/// wrote. So the results of two runs can be compared, on any executors.

#include "random_names.hpp"
#include "random_program.hpp"
#include "view_sizes.hpp"

#include <sublet/analysis/versions.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <span>
#include <thread>
#include <vector>

using any_kernel =
    std::function<void(sublet::cpu_call const&)>; // type-erased, so that few executors are compiled

struct subject {
    sublet::snapshot program;
    sublet::plan_options options;
};
inline subject draw_subject(random_source& pick)
{
    random_program p = draw_program(pick, 10);
    if (pick.below(2) == 0) shrink_results(p, pick);
    return {p.program(), p.options(pick.below(4) != 0)};
}
inline subject draw_versions(random_source& pick)
{
    random_names const names = draw_names(pick, {.nodes = 12, .shuffled = false});
    std::vector<sublet::byte_count> bytes(names.values());
    for (sublet::byte_count& b : bytes) b = 8 * (1 + pick.below(5));
    sublet::plan_options const by_name{.bytes = within_roots(bytes, names.alias_of),
                                       .role = names.role,
                                       .alias_of = names.alias_of,
                                       .order = names.order};
    auto const made = versions(names.program(), by_name, names.same_storage);
    REQUIRE(made);
    return {made.program, with_versions(by_name, made)};
}

/// The result of a run: by step what it wrote and how often, and the final contents.
struct outcome {
    std::vector<std::uint64_t> written, calls, final_digests;
    friend bool operator==(outcome const&, outcome const&) = default;
};

/// All that a program needs to be run twice.
class run_environment {
public:
    explicit run_environment(subject const& s)
        : table_(sublet::detail::lower_program(s.program, s.options).table)
    {
        now_.written.resize(s.program.steps());
        now_.calls.resize(s.program.steps());
    }
    any_kernel traced(unsigned yields)
    {
        return [this, yields](sublet::cpu_call const& call) {
            if (sublet::detail::mix(yields + call.step) % 4 < yields) std::this_thread::yield();
            sublet::synthetic_kernel{number_}(call);
            std::uint64_t sum = 0;
            for (std::size_t j = 0; j != call.defs().size(); ++j)
                if (!call.is_view(j)) sum = sublet::fold_digest(sum, sublet::digest(call.out(j)));
            now_.written[call.step] = sum;
            ++now_.calls[call.step];
        };
    }
    template <class Executor>
    outcome run(Executor& run, unsigned number)
    {
        number_ = number;
        now_.calls.assign(now_.calls.size(), 0);
        now_.final_digests.clear();
        for (sublet::buffer const& its : table_.buffers) {
            std::uint64_t const noise = 1000 * number + its.root;
            bool const is_input = has_role(its.role, sublet::value_role::input);
            if (its.is_planned()) {
                if (is_input) sublet::fill_noise(run.input(its.root), noise);
            } else if (its.size != 0) {
                auto const bytes = bound_to(its);
                if (is_input || (number == 1 && has_role(its.role, sublet::value_role::external)))
                    sublet::fill_noise(bytes, noise);
                if (number == 1) run.bind(its.root, bytes);
            }
        }
        report_ = run.run();
        for (sublet::buffer const& its : table_.buffers)
            if (its.is_planned() && has_role(its.role, sublet::value_role::output))
                now_.final_digests.push_back(sublet::digest(run.output(its.root)));
            else if (has_role(its.role, sublet::value_role::external))
                now_.final_digests.push_back(sublet::digest(bound_to(its)));
        return now_;
    }
    sublet::run_report const& report() const { return report_; }

private:
    struct alignas(64) block {
        std::byte bytes[64] = {};
    };
    std::span<std::byte> bound_to(sublet::buffer const& its)
    {
        std::size_t const bytes = its.size == sublet::no_size ? 40 : sublet::detail::to_size(its.size);
        std::vector<block>& blocks = bound_[its.root];
        blocks.resize(bytes / sizeof(block) + 1);
        return {blocks[0].bytes, bytes};
    }

    sublet::buffer_table table_;
    std::map<sublet::value_id, std::vector<block>> bound_;
    unsigned number_ = 0;
    outcome now_;
    sublet::run_report report_;
};

#endif
