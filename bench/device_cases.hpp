// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_DEVICE_CASES_HPP
#define SUBLET_BENCH_DEVICE_CASES_HPP

/// The cases of bench_execution_cuda and its arithmetic, for any stream_device: tests run them on the
/// simulated device and on the fake of the CUDA runtime, and compare counts.
///
///     no plan          every value has bytes of its own, from a pool, until the run ends
///     recycling        reference counting, on a pool that allocates in stream order
///     cudaMalloc       the same on cudaMalloc and cudaFree, which synchronize
///     driver           the same captured: the driver plans the memory of a graph
///     one order        arena: the plan for one order; concurrent steps wait where bytes are reused
///     hand-offs        arena: a plan for concurrent steps, with waits that it chose
///     every schedule   arena: a plan that needs no waits
///
/// Each on one stream and on several; arenas issued command by command, and captured.

#include "../examples/plan_model/network.hpp"
#include "step_kernel_parts.hpp"

#include <sublet/advise_memory.hpp>
#include <sublet/execution/streams.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace bench {

using sublet::byte_count;
using sublet::plan_options;
using sublet::spilled_program;
using sublet::step_id;
using sublet::value_id;

// --- cases -----------------------------------------------------------------------------------------------

enum class device_memory : std::uint8_t {
    no_plan,
    pool,
    separate_blocks,
    driver,
    one_order,
    handoffs,
    every_schedule
};

struct device_case {
    device_memory memory;
    char const* name;
    bool is_wide;     ///< on several streams
    bool is_captured; ///< one run is captured as a graph
};

inline constexpr device_case device_cases[] = {
    {device_memory::no_plan, "no plan", false, false},
    {device_memory::no_plan, "no plan", true, false},
    {device_memory::pool, "recycling", false, false},
    {device_memory::pool, "recycling", true, false},
    {device_memory::separate_blocks, "cudaMalloc", false, false},
    {device_memory::separate_blocks, "cudaMalloc", true, false},
    {device_memory::driver, "driver", false, true},
    {device_memory::driver, "driver", true, true},
    {device_memory::one_order, "one order", false, false},
    {device_memory::one_order, "one order", true, false},
    {device_memory::one_order, "one order", false, true},
    {device_memory::one_order, "one order", true, true},
    {device_memory::handoffs, "hand-offs", false, false},
    {device_memory::handoffs, "hand-offs", true, false},
    {device_memory::handoffs, "hand-offs", false, true},
    {device_memory::handoffs, "hand-offs", true, true},
    {device_memory::every_schedule, "every schedule", false, false},
    {device_memory::every_schedule, "every schedule", true, false},
    {device_memory::every_schedule, "every schedule", false, true},
    {device_memory::every_schedule, "every schedule", true, true}};

[[nodiscard]] constexpr bool has_arena(device_case const& c) { return c.memory >= device_memory::one_order; }
/// The raw loop launches what this case launches, at the same addresses.
[[nodiscard]] constexpr bool is_raw_reference(device_case const& c)
{
    return c.memory == device_memory::one_order && !c.is_wide && !c.is_captured;
}
/// The case of the driver's planner on as many streams.
[[nodiscard]] constexpr std::size_t driver_case_of(device_case const& c)
{
    std::size_t at = 0;
    while (device_cases[at].memory != device_memory::driver || device_cases[at].is_wide != c.is_wide) ++at;
    return at;
}

// --- arithmetic ------------------------------------------------------------------------------------------

constexpr byte_count device_alignment = 256; ///< of every allocation of CUDA
constexpr byte_count unknown_room = 64;      ///< of external values of unknown size
constexpr std::size_t most_operands = 240;   ///< of one kernel

/// Kernels of a step with so many operands.
[[nodiscard]] constexpr std::size_t kernels_for(std::size_t operands)
{
    return std::max<std::size_t>(1, (operands + most_operands - 1) / most_operands);
}

/// Bytes that each step reads and writes, if its kernel reads every operand once and writes every result
/// once; a view is not written.
[[nodiscard]] inline std::vector<byte_count> moved_bytes(sublet::snapshot const& p,
                                                         std::vector<byte_count> const& bytes)
{
    std::vector<byte_count> moved(p.steps(), 0);
    for (step_id s = 0; s != p.steps(); ++s)
        for (sublet::touch t : p.touches(s)) {
            if (!t.writes() && t.defines()) continue;
            byte_count const its = bytes[t.value] == sublet::no_size ? unknown_room : bytes[t.value];
            moved[s] = sublet::checked_add(moved[s], its);
        }
    return moved;
}

[[nodiscard]] inline byte_count sum_of(std::vector<byte_count> const& all)
{
    byte_count sum = 0;
    for (byte_count one : all) sum = sublet::checked_add(sum, one);
    return sum;
}

