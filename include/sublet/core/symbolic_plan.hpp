// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_SYMBOLIC_PLAN_HPP
#define SUBLET_CORE_SYMBOLIC_PLAN_HPP

/// Options and result of a plan for every batch size N from 1 to a largest one, from sizes that are affine in
/// N (fixed + per_batch * N). Each offset is such a formula, too, rounded up to the alignment. Two formulas
/// are compared for all batches in O(1), by their values at both ends.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <cstdint>
#include <vector>

// --- affine bytes ----------------------------------------------------------------------------------------

/// Byte counts that are affine in the batch size: fixed + per_batch * N, for every N from 1 to a largest one.
///
///     bytes |               . g           f: 3000 + 100 N
///           |           . `               g:        800 N
///           |  _ _ . - ` - - - f          f <= g fails at N = 1, so f is not below g throughout
///           |. `
///           +-1-----------most--> N       f <= g at both ends implies f <= g in between
///
/// If neither is the larger throughout, least_above() is the line through the larger value at each end.

namespace sublet {

/// A size or an offset in bytes for each batch N: fixed + per_batch * N.
struct affine_bytes {
    byte_count fixed = 0;     ///< `no_size`: unknown for every batch
    byte_count per_batch = 0; ///< additional bytes per unit of the batch

    /// A size that is unknown, or known by a lower bound only: the value gets no storage.
    [[nodiscard]] static constexpr affine_bytes unknown() { return {no_size, 0}; }

    /// There is a size.
    [[nodiscard]] constexpr bool is_known() const { return fixed != no_size; }
    /// The size depends on the batch.
    [[nodiscard]] constexpr bool is_scaled() const { return is_known() && per_batch != 0; }

    /// The bytes for one batch; `no_size` if unknown.
    /// Throws: precondition_error if they reach 2^64 - 1.
    [[nodiscard]] constexpr byte_count at(byte_count batch) const
    {
        return is_known() ? checked_add(fixed, checked_multiply(per_batch, batch)) : no_size;
    }
    friend constexpr bool operator==(affine_bytes, affine_bytes) = default;
};

/// The sum, for every batch.
///
/// Requires: both are known. The same holds for the functions below.
/// Throws:   precondition_error if a part reaches 2^64 - 1.
[[nodiscard]] constexpr affine_bytes checked_add(affine_bytes a, affine_bytes b)
{
    return {checked_add(a.fixed, b.fixed), checked_add(a.per_batch, b.per_batch)};
}

namespace detail {

/// Requires: alignment >= 1.
[[nodiscard]] constexpr byte_count common_divisor(byte_count per_batch, byte_count alignment)
{
    for (byte_count rest = per_batch % alignment; rest != 0;) {
        byte_count const next = alignment % rest;
        alignment = rest;
        rest = next;
    }
    return alignment;
}

/// An upper bound of the bytes that align_up(a.at(N), alignment) adds, for all N; 0 if both parts are
/// multiples of the alignment. All a.at(N) are congruent modulo the common divisor; the smallest nonzero
/// residue modulo the alignment is padded most.
///
/// Requires: alignment >= 1.
[[nodiscard]] constexpr byte_count max_padding(affine_bytes a, byte_count alignment)
{
    byte_count const divisor = common_divisor(a.per_batch, alignment), least = a.fixed % divisor;
    return alignment - (least == 0 ? divisor : least);
}

} // namespace detail

// --- symbolic options ------------------------------------------------------------------------------------

/// Options of a plan for every batch size.
///
///     {.bytes = sizes, .max_batch = 64}       sizes[v] is {fixed, per_batch}; batches are 1, 2 ... 64
///
/// Except for the sizes they are as in plan_options; at() gives the options for one batch. There are no pins:
/// a fixed offset would not depend on the batch, and hence neither could the offsets of its neighbours.

/// As plan_options, with sizes for each batch.
struct symbolic_options {
    /// Whether buffers that scale with the batch may share bytes with buffers that do not.
    enum class mixing_rule : std::uint8_t {
        proved, ///< yes, if the larger one is proved to be larger for every batch
        apart   ///< no: scaled buffers share with scaled ones only, fixed with fixed
    };

    per_value<affine_bytes> bytes;                   ///< no default; `affine_bytes::unknown()`: unknown
    byte_count max_batch = 1;                        ///< the plan holds for batches from 1 to this
    per_value<byte_count> alignment = byte_count{1}; ///< any integer >= 1
    /// Its relation to the world outside the program.
    per_value<value_role> role = value_role::intermediate;
    per_value<value_id> alias_of = no_value;              ///< v is a view of alias_of[v]
    per_value<affine_bytes> view_offset = affine_bytes{}; ///< first byte in alias_of[v], for every batch
    per_value<pool_id> pool = pool_id{0};                 ///< the pool to lie in
    per_value<bool> eligible = true;     ///< false: has its own storage: not planned, not counted
    table<pool_id, pool_limits> pools = {}; ///< capacities are for the largest batch
    std::vector<node_id> order = {};     ///< every node once; empty: 0, 1, 2 ...
    /// Which buffers may share bytes.
    symbolic_options::mixing_rule mixing = symbolic_options::mixing_rule::proved;
    bool in_place = true; ///< take in-place pairs of equal size for every batch
    bool check = true;    ///< check the plan before it is returned
    sublet::effort effort = sublet::effort::balanced; ///< the work of each search

