// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_RUN_OPTIONS_HPP
#define SUBLET_EXECUTION_RUN_OPTIONS_HPP

/// The options of a run, and its report.
///
///     {.check = executor_options::checks::digest, .limit = 64 << 20}   ──►   run   ──► report.run.bytes.peak

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/memory_source.hpp>

#include <cstddef>
#include <cstdint>

namespace sublet {

/// Which ready step runs next: the first in plan order, the one that is ready longest, the one that became
/// ready last, a random one, or the next of a given order.
enum class queue_policy : std::uint8_t { plan_order, fifo, lifo, random, given };

/// How a run is checked, and where its memory comes from.
struct executor_options {
    /// How much of a run is checked; each level includes those before it.
    enum class checks : std::uint8_t {
        off,   ///< no check
        plan,  ///< the plan is checked before it is run
        paint, ///< dead bytes are painted with ones, a NaN in every floating type (or poisoned)
        digest ///< a value that changes between two touches is reported, with the value that overlaps it
    };

    executor_options::checks check = executor_options::checks::plan; ///< how much is checked
    bool prove = true;                   ///< false: at every level, skip the check of the plan
    byte_count limit = no_limit;         ///< of bytes allocated at the same time
    memory_source upstream = {};         ///< a pointer to any std::pmr::memory_resource
};

/// What a run took, and what its plan promised.
struct run_report {
    /// How many there were at a time.
    struct counter {
        std::uint64_t live = 0;  ///< current
        std::uint64_t peak = 0;  ///< maximum
        std::uint64_t total = 0; ///< sum of all additions
        friend bool operator==(run_report::counter const&, run_report::counter const&) = default;

        /// For the executor: so many more.
        constexpr void add(std::uint64_t amount) noexcept
        {
            live += amount;
            total += amount;
            peak = live > peak ? live : peak;
        }
        /// For the executor: so many less.
        constexpr void remove(std::uint64_t amount) noexcept { live -= amount; }
    };
    /// What was allocated.
    struct memory_use {
        run_report::counter bytes{};       ///< in all blocks
        run_report::counter allocations{}; ///< blocks
        friend bool operator==(run_report::memory_use const&, run_report::memory_use const&) = default;
    };

    run_report::memory_use run; ///< during the run; peaks include what was allocated before
    byte_count reserved = 0;    ///< bytes of the arenas, which are kept between runs
    byte_count plan_bytes = 0;  ///< sum of the arenas of the plan; 0 without one
    byte_count lower_bound = 0; ///< of every plan for this order: the sum of the live peaks of the pools
    std::size_t steps = 0;      ///< that ran
    std::size_t workers = 1;  ///< threads, or streams
    std::size_t waits = 0;    ///< pairs of steps that are ordered by a wait; on streams: wait commands
    std::size_t handoffs = 0; ///< the pairs that are ordered by memory or groups only
    std::size_t events = 0;   ///< recorded and waited for between streams
    std::size_t copies = 0;   ///< of values, at the borders of bodies
};

} // namespace sublet

#endif