/// 10^9 bytes a second; 0 for no time.
[[nodiscard]] inline double gigabytes_per_second(byte_count bytes, double ms)
{
    return ms > 0 ? static_cast<double>(bytes) / ms * 1e-6 : 0;
}
/// 0 without a reference.
[[nodiscard]] inline double ratio(double one, double reference)
{
    return reference > 0 ? one / reference : 0;
}

/// Rounded down. Requires: at most 100 percent.
[[nodiscard]] constexpr byte_count percent_of(byte_count bytes, unsigned percent)
{
    return bytes / 100 * percent + bytes % 100 * percent / 100;
}

/// Rounds that fit into `budget_ms` if each takes as long as the first: at least one, at most `asked`.
[[nodiscard]] inline int rounds_within(int asked, double first_ms, double budget_ms)
{
    double const fitting = first_ms > 0 ? budget_ms / first_ms : asked;
    return fitting >= asked ? asked : std::max(1, static_cast<int>(fitting));
}

/// What the host issues in one run; with a graph, when it is captured.
struct command_counts {
    std::size_t allocations = 0, releases = 0, kernels = 0, events = 0, waits = 0;

    /// Of the graph: events and waits become edges.
    [[nodiscard]] std::size_t nodes() const { return allocations + releases + kernels; }
    friend bool operator==(command_counts const&, command_counts const&) = default;
};

/// Requires: the schedule was made for this order.
[[nodiscard]] inline command_counts counts_of(sublet::stream_schedule const& schedule,
                                              sublet::detail::lowered_program const& lowered)
{
    using action = sublet::stream_schedule::action;
    command_counts counts;
    for (sublet::stream_schedule::command const& c : schedule.commands) {
        counts.allocations += c.what == action::allocate;
        counts.releases += c.what == action::release;
        counts.events += c.what == action::record;
        counts.waits += c.what == action::wait;
        if (c.what == action::launch)
            counts.kernels += kernels_for(lowered.uses[c.which].size() + lowered.defs[c.which].size());
    }
    return counts;
}

// --- operands --------------------------------------------------------------------------------------------

/// The operands of one step: those that are read, then those that are written.
struct operand_list {
    std::vector<step_kernel::operand> all;
    std::size_t reads = 0;

    template <class Call>
    void list(Call const& call)
    {
        all.clear();
        for (std::size_t i = 0; i != call.uses().size(); ++i) add(call.in(i));
        reads = all.size();
        for (std::size_t j = 0; j != call.defs().size(); ++j)
            if (!call.is_view(j)) add(call.out(j));
    }
    /// Calls `launch(operands, reads, count)` for each kernel.
    template <class Launch>
    void each_kernel(Launch launch) const
    {
        for (std::size_t k = 0, begin = 0; k != kernels_for(all.size()); ++k, begin += most_operands) {
            std::size_t const count = std::min(all.size() - begin, most_operands);
            std::size_t const its_reads = std::min(std::max(reads, begin) - begin, count);
            launch(all.data() + begin, static_cast<unsigned>(its_reads), static_cast<unsigned>(count));
        }
    }

private:
    void add(std::span<std::byte const> bytes)
    {
        auto* const first = const_cast<std::byte*>(bytes.data()); // read only, if it is an operand
        all.push_back({reinterpret_cast<unsigned char*>(first), bytes.size()});
    }
};

// --- a program and its plans -----------------------------------------------------------------------------

struct device_subject {
    sublet::snapshot program;
    plan_options options;                                   ///< with the alignment of a device
    std::vector<byte_count> bytes{};                        ///< by value
    std::vector<value_id> inputs{}, externals{}, outputs{}; ///< of the first two the roots only
    sublet::memory_plan one_order{}, handoffs{}, every_schedule{};
    byte_count naive = 0; ///< of all planned buffers
    byte_count peak = 0;  ///< most bytes that are alive at once in the order of the list
    byte_count moved = 0; ///< by all steps together
};

[[nodiscard]] inline device_subject subject_of(plan_model::network const& net)
{
    device_subject its{.program = plan_model::as_program(net), .options = plan_model::as_options(net)};
    std::size_t const values = its.program.values();
    its.bytes = its.options.bytes.tabulate(values);
    its.options.bytes = its.bytes;
    its.options.role = its.options.role.tabulate(values);
    its.options.alias_of = its.options.alias_of.tabulate(values);
    its.options.alignment = device_alignment;
    for (value_id v = 0; v != values; ++v) {
        auto const role = net.values[v].role;
        bool const is_root = net.values[v].alias_of == sublet::no_value && its.bytes[v] != 0;
        bool const is_external = has_role(role, sublet::value_role::external);
        if (is_root && is_external) its.externals.push_back(v);
        else if (is_root && has_role(role, sublet::value_role::input)) its.inputs.push_back(v);
        if (!is_external && has_role(role, sublet::value_role::output)) its.outputs.push_back(v);
    }
    auto planned = plan_memory(its.program, its.options);
    its.naive = planned.report().naive_bytes;
    its.peak = planned.report().lower_bound_bytes;
    its.one_order = std::move(planned.plan);
    its.handoffs = plan_with_handoffs(its.program, its.options).plan;
    its.every_schedule = plan_concurrent(its.program, its.options).plan;
    its.moved = sum_of(moved_bytes(its.program, its.bytes));
    return its;
}

