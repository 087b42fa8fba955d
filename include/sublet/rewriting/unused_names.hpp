// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_UNUSED_NAMES_HPP
#define SUBLET_REWRITING_UNUSED_NAMES_HPP

/// Numbers that make names which nobody has.
///
///     prefix "slot"      in use: conv1, slot0, slot2, slot07        unused: slot1, slot3, slot4 ...
///
/// Names of slots stand beside all the names of a program, which come from files and from other planners. So
/// they are looked at, and whatever reads like one of ours is left out: no prefix has to be believed in.
///
/// Source: what Caffe2's memonger left to chance (`__m<i>_shared`): planned twice in one scope, values that
/// had nothing to do with each other became one.

#include <sublet/reporting/names.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sublet {

/// The number behind the prefix, if the name is the prefix and a number as it is usually written, without
/// leading zeros, and fits 64 bits. What an earlier renaming may have made.
[[nodiscard]] constexpr std::optional<std::uint64_t> number_behind(std::string_view prefix,
                                                                   std::string_view name)
{
    if (name.size() <= prefix.size() || name.substr(0, prefix.size()) != prefix) return std::nullopt;
    name.remove_prefix(prefix.size());
    if (name[0] == '0' && name.size() != 1) return std::nullopt;
    std::uint64_t number = 0;
    for (char c : name) {
        if (c < '0' || c > '9') return std::nullopt;
        auto const digit = static_cast<std::uint64_t>(c - '0');
        if (number > (~std::uint64_t{0} - digit) / 10) return std::nullopt;
        number = 10 * number + digit;
    }
    return number;
}

/// The lowest `count` numbers that make a name which is none of `names` names, `name_of(0)` and so on.
///
/// Ensures:    ascending. A name of more than one writer may be listed more than once.
/// Complexity: O(characters + names log names + count) time, O(names + count) memory.
/// Throws:     whatever `name_of` throws.
template <name_function Names>
[[nodiscard]] std::vector<std::uint64_t> unused_names(std::string_view prefix, std::size_t count,
                                                      std::size_t names, Names name_of)
{
    std::vector<std::uint64_t> taken;
    std::vector<char> text;
    for (std::size_t i = 0; i != names; ++i) {
        detail::read_name(text, name_of, static_cast<value_id>(i));
        if (auto const number = number_behind(prefix, std::string_view(text.data(), text.size())))
            taken.push_back(*number);
    }
    sort_ascending(taken);
    std::vector<std::uint64_t> unused;
    std::size_t next = 0;
    for (std::uint64_t number = 0; unused.size() != count; ++number) {
        while (next != taken.size() && taken[next] < number) ++next;
        if (next == taken.size() || taken[next] != number) unused.push_back(number);
    }
    return unused;
}

} // namespace sublet

#endif
