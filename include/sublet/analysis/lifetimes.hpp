// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_LIFETIMES_HPP
#define SUBLET_ANALYSIS_LIFETIMES_HPP

/// When each value is alive, if the steps run one after the other.
///
///     position        0        1        2        3
///                   def a  use a      use a    def d
///                          def b      def c
///     a             [==================)                 to the end of its last touch
///     b                    [==)                          never read, but written all the same
///
/// A use holds its storage to the end of its step, so no output of a step shares with its inputs; a use
/// declared early ends where the writes of its step begin. The order is the caller's and is only checked:
/// a value that is used before it is defined, or whose second write now comes before a read of the first, is
/// a fact about that order, returned as a witness.

#include <sublet/graph/snapshot.hpp>
#include <sublet/live_range.hpp>
#include <sublet/per_value.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

/// The steps by position, if the nodes run in `order` (empty: 0, 1, 2 ...), those of a node together.
///
/// Complexity: O(nodes + steps).
/// Throws:     precondition_error if `order` does not name every node once.
[[nodiscard]] std::vector<step_id> steps_in_order(snapshot const& p, std::vector<node_id> const& order);

enum class order_fault : std::uint8_t {
    never_defined, ///< `value` is needed at `position` (the number of positions: at the end) and defined
                   ///< nowhere
    defined_later, ///< it is needed there, and its first def is not before
    write_moved    ///< it is written there, on the other side of another of its touches than in the program
};

struct order_violation {
    value_id value = no_value;
    step_id position = 0;
    order_fault what = order_fault::never_defined;
    friend bool operator==(order_violation, order_violation) = default;
};

namespace detail {

/// A write that has changed sides with another touch of its value, against the order of the program: somebody
/// would read another version than it was meant to. A value that is written once and not given has no other
/// version, wherever its def stands in the program.  O(touches log touches)
std::optional<order_violation> moved_write(snapshot const& p, std::vector<step_id> const& steps,
                                           std::vector<value_role> const& role);

/// The first position after which an edge leads to a node whose turn is not later. There the steps do not
/// run one after the other, each once.  O(V + E)
///
/// Requires: `order` is empty or names every node once.
std::optional<step_id> first_edge_back(snapshot const& p, std::vector<node_id> const& order);

} // namespace detail

struct live_ranges {
    std::vector<live_range> of; ///< by value; empty for a value that is neither touched nor given nor output
    step_id positions = 0;
    /// The first in time, then by value; of moved writes, looked for if there is no other, any one.
    std::optional<order_violation> violation;
};

struct lifetimes_options {
    per_value<value_role> role = value_role::intermediate;
    std::vector<node_id> order = {}; ///< empty: 0, 1, 2 ...
};

/// The live range of every value in an order of the nodes: the sequential reading of a program.
///
/// Ensures:    an input lives from position 0, an output to the end. A value with several defs is one
///             value, alive from the first to its last touch. A use at the end of a predecessor follows
///             what that node's last step writes. Where `violation` is set, ranges are of no use.
/// Complexity: O(nodes + values + touches) time and memory; where an order is given, another
///             O(touches log touches) for its check.
/// Throws:     precondition_error if the order does not name every node once.
[[nodiscard]] live_ranges lifetimes(snapshot const& p, lifetimes_options const& options = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/lifetimes.ipp>
#endif

#endif