/// Calls `use(executor)` with the executor of a case. `proves`: the plan and the schedule are checked.
///
/// Throws: what the executor throws.
template <class Device, class Kernel, class Use>
void with_device_case(Device& device, device_subject const& of, device_case const& c, std::size_t streams,
                      Kernel const& kernel, bool proves, Use use)
{
    auto with = [&](auto const& mode) {
        sublet::stream_executor execute(
            device, of.program, of.options, mode, kernel,
            {.streams = c.is_wide ? streams : 1, .keeps_io_addresses = c.is_captured}, {.prove = proves});
        use(execute);
    };
    switch (c.memory) {
    case device_memory::no_plan: return with(sublet::no_plan{});
    case device_memory::pool:
    case device_memory::separate_blocks:
    case device_memory::driver: return with(sublet::recycle{});
    case device_memory::one_order: return with(sublet::arena{of.one_order});
    case device_memory::handoffs: return with(sublet::arena{of.handoffs});
    case device_memory::every_schedule: return with(sublet::arena{of.every_schedule});
    }
}

// --- less memory than the program needs -------------------------------------------------------------------

/// The program with spills, one copy stream, and homes in memory of the host.
struct spilled_subject {
    sublet::memory_advice advice;           ///< without plan: the capacity is too small
    std::vector<std::uint32_t> stream_of{}; ///< by step: copies on stream 1, all else on stream 0
    std::vector<byte_count> home_offset{};  ///< by home, in one block
    byte_count home_bytes = 0;              ///< of that block
    byte_count moved = 0;                   ///< by steps that are no copies
    byte_count copied = 0;                  ///< out and back, each direction counted
    std::size_t copies = 0;
};

[[nodiscard]] constexpr bool is_copy(spilled_program::kind kind)
{
    return kind == spilled_program::kind::copied_out || kind == spilled_program::kind::copied_back;
}

/// Spills by copies alone until the program fits into so many percent of its peak.
[[nodiscard]] inline spilled_subject spill_to(device_subject const& of, unsigned percent)
{
    plan_options options = of.options;
    options.pools = {{percent_of(of.peak, percent), 1}};
    spilled_subject its{.advice = advise_memory(of.program, options, {.remats = false})};
    if (!its.advice) return its;
    spilled_program const& spilled = its.advice.spilled;
    auto const bytes = its.advice.options.bytes.tabulate(spilled.program.values());
    auto const moved = moved_bytes(spilled.program, bytes);
    for (step_id s = 0; s != spilled.steps.size(); ++s) {
        bool const copies = is_copy(spilled.steps[s].kind);
        its.stream_of.push_back(copies ? 1 : 0);
        its.copies += copies;
        if (copies) its.copied += bytes[spilled.program.touches(s)[0].value]; // the operand; then the result
        else its.moved += moved[s];
    }
    for (value_id home : spilled.homes) {
        its.home_offset.push_back(its.home_bytes);
        its.home_bytes = sublet::align_up(sublet::checked_add(its.home_bytes, bytes[home]), device_alignment);
    }
    return its;
}

/// Copies with `copy(call)`, and runs all other steps as those of the program without spills.
template <class Compute, class Copy>
struct spilled_kernel {
    Compute compute;
    Copy copy;
    std::vector<spilled_program::step> const* steps;

    template <class Call>
    void operator()(Call const& call)
    {
        auto const [kind, step] = (*steps)[call.step];
        if (is_copy(kind)) return copy(call);
        Call as_it_was = call;
        as_it_was.step = step;
        compute(as_it_was);
    }
};

/// Calls `use(executor)` with the executor of the spilled program. Homes must be bound before a run.
template <class Device, class Kernel, class Use>
void with_spills(Device& device, spilled_subject const& of, Kernel const& kernel, bool proves, Use use)
{
    sublet::stream_executor execute(device, of.advice.spilled.program, of.advice.options,
                                    sublet::arena{of.advice.plan}, kernel,
                                    {.streams = 2, .stream_of = of.stream_of}, {.prove = proves});
    use(execute);
}
/// Binds the homes of spilled values to a block of the host.
template <class Executor>
void bind_homes(Executor& execute, spilled_subject const& of, std::byte* block)
{
    auto const& homes = of.advice.spilled.homes;
    auto const bytes = of.advice.options.bytes.tabulate(of.advice.spilled.program.values());
    for (std::size_t i = 0; i != homes.size(); ++i)
        execute.bind(homes[i],
                     std::span(block + of.home_offset[i], static_cast<std::size_t>(bytes[homes[i]])));
}

} // namespace bench

#endif
