// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STORAGE_HPP
#define SUBLET_EXECUTION_STORAGE_HPP

/// Three ways to give values their bytes while a program runs.
///
///     position         0       1       2       3
///     no_plan      a  [=========================     allocated at the first write, freed after the run
///                  b          [=================
///     recycle      a  [===============)              ... freed when the last step that touches it is done,
///                  b          [===============)      or handed over to a result that may be written over it
///     arena        a, b: offsets in one block a pool, allocated once, before anything runs
///
/// Without a plan every value has its own bytes, so that mode is the oracle of the others; the second is what
/// frameworks do that count references, the third is what this library is for.
///
/// Source: the first two are the modes of Apache SINGA's graph scheduler (pull request 626, 2020).

#include <sublet/analysis/buffers.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/contract.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/memory.hpp>
#include <sublet/execution/poison.hpp>
#include <sublet/execution/tape.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

struct no_plan {
    static constexpr bool is_memory_mode = true;
};
struct recycle {
    static constexpr bool is_memory_mode = true;
};
struct arena {
    static constexpr bool is_memory_mode = true;
    arena() = default;
    arena(memory_plan p) : plan(std::move(p)) {}
    memory_plan plan;
};

/// One of the three.
template <class M>
concept memory_mode = requires { requires M::is_memory_mode; };

namespace detail {

/// Every buffer that is planned has a place in the arena of its pool.
/// Throws: unsound_plan if it has none, or one that ends outside.
inline void expect_places(run_tape const& tape, memory_plan const& plan)
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

/// Owns the bytes of all buffers that are not the caller's.
///
/// When it is shared, steps may come and go at once, if any two that touch the same buffer, one of them
/// writing, come one after the other: what it keeps by buffer is then touched by one of them at a time, but
/// for the counts of touches to come.
class value_storage {
public:
    struct block {
        std::byte* bytes = nullptr;
        byte_count size = 0;
        byte_count alignment = 1;
    };

    /// Throws: unsound_plan if a buffer lies outside of the arena of its pool or has no place;
    ///         precondition_error for an alignment that is no power of two; allocation_error.
    template <memory_mode Mode>
    value_storage(run_tape const& tape, Mode const& mode, counted_memory memory) : value_storage(memory)
    {
        std::size_t const buffers = tape.table.buffers.size();
        where_.assign(buffers, nullptr);
        for (buffer const& b : tape.table.buffers) room_.push_back(b.size);
        for (buffer const& b : tape.table.buffers)
            SUBLET_EXPECTS(!b.is_planned() || (b.alignment & (b.alignment - 1)) == 0,
                           "sublet: an executor takes alignments that are powers of two");
        if constexpr (std::same_as<Mode, arena>) {
            place(tape, mode.plan);
        } else {
            is_recycling_ = std::same_as<Mode, recycle>;
            blocks_.resize(buffers);
        }
    }
    value_storage(value_storage&&) = default; // what was moved from owns nothing
    value_storage& operator=(value_storage&&) = delete;
    ~value_storage()
    {
        for (block& b : blocks_) give_back(b);
    }

    /// From now on steps may run at once.
    void share() noexcept
    {
        is_shared_ = true;
        memory_.share();
    }

    [[nodiscard]] bool has_arena() const { return has_arena_; }
    [[nodiscard]] std::span<block const> arenas() const
    {
        return {blocks_.data(), has_arena_ ? blocks_.size() : 0};
    }
    [[nodiscard]] counted_memory& memory() { return memory_; }
    [[nodiscard]] counted_memory const& memory() const { return memory_; }
    [[nodiscard]] std::byte* where(buffer_id b) const { return where_[b]; }
    [[nodiscard]] std::span<std::byte> bytes_of(buffer_id b) const
    {
        return {where_[b], where_[b] == nullptr ? 0 : static_cast<std::size_t>(room_[b])};
    }
    [[nodiscard]] std::span<std::byte> shown_by(run_tape const& tape, value_id v) const
    {
        buffer_id const b = tape.table.buffer_of[v];
        byte_count const bytes = std::min(tape.bytes[v], room_[b]);
        return {where_[b], where_[b] == nullptr ? 0 : static_cast<std::size_t>(bytes)};
    }

