// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_STREAM_COMMANDS_HPP
#define SUBLET_CHECKING_STREAM_COMMANDS_HPP

/// The commands issued to a device, as data: before a schedule runs, or recorded while it ran.
///
///     0  stream 0   allocate block 0          work touches   at   space   begin   end   as value
///     1  stream 0   work (step 4)                             1     0       0      64      7     writes
///     2  stream 0   record event 0                            4     0       0      64      7
///     3  stream 1   wait for event 0
///     4  stream 1   work (step 5)
///
/// Commands are in the order of issue. A block is one allocation of bytes: if the device allocates the same
/// address again, that is another block.

#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// Streams, commands, blocks, and the bytes that commands touch.
struct stream_commands {
    /// What a command does.
    enum class operation_kind : std::uint8_t {
        allocate, ///< a block, in the order of the stream
        release,  ///< a block
        record,   ///< an event: all earlier commands of the stream
        wait,     ///< for the last record of an event
        work,     ///< of a step, or a copy (`no_step`): it touches bytes
        join,     ///< the caller waits for the stream
        join_all  ///< the caller waits for all streams
    };

    /// One command on a stream.
    struct operation {
        stream_commands::operation_kind what = stream_commands::operation_kind::work; ///< what it does
        std::uint32_t stream = 0;      ///< the stream that it is issued on
        std::uint32_t which = no_step; ///< block, event or step
        friend bool operator==(stream_commands::operation const&,
                               stream_commands::operation const&) = default;
    };

    /// One allocation.
    struct block {
        byte_count bytes = 0;  ///< its size
        bool is_given = false; ///< allocated before the first command; it may be released
        friend bool operator==(stream_commands::block const&, stream_commands::block const&) = default;
    };

    /// Bytes [begin, end) of a block that a command touches.
    struct byte_access {
        std::uint32_t at = 0;      ///< the number of the command
        std::uint32_t space = 0;   ///< the number of the block
        byte_count begin = 0;      ///< the first byte
        byte_count end = 0;        ///< behind the last
        value_id value = no_value; ///< the value accessed
        bool writes = false;       ///< otherwise it reads
    };

    std::size_t streams = 0;                                 ///< how many streams there are, numbered from 0
    std::vector<stream_commands::operation> operations = {}; ///< in the order of issue
    std::vector<stream_commands::byte_access> touches = {};  ///< in any order
    std::vector<stream_commands::block> blocks = {};         ///< by the number that commands use
};

} // namespace sublet

#endif
