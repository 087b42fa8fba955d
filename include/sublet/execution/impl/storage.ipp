// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_IMPL_STORAGE_IPP
#define SUBLET_EXECUTION_IMPL_STORAGE_IPP

#include <sublet/execution/errors.hpp>
#include <sublet/execution/poison.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

namespace sublet {

SUBLET_DECL arena::arena(memory_plan p) : plan(std::move(p)) {}

} // namespace sublet

namespace sublet::detail {

SUBLET_DECL void expect_places(run_tape const& tape, memory_plan const& plan)
{
    auto refuse = [](witness const& why) { throw unsound_plan(why); };
    if (plan.buffer_of.size() != tape.table.buffer_of.size()) refuse({.what = fault::foreign_plan});
    for (buffer const& b : tape.table.buffers) {
        if (!b.is_planned()) continue;
        buffer_id const placed = plan.buffer_of[b.root];
        if (placed == no_buffer) refuse({.what = fault::unplaced, .value = b.root});
        if (placed >= plan.buffers.size() || b.pool >= plan.arena_bytes.size())
            refuse({.what = fault::foreign_plan});
        byte_count const at = plan.buffers[placed].offset, has = plan.arena_bytes[b.pool];
        if (at > has || b.size > has - at)
            refuse({.what = fault::outside_arena,
                    .value = b.root,
                    .begin = at,
                    .end = sum_fits(at, b.size) ? at + b.size : no_offset,
                    .needed = has,
                    .pool = b.pool});
    }
}

SUBLET_DECL value_storage::~value_storage()
{
    for (block& b : blocks_) give_back(b);
}

SUBLET_DECL std::span<std::byte> value_storage::bytes_of(buffer_id b) const
{
    return {where_[b], where_[b] == nullptr ? 0 : static_cast<std::size_t>(room_[b])};
}

SUBLET_DECL std::span<std::byte> value_storage::shown_by(run_tape const& tape, value_id v) const
{
    buffer_id const b = tape.table.buffer_of[v];
    byte_count const bytes = std::min(tape.bytes[v], room_[b]);
    return {where_[b], where_[b] == nullptr ? 0 : static_cast<std::size_t>(bytes)};
}

SUBLET_DECL void value_storage::begin(run_tape const& tape)
{
    if (has_arena_) return;
    for (std::size_t b = 0; b != where_.size(); ++b)
        if (!has_role(tape.table.buffers[b].role, value_role::input))
            release(tape, static_cast<buffer_id>(b));
    if (is_recycling_) left_ = tape.holds;
}

SUBLET_DECL void value_storage::before(run_tape const& tape, step_id at)
{
    if (has_arena_) return;
    if (is_recycling_)
        for (yielded const& y : tape.yields_at(at)) hand_over(tape, y);
    for (buffer_id b : tape.touched[at]) {
        buffer const& its = tape.table.buffers[b];
        if (where_[b] == nullptr && its.is_planned()) allocate(its, b, tape.step_at[at]);
    }
}

SUBLET_DECL void value_storage::after(run_tape const& tape, step_id at)
{
    if (!is_recycling_) return;
    for (buffer_id b : tape.touched[at])
        if (is_last(b)) release(tape, b);
}

SUBLET_DECL void value_storage::end(run_tape const& tape)
{
    if (has_arena_) return;
    for (std::size_t b = 0; b != where_.size(); ++b)
        if (!has_role(tape.table.buffers[b].role, value_role::output))
            release(tape, static_cast<buffer_id>(b));
}

SUBLET_DECL void value_storage::release_all(run_tape const& tape)
{
    for (std::size_t b = 0; b != where_.size(); ++b) release(tape, static_cast<buffer_id>(b));
}

SUBLET_DECL bool value_storage::is_last(buffer_id b)
{
    if (!is_shared_) return --left_[b] == 0;
    return std::atomic_ref(left_[b]).fetch_sub(1, std::memory_order_acq_rel) == 1;
}

SUBLET_DECL std::uint32_t value_storage::left(buffer_id b)
{
    return is_shared_ ? std::atomic_ref(left_[b]).load(std::memory_order_acquire) : left_[b];
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
    make_usable(std::span(b.bytes, static_cast<std::size_t>(b.size)));
    memory_.deallocate(b.bytes, b.size, b.alignment);
    b = {};
}

SUBLET_DECL void value_storage::hand_over(run_tape const& tape, yielded y)
{
    if (!tape.is_even(y) || left(y.from) != 1 || where_[y.to] != nullptr) return;
    block& old = blocks_[y.from];
    if (old.bytes == nullptr || old.alignment < tape.table.buffers[y.to].alignment) return;
    where_[y.to] = old.bytes; // where_[from] stays until the step has read it
    blocks_[y.to] = std::exchange(old, {});
}

SUBLET_DECL void value_storage::place(run_tape const& tape, memory_plan const& plan)
{
    expect_places(tape, plan);
    std::vector<byte_count> alignment(plan.arena_bytes.size(), 1);
    for (buffer const& b : tape.table.buffers)
        if (b.is_planned()) alignment[b.pool] = std::max(alignment[b.pool], b.alignment);
    has_arena_ = true;
    for (std::size_t pool = 0; pool != plan.arena_bytes.size(); ++pool) {
        blocks_.emplace_back();
        if (plan.arena_bytes[pool] != 0)
            blocks_.back() = take(plan.arena_bytes[pool], alignment[pool], no_step);
    }
    for (std::size_t b = 0; b != where_.size(); ++b) {
        buffer const& its = tape.table.buffers[b];
        if (its.is_planned()) where_[b] = blocks_[its.pool].bytes + plan.offset_of(its.root);
    }
}

} // namespace sublet::detail

#endif
