// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_DETAIL_AVAILABLE_VALUES_HPP
#define SUBLET_CHECKING_DETAIL_AVAILABLE_VALUES_HPP

/// Available values: which placed values are intact at each point of a control-flow graph, on every path. A
/// forward must-analysis over sets that share what they have in common; and, for a value that is not
/// available, a path that clobbers it.

#include <sublet/checking/internal/places.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/internal/plan_requirements.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// --- shared sets -----------------------------------------------------------------------------------------

/// Sets of numbers below n, each a binary tree with 64 numbers in a leaf. A set that differs from another one
/// in few numbers shares the other subtrees with it.
///
///     { 3, 200 }       *              { 3, 70, 200 }     *         both have this leaf: 3
///                    ╱   ╲                              ╱   ╲
///                   *     *                            *     *     and this subtree: 200
///                  ╱       ╲                          ╱ ╲
///                 3        200                       3  70
///
/// Source: Driscoll, Sarnak, Sleator and Tarjan, "Making data structures persistent", JCSS 38, 1989: path
/// copying.

namespace sublet::detail {

/// The numbers [first, last).
struct number_range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
};

class shared_sets {
public:
    using set = std::uint32_t; // 0: empty
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    explicit shared_sets(std::size_t n);

    /// Complexity: O(log n).
    [[nodiscard]] bool has(set s, std::uint32_t i) const;
    /// The closest number from `i` on, or before `i`; or `none`.  O(log n)
    [[nodiscard]] std::uint32_t from(set s, std::uint32_t i) const { return from(s, top_, 0, i); }
    [[nodiscard]] std::uint32_t before(set s, std::uint32_t i) const { return before(s, top_, 0, i); }
    /// With the number i.  O(log n) time and memory
    [[nodiscard]] set with(set s, std::uint32_t i) { return change(s, top_, 0, {i, i + 1}, true); }
    /// Without the numbers of the range.  O(log n) time and memory
    [[nodiscard]] set without(set s, number_range numbers) { return change(s, top_, 0, numbers, false); }
    /// What is in all of them: the first one if that is equal.
    ///
    /// Requires:   there is one.
    /// Complexity: O(k log k) for each tree node at which they differ, in k ways.
    [[nodiscard]] set common(std::vector<set> const& sets) { return combined(sets, false); }
    /// What is in any of them, in the same way.
    [[nodiscard]] set united(std::vector<set> const& sets) { return combined(sets, true); }
    /// Calls `visit(number)` for what is in both. `is_wanted(level, i)`: whether a number from (64 << level)
    /// * i on is wanted, of as many.
    template <class Wanted, class Visit>
    void each_common(set a, set b, Wanted is_wanted, Visit visit) const
    {
        struct pair {
            set a, b;
            unsigned level;
            std::uint32_t index;
        };
        std::vector<pair> open{{a, b, top_, 0}};
        while (!open.empty()) {
            pair const at = open.back();
            open.pop_back();
            if (at.a == 0 || at.b == 0 || !is_wanted(at.level, at.index)) continue;
            for (bool is_right : {true, false})
                if (at.level != 0)
                    open.push_back({child(at.a, is_right), child(at.b, is_right), at.level - 1,
                                    2 * at.index + static_cast<std::uint32_t>(is_right)});
            if (at.level != 0) continue;
            for (std::uint64_t rest = nodes_[at.a] & nodes_[at.b]; rest != 0; rest &= rest - 1)
                visit(64 * at.index + static_cast<std::uint32_t>(std::countr_zero(rest)));
        }
    }
    [[nodiscard]] unsigned levels() const { return top_ + 1; }

    /// Sets made after this call do not change older ones; these it may reuse.
    void keep() { kept_ = nodes_.size(); }
    /// Forgets sets that were made after keep().
    void release() { nodes_.resize(kept_); }

private:
    [[nodiscard]] std::uint32_t from(set s, unsigned level, std::uint64_t base, std::uint32_t i) const;
    [[nodiscard]] std::uint32_t before(set s, unsigned level, std::uint64_t base, std::uint32_t i) const;
    set change(set s, unsigned level, std::uint64_t base, number_range numbers, bool is_in);
    set combined(std::vector<set> const& sets, bool is_union);
    set combined(std::size_t first, unsigned level, bool is_union);
    set made(std::uint64_t node, set reused = 0);
    [[nodiscard]] set child(set s, bool is_right) const
    {
        return static_cast<set>(is_right ? nodes_[s] >> 32 : nodes_[s]);
    }

