// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_INTACT_ARRIVALS_HPP
#define SUBLET_CHECKING_INTACT_ARRIVALS_HPP

/// Which values are intact where the nodes of a control-flow graph begin, whatever path has led there.
///
///          0: def a, def b              at 3: a, for b is lost on the way over 1
///         /              \              2 loses nothing, so at 3 there is what comes over 1
///     1: def c, upon b    2
///         \              /              (c is lost on the way over 2, which has not written it)
///               3
///
/// A write makes one value intact and takes others away, whatever came before. So what becomes of a value on
/// its way through a node does not depend on what else arrives: every node is walked along once, with what
/// the first path brings, and what another path turns out not to bring is followed from there, value by
/// value.
///
/// Source: Kildall, "A unified approach to global program optimization", POPL 1973: the greatest solution, by
/// going down from "everything". That one value at a time can go down is what makes such problems separable.

#include <sublet/checking/intact_values.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <vector>

namespace sublet {

class intact_arrivals {
public:
    /// Requires:   the program has a node; `given` are intact at the entry, ascend and lie apart; `scratch`
    ///             is an empty set, and is left so.
    /// Complexity: O(V + E + touches log n), and for each value that arrives at a node O(log n) and the edges
    ///             that it passes; for each that is lost, once more. Memory: a word for each that arrives.
    intact_arrivals(snapshot const& p, placed_classes const& classes, std::vector<value_id> const& given,
                    intact_values& scratch);

    /// Whether some path from the entry leads there.
    [[nodiscard]] bool is_reached(node_id n) const { return is_reached_[n] != 0; }
    [[nodiscard]] std::vector<unsigned char> const& reached() const { return is_reached_; }

    /// Add what is intact where n begins.
    void enter(node_id n, intact_values& now) const;

private:
    /// Values that the first path has brought, ascending.
    struct arrival {
        std::vector<value_id> values;
        std::vector<unsigned char> is_there; // by index: no path has been found that does not bring it
        std::vector<unsigned char> passes;   // by index: it leaves the node as it came
    };
    struct loss {
        node_id node;
        value_id value;
    };

    void arrive(node_id n, std::vector<value_id> const& values);
    void walk(node_id n, placed_classes const& classes, std::vector<node_id>& written_in, intact_values& now);
    void lose(node_id n, std::size_t i);
    void lose_value(node_id n, value_id v);

    snapshot const& p_;
    std::vector<arrival> arrivals_;         // by node
    std::vector<unsigned char> is_reached_; // by node
    std::vector<unsigned char> is_walked_;  // by node
    std::vector<node_id> open_;             // reached and not yet walked
    std::vector<loss> losses_;              // behind that node, still to be followed
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/intact_arrivals.ipp>
#endif

#endif
