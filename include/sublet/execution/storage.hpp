// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STORAGE_HPP
#define SUBLET_EXECUTION_STORAGE_HPP

/// A program as a run sees it, and the bytes of its values.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- tape ------------------------------------------------------------------------------------------------

/// A program as a run sees it: at each position who is read, who is written, whose storage is needed.
///
///     position   step   uses   defs   scratch   touched         buffer   values        holds
///        0         2     -      a        -       0                0      a, b = view(a)  3
///        1         0     a      b, c     w       0, 1, 2          1      c               2
///        2         1     b, c   -        -       0, 1             2      w               1
///
/// A buffer here is a value with all its views: the same bytes in every mode. `ref_counts` counts the steps that
/// touch it, and one more if it has to stay to the end: its reference count when a run begins.

namespace sublet {

namespace detail {

/// Within a step, the bytes of `from` may be written over if nothing touches it later: by the buffer `to` of
/// a declared in-place pair, or by any result (`no_buffer`) if the step reads it early.
struct operand_reuse {
    buffer_id from;
    buffer_id to;
};

struct lowered_program {
    std::vector<step_id> step_at; ///< by position
    csr_rows uses, defs, scratch; ///< by position: values, in the order in which the program names them
    csr_rows touched;             ///< by position: buffers, each once
    std::vector<operand_reuse> reuses;
    std::vector<std::uint32_t> reuses_begin{0}; ///< by position, and one more: into `reuses`
    buffer_table table;                         ///< values with their views
    std::vector<std::uint32_t> ref_counts;      ///< by buffer
    std::vector<step_id> first_write;           ///< by buffer: its position, or `no_step`
    std::vector<byte_count> bytes;              ///< by value: what it shows of its buffer
    std::vector<buffer_id> unused_inputs;       ///< inputs that nobody needs: they leave with the first step
    bool is_any_schedule = false;               ///< the order is one of many: they leave before any step
    std::size_t pools = 0;

    [[nodiscard]] step_id positions() const { return static_cast<step_id>(step_at.size()); }
    [[nodiscard]] std::span<operand_reuse const> reuses_at(step_id position) const
    {
        return {reuses.data() + reuses_begin[position], reuses.data() + reuses_begin[position + 1]};
    }
    /// The buffers of an in-place pair are alike: one block will do for both.
    [[nodiscard]] bool is_same_size(operand_reuse y) const
    {
        if (y.to == no_buffer) return false;
        buffer const &from = table.buffers[y.from], &to = table.buffers[y.to];
        return from.is_planned() && to.is_planned() && from.pool == to.pool && from.size == to.size;
    }
    /// The result is a view of what was there before: its step has nothing to write.
    [[nodiscard]] bool is_view(value_id defined, step_id position) const
    {
        buffer_id const b = table.buffer_of[defined];
        buffer const& its = table.buffers[b];
        return its.root != defined && (is_given(its.role) || first_write[b] < position);
    }
};

/// The program in the order of `options.order`, with the buffers that its views make.
///
/// Requires:   `scratch` is defined by one step and used by none.
/// Complexity: that of lifetimes(), and O(steps + values + touches + pairs + k log k) time, without the
///             logarithm in memory; k uses at the ends of predecessors and inputs that nobody needs.
/// Throws:     unsound_plan if a value is needed before it is defined, the order moves a write, or a view has
///             more bytes than its root;
///             precondition_error where a requirement is broken.
[[nodiscard]] lowered_program lower_program(snapshot const& program, plan_options const& options,
                                            per_value<bool> const& scratch);

/// The same in an order of single steps, which nodes cannot say if they overlap: one of those in which a plan
/// for any schedule is run. The first of them is a step as others are: what it reads early yields, and be it
/// an input.
///
/// Requires:   `steps` names every step once, each behind what it waits for. It is believed.
/// Complexity: as above, without lifetimes().
[[nodiscard]] lowered_program lower_program(snapshot const& program, plan_options const& options,
                                            per_value<bool> const& scratch, std::vector<step_id> steps);

// --- digest ----------------------------------------------------------------------------------------------

/// 64 bits that stand for many bytes.
///
///     digest(bytes) = length + Σ mix(word[k] ^ mix(k + 1))    mod 2^64, over words of 8 bytes, zero padded
///
/// A sum, so words may be taken in any order, in parts, by many threads at once, and the result is the same
/// on every machine of one byte order. `mix` is a bijection: a change within one word always changes the
/// digest, any other change goes unseen with a chance of about 2^-64.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (the
/// finalizer of SplitMix64, after Stafford's variant 13 of MurmurHash3's).

/// A bijection of 64 bits in which every bit of the argument counts for every bit of the result.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) noexcept
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

} // namespace detail

/// What a sequence of numbers comes to; the order counts.
[[nodiscard]] constexpr std::uint64_t fold_digest(std::uint64_t sum, std::uint64_t next) noexcept
{
    return detail::mix(sum * 0x9e3779b97f4a7c15u + next);
}

/// Complexity: O(bytes), no allocation.
[[nodiscard]] std::uint64_t digest(std::span<std::byte const> bytes) noexcept;

/// Bytes that look like noise and are the same for the same seed and length.
void fill_noise(std::span<std::byte> bytes, std::uint64_t seed) noexcept;

} // namespace sublet