    std::vector<std::uint64_t> nodes_{
        0}; // a leaf: its numbers as bits; others: the children, the left one low
    std::size_t kept_ = 1;
    unsigned top_ = 0;       // the level of roots; that of leaves is 0
    std::vector<set> stack_; // of combined(): lists
};

// --- sets along paths ------------------------------------------------------------------------------------

/// What holds at the entry of each node on every path from the program's entry, or on some path; or at its
/// end on some path to an end of the program.
///
/// A node is walked with what holds where it is entered: what holds where it is left at all nodes, or at any
/// node, from which the paths come. It is walked again if that has changed. Sets share what did not change,
/// so comparing two of them costs what they differ in, not what they hold.
///
/// Source: Kildall, "A unified approach to global program optimization", POPL 1973.

struct sets_along_paths {
    table<node_id, shared_sets::set> entering, leaving;
    table<node_id, unsigned char> is_reached; // from the program's entry
};

enum class along : std::uint8_t { all_paths, some_path, some_path_backwards };

/// The nodes that the entry reaches, each before its successors, except where edges lead back; or in reverse.
///
/// Complexity: O(V + E).
std::vector<node_id> order_along(along which, snapshot const& p);

/// `walk(n, set)` is the set with which n is left, made of that with which it is entered; `first` enters the
/// first node. Only nodes that the entry reaches are walked.
///
/// Requires:   the program has a node; what leaves a node only grows or only shrinks with what enters it.
/// Complexity: O((V + E) log n) and one walk for each node, if each is walked once, as without loops; and
/// O(log n)
///             for each number in which sets that meet differ.
template <class Walk>
sets_along_paths find_along_paths(along which, snapshot const& p, shared_sets& sets, shared_sets::set first,
                                  Walk walk)
{
    std::vector<node_id> const order = order_along(which, p);
    using edges = csr_rows<node_id, node_id>;
    edges const &before = which == along::some_path_backwards ? p.graph() : p.predecessors(),
                &after = which == along::some_path_backwards ? p.predecessors() : p.graph();
    sets_along_paths found{table<node_id, shared_sets::set>(p.nodes(), 0),
                           table<node_id, shared_sets::set>(p.nodes(), 0),
                           table<node_id, unsigned char>(p.nodes(), 0)};
    table<node_id, std::uint32_t> index_of(p.nodes(), 0);
    rank_set open(order.size()); // indices of nodes to walk, or to walk again
    for (std::uint32_t i = 0; i != order.size(); ++i) {
        index_of[order[i]] = i;
        found.is_reached[order[i]] = 1;
        open.insert(i);
    }
    std::vector<shared_sets::set> meeting;
    table<node_id, unsigned char> is_walked(p.nodes(), 0);
    bool is_upwards = true;
    auto next_open = [&](std::uint32_t i) { // in sweeps along the order and against it
        if (open.contains(i)) return i;
        std::uint32_t const next = is_upwards ? open.above(i) : open.below(i);
        if (next != rank_set::none) return next;
        is_upwards = !is_upwards;
        return is_upwards ? open.above(i) : open.below(i);
    };
    for (std::uint32_t i = 0; i != rank_set::none; i = next_open(i)) {
        open.erase(i);
        node_id const n = order[i];
        meeting.clear();
        if (is_walked[n]) meeting.push_back(found.entering[n]);
        if (n == 0 && which != along::some_path_backwards) meeting.push_back(first);
        for (node_id from : before[n])
            if (is_walked[from]) meeting.push_back(found.leaving[from]);
        if (meeting.empty()) meeting.push_back(0);
        shared_sets::set const entering =
            which == along::all_paths ? sets.common(meeting) : sets.united(meeting);
        if (is_walked[n] && entering == found.entering[n]) continue;
        is_walked[n] = 1;
        found.entering[n] = entering;
        sets.keep();
        found.leaving[n] = walk(n, entering);
        for (node_id next : after[n])
            if (found.is_reached[next] && is_walked[next]) open.insert(index_of[next]);
    }
    sets.keep();
    return found;
}

} // namespace sublet::detail

// --- available sets --------------------------------------------------------------------------------------

