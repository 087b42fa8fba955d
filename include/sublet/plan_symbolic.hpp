// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLAN_SYMBOLIC_HPP
#define SUBLET_PLAN_SYMBOLIC_HPP

/// One plan for every shape: any number of open dimensions, sizes that are formulas in them.
///
///     std::vector<sublet::dimension> const dims{{"batch", 1, 64}, {"length", 1, 2048}};
///     auto const batch = sublet::symbol(0), length = sublet::symbol(1);
///     std::vector<sublet::formula> const sizes{3072 * batch * length, 48 * batch * length * length, 4096};
///     auto planned = sublet::plan_symbolic(program, {.bytes = sizes, .dims = dims});
///     std::cout << planned.report() << '\n';     // 48*batch*length^2 + 3072*batch*length bytes ...
///     auto plan = planned.plan.at({8, 512});     // the plan for one shape
///     auto most = planned.plan.largest(1, {8, 1}, {{.capacity = 1 << 30}}); // length for a batch of 8
///
/// The stages are those of plan_memory(), with a stacking (core/stacking.hpp) in place of offsets: which of
/// two buffers lies below is chosen once, by samples of the shapes, and is proved for all of them. Samples
/// are corners and middles of the ranges, then shapes for which the plan turns out to be high, among many
/// that are tried. With `valid_for = program_reading::concurrent` the stages are those of plan_concurrent().

