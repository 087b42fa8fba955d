// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_DETAIL_AVAILABLE_VALUES_HPP
#define SUBLET_CHECKING_DETAIL_AVAILABLE_VALUES_HPP

/// Which values are intact where, along every path. Included by the checker of control-flow plans.

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

// --- intact values ---------------------------------------------------------------------------------------

/// The values whose bytes in the arena are as they were written.
///
///     offset 0      64     128    192
///            [== a ==)[== c ==)              a and c are intact
///                 [=== b ===)                then b is written: it takes both away
///
/// Who is intact lies apart, but for values of one class. So there is one order by offset, and whoever a
/// write hits stands next to it there, in a row.

namespace sublet::detail {

/// The classes that have a place, by pool and offset. Refers to what it is made of.
class placed_classes {
public:
    /// Requires: check_places has passed the plan.
    placed_classes(plan_requirements const& required, memory_plan const& plan);
    [[nodiscard]] std::size_t size() const { return root_.size(); }
    [[nodiscard]] bool is_placed(value_id v) const { return plan_->buffer_of[v] != no_buffer; }
    /// Where v's class stands among all.  Requires: v is placed.
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
    /// `value` is there where `other` is written.
    [[nodiscard]] witness clash(value_id value, value_id other, step_id position) const;
    /// Call `visit(rank)` for those in `set` that v's class overlaps, itself left out; it may take them out.
    ///
    /// Requires:   those in `set` lie apart.
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

/// A set of values that are intact together. All that are named have to be placed.
class available_set {
public:
    explicit available_set(placed_classes const& all, std::size_t values)
        : all_(&all), has_(values, 0), count_(all.size(), 0), classes_(all.size())
    {
    }
    [[nodiscard]] bool has(value_id v) const { return has_[v] != 0; }

    /// Requires: no other class in the set overlaps that of v.
    void add(value_id v);
    /// Adds v and takes away what that overlaps, values of its own class excepted.
    ///
    /// Complexity: O(log n) and as much for each class that goes, and O(1) for each of its values.
    void write(value_id v);
    /// All of them, ascending; none is left.
    ///
    /// Complexity: O(k), k = values added since this was called last, if they ascended; O(k + m log m) if the
    ///             last m of them are out of order.
    [[nodiscard]] std::vector<value_id> drain();

private:
    placed_classes const* all_;
    std::vector<unsigned char> has_;   // by value
    std::vector<std::uint32_t> count_; // by rank: of its values, how many are in
    rank_set classes_;
    std::vector<value_id> listed_; // all that are in, and some that no longer are, or twice
};

// --- intact arrivals -------------------------------------------------------------------------------------

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

class available_values {
public:
    /// Requires:   the program has a node; `given` are intact at the entry, ascend and lie apart; `scratch`
    ///             is an empty set, and is left so.
    /// Complexity: O(V + E + touches log n), and for each value that arrives at a node O(log n) and the edges
    ///             that it passes; for each that is lost, once more. Memory: a word for each that arrives.
    available_values(snapshot const& p, placed_classes const& classes, std::vector<value_id> const& given,
                     available_set& scratch);

    /// Whether some path from the entry leads there.
    [[nodiscard]] bool is_reached(node_id n) const { return is_reached_[n] != 0; }
    [[nodiscard]] std::vector<unsigned char> const& reached() const { return is_reached_; }

    /// Add what is intact where n begins.
    void add_at_entry(node_id n, available_set& available) const;

private:
    /// Values that the first path has brought, ascending.
    struct entry_state {
        std::vector<value_id> values;
        std::vector<unsigned char> is_available; // by index: no path has been found that does not bring it
        std::vector<unsigned char> is_preserved; // by index: it leaves the node as it came
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
    std::vector<killed_value> killed_;      // behind that node, still to be followed
};

// --- spoiling path ---------------------------------------------------------------------------------------

/// Why a value is not intact: a path on which it is written, and then something else is, over it.
///
///     0: def a ──► 1: def b, upon a ──► 2: use a        from the use back: 2, 1 (b spoils it), 0 (a)
///       └──────────────────────────────►┘               the other way nothing is wrong
///
/// The search goes backwards, and in two states: what has spoilt the value is still to be met, or it has been
/// and a write of the value before is still to be met. Who comes to the entry without one has only found that
/// the value was never written, which is no matter of places.

/// What a search for a path has to know. Refers to what it is made of.
struct clobber_query {
    snapshot const& program;
    plan_requirements const& required;
    placed_classes const& classes;
    std::vector<unsigned char> is_reached; ///< by node, from the entry
    std::vector<value_id> entry_overlap;   ///< by rank of what is given: another that is, upon it; `no_value`
};

/// A path on which v is written or given, then something else is over it, and then step `before` of node n
/// comes (or its end, if it has no such step).
///
/// Ensures:    the witness says what spoils v, and where.
/// Complexity: O(V + E + touches).
[[nodiscard]] std::optional<witness> find_clobber_path(clobber_query const& query, value_id v, node_id n,
                                                       step_id before);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/available_values.ipp>
#endif

#endif
