// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_VALUE_STORAGE_HPP
#define SUBLET_EXECUTION_DETAIL_VALUE_STORAGE_HPP

/// The storage of values in host memory during a run: one block for each buffer, recycled blocks, or offsets
/// in arenas. O(1) for each touch.
///
///     before(at)    allocates what the step is the first to write, or hands a block on to it
///     after(at)     counts its touches; in `recycle` the last one frees the block

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/arena_blocks.hpp>
#include <sublet/execution/detail/memory_mode.hpp>
#include <sublet/execution/detail/shaped_values.hpp>
#include <sublet/execution/internal/counted_memory.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/execution/storage.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet::detail {

/// Owns the bytes of all buffers that are not the caller's. After share(), steps may run concurrently if any
/// two that touch the same buffer, one of them writing, are ordered. Per-buffer state is then accessed by one
/// step at a time, except for the atomic touch counts.
class value_storage {
public:
    struct block {
        std::byte* bytes = nullptr;
        byte_count size = 0;
        byte_count alignment = 1;
    };

    /// Throws: as expect_placed(); precondition_error for an alignment that is no power of two;
    ///         allocation_error.
    template <memory_mode Mode>
    value_storage(lowered_program const& lowered, Mode const& mode, counted_memory const& memory)
        : value_storage(memory)
    {
        std::size_t const buffers = lowered.table.buffers.size();
        where_.assign(buffers, nullptr);
        for (buffer const& b : lowered.table.buffers) capacity_.push_back(b.size);
        for (buffer const& b : lowered.table.buffers)
            SUBLET_EXPECTS(!b.is_planned() || (b.alignment & (b.alignment - 1)) == 0,
                           "sublet: value % has the alignment %, but an executor takes only powers of two",
                           b.root, b.alignment);
        if constexpr (std::same_as<Mode, arena>) {
            place(lowered, mode.plan, blocks_of_arena::of(mode));
        } else {
            is_recycling_ = std::same_as<Mode, recycle>;
            blocks_.resize(buffers);
        }
    }
    value_storage(value_storage&&) = default; // a moved-from object owns nothing
    value_storage& operator=(value_storage&&) = delete;
    ~value_storage();

    void share() noexcept
    {
        is_shared_ = true;
        memory_.share();
    }

    [[nodiscard]] bool has_arena() const { return has_arena_; }
    /// What was written here is still there: no other executor has used the same growing arena since.
    [[nodiscard]] bool holds_arena() const { return shared_ == nullptr || shared_->is_used_by(user_); }
    /// Gets the bytes of a growing arena.
    /// Throws: allocation_error.
    void take_arena()
    {
        if (!holds_arena()) shared_->use_for(user_, arena_bytes_);
    }
    [[nodiscard]] std::span<block const> arenas() const
    {
        return {blocks_.data(), has_arena_ ? blocks_.size() : 0};
    }
    [[nodiscard]] counted_memory& memory() { return memory_; }
    [[nodiscard]] counted_memory const& memory() const { return memory_; }
    [[nodiscard]] std::byte* where(buffer_id b) const { return where_[b]; }
    [[nodiscard]] std::span<std::byte> bytes_of(buffer_id b) const;
    [[nodiscard]] std::span<std::byte> value_bytes(lowered_program const& lowered, value_id v) const;

    /// Sets the caller's bytes of a buffer that is not planned.
    void bind(buffer_id b, std::span<std::byte> bytes)
    {
        where_[b] = bytes.data();
        capacity_[b] = bytes.size();
    }

    /// Takes the places of the shape that `lowered` has now, in the same growing arena. Its contents are lost.
    void move_to(lowered_program const& lowered, shaped_values const& shape);
    /// The bytes of each buffer; of the caller's, those that are bound.
    [[nodiscard]] table<buffer_id, byte_count> const& capacity() const { return capacity_; }

    /// Allocates a buffer outside of any step: an input.
    void provide(lowered_program const& lowered, buffer_id b)
    {
        if (where_[b] == nullptr) allocate(lowered.table.buffers[b], b, no_step);
    }

    /// After a round: carried values have the storage that the next round finds them in.
    void carry(lowered_program const& lowered);

    /// Starts a run: releases all of an earlier run but the inputs.
    void begin(lowered_program const& lowered);

    /// Allocates what the step is the first to write.
    void before(lowered_program const& lowered, position_id at);
    void after(lowered_program const& lowered, position_id at);

    /// Ends a run: releases all but the outputs.
    void end(lowered_program const& lowered);
    void release_all(lowered_program const& lowered);

private:
    explicit value_storage(counted_memory const& memory)
        : memory_(memory) {} // delegated to: the destructor will run

    /// Counts one touch; true for the last. If steps run concurrently, for exactly one of them.
    bool is_last(buffer_id b);
    /// Touches still to come. If it is one, the current step has the buffer to itself.
    std::uint32_t remaining_touches(buffer_id b);

    /// Does nothing for arenas and for the caller's storage.
    void release(lowered_program const& lowered, buffer_id b)
    {
        if (has_arena_ || !lowered.table.buffers[b].is_planned()) return;
        give_back(blocks_[b]);
        where_[b] = nullptr;
    }

    void allocate(buffer const& its, buffer_id b, step_id step)
    {
        blocks_[b] = take(its.size, its.alignment, step);
        where_[b] = blocks_[b].bytes;
    }

    block take(byte_count size, byte_count alignment, step_id step);
    void give_back(block& b);

    /// Gives the block of `from`, at its last touch, to the result `to` of the same size.
    void transfer_block(lowered_program const& lowered, operand_reuse y);

    void place(lowered_program const& lowered, memory_plan const& plan, arena_blocks* shared);

    counted_memory memory_;
    bool has_arena_ = false;
    bool is_recycling_ = false;
    bool is_shared_ = false;
    std::vector<block> blocks_; // by buffer; in arena mode by pool
    table<buffer_id, std::byte*> where_;
    table<buffer_id, byte_count> capacity_;     // for the caller's storage, the bytes that were bound
    table<buffer_id, std::uint32_t> remaining_; // touches to come
    arena_blocks* shared_ = nullptr;            // the growing arena that owns blocks_, or null
    std::uint64_t user_ = 0;                    // of it
    table<pool_id, byte_count> arena_bytes_;    // of it
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/value_storage.ipp>
#endif

#endif
