// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_SPILLED_RUN_HPP
#define SUBLET_TEST_SPILLED_RUN_HPP

/// Runs of programs and of their spilled versions, to compare what they write.

#include "random_program.hpp"
#include "random_source.hpp"

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/spills.hpp>
#include <sublet/testing/synthetic.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

/// Of most steps of a random program.
inline random_program draw_recomputable(random_source& pick, std::uint32_t most)
{
    random_program p = draw_program(pick, most);
    for (auto& n : p.nodes)
        for (auto& s : n.steps) s.may_recompute = pick.below(5) != 0;
    return p;
}

namespace spilled_runs {

using kernel = std::function<void(sublet::cpu_call const&)>; // type-erased, so that one executor is compiled

struct trace {
    std::vector<std::uint64_t> written, left;
    friend bool operator==(trace const&, trace const&) = default;
};

/// Runs a program, checked at every step, with kernels that hash every byte they read. Given values get bytes
/// that depend on their origin, so they are the same for the program and for its spilled version.
template <class Mode>
trace run(sublet::snapshot const& p, sublet::plan_options const& options,
          std::vector<sublet::spilled_program::step> const& steps,
          std::vector<sublet::value_id> const& origin, std::vector<sublet::value_id> const& shown,
          Mode const& mode)
{
    trace result;
    kernel const compute = [&](sublet::cpu_call const& call) {
        auto const [kind, step] = steps[call.step];
        if (kind == sublet::spilled_program::kind::copied_out ||
            kind == sublet::spilled_program::kind::copied_back) {
            std::copy(call.in(0).begin(), call.in(0).end(), call.out(0).begin());
            return;
        }
        sublet::cpu_call as_it_was = call;
        as_it_was.step = step;
        sublet::synthetic_kernel{}(as_it_was);
        if (kind != sublet::spilled_program::kind::original) return;
        std::uint64_t sum = 0;
        for (std::size_t j = 0; j != call.defs().size(); ++j)
            sum = sublet::fold_digest(sum, sublet::digest(call.out(j)));
        result.written.push_back(sum);
    };
    struct alignas(64) block {
        std::byte bytes[64] = {};
    };
    std::map<sublet::value_id, block> bound;
    sublet::cpu_executor<kernel> executor(p, options, mode, compute,
                                          {.check = sublet::executor_options::checks::digest});
    auto const table =
        sublet::gather_buffers(sublet::lifetimes(p, {.role = options.role, .order = options.order}), options);
    std::vector<bool> is_touched(table.buffers.size());
    for (sublet::buffer const& b : table.buffers) {
        if (b.size == 0) continue;
        auto const noise = 1000 + origin[b.root];
        if (!b.is_planned()) {
            std::span<std::byte> const room(
                bound[b.root].bytes, b.size == sublet::no_size ? 64 : static_cast<std::size_t>(b.size));
            sublet::fill_noise(room, noise);
            executor.bind(b.root, room);
        } else if (sublet::has_role(b.role, sublet::value_role::input)) {
            sublet::fill_noise(executor.input(b.root), noise);
        }
    }
    executor.run();
    for (sublet::value_id v : shown) result.left.push_back(sublet::digest(executor.output(v)));
    for (auto& [root, block] : bound)
        if (root < origin.size() && origin[root] == root) result.left.push_back(sublet::digest(block.bytes));
    return result;
}

} // namespace spilled_runs

#endif
