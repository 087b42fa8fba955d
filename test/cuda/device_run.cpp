// SPDX-License-Identifier: BSL-1.0
#include "cuda/device_run.hpp"

#include <sublet/execution/cpu.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/synthetic.hpp>

#include <algorithm>
#include <map>
#include <vector>

std::vector<digests> device_run::run_on_host(unsigned runs) const
{
    struct alignas(64) block {
        std::byte bytes[64] = {};
    };
    std::map<sublet::value_id, block> bound;
    sublet::cpu_executor run(p.program(), p.options(false), sublet::no_plan{}, sublet::synthetic_kernel{});
    std::vector<digests> result;
    for (unsigned number = 1; number <= runs; ++number) {
        for (sublet::value_id v = 0; v != p.values(); ++v) {
            if (given[v] == binding_kind::nothing) continue;
            auto const bytes = noise(v, number);
            if (given[v] == binding_kind::input) {
                std::copy(bytes.begin(), bytes.end(), run.input(v).begin());
            } else if (number == 1 || given[v] == binding_kind::bound_always) {
                std::copy(bytes.begin(), bytes.end(), bound[v].bytes);
                run.bind(v, std::span(bound[v].bytes).first(room(v)));
            }
        }
        run.run();
        digests& its = result.emplace_back();
        for (sublet::value_id v : outputs) its.push_back(sublet::digest(run.output(v)));
        for (sublet::value_id v : externals)
            its.push_back(sublet::digest(std::span(bound[v].bytes).first(room(v))));
    }
    return result;
}

sublet::memory_plan device_run::plan() const { return sublet::plan_memory(p.program(), p.options()).plan; }
