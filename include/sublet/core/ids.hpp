// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_IDS_HPP
#define SUBLET_CORE_IDS_HPP

/// Numbers of 32 bits, of a type for each kind of thing: a value is never taken for a buffer.
///
///     node 7, value 3, step 12      dense numbers from 0, so a table is indexed by them
///     no_value, no_step             the largest number of each kind: none
///
///     value_id v = 3;               from any integer; -1 of a signed type is none
///     bytes[v]; v + 1;              an id converts to its number, a std::uint32_t,
///     buffer_id b = v;              and never to an id of another kind: this does not compile
///     v == b;                       nor does this
///
/// In a template, a generic lambda among them, clang up to 19 takes std::vector<value_id>{5} for five values,
/// as it does for every class that is made from an int: write std::vector{value_id{5}}.

#include <sublet/core/errors.hpp>
#include <sublet/core/internal/id.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {
using node_id = detail::id<detail::kind::node>;   ///< of the program's graph: an operation or a basic block
using value_id = detail::id<detail::kind::value>; ///< a result of a step that other steps use
using step_id = detail::id<detail::kind::step>;   ///< one operation
using position_id = detail::id<detail::kind::position>; ///< in an order of steps: 0 is that of the first
using buffer_id = detail::id<detail::kind::buffer>;   ///< values that share bytes: views and in-place results
using slot_id = detail::id<detail::kind::slot>;       ///< storage without address that buffers occupy in turn
using pool_id = detail::id<detail::kind::pool>;       ///< a kind of memory
using program_id = detail::id<detail::kind::program>; ///< a program of a tree; 0: the root

inline constexpr node_id no_node = -1;         ///< no such node
inline constexpr value_id no_value = -1;       ///< no such value; an absent operand
inline constexpr step_id no_step = -1;         ///< no such step, or none is known
inline constexpr position_id no_position = -1; ///< no such position, or none is known
inline constexpr buffer_id no_buffer = -1;     ///< the value has no buffer
inline constexpr slot_id no_slot = -1;         ///< the value needs no slot

/// A value of a program in a tree of programs.
struct tree_value {
    program_id program = 0;    ///< the program that has it
    value_id value = no_value; ///< its id there
    friend bool operator==(tree_value, tree_value) = default;
};

/// An entry for each thing of one kind: a vector that is indexed by an id of that kind, or by an integer.
///
///     table<value_id, buffer_id> buffer_of;      buffer_of[v]; buffer_of[b] does not compile
template <class Id, class T>
class table : public std::vector<T> {
public:
    using std::vector<T>::vector;
    table() = default;
    /// Takes the entries.
    table(std::vector<T> entries) noexcept : std::vector<T>(std::move(entries)) {}

    /// The entry of a thing.
    /// Requires: there is one.
    [[nodiscard]] T& operator[](Id of) noexcept { return std::vector<T>::operator[](of); }
    /// The same of a constant table.
    [[nodiscard]] T const& operator[](Id of) const noexcept { return std::vector<T>::operator[](of); }
    /// The same, of its number.
    template <detail::integer I>
    [[nodiscard]] T& operator[](I number) noexcept
    {
        return std::vector<T>::operator[](static_cast<std::size_t>(number));
    }
    /// The same of a constant table.
    template <detail::integer I>
    [[nodiscard]] T const& operator[](I number) const noexcept
    {
        return std::vector<T>::operator[](static_cast<std::size_t>(number));
    }
};

namespace detail {

/// Says why `order` does not name each of 0 ... count - 1 once. `item` is what they are: "node", "step".
/// Requires: it does not.
[[noreturn]] void broken_numbers(std::vector<std::uint32_t> const& order, std::size_t count,
                                 char const* item);
template <class Ids>
[[noreturn]] void broken_order(Ids const& order, std::size_t count, char const* item = "node")
{
    broken_numbers({order.begin(), order.end()}, count, item);
}

} // namespace detail
} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/ids.ipp>
#endif

#endif
