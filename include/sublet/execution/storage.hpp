// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STORAGE_HPP
#define SUBLET_EXECUTION_STORAGE_HPP

/// A program flattened to positions, and the storage of its values during a run: one block for each buffer,
/// recycled blocks, or offsets in an arena. O(V + E + values + touches) to lower, O(1) per touch in a run.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- lowered program -------------------------------------------------------------------------------------

/// A program flattened for a run: for each position its step, what that uses and defines, and its buffers.
///
///     position   step   uses   defs   scratch   touched         buffer   values        ref_counts
///        0         2     -      a        -       0                0      a, b = view(a)  3
///        1         0     a      b, c     w       0, 1, 2          1      c               2
///        2         1     b, c   -        -       0, 1             2      w               1
///
/// A buffer is a value with all its views: the same bytes in every mode. `ref_counts` counts the steps that
/// touch it, plus one if it must stay to the end: its reference count when a run begins.

namespace sublet {

namespace detail {

/// At one step, the bytes of `from` may be overwritten if no later step touches it: by the buffer `to` of a
/// declared in-place pair, or by any result (`no_buffer`) if the step reads it early.
struct operand_reuse {
    buffer_id from;
    buffer_id to;
};

struct lowered_program {
    using values_at = csr_rows<position_id, value_id>;
    using buffers_at = csr_rows<position_id, buffer_id>;

    sublet::table<position_id, step_id> step_at;
    values_at uses, defs, scratch; ///< in program order; `defs`: all that the step may write
    values_at views;               ///< of `defs`, those that the step makes and does not write
    values_at updates;             ///< of `defs`, those with bytes that are there already
    buffers_at touched;            ///< each once
    buffers_at accessed;           ///< of these, those that the step may read or write
    std::vector<operand_reuse> reuses;
    std::vector<std::uint32_t> reuses_begin{0};         ///< by position, and one more: into `reuses`
    buffer_table table;                                 ///< each value with its views
    sublet::table<buffer_id, std::uint32_t> ref_counts; ///< how many steps touch it, and 1 for an output
    sublet::table<buffer_id, position_id> first_write;  ///< the first that writes it, or `no_position`
    sublet::table<buffer_id, unsigned char> is_updated; ///< a step changes it in place
    sublet::table<value_id, byte_count> bytes;          ///< its part of its buffer
    std::vector<buffer_id> unused_inputs;  ///< inputs that no step reads: dead after the first step
    bool is_any_schedule = false;          ///< one of many orders: they are dead before any step
    std::size_t pools = 0;

    [[nodiscard]] std::uint32_t positions() const { return static_cast<std::uint32_t>(step_at.size()); }
    [[nodiscard]] std::span<operand_reuse const> reuses_at(position_id position) const
    {
        return {reuses.data() + reuses_begin[position], reuses.data() + reuses_begin[position + 1]};
    }
    /// The two buffers have equal pool and size, so that one block can serve both.
    [[nodiscard]] bool is_same_size(operand_reuse y) const
    {
        if (y.to == no_buffer) return false;
        buffer const &from = table.buffers[y.from], &to = table.buffers[y.to];
        return from.is_planned() && to.is_planned() && from.pool == to.pool && from.size == to.size;
    }
    /// The result is a view of bytes that exist already: its step writes nothing.
    [[nodiscard]] bool is_view(value_id defined, position_id position) const
    {
        return has(views[position], defined);
    }
    /// The step changes bytes that exist already.
    [[nodiscard]] bool is_update(value_id written, position_id position) const
    {
        return has(updates[position], written);
    }

private:
    static bool has(std::span<value_id const> row, value_id v)
    {
        for (value_id its : row)
            if (its == v) return true;
        return false;
    }
};

/// The program in the order of `options.order`; a value and its views form one buffer.
///
/// Requires:   `scratch` values are defined by one step and used by none.
/// Complexity: that of lifetimes(), and O(steps + values + touches + pairs + k log k) time, the same without
///             log in memory; k = uses at the ends of predecessors and unused inputs.
/// Throws:     unsound_plan if a value is needed before it is defined, the order moves a write, or a view has
///             more bytes than its root; precondition_error where a requirement is broken.
[[nodiscard]] lowered_program lower_program(snapshot const& program, plan_options const& options,
                                            per_value<bool> const& scratch);

/// The same for a given order of single steps, in which steps of different nodes may interleave, for a plan
/// for any schedule. Operands that the first step reads early may be reused, inputs too.
/// Requires:   `steps` names every step once, each after all that it waits for. The second is not checked.
/// Complexity: as above, without lifetimes().
[[nodiscard]] lowered_program lower_program(snapshot const& program, plan_options const& options,
                                            per_value<bool> const& scratch,
                                            table<position_id, step_id> steps);

/// The options with all that a plan decides, read from it alone: its order, unless it is for any schedule,
/// and the pool of each buffer in it. The pairs that it takes in place are among those that the program
/// declares.
///
/// Complexity: O(values + nodes).
/// Throws:     unsound_plan if the plan does not have an entry for each value.
[[nodiscard]] plan_options options_of_plan(snapshot const& program, plan_options options,
                                           memory_plan const& plan);

// --- digest ----------------------------------------------------------------------------------------------

/// A 64-bit digest of a byte sequence.
///
///     digest(bytes) = length + Σ mix(word[k] ^ mix(k + 1))    mod 2^64, over words of 8 bytes, zero padded
///
/// The words may be summed in any order, in parts and by many threads at once, and the result is the same on
/// every machine of one byte order. `mix` is a bijection: a change within one word always changes the digest;
/// any other change is missed with a probability of about 2^-64.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (the
/// finalizer of SplitMix64, after Stafford's variant 13 of MurmurHash3's).

/// A bijection of 64 bits; each bit of the result depends on each bit of the argument.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) noexcept
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

} // namespace detail

/// Adds a number to the digest of a sequence; the order matters.
[[nodiscard]] constexpr std::uint64_t fold_digest(std::uint64_t sum, std::uint64_t next) noexcept
{
    return detail::mix(sum * 0x9e3779b97f4a7c15u + next);
}

/// A hash of the bytes; equal bytes have equal hashes on every machine.
///
/// Complexity: O(bytes), no allocation.
[[nodiscard]] std::uint64_t digest(std::span<std::byte const> bytes) noexcept;

/// Fills with pseudorandom bytes, a function of seed and length.
void fill_noise(std::span<std::byte> bytes, std::uint64_t seed) noexcept;

} // namespace sublet

