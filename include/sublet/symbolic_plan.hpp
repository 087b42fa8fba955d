// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SYMBOLIC_PLAN_HPP
#define SUBLET_SYMBOLIC_PLAN_HPP

/// One plan for every batch size: sizes that grow with the batch, what is asked, and the plan.

#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

// --- affine bytes ----------------------------------------------------------------------------------------

/// Numbers of bytes that grow with a batch: fixed + per_batch * N, for every N from 1 to a largest one.
///
///     bytes |               . g           f: 3000 + 100 N
///           |           . `               g:        800 N
///           |  _ _ . - ` - - - f          f is never above g? At N = 1 it is, so: no
///           |. `
///           +-1-----------most--> N       two that are in order at both ends are in order between them
///
/// The difference of two such numbers is on a straight line, and a straight line that is not below zero at
/// both ends of a range is not below zero anywhere in it. So ordinary integers, two for each number, decide
/// what holds for every batch. Neither f nor g above need be the larger: then neither is above the other
/// throughout, and least_above() is the line over both ends.

namespace sublet {

struct affine_bytes {
    byte_count fixed = 0;     ///< `no_size`: not known, whatever the batch
    byte_count per_batch = 0; ///< bytes more for each further one of the batch

    /// The size of a value of which nothing is known, or a lower bound only: it gets no storage.
    [[nodiscard]] static constexpr affine_bytes unknown() { return {no_size, 0}; }

    [[nodiscard]] constexpr bool is_known() const { return fixed != no_size; }
    [[nodiscard]] constexpr bool is_scaled() const { return is_known() && per_batch != 0; }

    /// The bytes for one batch; `no_size` if they are not known.
    /// Throws: precondition_error if they reach 2^64 - 1.
    [[nodiscard]] constexpr byte_count at(byte_count batch) const
    {
        return is_known() ? checked_add(fixed, checked_multiply(per_batch, batch)) : no_size;
    }
    friend constexpr bool operator==(affine_bytes, affine_bytes) = default;
};

/// Requires: both are known, here and below.
/// Throws:   precondition_error if a part reaches 2^64 - 1.
[[nodiscard]] constexpr affine_bytes checked_add(affine_bytes a, affine_bytes b)
{
    return {checked_add(a.fixed, b.fixed), checked_add(a.per_batch, b.per_batch)};
}

namespace detail {

/// Whether a <= b for every batch from 1 to `most`.
/// Throws: precondition_error if one of them reaches 2^64 - 1 for `most`.
[[nodiscard]] constexpr bool never_above(affine_bytes a, affine_bytes b, byte_count most)
{
    return a.at(1) <= b.at(1) && a.at(most) <= b.at(most);
}

/// The lowest number with integral parts that is at least `low` for a batch of 1 and `high` for `most`. Every
/// affine one that is so, is above it or below by fewer than `most` bytes: its slope is rounded up.
///
/// Requires: `low` and `high` are the larger ones, at each end, of numbers that are affine. Their slopes are
///           at most `low`, and it takes no more than the largest of them to rise to `high`, hence the fixed
///           part that is left is not negative.
/// Throws:   precondition_error if the result reaches 2^64 - 1 for `most`.
[[nodiscard]] constexpr affine_bytes line_over(byte_count low, byte_count high, byte_count most)
{
    if (most == 1) return {low, 0};
    byte_count const rise = high - low, slope = rise / (most - 1) + (rise % (most - 1) != 0);
    SUBLET_EXPECTS(sum_fits(low, checked_multiply(slope, most - 1)),
                   "sublet: a sum of sizes exceeds 64 bits");
    return {low - slope, slope};
}

/// The lowest number that neither is above: the larger of the two if one of them is; otherwise the line over
/// the larger of each end.
[[nodiscard]] constexpr affine_bytes least_above(affine_bytes a, affine_bytes b, byte_count most)
{
    if (never_above(a, b, most)) return b;
    if (never_above(b, a, most)) return a;
    return line_over(larger(a.at(1), b.at(1)), larger(a.at(most), b.at(most)), most);
}

/// What every fixed + per_batch * N is a multiple of, with the alignment, if `fixed` is.
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

/// No fewer bytes than align_up(a.at(N), alignment) lies above a.at(N) for any N; none, if both parts are
/// multiples of the alignment. What is left over of a.at(N) is what is left over of its fixed part, and
/// multiples of the common divisor; the least that is not 0 has the farthest to go.
///
/// Requires: alignment >= 1.
[[nodiscard]] constexpr byte_count max_padding(affine_bytes a, byte_count alignment)
{
    byte_count const divisor = common_divisor(a.per_batch, alignment), least = a.fixed % divisor;
    return alignment - (least == 0 ? divisor : least);
}

} // namespace detail

// --- symbolic options ------------------------------------------------------------------------------------

/// What a plan for every batch size is asked for.
///
///     {.bytes = sizes, .max_batch = 64}       sizes[v] is {fixed, per_batch}; batches are 1, 2 ... 64
///
/// All but the sizes is as in plan_options, and at() says what is asked for one batch. There are no
/// pins: where a value has to be for every batch cannot depend on the batch, and so cannot its neighbours.

struct symbolic_options {
    /// Who may lie where something lay that grows otherwise.
    enum class mixing_rule : std::uint8_t {
        proved, ///< whoever is proved to have room, for every batch
        apart   ///< what grows with the batch shares only with what does, what is fixed with what is fixed
    };

