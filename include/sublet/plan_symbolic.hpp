// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLAN_SYMBOLIC_HPP
#define SUBLET_PLAN_SYMBOLIC_HPP

/// One plan for every batch size from 1 to a largest one, proved for all of them; sizes are affine in N.
///
///     sublet::affine_bytes const image{0, 602112};     // fixed, per_batch
///     auto planned = sublet::plan_symbolic(program, {.bytes = image, .max_batch = 64});
///     std::cout << planned.report() << '\n'; // 9633792*N bytes instead of 150243136*N, for N up to 64
///     auto plan = planned.plan.at(32);                 // the plan for a batch of 32
///     std::cout << planned.plan.buffers[0].start.fixed; // or a formula: fixed + per_batch * N, rounded up
///
/// The stages are those of plan_memory(), with pack_symbolic() and check_plan(). If only a lower bound of a
/// size is known, give `affine_bytes::unknown()` or an upper bound.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/text.hpp>
#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/planned_memory.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace sublet {

/// A plan for every batch, and its report.
struct planned_symbolic {
    /// Sizes and bounds, as formulas and for some batch sizes. Converts to false, with an error, if there is
    /// no plan.
    struct summary : verdict {
        /// All arenas together, for one batch size.
        struct batch {
            byte_count batch = 1;             ///< the batch size
            byte_count arena_bytes = 0;       ///< with the plan for all batch sizes
            byte_count own_bytes = 0;         ///< with a plan for this batch size only
            byte_count lower_bound_bytes = 0; ///< of every plan for this batch size
        };

        std::size_t steps = 0;     ///< of the program
        std::size_t values = 0;    ///< of the program, with and without storage
        std::size_t buffers = 0;   ///< planned ones of more than 0 bytes, after in-place decisions
        byte_count max_batch = 1;  ///< requested
        byte_count fits_up_to = 0; ///< the largest batch that fits the capacities; 0: none does
        affine_bytes naive;        ///< if every buffer had storage of its own
        affine_bytes arena;        ///< of the plan
        std::vector<planned_symbolic::summary::batch> batches; ///< batch 1, the largest, and one between
        std::vector<value_id> external; ///< roots of storage that is not planned: external, or not eligible
        std::vector<value_id> unsized;  ///< roots of storage of unknown size, which is not planned either
        double seconds = 0;             ///< processor time from the program to the checked plan
        bool is_checked = false;        ///< check_plan has run: the plan is proved
        char const* unit = nullptr;     ///< as in plan_report

        /// By how much the arenas exceed those of plans for one batch size, at most: 0.02 is two percent.
        [[nodiscard]] double excess() const;
    };

    /// A value and its place.
    struct placed_value {
        value_id value = no_value;         ///< the value, by its id in the program
        pool_id pool = 0;                  ///< the pool that it lies in
        symbolic_plan::offset offset = {}; ///< in the arena of the pool, for each batch
        friend bool operator==(planned_symbolic::placed_value, planned_symbolic::placed_value) = default;
    };
    using iterator = detail::placed_values<planned_symbolic, value_id>; ///< over the values with an offset

    symbolic_plan plan;                ///< what is to be executed, if there is a plan
    planned_symbolic::summary figures; ///< what report() and error() return

    /// There is a plan.
    explicit operator bool() const noexcept { return bool{figures}; }

    /// Why there is no plan.
    ///
    /// Requires: there is no plan.
    [[nodiscard]] counterexample const& error() const& { return figures.error(); }
    /// The same of a temporary: a copy, which stays valid.
    [[nodiscard]] counterexample error() && { return error(); }

    /// Sizes and bounds; without a plan, also why there is none.
    [[nodiscard]] planned_symbolic::summary const& report() const& noexcept { return figures; }
    /// The same of a temporary: a copy, which stays valid.
    [[nodiscard]] planned_symbolic::summary report() && { return std::move(figures); }

    /// Of the arena of a pool for the largest batch, or for this one; 0 for a pool that the plan does not have.
    [[nodiscard]] byte_count bytes(pool_id pool = 0) const { return bytes(pool, plan.max_batch); }
    /// The same for another batch.
    [[nodiscard]] byte_count bytes(pool_id pool, byte_count batch) const
    {
        return *this && pool < plan.arena.size() ? plan.arena[pool].at(batch) : 0;
    }

