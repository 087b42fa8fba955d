// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TESTING_SIMULATED_OPTIONS_HPP
#define SUBLET_TESTING_SIMULATED_OPTIONS_HPP

/// In which order a simulated_device executes queued work, and where its memory comes from.

#include <sublet/core/units.hpp>
#include <sublet/execution/memory_source.hpp>

#include <cstdint>

namespace sublet {

/// The order in which queued work is executed, and the memory that there is.
struct simulated_options {
    /// Which runnable stream executes its next command.
    enum class order_kind : std::uint8_t {
        eager,        ///< all work is executed when it is queued
        in_turn,      ///< one command of each, cyclically
        random,       ///< random, by the seed
        latest_first, ///< the one with the most recently queued next command
        favour,       ///< stream `which` while it is runnable, otherwise the others in turn
        starve        ///< stream `which` only when no other is runnable, otherwise in turn
    };

    /// Which stream executes its next command.
    simulated_options::order_kind order = simulated_options::order_kind::in_turn;
    std::uint64_t seed = 0;              ///< of random
    std::uint32_t which = 0;             ///< the stream to favour or starve, by order of creation
    step_id postponed = no_step;         ///< executed only when no other command can be
    bool paint = true;                   ///< bytes at allocation and at deallocation
    memory_source upstream = {};         ///< where its memory comes from
    byte_count limit = no_limit;         ///< of bytes allocated from upstream
};

} // namespace sublet

#endif