    /// The caller's bytes for a buffer that is not planned.
    void bind(buffer_id b, std::span<std::byte> bytes)
    {
        where_[b] = bytes.data();
        room_[b] = bytes.size();
    }

    /// Bytes for a buffer outside of any step: an input.
    void provide(run_tape const& tape, buffer_id b)
    {
        if (where_[b] == nullptr) allocate(tape.table.buffers[b], b, no_step);
    }

    /// Of an earlier run only what was given again remains.
    void begin(run_tape const& tape)
    {
        if (has_arena_) return;
        for (std::size_t b = 0; b != where_.size(); ++b)
            if (!has_role(tape.table.buffers[b].role, value_role::input))
                release(tape, static_cast<buffer_id>(b));
        if (is_recycling_) left_ = tape.holds;
    }

    /// Bytes for what the step at this position is the first to write.
    void before(run_tape const& tape, step_id at)
    {
        if (has_arena_) return;
        if (is_recycling_)
            for (yielded const& y : tape.yields_at(at)) hand_over(tape, y);
        for (buffer_id b : tape.touched[at]) {
            buffer const& its = tape.table.buffers[b];
            if (where_[b] == nullptr && its.is_planned()) allocate(its, b, tape.step_at[at]);
        }
    }
    void after(run_tape const& tape, step_id at)
    {
        if (!is_recycling_) return;
        for (buffer_id b : tape.touched[at])
            if (is_last(b)) release(tape, b);
    }

    /// After a run, all but what the caller may still read.
    void end(run_tape const& tape)
    {
        if (has_arena_) return;
        for (std::size_t b = 0; b != where_.size(); ++b)
            if (!has_role(tape.table.buffers[b].role, value_role::output))
                release(tape, static_cast<buffer_id>(b));
    }
    void release_all(run_tape const& tape)
    {
        for (std::size_t b = 0; b != where_.size(); ++b) release(tape, static_cast<buffer_id>(b));
    }

private:
    explicit value_storage(counted_memory memory)
        : memory_(memory) {} // from here on destroyed, whatever throws

    /// One touch fewer is to come: was it the last? Of several at once, one is told so.
    bool is_last(buffer_id b)
    {
        if (!is_shared_) return --left_[b] == 0;
        return std::atomic_ref(left_[b]).fetch_sub(1, std::memory_order_acq_rel) == 1;
    }
    /// The touches to come. If there is one, its step is alone with the buffer.
    std::uint32_t left(buffer_id b)
    {
        return is_shared_ ? std::atomic_ref(left_[b]).load(std::memory_order_acquire) : left_[b];
    }

    /// Nothing in an arena or of the caller is ever freed.
    void release(run_tape const& tape, buffer_id b)
    {
        if (has_arena_ || !tape.table.buffers[b].is_planned()) return;
        give_back(blocks_[b]);
        where_[b] = nullptr;
    }

    void allocate(buffer const& its, buffer_id b, step_id step)
    {
        blocks_[b] = take(its.size, its.alignment, step);
        where_[b] = blocks_[b].bytes;
    }

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
        if (b.bytes == nullptr) return;
        make_usable(std::span(b.bytes, static_cast<std::size_t>(b.size)));
        memory_.deallocate(b.bytes, b.size, b.alignment);
        b = {};
    }

    /// The step is the last to need `from`, and its result `to` is as large.
    void hand_over(run_tape const& tape, yielded y)
    {
        if (!tape.is_even(y) || left(y.from) != 1 || where_[y.to] != nullptr) return;
        block& old = blocks_[y.from];
        if (old.bytes == nullptr || old.alignment < tape.table.buffers[y.to].alignment) return;
        where_[y.to] = old.bytes; // where_[from] stays until the step has read it
        blocks_[y.to] = std::exchange(old, {});
    }

    void place(run_tape const& tape, memory_plan const& plan)
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

    counted_memory memory_;
    bool has_arena_ = false;
    bool is_recycling_ = false;
    bool is_shared_ = false;
    std::vector<block> blocks_;       // by buffer; in an arena by pool
    std::vector<std::byte*> where_;   // by buffer
    std::vector<byte_count> room_;    // by buffer; of the caller's what was bound
    std::vector<std::uint32_t> left_; // by buffer: touches to come
};

} // namespace detail
} // namespace sublet

#endif
