// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_STORAGE_HPP
#define SUBLET_EXECUTION_STREAM_STORAGE_HPP

/// The bytes of values on a device: blocks that come and go in the order of streams, or offsets in an arena.
///
///     allocate(b, stream 1) ──► launch ... (stream 1) ──► release(b, stream 0)   behind a wait for stream 1
///     host: counts 64 bytes                                host: counts 64 bytes less
///
/// Nothing here decides when: that is in the schedule. What is counted is counted when it is issued, so
/// `live` is what one stream would hold that does the commands as they are listed; how much a device keeps
/// for streams that are behind is for the device to say.

#include <sublet/analysis/buffers.hpp>
#include <sublet/contract.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/memory.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/execution/stream/device.hpp>
#include <sublet/execution/tape.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <cstddef>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace sublet::detail {

/// A device's pool on one of its streams, as a memory resource.
template <stream_device Device>
struct stream_pool_source {
    Device& device;
    typename Device::stream_type stream;
    bool is_silent = false; ///< the device is not told: it is lost, or has forgotten the block

    void* allocate(std::size_t bytes, std::size_t alignment)
    {
        return device.allocate(bytes, alignment, stream);
    }
    void deallocate(void* block, std::size_t bytes, std::size_t alignment)
    {
        if (!is_silent) device.deallocate(static_cast<std::byte*>(block), bytes, alignment, stream);
    }
};

/// Gives nothing back by itself.
template <stream_device Device>
class stream_storage {
public:
    using stream_type = typename Device::stream_type;

    /// Throws: precondition_error for an alignment that is no power of two.
    stream_storage(Device& device, stream_type first, run_tape const& tape, byte_count limit)
        : source_{device, first}, memory_(&source_, limit), tape_(tape)
    {
        for (buffer const& b : tape.table.buffers) {
            SUBLET_EXPECTS(!b.is_planned() || (b.alignment & (b.alignment - 1)) == 0,
                           "sublet: an executor takes alignments that are powers of two");
            room_.push_back(b.size);
        }
        where_.assign(room_.size(), nullptr);
        blocks_.resize(room_.size());
    }
    stream_storage(stream_storage const&) = delete; // the counts refer to the source
    stream_storage& operator=(stream_storage const&) = delete;

    /// Blocks for the arenas of a plan.
    ///
    /// Throws: unsound_plan if a buffer has no place, or one outside of its arena; allocation_error.
    void place(memory_plan const& plan)
    {
        expect_places(tape_, plan);
        std::vector<byte_count> alignment(plan.arena_bytes.size(), 1);
        for (buffer const& b : tape_.table.buffers)
            if (b.is_planned()) alignment[b.pool] = larger(alignment[b.pool], b.alignment);
        arenas_.resize(plan.arena_bytes.size());
        for (std::size_t pool = 0; pool != arenas_.size(); ++pool)
            if (plan.arena_bytes[pool] != 0)
                arenas_[pool] = take(plan.arena_bytes[pool], alignment[pool], no_step);
        for (std::size_t b = 0; b != where_.size(); ++b) {
            buffer const& its = tape_.table.buffers[b];
            if (its.is_planned()) where_[b] = arenas_[its.pool].bytes + plan.offset_of(its.root);
        }
    }

    struct block {
        std::byte* bytes = nullptr;
        byte_count size = 0;
        byte_count alignment = 1;
    };
    [[nodiscard]] std::span<block const> arenas() const { return arenas_; }
    [[nodiscard]] counted_memory& memory() { return memory_; }
    [[nodiscard]] counted_memory const& memory() const { return memory_; }

    [[nodiscard]] std::span<std::byte> bytes_of(buffer_id b) const
    {
        return {where_[b], where_[b] == nullptr ? 0 : static_cast<std::size_t>(room_[b])};
    }
    [[nodiscard]] std::span<std::byte> shown_by(value_id v) const
    {
        std::span<std::byte> const all = bytes_of(tape_.table.buffer_of[v]);
        return all.first(static_cast<std::size_t>(smaller(tape_.bytes[v], byte_count{all.size()})));
    }

    void bind(buffer_id b, std::span<std::byte> bytes)
    {
        where_[b] = bytes.data();
        room_[b] = bytes.size();
    }

    /// `step` is told to who hears that there are no bytes.
    void allocate(buffer_id b, stream_type stream, step_id step)
    {
        source_.stream = stream;
        blocks_[b] = take(room_[b], tape_.table.buffers[b].alignment, step);
        where_[b] = blocks_[b].bytes;
    }
    /// The same outside of any step, unless it has bytes. Whether it had none.
    bool provide(buffer_id b, stream_type stream)
    {
        if (!arenas_.empty() || blocks_[b].bytes != nullptr) return false;
        allocate(b, stream, no_step);
        return true;
    }
    void hand_over(buffer_id from, buffer_id to)
    {
        blocks_[to] = std::exchange(blocks_[from], {});
        where_[to] = blocks_[to].bytes; // `from` still shows them: the step has to read it
    }
    /// Nothing happens where there is no block.
    void release(buffer_id b, stream_type stream)
    {
        source_.stream = stream;
        if (blocks_[b].bytes != nullptr) give_back(blocks_[b]);
        if (arenas_.empty() && tape_.table.buffers[b].is_planned()) where_[b] = nullptr;
    }
    /// All that count, whatever the device says of one. Throws: the first that it says.
    template <class Counts>
    void release_if(Counts counts, stream_type stream)
    {
        std::exception_ptr refusal;
        for (std::size_t b = 0; b != blocks_.size(); ++b) try {
                if (counts(tape_.table.buffers[b].role)) release(static_cast<buffer_id>(b), stream);
            } catch (...) {
                if (!refusal) refusal = std::current_exception();
            }
        if (refusal) std::rethrow_exception(refusal);
    }
    /// Throws nothing: what a device does not take back it keeps.
    void release_arenas(stream_type stream) noexcept
    {
        source_.stream = stream;
        for (block& a : arenas_) try {
                if (a.bytes != nullptr) give_back(a);
            } catch (...) {
            }
    }

    /// From now on, or until it is told otherwise, the device does not hear of what is given back.
    void be_silent(bool is_silent) { source_.is_silent = is_silent; }

private:
    block take(byte_count size, byte_count alignment, step_id step)
    {
        try {
            return {static_cast<std::byte*>(memory_.allocate(size, alignment)), size, alignment};
        } catch (...) {
            throw allocation_error(step, size, std::current_exception());
        }
    }
    void give_back(block& b)
    {
        block const old = std::exchange(b, {}); // once, whatever the device says to it
        memory_.deallocate(old.bytes, old.size, old.alignment);
    }

    stream_pool_source<Device> source_;
    counted_memory memory_;
    run_tape const& tape_;
    std::vector<block> blocks_;     // by buffer
    std::vector<block> arenas_;     // by pool
    std::vector<std::byte*> where_; // by buffer
    std::vector<byte_count> room_;  // by buffer; of the caller's what was bound
};

} // namespace sublet::detail

#endif
