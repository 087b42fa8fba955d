// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_STREAM_STORAGE_HPP
#define SUBLET_EXECUTION_DETAIL_STREAM_STORAGE_HPP

/// The bytes of values on a device: blocks allocated in stream order, or offsets in arenas.
///
///     allocate(b, stream 1) ──► launch ... (stream 1) ──► release(b, stream 0)   after a wait for stream 1
///     host: counts 64 bytes                                host: counts 64 bytes less
///
/// The schedule decides when. Counters change when a command is issued, so `live` is what a single stream
/// would hold, without the memory that a device keeps for delayed frees.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/arena_blocks.hpp>
#include <sublet/execution/detail/plan_addresses.hpp>
#include <sublet/execution/detail/shaped_values.hpp>
#include <sublet/execution/device.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/internal/counted_memory.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/graph/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace sublet::detail {

/// A stream of a device as a memory resource.
template <stream_device Device>
struct stream_pool_source {
    Device& device;
    typename Device::stream_type stream;
    bool skips_device = false; ///< frees do not reach the device: it is lost, or never had the block

    void* allocate(std::size_t bytes, std::size_t alignment)
    {
        return device.allocate(bytes, alignment, stream);
    }
    void deallocate(void* block, std::size_t bytes, std::size_t alignment)
    {
        if (!skips_device) device.deallocate(static_cast<std::byte*>(block), bytes, alignment, stream);
    }
};

/// Its destructor releases nothing.
template <stream_device Device>
class stream_storage {
public:
    using stream_type = typename Device::stream_type; ///< the stream of the device

    /// Throws: precondition_error for an alignment that is no power of two.
    stream_storage(Device& device, stream_type first, lowered_program const& lowered, byte_count limit)
        : source_{device, first}, memory_(&source_, limit), lowered_(lowered)
    {
        for (buffer const& b : lowered.table.buffers) {
            SUBLET_EXPECTS(!b.is_planned() || (b.alignment & (b.alignment - 1)) == 0,
                           "sublet: value % has the alignment %, but an executor takes only powers of two",
                           b.root, b.alignment);
            capacity_.push_back(b.size);
        }
        where_.assign(capacity_.size(), nullptr);
        blocks_.resize(capacity_.size());
    }
    stream_storage(stream_storage const&) = delete; // memory_ refers to source_
    stream_storage& operator=(stream_storage const&) = delete;

    /// In a growing arena, or in blocks of its own.
    /// Throws: as expect_placed(); allocation_error.
    void place(memory_plan const& plan, arena_blocks* shared = nullptr)
    {
        expect_placed(lowered_, plan);
        table<pool_id, byte_count> const alignment = arena_alignments(lowered_, plan);
        if (shared != nullptr) {
            arena_bytes_ = plan.arena_bytes;
            user_ = shared->add_user();
            shared_ = shared;
        }
        arenas_.resize(plan.arena_bytes.size());
        for (pool_id pool = 0; pool != arenas_.size(); ++pool) {
            byte_count const size = plan.arena_bytes[pool];
            if (size == 0) continue;
            if (shared == nullptr) arenas_[pool] = take(size, alignment[pool], no_step);
            else arenas_[pool] = {shared->address_for(pool, size, alignment[pool]), size, alignment[pool]};
        }
        for (buffer_id b = 0; b != where_.size(); ++b) {
            buffer const& its = lowered_.table.buffers[b];
            if (its.is_planned()) where_[b] = arenas_[its.pool].bytes + plan.offset_of(its.root);
        }
    }

    /// As value_storage::move_to().
    void move_to(shaped_values const& shape)
    {
        arena_bytes_ = shape.arena_bytes();
        user_ = shared_->add_user();
        for (pool_id pool = 0; pool != arena_bytes_.size(); ++pool) {
            arenas_[pool].bytes = shared_->addresses()[pool];
            arenas_[pool].size = arena_bytes_[pool];
        }
        for (buffer_id b = 0; b != where_.size(); ++b) {
            if (!shape.is_placed(lowered_, b)) continue;
            buffer const& its = lowered_.table.buffers[b];
            capacity_[b] = its.size;
            where_[b] = its.size == 0 ? nullptr : arenas_[its.pool].bytes + shape.offset_of(lowered_, b);
        }
    }
    /// The bytes of each buffer; of the caller's, those that are bound.
    [[nodiscard]] table<buffer_id, byte_count> const& capacity() const { return capacity_; }