// --- poison ----------------------------------------------------------------------------------------------

/// How dead bytes are marked.
///
///     in an ordinary program              painted with ones: a float read there is a NaN
///     under the address sanitizer         poisoned: the read itself is reported, with its stack
///
/// The sanitizer works in units of 8 bytes. A poisoned range is rounded inwards: a few dead bytes at a border
/// may stay readable, but a live neighbour is never poisoned.

namespace sublet::detail {

void paint(std::span<std::byte> bytes);

void poison_bytes(std::span<std::byte> bytes);
/// Call before dead bytes are used again or deallocated.
void unpoison_bytes(std::span<std::byte> bytes);

} // namespace sublet::detail

// --- storage ---------------------------------------------------------------------------------------------

/// The three memory modes of a run.
///
///     position         0       1       2       3
///     no_plan      a  [=========================     allocated at the first write, freed after the run
///                  b          [=================
///     recycle      a  [===============)              freed after the last step that touches it,
///                  b          [===============)      or its block taken over by an in-place result
///     arena        a, b: offsets in one block per pool, allocated before the first run, or in the
///                  reserved addresses of a growing_arena
///
/// `no_plan` gives every value its own bytes and is the oracle for the other two; `recycle` is what
/// frameworks with reference counts do; `arena` runs a plan of this library.
///
/// Source: the first two are the modes of Apache SINGA's graph scheduler (pull request 626, 2020).

namespace sublet {

namespace detail {

/// Blocks at fixed addresses, one for each pool, that several executors use one after another: see
/// growing_arena. Their bytes follow the executor that uses them; another one finds nothing of its own there.
class arena_blocks {
public:
    arena_blocks(arena_blocks const&) = delete; // executors refer to it
    arena_blocks& operator=(arena_blocks const&) = delete;

    /// The first address of each pool's block; null for one without bytes.
    [[nodiscard]] table<pool_id, std::byte*> const& addresses() const { return addresses_; }
    /// The first address of a pool, for an executor.
    /// Throws: precondition_error if its block has not so many bytes, or not the alignment.
    [[nodiscard]] std::byte* address_for(pool_id pool, byte_count bytes, byte_count alignment) const;

    /// A number for one more executor.
    [[nodiscard]] std::uint64_t add_user() noexcept { return ++users_; }
    [[nodiscard]] bool is_used_by(std::uint64_t user) const noexcept { return user == user_; }

