// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_RUN_OPTIONS_HPP
#define SUBLET_EXECUTION_RUN_OPTIONS_HPP

/// What is asked of a run, and what it reports.
///
///     {.check = check_level::digest, .limit = 64 << 20}   ──►   run   ──►   report.run.bytes.peak
///
/// The same for every executor: on one thread, on several, on streams.

#include <sublet/execution/memory.hpp>
#include <sublet/per_value.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>

namespace sublet {

/// How closely a run is watched; each level does what those before it do.
enum class check_level : std::uint8_t {
    off,   ///< the plan is trusted
    plan,  ///< the plan is proved before it is run
    paint, ///< dead bytes are painted with ones, the NaN of every floating type (or poisoned)
    digest ///< a value that changes between two touches is found, and who did it
};

struct executor_options {
    check_level check = check_level::plan;
    bool prove = true;               ///< false: at any level, run even what the plan check would refuse
    byte_count limit = no_limit;     ///< of what is allocated at once
    memory_source upstream = {};     ///< a pointer to any std::pmr::memory_resource
    per_value<bool> scratch = false; ///< defined by one step and used by none
};

struct run_report {
    memory_use run;             ///< while running; peaks count what was there before as well
    byte_count reserved = 0;    ///< held from run to run: the arenas, as they were allocated
    byte_count plan_bytes = 0;  ///< what the plan asks for; 0 without one
    byte_count lower_bound = 0; ///< what no plan in this order goes below: the peaks of all pools
    std::size_t steps = 0;
    std::size_t workers = 1;  ///< threads, or streams
    std::size_t waits = 0;    ///< pairs of steps that are made to wait for each other; on streams: commands
    std::size_t handoffs = 0; ///< pairs that do so because of memory and nothing else
    std::size_t events = 0;   ///< by which streams wait for each other
};

} // namespace sublet

#endif
