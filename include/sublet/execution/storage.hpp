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
#include <sublet/execution/memory.hpp>
#include <sublet/execution/tape.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
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
    arena(memory_plan p);
    memory_plan plan;
};

/// One of the three.
template <class M>
concept memory_mode = requires { requires M::is_memory_mode; };

namespace detail {

/// Every buffer that is planned has a place in the arena of its pool.
/// Throws: unsound_plan if it has none, or one that ends outside.
void expect_places(run_tape const& tape, memory_plan const& plan);

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
    ~value_storage();

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
    [[nodiscard]] std::span<std::byte> bytes_of(buffer_id b) const;
    [[nodiscard]] std::span<std::byte> shown_by(run_tape const& tape, value_id v) const;

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
    void begin(run_tape const& tape);

    /// Bytes for what the step at this position is the first to write.
    void before(run_tape const& tape, step_id at);
    void after(run_tape const& tape, step_id at);

    /// After a run, all but what the caller may still read.
    void end(run_tape const& tape);
    void release_all(run_tape const& tape);

private:
    explicit value_storage(counted_memory memory)
        : memory_(memory) {} // from here on destroyed, whatever throws

    /// One touch fewer is to come: was it the last? Of several at once, one is told so.
    bool is_last(buffer_id b);
    /// The touches to come. If there is one, its step is alone with the buffer.
    std::uint32_t left(buffer_id b);

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

    block take(byte_count size, byte_count alignment, step_id step);
    void give_back(block& b);

    /// The step is the last to need `from`, and its result `to` is as large.
    void hand_over(run_tape const& tape, yielded y);

    void place(run_tape const& tape, memory_plan const& plan);

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

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/storage.ipp>
#endif

#endif
