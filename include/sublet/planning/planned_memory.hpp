// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_PLANNED_MEMORY_HPP
#define SUBLET_PLANNING_PLANNED_MEMORY_HPP

/// The result of a planner: the plan, a report of its sizes and bounds, and a counterexample if there is
/// none.
///
///     template <class Plan> void use(Plan const& planned)       // the result of any planner
///     {
///         if (!planned) { std::cout << planned.error() << '\n'; return; }
///         std::cout << planned.report() << '\n' << planned.bytes() << ' ' << planned.bytes(1) << '\n';
///         for (auto [value, pool, offset] : planned) std::cout << value << '\n'; // ascending
///     }
///
///     9.19 MiB instead of 143.28 MiB; no plan in this order goes below 9.19 MiB          the report
///     no plan: value 3 is used at position 2 before anything defines it                  without a plan
///     nothing to place: 2 values are external, 1 value of unknown size is not placed

#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace sublet {

/// Sizes and bounds of one pool.
struct pool_report {
    byte_count naive_bytes = 0;       ///< if every buffer had storage of its own
    byte_count lower_bound_bytes = 0; ///< of every plan for the same reading and order
    byte_count arena_bytes = 0;       ///< the size that the plan needs
    position_id peak_position = 0;    ///< at which the lower bound is live; 0 in a plan for every schedule
};

/// Sizes and bounds of a plan: sums over pools (the position is pool 0's), and each pool by itself. Converts
/// to false, with an error, if there is no plan.
struct plan_report : pool_report, verdict {
    /// Of the program, by the planner that was called.
    program_reading reading = program_reading::sequential;
    bool is_scheduled = false; ///< the bound is of plans under the schedule that the hand-offs keep
    std::size_t steps = 0;     ///< of the program
    std::size_t values = 0;    ///< of the program, with and without storage
    std::size_t buffers = 0;        ///< planned ones of more than 0 bytes, after in-place decisions
    table<pool_id, pool_report> pools; ///< of each pool
    std::vector<value_id> largest;  ///< the roots of the five largest buffers, largest first
    std::vector<value_id> external; ///< roots of storage that is not planned: external, or not eligible
    std::vector<value_id> unsized;  ///< roots of storage of unknown size, which is not planned either
    /// The values of `previous` that lie elsewhere now, by value: each with the rule that its former place
    /// would break in this plan. `clash`: `other` lies in its bytes; `outside_arena`: it would cost bytes;
    /// `wrong_pool`, `off_pin`, `misaligned`: what is said of it has changed; `misplaced_view`: it shares
    /// storage with `other`, which stayed; `foreign_plan`: not known, as very many moved.
    std::vector<counterexample> moved;
    double seconds = 0;             ///< processor time from the program to the checked plan
    /// For every schedule: a work budget ended the search for the bound or for offsets, at a cost of at most
    /// gap(). With hand-offs: more steps wait than may be needed.
    bool is_cut_short = false;
    bool is_checked = false;        ///< check_plan has run: the plan is proved
    /// What is printed behind sizes that are no bytes: "qubits". Default: bytes. It has to live as long.
    char const* unit = nullptr;

    /// By how much the arenas exceed the bound: 0.02 is two percent.
    [[nodiscard]] double gap() const
    {
        if (arena_bytes <= lower_bound_bytes) return 0; // lower: a pool with invalid pins was not placed
        return static_cast<double>(arena_bytes) / static_cast<double>(lower_bound_bytes) - 1;
    }
};

namespace detail {

/// A forward iterator over the values of a planner's result that have an offset.
template <class Planned, class Cursor>
class placed_values {
public:
    using difference_type = std::ptrdiff_t;
    using value_type = typename Planned::placed_value;

    placed_values() = default;
    placed_values(Planned const& planned, Cursor at) : planned_(&planned), at_(planned.placed_from(at)) {}

    value_type operator*() const { return planned_->at(at_); }
    placed_values& operator++()
    {
        at_ = planned_->placed_from(planned_->next(at_));
        return *this;
    }
    placed_values operator++(int)
    {
        placed_values const before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(placed_values const& a, placed_values const& b) { return a.at_ == b.at_; }

private:
    Planned const* planned_ = nullptr;
    Cursor at_ = {};
};

} // namespace detail

/// Converts to true if there is a plan: it is valid as far as it was checked. Otherwise it has an error, no
/// values and no bytes; `plan` holds what was planned so far, and must not be used.
struct planned_memory {
    /// A value and its place.
    struct placed_value {
        value_id value = no_value;     ///< the value, by its id in the program
        pool_id pool = 0;              ///< the pool that it lies in
        byte_count offset = no_offset; ///< of its first byte in the arena of the pool
        friend bool operator==(planned_memory::placed_value, planned_memory::placed_value) = default;
    };
    using iterator = detail::placed_values<planned_memory, value_id>; ///< over the values with an offset