/// A set of values with intact bytes in the arena.
///
///     offset 0      64     128    192
///            [== a ==)[== c ==)              a and c are available
///                 [=== b ===)                a write of b removes both
///
/// Available classes are disjoint, so ordered by offset; those that a write overlaps are its neighbours. So
/// values are numbered by the rank of their class.

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
    [[nodiscard]] std::size_t values() const { return value_.size(); }
    /// The numbers of the values of a class.
    [[nodiscard]] number_range numbers_at(std::uint32_t rank) const
    {
        return {first_[rank], first_[rank + 1]};
    }
    [[nodiscard]] std::uint32_t number_of(value_id v) const { return number_[v]; }
    [[nodiscard]] value_id value_at(std::uint32_t number) const { return value_[number]; }

    [[nodiscard]] pool_place place_at(std::uint32_t rank) const { return place_of(*plan_, root_[rank]); }
    [[nodiscard]] byte_count bytes_at(std::uint32_t rank) const { return required_->bytes[root_[rank]]; }

    [[nodiscard]] common_bytes overlap(value_id a, value_id b) const
    {
        return detail::overlap(*required_, *plan_, required_->root[a], required_->root[b]);
    }
    [[nodiscard]] bool overlaps(value_id a, value_id b) const
    {
        auto const [begin, end] = overlap(a, b);
        return begin < end;
    }
    /// The counterexample: `value` is live where `other` is written.
    [[nodiscard]] counterexample clash(value_id value, value_id other, position_id position) const;
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
    table<value_id, std::uint32_t> rank_;   // by root
    std::vector<value_id> root_;            // by rank
    std::vector<std::uint32_t> first_;      // by rank: the first number
    table<value_id, std::uint32_t> number_; // by value
    std::vector<value_id> value_;           // by number
};

class available_set {
public:
    explicit available_set(placed_classes const& all) : all_(&all), sets_(all.values()) {}
    /// Requires: v is placed.
    [[nodiscard]] bool has(value_id v) const { return sets_.has(now_, all_->number_of(v)); }
    [[nodiscard]] shared_sets& sets() { return sets_; }
    [[nodiscard]] shared_sets::set now() const { return now_; }
    void become(shared_sets::set other) { now_ = other; }

    /// Requires: no other class in the set overlaps that of v.
    void add(value_id v) { now_ = sets_.with(now_, all_->number_of(v)); }
    /// Adds v and removes the values that it overlaps, except those of its own class.
    ///
    /// Complexity: O(log n), and the same for each class removed.
    void write(value_id v);

private:
    /// Removes the class of this number, if it overlaps v.
    bool clobber(std::uint32_t number, value_id v);

    placed_classes const* all_;
    shared_sets sets_;
    shared_sets::set now_ = 0;
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
/// Requires:   the program has a node; `given` are available at the entry and are disjoint; `scratch` is
/// empty. It
///             has the sets of the result.
/// Complexity: as find_along_paths; O(log n) for each touch walked.
sets_along_paths find_available(snapshot const& p, placed_classes const& classes,
                                std::vector<value_id> const& given, available_set& scratch);

// --- contested classes -----------------------------------------------------------------------------------

/// Classes of which a read may find other bytes: where one is written over it, it was written on some path
/// before, and is needed on some path afterwards. Of any other class, a value that is not available was not
/// written at all.
///
///     0: def a          1 writes over a, but there a was not written; 2 does, but there a is not needed
///        ╱   ╲
///     1: b    2: use a, then def b

/// By rank, whether the class is contested, or may be: a class of several values counts as needed before all
/// of its reads. `read_by_edges`: by node, the values read where it ends; `reads_outputs`: by node, whether
/// `outputs` are.
///
/// Complexity: as find_along_paths, and O(log n) for each contested class that a write overlaps.
std::vector<unsigned char> find_contested(snapshot const& p, placed_classes const& classes,
                                          csr_rows<node_id, value_id> const& read_by_edges,
                                          std::vector<value_id> const& outputs,
                                          table<node_id, unsigned char> const& reads_outputs,
                                          std::vector<value_id> const& given);

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
    table<node_id, unsigned char> is_reached; ///< from the entry
    std::vector<value_id> entry_overlap;      ///< by rank: a given value that overlaps the given one, or none
};

/// A path on which v is written or given, then another value is written over it, up to step `before` of node
/// n (or its end, if it has no such step).
///
/// Ensures:    the counterexample names the clobbering value and its position.
/// Complexity: O(V + E + touches).
[[nodiscard]] std::optional<counterexample> find_clobber_path(clobber_query const& query, value_id v,
                                                              node_id n, step_id before);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/available_values.ipp>
#endif

#endif
