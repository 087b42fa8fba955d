// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_FACTS_HPP
#define SUBLET_CORE_INTERNAL_FACTS_HPP

/// The table of all that is said of values: each fact once, with what becomes of it where a program is made
/// from another one. What reads, copies or compares options goes through this table, or names each member of
/// the options, so that a new member does not compile until it is dealt with everywhere.
///
///     to add a fact       a member of plan_options, a row here, and what the compiler then asks for: what a
///                         listing, a plan for every shape and the checker do with it. test/facts.cpp
///                         asks what each planner does.
///     of a step           a bit of effect_record, its two functions, and a row in each_step_fact() of
///                         graph/snapshot.hpp. What only one planner asks for (durations, the cost of running
///                         a step again) is an option of that planner, and no fact.

#include <sublet/core/internal/asked_options.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sublet::detail {

/// What a value has that is made from another one: a version, what is restored after a spill, or a value of a
/// flat program.
enum class copied_fact : std::uint8_t {
    same, ///< the fact of that value
    own   ///< what the transform says: which values there are, and what they are views of
};

/// What a body may say of a value that it captures.
enum class captured_fact : std::uint8_t {
    same,    ///< nothing, or what holds outside
    divides, ///< a divisor of what holds outside
    renamed  ///< of which captured value it is a view: the same, by its name outside
};

/// A fact of values: a member of plan_options, and of symbolic_options, where T may depend on the shape.
template <class T, class Symbolic = T>
struct value_fact {
    char const* name;
    per_value<T> plan_options::* member;
    per_value<Symbolic> symbolic_options::* symbolic; ///< null: a plan for every shape cannot honour it
    copied_fact copied;
    captured_fact captured;
};

/// Calls visit(fact) for each fact of values but the choices of pools, which are a list.
template <class Visit>
SUBLET_COLD void each_value_fact(Visit visit)
{
    using all = plan_options;
    using sym = symbolic_options;
    using copy = copied_fact;
    using body = captured_fact;
    visit(value_fact<byte_count, formula>{"bytes", &all::bytes, &sym::bytes, copy::same, body::same});
    visit(value_fact<byte_count>{"alignment", &all::alignment, &sym::alignment, copy::same, body::divides});
    visit(value_fact<value_role>{"role", &all::role, &sym::role, copy::own, body::same});
    visit(value_fact<value_id>{"alias_of", &all::alias_of, &sym::alias_of, copy::own, body::renamed});
    visit(value_fact<byte_count, formula>{"view_offset", &all::view_offset, &sym::view_offset, copy::own,
                                          body::renamed});
    visit(value_fact<pool_id>{"pool", &all::pool, &sym::pool, copy::same, body::same});
    visit(value_fact<byte_count>{"pinned", &all::pinned, &sym::pinned, copy::same, body::same});
    visit(value_fact<bool>{"eligible", &all::eligible, &sym::eligible, copy::same, body::same});
    visit(value_fact<std::uint32_t>{"kind", &all::kind, nullptr, copy::same, body::same});
}

/// A member of options that is neither in the table nor here does not compile.
inline void each_member_is_known(plan_options const& all, symbolic_options const& symbolic)
{
    [[maybe_unused]] auto const& [bytes, alignment, role, alias_of, view_offset, pool, pinned, eligible, kind,
                                  pools, pool_choices, carried, optional, apart, order, previous,
                                  previous_value, keep_within, in_place, check, effort] = all;
    [[maybe_unused]] auto const& [bytes_of, dims, bytes_by_shape, alignment_of, role_of, view_of, begin_of,
                                  pool_of, pin_of, is_eligible, all_pools, all_order, reading, handoffs,
                                  samples, goal, takes_pairs, is_checked, work] = symbolic;
}

/// The options that a public call works with, in which each callable is a table.
/// Requires: as asked_options.
[[nodiscard]] asked_options<plan_options> tabulated_options(plan_options const& given, std::size_t values);
[[nodiscard]] asked_options<symbolic_options> tabulated_options(symbolic_options const& given,
                                                                std::size_t values);

/// What a transform says of the values of the program that it makes.
struct own_facts {
    table<value_id, value_id> const& origin; ///< the value of the program before that it was made from
    table<value_id, value_role> const& role;
    table<value_id, value_id> const& alias_of;
    table<value_id, byte_count> const& view_offset;
};

/// The options of a program that was made from another one, with the same nodes: of what a value is made
/// from it has every fact that the transform does not say itself. Its choices of pools, too, unless it is a
/// view or external.
///
/// Complexity: O(facts (before + values) + (values + choices) log values + copied choices).
[[nodiscard]] plan_options options_of_copies(plan_options const& asked, std::size_t before,
                                             own_facts const& own);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/facts.ipp>
#endif

#endif
