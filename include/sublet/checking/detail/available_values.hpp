// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_DETAIL_AVAILABLE_VALUES_HPP
#define SUBLET_CHECKING_DETAIL_AVAILABLE_VALUES_HPP

/// Available values: which placed values are intact at each point of a control-flow graph, on every path. A
/// forward must-analysis with one walk of each node, then removal of one value at a time; and, for a value
/// that is not available, a path that clobbers it.

#include <sublet/checking/detail/places.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/detail/plan_requirements.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// --- available sets --------------------------------------------------------------------------------------

/// A set of values with intact bytes in the arena.
///
///     offset 0      64     128    192
///            [== a ==)[== c ==)              a and c are available
///                 [=== b ===)                a write of b removes both
///
/// Available classes are disjoint, so ordered by offset; those that a write overlaps are its neighbours.

namespace sublet::detail {

/// The classes with a place, by pool and offset. Refers to its arguments.
class placed_classes {
public:
    /// Requires: check_places has passed the plan.
    placed_classes(plan_requirements const& required, memory_plan const& plan);
    [[nodiscard]] std::size_t size() const { return root_.size(); }
    [[nodiscard]] bool is_placed(value_id v) const { return plan_->buffer_of[v] != no_buffer; }
    /// The rank of v's class by pool and offset.  Requires: v is placed.
    [[nodiscard]] std::uint32_t rank_of(value_id v) const { return rank_[required_->root[v]]; }
    [[nodiscard]] value_id root_at(std::uint32_t rank) const { return root_[rank]; }
    [[nodiscard]] std::span<value_id const> values_at(std::uint32_t rank) const { return values_of_[rank]; }

    [[nodiscard]] common_bytes overlap(value_id a, value_id b) const
    {
        return detail::overlap(*required_, *plan_, required_->root[a], required_->root[b]);
    }
    [[nodiscard]] bool overlaps(value_id a, value_id b) const
    {
        auto const [begin, end] = overlap(a, b);
        return begin < end;
    }
    /// The witness: `value` is live where `other` is written.
    [[nodiscard]] witness clash(value_id value, value_id other, step_id position) const;
    /// Calls `visit(rank)` for the other classes in `set` that overlap v's class; it may remove them.
    ///
    /// Requires:   the classes in `set` are disjoint.
    /// Complexity: O(log n) for each call, and once more.
    template <class Visit>
    void for_each_overlap(rank_set const& set, value_id v, Visit visit) const
    {
        std::uint32_t const own_rank = rank_of(v), below = set.below(own_rank);
        if (below != rank_set::none && overlaps(root_[below], v)) visit(below);
        for (std::uint32_t above = set.above(own_rank); above != rank_set::none && overlaps(root_[above], v);
             above = set.above(above))
            visit(above);
    }

private:
    plan_requirements const* required_;
    memory_plan const* plan_;
    std::vector<std::uint32_t> rank_; // by root
    std::vector<value_id> root_;      // by rank
    csr_rows values_of_;              // by rank
};

class available_set {
public:
    explicit available_set(placed_classes const& all, std::size_t values)
        : all_(&all), has_(values, 0), count_(all.size(), 0), classes_(all.size())
    {
    }
    [[nodiscard]] bool has(value_id v) const { return has_[v] != 0; }

    /// Requires: no other class in the set overlaps that of v.
    void add(value_id v);
    /// Adds v and removes the values that it overlaps, except those of its own class.
    ///
    /// Complexity: O(log n), the same for each class removed, and O(1) for each of its values.
    void write(value_id v);
    /// Removes all values and returns them ascending.
    ///
    /// Complexity: O(k), k = values added since the last call, if they ascended; O(k + m log m) if the last m
    ///             of them are out of order.
    [[nodiscard]] std::vector<value_id> drain();

private:
    placed_classes const* all_;
    std::vector<unsigned char> has_;   // by value
    std::vector<std::uint32_t> count_; // by rank: its values in the set
    rank_set classes_;
    std::vector<value_id> listed_; // all in the set; also some removed ones, and duplicates
};

// --- available values ------------------------------------------------------------------------------------

/// Available values at the entry of each node, on every path from the program's entry.
///
///          0: def a, def b              at 3: a, since b is overwritten on the path over 1
///         /              \              2 clobbers nothing, so at 3 the values that come over 1 are left
///     1: def c, over b    2
///         \              /              (c is not written on the path over 2)
///               3
///
/// A write makes one value available and removes others, whatever came before. So the effect of a node on a
/// value does not depend on the other values: each node is walked once, with the values of the first path
/// that reaches it; a value that another path does not bring is removed there and from its successors.
///
/// Source: Kildall, "A unified approach to global program optimization", POPL 1973: the greatest fixed point.
/// Because the problem is separable, it can be lowered one value at a time.

class available_values {
public:
    /// Requires:   the program has a node; `given` are available at the entry, ascend and are disjoint;
    ///             `scratch` is an empty set, and is left so.
    /// Complexity: O(V + E + touches log n), and for each value available at a node O(log n) and the edges
    ///             that it passes, twice if it is removed. Memory: a word for each value at each node.
    available_values(snapshot const& p, placed_classes const& classes, std::vector<value_id> const& given,
                     available_set& scratch);

    [[nodiscard]] bool is_reached(node_id n) const { return is_reached_[n] != 0; }
    [[nodiscard]] std::vector<unsigned char> const& reached() const { return is_reached_; }

    void add_at_entry(node_id n, available_set& available) const;

private:
    /// The values available on the first path, ascending.
    struct entry_state {
        std::vector<value_id> values;
        std::vector<unsigned char> is_available; // by index: on all paths found so far
        std::vector<unsigned char> is_preserved; // by index: the node does not write or clobber it
    };
    struct killed_value {
        node_id node;
        value_id value;
    };

    void apply_meet(node_id n, std::vector<value_id> const& values);
    void walk(node_id n, placed_classes const& classes, std::vector<node_id>& written_in,
              available_set& available);
    void kill(node_id n, std::size_t i);
    void kill_value(node_id n, value_id v);

    snapshot const& p_;
    std::vector<entry_state> entry_states_; // by node
    std::vector<unsigned char> is_reached_; // by node
    std::vector<unsigned char> is_walked_;  // by node
    std::vector<node_id> open_;             // reached and not yet walked
    std::vector<killed_value> killed_;      // removed at the exit of that node, to be propagated
};

// --- clobber path ----------------------------------------------------------------------------------------

/// A clobber path: a path on which a value is written, and then another value over it.
///
///     0: def a ──► 1: def b, over a ──► 2: use a        backwards from the use: 2, 1 (b clobbers a), 0 (a)
///       └──────────────────────────────►┘               the other path is valid
///
/// A backward search over pairs of a node and a state: the clobbering write is still to be found, or it was
/// found and a write of the value before it is still to be found. If the search reaches the entry without a
/// write, the value was never written on that path, which is no fault of the placement.

/// Refers to its arguments.
struct clobber_query {
    snapshot const& program;
    plan_requirements const& required;
    placed_classes const& classes;
    std::vector<unsigned char> is_reached; ///< by node, from the entry
    std::vector<value_id> entry_overlap;   ///< by rank: a given value that overlaps the given one, or none
};

/// A path on which v is written or given, then another value is written over it, up to step `before` of node
/// n (or its end, if it has no such step).
///
/// Ensures:    the witness names the clobbering value and its position.
/// Complexity: O(V + E + touches).
[[nodiscard]] std::optional<witness> find_clobber_path(clobber_query const& query, value_id v, node_id n,
                                                       step_id before);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/available_values.ipp>
#endif

#endif
