// SPDX-License-Identifier: BSL-1.0

/// value_storage: reference counts of buffers, from the lowered program, go down with each touch. When the
/// one that is left belongs to the current step, the block of an operand becomes that of the result in place;
/// the operand keeps its address for this step. Counts are atomic only after share().

#include <sublet/execution/detail/plan_addresses.hpp>
#include <sublet/execution/detail/poison.hpp>
#include <sublet/execution/detail/value_storage.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

namespace sublet::detail {

SUBLET_DECL value_storage::~value_storage()
{
    for (std::size_t b = 0; shared_ == nullptr && b != blocks_.size(); ++b) give_back(blocks_[b]);
}

SUBLET_DECL std::span<std::byte> value_storage::bytes_of(buffer_id b) const
{
    return {where_[b], where_[b] == nullptr ? 0 : static_cast<std::size_t>(capacity_[b])};
}

SUBLET_DECL std::span<std::byte> value_storage::value_bytes(lowered_program const& lowered, value_id v) const
{
    return part_of(lowered, v, bytes_of(lowered.table.buffer_of[v]));
}

SUBLET_DECL void value_storage::carry(lowered_program const& lowered)
{
    for (std::vector<buffer_id> const& group : lowered.carried)
        for (std::size_t i = 1; i < group.size(); ++i) {
            std::swap(where_[group[i - 1]], where_[group[i]]);
            if (!has_arena_) std::swap(blocks_[group[i - 1]], blocks_[group[i]]);
        }
}

SUBLET_DECL void value_storage::begin(lowered_program const& lowered)
{
    if (has_arena_) return;
    for (buffer_id b = 0; b != where_.size(); ++b)
        if (!has_role(lowered.table.buffers[b].role, value_role::input)) release(lowered, b);
    if (is_recycling_) remaining_ = lowered.ref_counts;
}

SUBLET_DECL void value_storage::before(lowered_program const& lowered, position_id at)
{
    if (has_arena_) return;
    if (is_recycling_)
        for (operand_reuse const& y : lowered.reuses_at(at)) transfer_block(lowered, y);
    for (buffer_id b : lowered.touched[at]) {
        buffer const& its = lowered.table.buffers[b];
        if (where_[b] == nullptr && its.is_planned()) allocate(its, b, lowered.step_at[at]);
    }
}

SUBLET_DECL void value_storage::after(lowered_program const& lowered, position_id at)
{
    if (!is_recycling_) return;
    for (buffer_id b : lowered.touched[at])
        if (is_last(b)) release(lowered, b);
}

SUBLET_DECL void value_storage::end(lowered_program const& lowered)
{
    if (has_arena_) return;
    for (buffer_id b = 0; b != where_.size(); ++b)
        if (!has_role(lowered.table.buffers[b].role, value_role::output)) release(lowered, b);
}

SUBLET_DECL void value_storage::release_all(lowered_program const& lowered)
{
    for (buffer_id b = 0; b != where_.size(); ++b) release(lowered, b);
}

SUBLET_DECL bool value_storage::is_last(buffer_id b)
{
    if (!is_shared_) return --remaining_[b] == 0;
    return std::atomic_ref(remaining_[b]).fetch_sub(1, std::memory_order_acq_rel) == 1;
}

SUBLET_DECL std::uint32_t value_storage::remaining_touches(buffer_id b)
{
    return is_shared_ ? std::atomic_ref(remaining_[b]).load(std::memory_order_acquire) : remaining_[b];
}

SUBLET_DECL value_storage::block value_storage::take(byte_count size, byte_count alignment, step_id step)
{
    try {
        return {static_cast<std::byte*>(memory_.allocate(size, alignment)), size, alignment};
    } catch (...) {
        throw allocation_error(step, size, std::current_exception());
    }
}

SUBLET_DECL void value_storage::give_back(block& b)
{
    if (b.bytes == nullptr) return;
    unpoison_bytes(std::span(b.bytes, to_size(b.size)));
    memory_.deallocate(b.bytes, b.size, b.alignment);
    b = {};
}

SUBLET_DECL void value_storage::transfer_block(lowered_program const& lowered, operand_reuse y)
{
    if (!lowered.is_same_size(y) || remaining_touches(y.from) != 1 || where_[y.to] != nullptr) return;
    block& old = blocks_[y.from];
    if (old.bytes == nullptr || old.alignment < lowered.table.buffers[y.to].alignment) return;
    where_[y.to] = old.bytes; // where_[from] stays: the step reads it
    blocks_[y.to] = std::exchange(old, {});
}

SUBLET_DECL void value_storage::place(lowered_program const& lowered, memory_plan const& plan,
                                      arena_blocks* shared)
{
    expect_placed(lowered, plan);
    table<pool_id, byte_count> const alignment = arena_alignments(lowered, plan);
    has_arena_ = true;
    if (shared != nullptr) {
        arena_bytes_ = plan.arena_bytes;
        user_ = shared->add_user();
        shared_ = shared;
    }
    for (pool_id pool = 0; pool != plan.arena_bytes.size(); ++pool) {
        blocks_.emplace_back();
        byte_count const size = plan.arena_bytes[pool];
        if (size == 0) continue;
        if (shared == nullptr) blocks_.back() = take(size, alignment[pool], no_step);
        else blocks_.back() = {shared->address_for(pool, size, alignment[pool]), size, alignment[pool]};
    }
    for (buffer_id b = 0; b != where_.size(); ++b) {
        buffer const& its = lowered.table.buffers[b];
        if (its.is_planned()) where_[b] = blocks_[its.pool].bytes + plan.offset_of(its.root);
    }
}

SUBLET_DECL void value_storage::move_to(lowered_program const& lowered, shaped_values const& shape)
{
    arena_bytes_ = shape.arena_bytes();
    user_ = shared_->add_user();
    for (pool_id pool = 0; pool != arena_bytes_.size(); ++pool) {
        blocks_[pool].bytes = shared_->addresses()[pool];
        blocks_[pool].size = arena_bytes_[pool];
    }
    for (buffer_id b = 0; b != where_.size(); ++b) {
        if (!shape.is_placed(lowered, b)) continue;
        buffer const& its = lowered.table.buffers[b];
        capacity_[b] = its.size;
        where_[b] = its.size == 0 ? nullptr : blocks_[its.pool].bytes + shape.offset_of(lowered, b);
    }
}

} // namespace sublet::detail
