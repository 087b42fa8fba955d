// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_STREAMS_HPP
#define SUBLET_CHECKING_CHECK_STREAMS_HPP

/// Does a list of commands on streams leave the same in every order in which a device may carry them out?
///
///     stream 0   allocate 0   write 0   record e               release 0
///     stream 1                                   wait e  read 0
///
///     command 5 on stream 0 releases block 0 and does not wait for command 4 on stream 1,
///     step 1, as value 7, which touches bytes [0, 64) of it
///
/// It does, if every two touches of the same bytes, one of which writes, come in the order in which they were
/// issued; and if every touch comes after the allocation of its block and before its release. Nothing is run,
/// and no order is tried: what comes before what in every order is a fact about the list.
///
/// Source: accesses against streams are checked so, on what was issued, by PyTorch's CUDA stream sanitizer
/// (torch.cuda._sanitizer).

#include <sublet/checking/race_questions.hpp>
#include <sublet/checking/stream_commands.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <optional>

namespace sublet {

enum class stream_fault_kind : std::uint8_t {
    race,         ///< second does not wait for first, and both touch these bytes
    unborn,       ///< second touches the block and does not wait for its allocation, first
    dead,         ///< second touches the block, whose release was issued before: first
    freed_in_use, ///< second releases the block and does not wait for first, which touches it
    freed_twice,  ///< second releases the block, as first did
    absent,       ///< second releases or touches a block that nobody allocated before
    made_twice,   ///< second allocates a block that was there already, by first
    outside,      ///< second touches bytes beyond the end of the block
    unrecorded,   ///< second waits for an event that nobody recorded before
    kept,         ///< the block, allocated by first, is never released
    order         ///< second does not wait for first, though it was asked for: not found here
};

struct stream_fault {
    stream_fault_kind what = stream_fault_kind::race;
    std::uint32_t first = no_step; ///< commands; `no_step` where there is none
    std::uint32_t second = no_step;
    std::uint32_t first_stream = 0;
    std::uint32_t second_stream = 0;
    step_id first_step = no_step; ///< of which they are
    step_id second_step = no_step;
    value_id first_value = no_value;
    value_id second_value = no_value;
    std::uint32_t block = no_step; ///< or the event, or none
    byte_count begin = 0;
    byte_count end = 0;
    friend bool operator==(stream_fault const&, stream_fault const&) = default;
};

namespace detail {

template <class Stream>
void write_command(Stream& out, std::uint32_t command, std::uint32_t stream, step_id step, value_id value)
{
    out << "command " << command << " on stream " << stream;
    if (step != no_step) out << ", step " << step << ',';
    if (value != no_value) out << " as value " << value;
}

} // namespace detail

/// A sentence, to any stream that takes text and integers.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, stream_fault const& f)
{
    using kind = stream_fault_kind;
    auto const write_first = [&] {
        detail::write_command(out, f.first, f.first_stream, f.first_step, f.first_value);
    };
    auto const write_bytes = [&] {
        out << " touches bytes [" << f.begin << ", " << f.end << ") of block " << f.block;
    };
    if (f.what == kind::kept) {
        write_first();
        out << " allocates block " << f.block << ", which is never released";
        return out;
    }
    detail::write_command(out, f.second, f.second_stream, f.second_step, f.second_value);
    switch (f.what) {
    case kind::race:
        write_bytes();
        out << " and does not wait for ";
        write_first();
        out << ", which touches them too";
        break;
    case kind::unborn:
        out << " asks for block " << f.block << " and does not wait for ";
        write_first();
        out << ", which allocates it";
        break;
    case kind::dead:
        out << " touches block " << f.block << " after ";
        write_first();
        out << " has released it";
        break;
    case kind::freed_in_use:
        out << " releases block " << f.block << " and does not wait for ";
        write_first();
        out << ", which touches bytes [" << f.begin << ", " << f.end << ") of it";
        break;
    case kind::freed_twice:
        out << " releases block " << f.block << " after ";
        write_first();
        out << " has released it";
        break;
    case kind::absent: out << " asks for block " << f.block << ", which nobody allocated before"; break;
    case kind::made_twice: out << " allocates block " << f.block << ", which is there already"; break;
    case kind::outside:
        write_bytes();
        out << ", which ends before";
        break;
    case kind::unrecorded: out << " waits for event " << f.block << ", which nobody recorded before"; break;
    case kind::order:
        out << " does not wait for ";
        write_first();
        out << ", as an edge, a hand-off or the ends of the run ask";
        break;
    case kind::kept: break;
    }
    return out;
}

/// The first fault in a list of commands, or none. `is_whole`: what is allocated has to be released as well.
///
/// Ensures:    if there is none, every order that keeps streams, events and the caller's joins carries out
///             any two touches that do not commute in the order of the list, each while its block is there.
///             If there is one, some order does otherwise (or the list asks for what is not there).
///             Blocks are looked at first, then touches of each, then pairs: the first of these that fails is
///             told, with the lowest later command.
/// Complexity: that of stream_clocks and race_questions(): a row of streams for each wait, and what touches
///             cost; no walk over pairs.
/// Throws:     precondition_error where a command names a stream or a block that is not listed.
[[nodiscard]] std::optional<stream_fault> check_streams(stream_commands const& list, bool is_whole = false);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/check_streams.ipp>
#endif

#endif