    /// The values with an offset, ascending.
    [[nodiscard]] planned_symbolic::iterator begin() const { return {*this, 0}; }
    /// The end of these values.
    [[nodiscard]] planned_symbolic::iterator end() const { return {*this, limit()}; }

private:
    friend planned_symbolic::iterator;

    value_id limit() const noexcept { return value_id::of(*this ? plan.buffer_of.size() : 0); }
    static value_id next(value_id v) { return v + 1; }
    value_id placed_from(value_id v) const
    {
        while (v < limit() && plan.offset_of(v, 1) == no_offset) ++v;
        return v;
    }
    planned_symbolic::placed_value at(value_id v) const
    {
        if (plan.buffer_of[v] == no_buffer) {
            memory_plan::empty_value const& empty = plan.empty[detail::find_value(plan.empty, v)];
            return {v, empty.pool, {affine_bytes{empty.offset, 0}, 1, {}}};
        }
        symbolic_plan::buffer const& b = plan.buffers[plan.buffer_of[v]];
        affine_bytes const in_root = plan.offset_in_root.empty() ? affine_bytes{} : plan.offset_in_root[v];
        return {v, b.pool, {b.start, b.alignment, in_root}};
    }
};

/// Plans storage for every batch from 1 to `options.max_batch`; steps run in sequence.
///
/// Requires:   `options.order`, if given, names every node once; `options.max_batch` is at least 1.
/// Ensures:    `plan.at(N)` is a plan for each N from 1 to max_batch, and proved unless `options.check` is
///             off. error() is a counterexample if there is none: an order as in plan_memory(), a view that
///             is larger than its root for some batch, or a capacity that the largest batch exceeds
///             (`report().fits_up_to` is the largest batch that fits).
/// Complexity: O(nodes + edges + touches + values), pack_symbolic() and check_plan().
/// Throws:     precondition_error if a precondition of a stage is violated, or if the bytes of the largest
///             batch exceed 64 bits together.
[[nodiscard]] planned_symbolic plan_symbolic(snapshot const& p, symbolic_options const& options);
/// The same for a listing: the result is asked with handles. Of `options` are sizes, `max_batch`, `eligible`,
/// `mixing`, and what is to be added to the view offsets of the listing; all others are the listing's.
///
/// Throws: precondition_error if the listing pins a value or names a choice of pools: no plan for every batch
///         keeps these.
template <detail::listed L>
[[nodiscard]] auto plan_symbolic(L const& list, symbolic_options options)
{
    plan_options const said = list.options();
    list.expect_no_pin_or_choice();
    options.eligible = [said, own = options.eligible](value_id v) { return said.eligible[v] && own[v]; };
    options.view_offset = [&said, scaled = options.view_offset](value_id v) {
        return checked_add(affine_bytes{said.view_offset[v], 0}, scaled[v]);
    };
    options.alignment = said.alignment;
    options.role = said.role;
    options.alias_of = said.alias_of;
    options.pool = said.pool;
    options.pools = said.pools;
    options.order = said.order;
    options.in_place = said.in_place;
    options.check = said.check;
    options.effort = said.effort;
    return list.named(plan_symbolic(list.program(), options));
}

namespace detail {

template <text_stream Stream>
void write_affine(plain_text<Stream>& out, affine_bytes bytes)
{
    if (bytes.fixed != 0 || bytes.per_batch == 0) out << bytes.fixed;
    if (bytes.fixed != 0 && bytes.per_batch != 0) out << " + ";
    if (bytes.per_batch != 0) out << bytes.per_batch << "*N";
}

} // namespace detail

/// Writes one line to any text stream: the bytes, or why there is no plan.
template <detail::text_stream Stream>
Stream& operator<<(Stream& out, planned_symbolic::summary const& r)
{
    detail::plain_text<Stream> text{out, r.unit};
    if (!r) {
        text << "no plan: " << r.error();
        return out;
    }
    if (r.naive == affine_bytes{}) {
        detail::write_unplanned(text, true, r.external.size(), r.unsized.size());
        return out;
    }
    detail::write_affine(text, r.arena);
    text << ' ' << text.units() << " instead of ";
    detail::write_affine(text, r.naive);
    text << ", for N up to " << r.max_batch;
    detail::write_unplanned(text, false, r.external.size(), r.unsized.size());
    return out;
}

/// Writes the report.
template <detail::text_stream Stream>
Stream& operator<<(Stream& out, planned_symbolic const& planned)
{
    return out << planned.report();
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/plan_symbolic.ipp>
#endif

#endif