// --- poison ----------------------------------------------------------------------------------------------

/// What becomes of bytes that nobody may read.
///
///     in an ordinary program              painted with ones: a float read there is a NaN
///     under the address sanitizer         poisoned: the read itself is reported, with its stack
///
/// The sanitizer keeps account of 8 bytes at a time and rounds what it poisons inwards, so a living neighbour
/// is never poisoned; a few dead bytes at a border may stay readable.

namespace sublet::detail {

void paint(std::span<std::byte> bytes);

/// Bytes of a block that outlives their use.
void poison_bytes(std::span<std::byte> bytes);

/// Before dead bytes are used again, or given back to where they came from.
void unpoison_bytes(std::span<std::byte> bytes);

} // namespace sublet::detail

// --- storage ---------------------------------------------------------------------------------------------

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

namespace detail {

/// One of the three.
template <class M>
concept memory_mode = requires { requires M::is_memory_mode; };

/// Every buffer that is planned has a place in the arena of its pool.
/// Throws: unsound_plan if it has none, or one that ends outside.
void expect_placed(lowered_program const& lowered, memory_plan const& plan);

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
    value_storage(lowered_program const& lowered, Mode const& mode, counted_memory memory)
        : value_storage(memory)
    {
        std::size_t const buffers = lowered.table.buffers.size();
        where_.assign(buffers, nullptr);
        for (buffer const& b : lowered.table.buffers) capacity_.push_back(b.size);
        for (buffer const& b : lowered.table.buffers)
            SUBLET_EXPECTS(!b.is_planned() || (b.alignment & (b.alignment - 1)) == 0,
                           "sublet: an executor takes alignments that are powers of two");
        if constexpr (std::same_as<Mode, arena>) {
            place(lowered, mode.plan);
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
    [[nodiscard]] std::span<std::byte> value_bytes(lowered_program const& lowered, value_id v) const;

    /// The caller's bytes for a buffer that is not planned.
    void bind(buffer_id b, std::span<std::byte> bytes)
    {
        where_[b] = bytes.data();
        capacity_[b] = bytes.size();
    }

    /// Bytes for a buffer outside of any step: an input.
    void provide(lowered_program const& lowered, buffer_id b)
    {
        if (where_[b] == nullptr) allocate(lowered.table.buffers[b], b, no_step);
    }

    /// Of an earlier run only what was given again remains.
    void begin(lowered_program const& lowered);

    /// Bytes for what the step at this position is the first to write.
    void before(lowered_program const& lowered, step_id at);
    void after(lowered_program const& lowered, step_id at);

    /// After a run, all but what the caller may still read.
    void end(lowered_program const& lowered);
    void release_all(lowered_program const& lowered);

private:
    explicit value_storage(counted_memory memory)
        : memory_(memory) {} // from here on destroyed, whatever throws

    /// One touch fewer is to come: was it the last? Of several at once, one is told so.
    bool is_last(buffer_id b);
    /// The touches to come. If there is one, its step is alone with the buffer.
    std::uint32_t remaining_touches(buffer_id b);

    /// Nothing in an arena or of the caller is ever freed.
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

    /// The step is the last to need `from`, and its result `to` is as large.
    void transfer_block(lowered_program const& lowered, operand_reuse y);

    void place(lowered_program const& lowered, memory_plan const& plan);

    counted_memory memory_;
    bool has_arena_ = false;
    bool is_recycling_ = false;
    bool is_shared_ = false;
    std::vector<block> blocks_;            // by buffer; in an arena by pool
    std::vector<std::byte*> where_;        // by buffer
    std::vector<byte_count> capacity_;     // by buffer; of the caller's what was bound
    std::vector<std::uint32_t> remaining_; // by buffer: touches to come
};

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/storage.ipp>
#endif

#endif
