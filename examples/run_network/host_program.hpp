// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_HOST_PROGRAM_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_HOST_PROGRAM_HPP

/// What executors run: the steps of a network, or these with copies and with steps that run again.

#include "host_steps.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/spills.hpp>

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace run_network {

inline std::vector<sublet::value_id> outputs_of(plan_model::network const& net)
{
    std::vector<sublet::value_id> found;
    for (sublet::value_id v = 0; v != net.values.size(); ++v)
        if (has_role(net.values[v].role, sublet::value_role::output)) found.push_back(v);
    return found;
}

inline bool is_copy(sublet::spilled_program::kind kind)
{
    return kind == sublet::spilled_program::kind::copied_out ||
           kind == sublet::spilled_program::kind::copied_back;
}

/// Storage outside of the plan to which a value is copied.
class spill_home {
public:
    sublet::value_id value;
    sublet::byte_count size;

    spill_home(sublet::value_id v, sublet::byte_count bytes)
        : value(v), size(bytes), lines_((bytes + 63) / 64)
    {
    }
    std::span<std::byte> bytes() { return {lines_.empty() ? nullptr : lines_[0].bytes, size}; }

private:
    struct alignas(64) line {
        std::byte bytes[64];
    };
    std::vector<line> lines_;
};

struct host_program {
    host_steps const* steps = nullptr;
    sublet::snapshot program;
    sublet::plan_options options;                                               ///< may refer to `steps`
    std::vector<sublet::value_id> outputs;                                      ///< by output of the network
    sublet::table<sublet::step_id, sublet::spilled_program::step> origins = {}; ///< empty: those of `steps`
    std::vector<spill_home> homes = {};

    /// What a trace calls a step: their numbers follow those of the network.
    sublet::step_id first_in_trace() const
    {
        return static_cast<sublet::step_id>(origins.empty() ? 0 : steps->steps.size());
    }
    std::string label(sublet::step_id traced) const
    {
        using enum sublet::spilled_program::kind;
        if (traced < steps->steps.size()) return steps->label(traced);
        auto const [kind, step] = origins[static_cast<sublet::step_id>(traced - steps->steps.size())];
        std::string const label = steps->label(step);
        switch (kind) {
        case copied_out: return "copy out, after " + label;
        case copied_back: return "copy back, before " + label;
        case rematerialize: return "again: " + label;
        case original: break;
        }
        return label;
    }
};

inline host_program program_of(host_steps const& steps)
{
    return {&steps, steps.program(), steps.options(), outputs_of(steps.all->net)};
}

/// Runs a step of such a program on the host, where copies are; several threads may call it at once.
struct program_kernel {
    host_program const* of;

    void operator()(auto const& call) const
    {
        std::size_t const steps = of->steps->steps.size();
        if (call.step < steps) return host_kernel{of->steps}(call);
        auto const [kind, step] = of->origins[static_cast<sublet::step_id>(call.step - steps)];
        if (is_copy(kind)) {
            if (!call.in(0).empty()) std::memcpy(call.out(0).data(), call.in(0).data(), call.in(0).size());
            return;
        }
        auto as_it_was = call;
        as_it_was.step = step;
        host_kernel{of->steps}(as_it_was);
    }
};

/// Calls a kernel with the numbers that steps have in a trace.
template <class Kernel>
struct renumbered_kernel {
    Kernel kernel;
    sublet::step_id first;

    void operator()(auto const& call)
    {
        auto in_trace = call;
        in_trace.step = static_cast<sublet::step_id>(call.step + first);
        kernel(in_trace);
    }
};

} // namespace run_network

#endif