    memory_plan plan;                                      ///< what is to be executed, if there is a plan
    plan_report figures;                                   ///< what report() and error() return
    std::vector<memory_plan::in_place_gain> in_place = {}; ///< the pairs that the plan uses, by step

    /// There is a plan.
    explicit operator bool() const noexcept { return bool{figures}; }

    /// Why there is no plan.
    /// Requires: there is none.
    [[nodiscard]] counterexample const& error() const& { return figures.error(); }
    /// The same of a temporary: a copy, which stays valid.
    [[nodiscard]] counterexample error() && { return error(); }

    /// Sizes and bounds; without a plan, also why there is none.
    [[nodiscard]] plan_report const& report() const& noexcept { return figures; }
    /// The same of a temporary: a copy, which stays valid.
    [[nodiscard]] plan_report report() && { return std::move(figures); }

    /// Of the arena of a pool; 0 for a pool that the plan does not have.
    [[nodiscard]] byte_count bytes(pool_id pool = 0) const noexcept
    {
        return *this && pool < plan.arena_bytes.size() ? plan.arena_bytes[pool] : 0;
    }

    /// The values with an offset, ascending: those to write back into an IR.
    [[nodiscard]] planned_memory::iterator begin() const { return {*this, 0}; }
    /// The end of these values.
    [[nodiscard]] planned_memory::iterator end() const { return {*this, limit()}; }

private:
    friend planned_memory::iterator;

    value_id limit() const noexcept { return value_id::of(*this ? plan.buffer_of.size() : 0); }
    static value_id next(value_id v) { return v + 1; }
    value_id placed_from(value_id v) const
    {
        while (v < limit() && plan.offset_of(v) == no_offset) ++v;
        return v;
    }
    planned_memory::placed_value at(value_id v) const { return {v, plan.pool_of(v), plan.offset_of(v)}; }
};

namespace detail {

/// "nothing to place: 2 values are external", or a part of it.
template <class Text>
void write_unplanned(Text& text, bool is_all, std::size_t external, std::size_t unsized)
{
    char const* before = is_all ? ": " : "; ";
    auto write = [&](std::size_t count, char const* one, char const* several) {
        if (count == 0) return;
        text << before << count << (count == 1 ? one : several);
        before = ", ";
    };
    if (is_all) text << "nothing to place";
    if (is_all) write(external, " value is external", " values are external");
    write(unsized, " value of unknown size is not placed", " values of unknown size are not placed");
}

} // namespace detail

/// Writes one line to any text stream: rounded sizes (the members of the report are exact), or why there is no
/// plan.
template <detail::text_stream Stream>
Stream& operator<<(Stream& out, plan_report const& r)
{
    detail::plain_text<Stream> text{out, r.unit};
    if (!r) {
        text << "no plan: " << r.error();
        return out;
    }
    if (r.naive_bytes == 0) {
        detail::write_unplanned(text, true, r.external.size(), r.unsized.size());
        return out;
    }
    detail::write_bytes(text, r.arena_bytes);
    text << " instead of ";
    detail::write_bytes(text, r.naive_bytes);
    text << "; no plan ";
    if (r.is_scheduled) text << "in this schedule";
    else if (r.reading == program_reading::concurrent) text << "for every schedule";
    else if (r.reading == program_reading::control_flow) text << "for every path";
    else text << "in this order";
    text << " goes below ";
    detail::write_bytes(text, r.lower_bound_bytes);
    if (r.is_cut_short) text << "; the budget of work was spent before the search was over";
    detail::write_unplanned(text, false, r.external.size(), r.unsized.size());
    if (!r.moved.empty())
        text << "; " << r.moved.size() << (r.moved.size() == 1 ? " value" : " values") << " moved";
    return out;
}

/// Writes the report.
template <detail::text_stream Stream>
Stream& operator<<(Stream& out, planned_memory const& planned)
{
    return out << planned.report();
}

} // namespace sublet

#endif
