// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_TASK_FAMILIES_HPP
#define SUBLET_TEST_TASK_FAMILIES_HPP

/// Families of task graphs of any size, for the benchmark and for tests. Task i defines value i.
///
///     chain       a ─► b ─► c                      inception   one ─► four branches ─► join
///     residual    a ─► b ─► c ─► a + c             nested      nested forks, 64 leaves
///     training    forward, and back with gradients ladder      k lanes, each reading its neighbour
///     local       operands from up to 64 back      sparse      operands from anywhere before

#include "random_source.hpp"

#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

struct task_family {
    sublet::csr_rows<sublet::step_id, sublet::value_id> operands; ///< by task
    std::vector<sublet::byte_count> bytes;                        ///< by value

    std::size_t tasks() const { return operands.rows(); }
    /// One step per task, one value per task.
    sublet::snapshot program() const
    {
        return sublet::sequence(tasks(), tasks(), [this](sublet::step_id s, sublet::effect_sink& sink) {
            for (auto v : operands[s]) sink.use(v);
            sink.def(+s);
        });
    }
};

inline constexpr std::string_view family_names[] = {"chain",   "residual", "inception", "nested", "training",
                                                    "ladder8", "ladder64", "local",     "sparse"};

/// About `tasks` of them; sizes are multiples of 256 bytes up to 64 KiB. Random ones are drawn from `seed`.
inline task_family draw_family(std::string_view name, std::size_t tasks, std::uint32_t seed = 1)
{
    using sublet::value_id;
    task_family drawn;
    random_source pick{std::mt19937(seed)};
    auto const n = static_cast<std::uint32_t>(tasks);
    drawn.operands.reserve(tasks, 2 * tasks);
    auto made = [&drawn] { return static_cast<std::uint32_t>(drawn.operands.rows()); };
    auto task = [&](std::initializer_list<value_id> operands) {
        for (value_id v : operands) drawn.operands.append(v);
        drawn.operands.close_row();
        drawn.bytes.push_back(256 * (1 + pick.below(256)));
        return value_id{made() - 1};
    };
    if (name == "chain") {
        task({});
        while (made() < n) task({made() - 1});
    } else if (name == "residual") {
        value_id last = task({});
        while (made() + 3 <= n) {
            value_id const a = task({last}), b = task({a});
            last = task({b, last});
        }
    } else if (name == "inception") {
        value_id last = task({});
        while (made() + 8 <= n) {
            value_id const a = task({last});
            value_id const b = task({task({last})});
            value_id const c = task({task({task({last})})});
            value_id const d = task({last});
            last = task({a, b, c, d});
        }
    } else if (name == "nested") {
        value_id last = task({});
        while (made() + 127 <= n) { // a binary tree of forks down to 64 leaves, and back
            std::vector<value_id> level{last};
            while (level.size() != 64) {
                std::vector<value_id> next;
                for (value_id v : level) {
                    next.push_back(task({v}));
                    next.push_back(task({v}));
                }
                level = next;
            }
            while (level.size() != 1) {
                std::vector<value_id> next;
                for (std::size_t i = 0; i != level.size(); i += 2)
                    next.push_back(task({level[i], level[i + 1]}));
                level = next;
            }
            last = level.front();
        }
    } else if (name == "training") {
        std::vector<value_id> forward{task({})};
        while (4 * forward.size() < tasks) forward.push_back(task({forward.back()}));
        value_id gradient = task({forward.back()});
        for (std::size_t i = forward.size();
             i-- > 0 && made() + 3 <= n;) { // gradients of data and of weights, an update
            value_id const weight = task({gradient, forward[i]});
            task({weight});
            gradient = task({gradient, forward[i]});
        }
    } else if (name.substr(0, 6) == "ladder") {
        std::uint32_t const k = name == "ladder8" ? 8 : 64;
        while (made() != sublet::detail::smaller(k, n)) task({});
        while (made() < n) {
            std::uint32_t const i = made();
            task({i - k, i % k == 0 ? i - 1 : i - k - 1});
        }
    } else {
        std::uint32_t const back = name == "local" ? 64 : n;
        while (made() < n) {
            std::uint32_t const i = made();
            if (i == 0) {
                task({});
                continue;
            }
            std::uint32_t const reach = sublet::detail::smaller(i, back);
            value_id const a = i - 1 - pick.below(reach);
            value_id const b = i - 1 - pick.below(reach);
            if (a != b && pick.below(10) < 8) task({a, b});
            else task({a});
        }
    }
    return drawn;
}

#endif