#include <sublet/core/counterexample.hpp>
#include <sublet/core/formula_text.hpp>
#include <sublet/core/internal/text.hpp>
#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/planned_memory.hpp>

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace sublet {

/// A plan for every shape, and its report.
struct planned_symbolic {
    /// Sizes and bounds, as formulas and for the samples. Converts to false, with an error, if there is no
    /// plan.
    struct summary : verdict {
        /// All arenas together, for one shape.
        struct sample {
            sublet::shape shape;              ///< one size for each dimension
            byte_count arena_bytes = 0;       ///< with the plan for every shape
            byte_count own_bytes = 0;         ///< with a plan for this shape only
            byte_count lower_bound_bytes = 0; ///< of every plan for this shape
        };

        std::size_t steps = 0;            ///< of the program
        std::size_t values = 0;           ///< of the program, with and without storage
        std::size_t buffers = 0;          ///< planned ones, after in-place decisions
        std::vector<dimension> dims = {}; ///< the open dimensions
        formula naive = {}; ///< if every buffer had storage of its own; `by_shape()`: some size is no formula
        /// Of all arenas, for every shape, where one path of buffers, or the largest of a few, is proved to
        /// be the highest; `by_shape()`: none was found. A buffer counts where it has 0 bytes, too.
        formula arena = {};
        std::vector<planned_symbolic::summary::sample> samples =
            {}; ///< corners, middles, those asked for, and high ones
        std::vector<value_id> external =
            {}; ///< roots of storage that is not planned: external, or not eligible
        std::vector<value_id> unsized = {}; ///< roots of storage of unknown size, which is not planned either
        double seconds = 0;                 ///< processor time from the program to the checked plan
        bool is_checked = false;            ///< check_plan has run: the plan is proved
        char const* unit = nullptr;         ///< as in plan_report

        /// By how much the arenas exceed those of plans for one shape, at most: 0.02 is two percent.
        [[nodiscard]] double excess() const;
    };

    /// A value with a place.
    struct placed_value {
        value_id value = no_value;    ///< the value, by its id in the program
        pool_id pool = 0;             ///< the pool that it lies in
        symbolic_plan::offset offset; ///< its first byte, for each shape: it refers to the result
        friend bool operator==(planned_symbolic::placed_value, planned_symbolic::placed_value) = default;
    };
    using iterator = detail::placed_values<planned_symbolic, value_id>; ///< over the values with a place

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

    /// Of the arena of a pool, at most, for every shape; 0 for a pool that the plan does not have.
    [[nodiscard]] byte_count bytes(pool_id pool = 0) const
    {
        return *this && pool < plan.most_bytes.size() ? plan.most_bytes[pool] : 0;
    }
    /// `{8, 512}` is a shape: ask `plan.bytes()`.
    byte_count bytes(std::initializer_list<byte_count>, pool_id = 0) const = delete;

    /// The values with a place, ascending.
    [[nodiscard]] planned_symbolic::iterator begin() const { return {*this, 0}; }
    /// The end of these values.
    [[nodiscard]] planned_symbolic::iterator end() const { return {*this, limit()}; }

private:
    friend planned_symbolic::iterator;

    value_id limit() const noexcept { return value_id::of(*this ? plan.buffer_of.size() : 0); }
    static value_id next(value_id v) { return v + 1; }
    value_id placed_from(value_id v) const
    {
        while (v < limit() && plan.buffer_of[v] == no_buffer) ++v;
        return v;
    }
    planned_symbolic::placed_value at(value_id v) const
    {
        return {v, plan.buffers[plan.buffer_of[v]].pool, {plan, v}};
    }
};

/// Plans storage for every shape in the ranges of `options.dims`, in the reading `options.valid_for`.
///
/// Requires:   `options.order`, if given, names every node once; ranges are not empty, strides at least 1.
/// Ensures:    `plan.at(shape)` is a plan for each shape, and proved unless `options.check` is off or a size
///             is by shape. error() is a counterexample if there is none: an order as in plan_memory() (of a
///             view with an open place or size all bytes of its storage count there), or as in
///             plan_concurrent(); a view that is not proved to be within its root, a pin, or a capacity, for
///             every shape. Its member at_shape is a shape that shows it. For every schedule, no reuse relies
///             on a wait that only some shapes have, and all waits of all shapes together have no cycle.
/// Complexity: O(nodes + edges + touches + values), check_plan(), and choose_stacking() at most 17 times; for
///             every schedule also find_conflict_ranges(), and O(n^2 log) for n buffers.
/// Throws:     precondition_error if a precondition of a stage is violated; for a pool with a largest block,
///             a pinned view at an offset that depends on the shape, the reading of control flow, hand-offs
///             in one order, more than 8192 buffers for every schedule, or bytes of one shape that exceed 64
///             bits together.
[[nodiscard]] planned_symbolic plan_symbolic(snapshot const& p, symbolic_options const& options);
/// The same for a listing, with symbolic_options_of(): the result is asked with handles.
/// Throws: as both.
template <detail::listed L>
[[nodiscard]] auto plan_symbolic(L const& list, symbolic_options options)
{
    return list.named(plan_symbolic(list.program(), symbolic_options_of(list, std::move(options))));
}

/// Writes one line to any text stream: the bytes, or why there is no plan.
template <detail::text_stream Stream>
Stream& operator<<(Stream& out, planned_symbolic::summary const& r)
{
    detail::plain_text<Stream> text{out, r.unit};
    if (!r) {
        text << "no plan: " << r.error();
        return out;
    }
    if (r.buffers == 0) {
        detail::write_unplanned(text, true, r.external.size(), r.unsized.size());
        return out;
    }
    auto write = [&text, &r](formula const& bytes, byte_count planned_symbolic::summary::sample::* of) {
        if (!bytes.is_by_shape()) {
            text << static_cast<char const*>(with_names(bytes, r.dims).characters.data());
        } else if (of != nullptr) {
            byte_count least = no_limit, most = 0;
            for (auto const& sample : r.samples) {
                least = detail::smaller(least, sample.*of);
                most = detail::larger(most, sample.*of);
            }
            text << least << " to " << most;
        } else text << "sizes by shape";
    };
    write(r.arena, &planned_symbolic::summary::sample::arena_bytes);
    text << ' ' << text.units() << " instead of ";
    write(r.naive, nullptr);
    char const* before = ", for ";
    for (std::size_t d = 0; d != r.dims.size(); ++d) {
        formula const its = symbol(static_cast<std::uint32_t>(d));
        text << before << static_cast<char const*>(with_names(its, r.dims).characters.data()) << " from "
             << r.dims[d].least << " to " << r.dims[d].most;
        before = ", ";
    }
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