    struct block {
        std::byte* bytes = nullptr;
        byte_count size = 0;
        byte_count alignment = 1;
    };
    [[nodiscard]] std::span<block const> arenas() const { return arenas_; }
    /// What was written here is still there: no other executor has used the same growing arena since.
    [[nodiscard]] bool holds_arena() const { return shared_ == nullptr || shared_->is_used_by(user_); }
    /// Gets the bytes of a growing arena. Throws: allocation_error.
    void take_arena() { shared_->use_for(user_, arena_bytes_); }
    [[nodiscard]] counted_memory& memory() { return memory_; }
    [[nodiscard]] counted_memory const& memory() const { return memory_; }

    [[nodiscard]] std::span<std::byte> bytes_of(buffer_id b) const
    {
        return {where_[b], where_[b] == nullptr ? 0 : static_cast<std::size_t>(capacity_[b])};
    }
    [[nodiscard]] std::span<std::byte> value_bytes(value_id v) const
    {
        return part_of(lowered_, v, bytes_of(lowered_.table.buffer_of[v]));
    }

    void bind(buffer_id b, std::span<std::byte> bytes)
    {
        where_[b] = bytes.data();
        capacity_[b] = bytes.size();
    }

    /// `step` is reported in allocation_error.
    void allocate(buffer_id b, stream_type stream, step_id step)
    {
        source_.stream = stream;
        blocks_[b] = take(capacity_[b], lowered_.table.buffers[b].alignment, step);
        where_[b] = blocks_[b].bytes;
    }
    /// Allocates outside of any step, unless b has a block; returns whether it did.
    bool provide(buffer_id b, stream_type stream)
    {
        if (!arenas_.empty() || blocks_[b].bytes != nullptr) return false;
        allocate(b, stream, no_step);
        return true;
    }
    void transfer_block(buffer_id from, buffer_id to)
    {
        blocks_[to] = std::exchange(blocks_[from], {});
        where_[to] = blocks_[to].bytes; // where_[from] stays: the step reads it
    }
    /// After a round: carried values have the storage that the next round finds them in. Returns whether any
    /// address has changed.
    bool carry()
    {
        bool is_changed = false;
        for (std::vector<buffer_id> const& group : lowered_.carried)
            for (std::size_t i = 1; i < group.size(); ++i) {
                is_changed = is_changed || where_[group[i - 1]] != where_[group[i]];
                std::swap(where_[group[i - 1]], where_[group[i]]);
                std::swap(blocks_[group[i - 1]], blocks_[group[i]]);
            }
        return is_changed;
    }
    /// Does nothing if there is no block.
    void release(buffer_id b, stream_type stream)
    {
        source_.stream = stream;
        if (blocks_[b].bytes != nullptr) give_back(blocks_[b]);
        if (arenas_.empty() && lowered_.table.buffers[b].is_planned()) where_[b] = nullptr;
    }
    /// Releases all that match, even if some fail. Throws: the first error.
    template <class Predicate>
    void release_if(Predicate matches, stream_type stream)
    {
        std::exception_ptr refusal;
        for (buffer_id b = 0; b != blocks_.size(); ++b) try {
                if (matches(lowered_.table.buffers[b].role)) release(b, stream);
            } catch (...) {
                if (!refusal) refusal = std::current_exception();
            }
        if (refusal) std::rethrow_exception(refusal);
    }
    void release_arenas(stream_type stream) noexcept
    {
        if (shared_ != nullptr) return;
        source_.stream = stream;
        for (block& a : arenas_) try {
                if (a.bytes != nullptr) give_back(a);
            } catch (...) {
            }
    }

    /// While set, releases are kept from the device.
    void skip_device(bool skips_device) { source_.skips_device = skips_device; }

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
        block const old = std::exchange(b, {}); // released once, even if the device throws
        memory_.deallocate(old.bytes, old.size, old.alignment);
    }

    stream_pool_source<Device> source_;
    counted_memory memory_;
    lowered_program const& lowered_;
    table<buffer_id, block> blocks_;
    table<pool_id, block> arenas_;
    table<buffer_id, std::byte*> where_;
    table<buffer_id, byte_count> capacity_;  // for the caller's storage, the bytes that were bound
    arena_blocks* shared_ = nullptr;         // the growing arena that owns arenas_, or null
    std::uint64_t user_ = 0;                 // of it
    table<pool_id, byte_count> arena_bytes_; // of it
};

} // namespace sublet::detail

#endif