    /// The options for one batch.
    ///
    /// Throws: precondition_error if the batch is out of range; reading a size throws if it reaches 2^64 - 1.
    [[nodiscard]] plan_options at(byte_count batch) const;
};

// --- symbolic plan ---------------------------------------------------------------------------------------

/// Offsets for every batch: one formula per buffer.
///
///     buffer   size       start             N = 1      N = 3        offset: start rounded up to
///       a      100 N      0                 [0, 100)   [0, 300)     a multiple of 64
///       b      32         100 N + 32        [192 ..)   [384 ..)
///
/// Valid for the sequential reading. If both parts of a start are multiples of the alignment, nothing is
/// rounded.
struct symbolic_plan {
    /// The offset for each batch: `start`, rounded up.
    struct offset {
        affine_bytes start = {};   ///< of its buffer, before it is rounded
        byte_count alignment = 1;  ///< the start is rounded up to a multiple of it
        affine_bytes in_root = {}; ///< of a view: its first byte in its root

        /// The offset for one batch.
        [[nodiscard]] byte_count at(byte_count batch) const
        {
            byte_count const rounded = align_up(start.at(batch), alignment);
            SUBLET_EXPECTS(rounded != no_offset, "sublet: a sum of sizes exceeds 64 bits");
            return checked_add(rounded, in_root.at(batch));
        }
        friend bool operator==(symbolic_plan::offset, symbolic_plan::offset) = default;
    };

    /// A buffer with its formula.
    struct buffer {
        /// The other values of the buffer are views or in-place results of this one.
        value_id root = no_value;
        live_range life = {};     ///< the positions at which its bytes are in use
        affine_bytes size = {};   ///< of all its bytes
        byte_count alignment = 1; ///< its own and its pool's
        pool_id pool = 0;         ///< the pool that it lies in
        affine_bytes start = {};  ///< its offset is the start, rounded up

        /// Its offset for one batch.
        [[nodiscard]] byte_count offset_at(byte_count batch) const
        {
            return symbolic_plan::offset{start, alignment}.at(batch);
        }
        /// An upper bound of the end of its bytes, for every batch.
        [[nodiscard]] affine_bytes top() const
        {
            affine_bytes const end = checked_add(start, size);
            return {checked_add(end.fixed, detail::max_padding(start, alignment)), end.per_batch};
        }
        friend bool operator==(symbolic_plan::buffer const&, symbolic_plan::buffer const&) = default;
    };

    byte_count max_batch = 1;                        ///< the plan holds for batches from 1 to this
    std::vector<node_id> order = {};                 ///< of the nodes; empty: 0, 1, 2 ...
    /// Of more than 0 bytes, by ascending root.
    table<buffer_id, symbolic_plan::buffer> buffers = {};
    table<value_id, buffer_id> buffer_of = {};       ///< `no_buffer`: not planned
    table<pool_id, affine_bytes> arena = {};         ///< of each pool, for every batch
    std::vector<value_id> unsized = {};              ///< roots of buffers of unknown size
    std::vector<memory_plan::empty_value> empty = {}; ///< of 0 bytes for every batch; ascending by value
    /// The first byte of a view in its root; no entry at all if every view begins with its root.
    table<value_id, affine_bytes> offset_in_root = {};

    /// The first byte of v in the arena of its pool, or `no_offset`.
    [[nodiscard]] byte_count offset_of(value_id v, byte_count batch) const
    {
        if (buffer_of[v] == no_buffer) {
            std::size_t const at = detail::find_value(empty, v);
            return at == empty.size() ? no_offset : empty[at].offset;
        }
        byte_count const begin = buffers[buffer_of[v]].offset_at(batch);
        return offset_in_root.empty() ? begin : checked_add(begin, offset_in_root[v].at(batch));
    }

    /// The plan for one batch. Its arenas may be smaller than `arena`.
    /// Complexity: O(values).
    /// Throws:     precondition_error if the batch is not in 1 ... max_batch, or a buffer lies in a pool that
    ///             `arena` does not have.
    template <detail::integer Batch>
    [[nodiscard]] memory_plan at(Batch which) const
    {
        byte_count const batch = detail::to_byte_count(which);
        SUBLET_EXPECTS(batch >= 1 && batch <= max_batch,
                       "sublet: a plan for batches from 1 to % is asked for batch %", max_batch, batch);
        memory_plan plan;
        plan.order = order;
        plan.buffer_of = buffer_of;
        plan.unsized = unsized;
        plan.empty = empty;
        for (affine_bytes begin : offset_in_root) plan.offset_in_root.push_back(begin.at(batch));
        plan.arena_bytes.assign(arena.size(), 0);
        plan.buffers.reserve(buffers.size());
        for (symbolic_plan::buffer const& b : buffers) {
            memory_plan::placed_buffer const p{b.root,      b.life, b.size.at(batch),
                                               b.alignment, b.pool, b.offset_at(batch)};
            plan.buffers.push_back(p);
            SUBLET_EXPECTS(b.pool < plan.arena_bytes.size(),
                           "sublet: value % lies in pool %, but its plan has only % pools", b.root, b.pool,
                           plan.arena_bytes.size());
            byte_count& height = plan.arena_bytes[b.pool];
            height = detail::larger(height, checked_add(p.offset, p.size));
        }
        return plan;
    }
    friend bool operator==(symbolic_plan const&, symbolic_plan const&) = default;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/symbolic_plan.ipp>
#endif

#endif
