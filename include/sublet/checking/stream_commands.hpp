// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_STREAM_COMMANDS_HPP
#define SUBLET_CHECKING_STREAM_COMMANDS_HPP

/// What was asked of a device, as data: by a schedule before anything runs, or by whoever has just run.
///
///     0  stream 0   allocate block 0          work touches   at   space   begin   end   as value
///     1  stream 0   work (step 4)                             1     0       0      64      7     writes
///     2  stream 0   record event 0                            4     0       0      64      7
///     3  stream 1   wait for event 0
///     4  stream 1   work (step 5)
///
/// Commands stand in the order in which they were issued. A block is one life of some bytes: what a device
/// hands out again is another block, at the same address.

#include <sublet/checking/race_questions.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

enum class stream_act : std::uint8_t {
    allocate, ///< a block, in the order of the stream
    release,  ///< a block
    record,   ///< an event: all that was issued in the stream before
    wait,     ///< for the last record of an event
    work,     ///< of a step, or a copy (`no_step`): it touches bytes
    join,     ///< the caller waits for the stream
    join_all  ///< and for all
};

struct stream_act_of {
    stream_act what = stream_act::work;
    std::uint32_t stream = 0;
    std::uint32_t which = no_step; ///< the block, the event, the step
    friend bool operator==(stream_act_of const&, stream_act_of const&) = default;
};

struct stream_block {
    byte_count bytes = 0;
    bool is_given = false; ///< there before the first command; it may be released
    friend bool operator==(stream_block const&, stream_block const&) = default;
};

struct stream_commands {
    std::size_t streams = 0;
    std::vector<stream_act_of> acts = {};
    std::vector<byte_access> touches = {}; ///< `at` is a command's number, `space` a block's
    std::vector<stream_block> blocks = {};
};

} // namespace sublet

#endif
