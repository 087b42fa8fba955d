// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_CARRIED_HPP
#define SUBLET_CORE_INTERNAL_CARRIED_HPP

/// Values that are carried from each round to the next, in groups.
///
///     { b, a }, { c, b }      a  b  c      in the next round each lies where the one after it lay, and the
///                                          last where the first lay
///
/// A group of two may have one place; of more, or where both are needed at once, each value has its own for
/// the whole round, since another value of the group lies there in other rounds.

#include <sublet/core/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// Why values cannot be carried.
struct carried_fault {
    char const* sentence = nullptr; ///< '%' is one of `values`, '#' one of `numbers`; none: they can
    value_id values[3] = {no_value, no_value, no_value};
    std::uint64_t numbers[2] = {0, 0};

    /// `write_value(v)` for each value, `write(x)` for the other characters and for numbers.
    template <class WriteValue, class Write>
    void write(WriteValue write_value, Write write) const
    {
        std::size_t value = 0, number = 0;
        for (char const* at = sentence; *at != '\0'; ++at)
            if (*at == '%') write_value(values[value++]);
            else if (*at == '#') write(numbers[number++]);
            else write(*at);
    }
};

/// The first of them.
[[nodiscard]] carried_fault fault_of_carried(plan_options const& options, std::size_t values);

/// Each group in the order of the picture, by its first value.
///
/// Complexity: O(values + groups), if any is carried.
/// Throws:     precondition_error if one does not exist, is carried twice or into two, is a view, has storage
///             of its own or a choice of pools, if a group has two sizes or pools, or is a cycle of several.
[[nodiscard]] std::vector<std::vector<value_id>> carried_groups(plan_options const& options,
                                                                std::size_t values);

/// The roles with those of what is carried: an input of the next round, and an output of this one.
[[nodiscard]] per_value<value_role> carried_roles(plan_options const& options);
[[nodiscard]] table<value_id, value_role> carried_roles(plan_options const& options, std::size_t values);

/// Throws: precondition_error if any value is carried.
void expect_no_carried(plan_options const& options, char const* call);

/// Throws: precondition_error if values are kept apart.
void expect_no_apart(plan_options const& options, char const* call);

/// Both, and if any step may be left out.
void expect_one_program(plan_options const& options, char const* call);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/carried.ipp>
#endif

#endif