    per_value<affine_bytes> bytes; ///< no default; `affine_bytes::unknown()` where it is not known
    byte_count max_batch = 1;      ///< the plan holds for batches from 1 to this
    per_value<byte_count> alignment = byte_count{1}; ///< any integer >= 1
    per_value<value_role> role = value_role::intermediate;
    per_value<value_id> alias_of = no_value;
    per_value<pool_id> pool = pool_id{0};
    per_value<bool> eligible = true;
    std::vector<pool_limits> pools = {}; ///< capacities are those of the largest batch
    std::vector<node_id> order = {};
    symbolic_options::mixing_rule mixing = symbolic_options::mixing_rule::proved;
    bool in_place = true; ///< take in-place pairs whose sizes are equal for every batch
    bool check = true;

    /// What is asked for one batch.
    /// Throws: precondition_error if there is no such batch; and where a size is read that reaches 2^64 - 1.
    [[nodiscard]] plan_options at(byte_count batch) const;
};

// --- symbolic plan ---------------------------------------------------------------------------------------

/// Where every value lies, for every batch: one formula a buffer.
///
///     buffer   size       start             N = 1      N = 3        each begins at a multiple of 64:
///       a      100 N      0                 [0, 100)   [0, 300)       start + what is missing to the next
///       b      32         100 N + 32        [192 ..)   [384 ..)
///
/// A start is fixed + per_batch * N, rounded up to a multiple of the buffer's alignment. Where both parts are
/// multiples already nothing is rounded, and code that runs for any batch computes an offset by one
/// multiplication and one addition. at(N) is the ordinary plan for one batch.

/// Of the sequential reading.
struct symbolic_plan {
    struct buffer {
        value_id root = no_value;
        live_range life = {};
        affine_bytes size = {};
        byte_count alignment = 1; ///< its own and its pool's
        pool_id pool = 0;
        affine_bytes start = {};

        [[nodiscard]] byte_count offset_at(byte_count batch) const
        {
            byte_count const offset = align_up(start.at(batch), alignment);
            SUBLET_EXPECTS(offset != no_offset, "sublet: a sum of sizes exceeds 64 bits");
            return offset;
        }
        /// Its bytes end here or below, for every batch.
        [[nodiscard]] affine_bytes top() const
        {
            affine_bytes const end = checked_add(start, size);
            return {checked_add(end.fixed, detail::max_padding(start, alignment)), end.per_batch};
        }
        friend bool operator==(symbolic_plan::buffer const&, symbolic_plan::buffer const&) = default;
    };

    byte_count max_batch = 1;
    std::vector<node_id> order = {};                 ///< of the nodes; empty: 0, 1, 2 ...
    std::vector<symbolic_plan::buffer> buffers = {}; ///< those of more than 0 bytes, by ascending root
    std::vector<buffer_id> buffer_of = {}; ///< by value; `no_buffer`: it has no storage of the plan's
    std::vector<affine_bytes> arena = {};  ///< by pool: enough for every batch
    std::vector<value_id> unsized = {};    ///< roots of buffers of unknown size

    /// The first byte of v in the arena of its pool, or `no_offset`.
    [[nodiscard]] byte_count offset_of(value_id v, byte_count batch) const
    {
        return buffer_of[v] == no_buffer ? no_offset : buffers[buffer_of[v]].offset_at(batch);
    }

    /// The plan for one batch. Its arenas are as high as it needs, which may be less than `arena` says.
    ///
    /// Complexity: O(values).
    /// Throws:     precondition_error if there is no such batch.
    template <detail::integer Batch>
    [[nodiscard]] memory_plan at(Batch which) const
    {
        byte_count const batch = detail::to_byte_count(which);
        SUBLET_EXPECTS(batch >= 1 && batch <= max_batch, "sublet: a plan holds from 1 to its max_batch");
        memory_plan plan;
        plan.order = order;
        plan.buffer_of = buffer_of;
        plan.unsized = unsized;
        plan.arena_bytes.assign(arena.size(), 0);
        plan.buffers.reserve(buffers.size());
        for (symbolic_plan::buffer const& b : buffers) {
            memory_plan::placed_buffer const p{b.root,      b.life, b.size.at(batch),
                                               b.alignment, b.pool, b.offset_at(batch)};
            plan.buffers.push_back(p);
            byte_count& height = plan.arena_bytes[b.pool];
            height = detail::larger(height, checked_add(p.offset, p.size));
        }
        return plan;
    }
    friend bool operator==(symbolic_plan const&, symbolic_plan const&) = default;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/symbolic_plan.ipp>
#endif

#endif
