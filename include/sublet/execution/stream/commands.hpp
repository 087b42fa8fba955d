// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_COMMANDS_HPP
#define SUBLET_EXECUTION_STREAM_COMMANDS_HPP

/// What a run on streams issues, one command after the other: plain data, made by stream/schedule.hpp, proved
/// by stream/check_schedule.hpp, carried out by streams.hpp.
///
///     {launch, 0, 0}   stream 0 runs the step at position 0
///     {record, 0, 0}   event 0: stream 0 has come this far
///     {wait,   1, 0}   stream 1 goes on when it has
///     {launch, 1, 1}   stream 1 runs the step at position 1

#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

enum class stream_action : std::uint8_t {
    record,    ///< an event: what is on the stream so far
    wait,      ///< until it has come to pass
    allocate,  ///< a block for a buffer
    hand_over, ///< the block of the buffer `from`
    fill,      ///< all bytes of a buffer with ones: nobody may read them
    launch,    ///< the step at a position
    release    ///< the block of a buffer
};

struct stream_command {
    stream_action what = stream_action::launch;
    std::uint32_t stream = 0;
    std::uint32_t which = 0; ///< the event, the position or the buffer
    buffer_id from = 0;
    friend bool operator==(stream_command const&, stream_command const&) = default;
};

struct stream_options {
    std::size_t streams = 4;                   ///< at most
    std::vector<std::uint32_t> stream_of = {}; ///< by step; empty: chains. Those up to the highest are made
    std::vector<handoff> handoffs = {};        ///< order to be kept besides, as `versions()` returns it
    bool keeps_ends = false; ///< inputs and outputs stay where they are from run to run, as a graph needs it
};

struct stream_schedule {
    std::size_t streams = 1; ///< one more than the highest that is used
    std::size_t events = 0;  ///< each is recorded once, and waited for
    std::size_t waits = 0;   ///< commands
    std::size_t implied = 0; ///< of steps for steps of other streams, left out: a clock says them
    std::vector<std::uint32_t> stream_of; ///< by position
    std::vector<stream_command> commands; ///< in the order in which they are issued
    friend bool operator==(stream_schedule const&, stream_schedule const&) = default;
};

} // namespace sublet

#endif