    /// Gives each block the bytes that this user needs, which have no defined contents.
    /// Requires:   no run of another executor is in progress.
    /// Complexity: O(pools), and the pages that are added and given back.
    /// Throws:     allocation_error if there is no memory; then none uses the blocks.
    void use_for(std::uint64_t user, std::span<byte_count const> bytes);

protected:
    using resizer = void (*)(arena_blocks& self, pool_id pool, byte_count bytes);
    explicit arena_blocks(resizer resize) noexcept : resize_(resize) {}
    ~arena_blocks() = default;

    table<pool_id, std::byte*> addresses_;
    table<pool_id, byte_count> most_;  ///< the bytes of its block
    table<pool_id, byte_count> bytes_; ///< what the last user needed

private:
    resizer resize_;
    std::uint64_t users_ = 0, user_ = 0;
};

} // namespace detail

/// Storage of its own for each value, kept to the end of the run.
struct no_plan {
    static constexpr bool is_memory_mode = true; ///< for the executors
};
/// Storage that is freed after the last step that touches it.
struct recycle {
    static constexpr bool is_memory_mode = true; ///< for the executors
};
/// The offsets of a plan, in one allocation for each pool, in which its blocks lie one behind the other.
///
/// Executors read from the plan alone what it decides: pools, offsets, the order of the nodes, the results in
/// place. The options say what the values need, and what the proof of the plan compares. At every level of
/// checks, proved or not, an executor checks all addresses when it is made: each buffer lies within the arena
/// of its pool and each view within its root, sums of offsets do not wrap, offsets are multiples of the
/// alignments, and arenas that it is given have the bytes and the alignment.
struct arena {
    static constexpr bool is_memory_mode = true; ///< for the executors
    arena() = default;
    /// A plan that was made before, or read from elsewhere.
    arena(memory_plan p);
    /// The plan of a planner's result.
    /// Throws: unsound_plan with its error, if there is none.
    template <class Planned>
        requires requires(Planned const& planned) {
                     memory_plan(planned.plan);
                     unsound_plan(planned.error());
                 }
    arena(Planned const& planned)
    {
        if (!planned) throw unsound_plan(planned.error());
        plan = planned.plan;
    }
    memory_plan plan;                       ///< a copy, with the offsets of all buffers
    detail::arena_blocks* blocks = nullptr; ///< of a growing_arena; null: the executor allocates its own
};

namespace detail {

template <class M>
concept memory_mode = requires { requires M::is_memory_mode; };

// Parameters of deleted constructors: their names are the reason.
template <class M>
struct the_memory_mode_is_arena_recycle_or_no_plan {};
struct a_kernel_takes_its_call {};
template <class Mode, bool IsKernel>
using executor_problem = std::conditional_t<memory_mode<Mode>, a_kernel_takes_its_call,
                                            the_memory_mode_is_arena_recycle_or_no_plan<Mode>>;

/// The plan of a memory mode, or null.
inline memory_plan const* plan_in(arena const& mode) { return &mode.plan; }
template <memory_mode Mode>
memory_plan const* plan_in(Mode const&)
{
    return nullptr;
}

/// The bytes of a value in those of its buffer.
[[nodiscard]] std::span<std::byte> part_of(lowered_program const& lowered, value_id v,
                                           std::span<std::byte> whole);

/// Checks all that an executor takes from a plan to address memory, whatever its level of checks. Views lie
/// within their roots: lower_program().
///
/// Requires: the program was lowered with options_of_plan().
/// Throws:   unsound_plan if the plan does not have an entry for each value, or a planned buffer has no
///           offset, lies in another pool, ends outside of its arena, or is not aligned as its values and its
///           pool need it.
void expect_placed(lowered_program const& lowered, memory_plan const& plan);

/// The largest alignment of the buffers of each pool.
/// Requires: expect_placed().
[[nodiscard]] table<pool_id, byte_count> arena_alignments(lowered_program const& lowered,
                                                          memory_plan const& plan);

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
            place(lowered, mode.plan, mode.blocks);
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

    /// Allocates a buffer outside of any step: an input.
    void provide(lowered_program const& lowered, buffer_id b)
    {
        if (where_[b] == nullptr) allocate(lowered.table.buffers[b], b, no_step);
    }

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
    std::vector<block> blocks_;            // by buffer; in arena mode by pool
    table<buffer_id, std::byte*> where_;
    table<buffer_id, byte_count> capacity_;     // for the caller's storage, the bytes that were bound
    table<buffer_id, std::uint32_t> remaining_; // touches to come
    arena_blocks* shared_ = nullptr;            // the growing arena that owns blocks_, or null
    std::uint64_t user_ = 0;                    // of it
    table<pool_id, byte_count> arena_bytes_;    // of it
};

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/storage.ipp>
#endif

#endif
