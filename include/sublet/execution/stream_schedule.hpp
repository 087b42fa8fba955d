// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_SCHEDULE_HPP
#define SUBLET_EXECUTION_STREAM_SCHEDULE_HPP

/// The commands for the streams of a device: events and waits between streams, blocks, launches; and the call
/// that a kernel gets. Greedy chains on the transitive reduction of the waits, along critical paths, on a
/// bounded number of streams; vector clocks omit implied waits. O((steps + waits) streams + touches log
/// touches).
///
///     {launch, 0, 0}   stream 0 runs the step at position 0
///     {record, 0, 0}   event 0: the work of stream 0 so far
///     {wait,   1, 0}   stream 1 waits for event 0
///     {launch, 1, 1}   stream 1 runs the step at position 1
///
/// A schedule is data: stream_executor makes and proves one before it runs it.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/internal/lowered_program.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace sublet {

/// How many streams there are, and which step runs on which.
struct stream_options {
    std::size_t streams = 4;                   ///< at most
    table<step_id, std::uint32_t> stream_of = {}; ///< empty: chains. Streams up to the highest are made
    std::vector<handoff> handoffs = {};        ///< order to be kept too, as `versions()` returns it
    bool keeps_io_addresses = false; ///< inputs and outputs keep their addresses between runs, as graphs need
};

/// Commands for the streams of a device, and their counts.
struct stream_schedule {
    /// What a command does.
    enum class action : std::uint8_t {
        record,         ///< an event, after all work on the stream so far
        wait,           ///< for an event
        allocate,       ///< a block for a buffer
        transfer_block, ///< the block of `from` becomes that of the buffer
        fill,           ///< all bytes of a dead or unwritten buffer, with ones
        launch,         ///< the step at a position
        release         ///< the block of a buffer
    };

    /// One command on a stream.
    struct command {
        stream_schedule::action what = stream_schedule::action::launch; ///< what it does
        std::uint32_t stream = 0;                                       ///< the stream that it is issued on
        std::uint32_t which = 0; ///< event, position or buffer
        buffer_id from = 0;      ///< of a transfer: the buffer that has the block before
        friend bool operator==(stream_schedule::command const&, stream_schedule::command const&) = default;
    };

    std::size_t streams = 1;                        ///< one more than the highest stream used
    std::size_t events = 0;                         ///< each recorded once, and waited for
    std::size_t waits = 0;                          ///< wait commands
    std::size_t implied = 0;                        ///< waits between streams that were omitted as implied
    table<position_id, std::uint32_t> stream_of;    ///< of each step
    std::vector<stream_schedule::command> commands; ///< in the order in which they are issued
    friend bool operator==(stream_schedule const&, stream_schedule const&) = default;
};

/// One step, its operands, and its stream, as its kernel sees them: cpu_call, plus the stream.
///
///     auto kernel = [&](auto const& call) {
///         launch_my_operation(call.stream(), call.in(0).data(), call.out(0).data());
///     };
///
/// A call is a few words, so a device that runs kernels later may keep a copy. What it refers to stays valid
/// until the run is over. Operand addresses are written when the step is issued, or once if constant.
///
/// Throws: precondition_error for an operand that the step does not have.
template <class Stream>
class stream_call {
public:
    /// For the executor.
    ///
    /// Requires: `operands` begins with the uses of the step, its defs and its scratch.
    stream_call(detail::lowered_program const& lowered, position_id at, Stream stream,
                std::span<std::byte> const* operands)
        : step(lowered.step_at[at]), position(at), lowered_(&lowered), uses_(lowered.uses[at]),
          defs_(lowered.defs[at]), operands_(operands), stream_(stream)
    {
    }

    step_id step;         ///< of the program
    position_id position; ///< in the order in which steps are issued

    /// The stream to issue the work of the step on.
    [[nodiscard]] Stream stream() const { return stream_; }
    /// The values that the step reads, in program order.
    [[nodiscard]] std::span<value_id const> uses() const { return uses_; }
    /// The values that it writes or makes, without scratch: written ones first, then its results.
    [[nodiscard]] std::span<value_id const> defs() const { return defs_; }
    /// The bytes of operand i, on the device.
    [[nodiscard]] std::span<std::byte const> in(std::size_t i) const { return nth(uses_.size(), i, 0); }
    /// The bytes of result j, on the device.
    [[nodiscard]] std::span<std::byte> out(std::size_t j) const { return nth(defs_.size(), j, uses_.size()); }
    /// Result j is a view of bytes that exist already: the step need not write it.
    [[nodiscard]] bool is_view(std::size_t j) const
    {
        SUBLET_EXPECTS(j < defs().size(), "sublet: the kernel of step % accesses operand % of %", step, j,
                       defs().size());
        return lowered_->is_view(defs()[j], position);
    }
    /// The bytes of result j are there already: the step changes them, or a part of them.
    [[nodiscard]] bool is_update(std::size_t j) const
    {
        SUBLET_EXPECTS(j < defs().size(), "sublet: a kernel accesses an operand that its step does not have");
        return lowered_->is_update(defs()[j], position);
    }
    /// How many scratch values the step has: see cpu_call.
    [[nodiscard]] std::size_t scratch_count() const { return lowered_->scratch[position].size(); }
    /// The bytes of scratch value k, in program order, on the device.
    [[nodiscard]] std::span<std::byte> scratch(std::size_t k = 0) const
    {
        return nth(scratch_count(), k, uses().size() + defs().size());
    }

    /// The bytes of a value by its handle, on the device: see cpu_call::of().
    template <class H>
    [[nodiscard]] std::span<std::byte> of(H const& h) const
    {
        detail::key_type<H> key = h; // a literal is a pointer
        return operands_[lowered_->operand_of(key, position).index];
    }

private:
    std::span<std::byte> nth(std::size_t count, std::size_t i, std::size_t first) const
    {
        SUBLET_EXPECTS(i < count, "sublet: the kernel of step % accesses operand % of %", step, i, count);
        return operands_[first + i];
    }

    detail::lowered_program const* lowered_;
    std::span<value_id const> uses_, defs_;
    std::span<std::byte> const* operands_;
    Stream stream_;
};

} // namespace sublet

#endif
