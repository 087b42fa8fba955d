// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_LIVENESS_HPP
#define SUBLET_ANALYSIS_LIVENESS_HPP

/// Computes the live-in and live-out sets of each node of a control-flow graph, and the live ranges of
/// values over a linear order of the nodes. The sets are exact. By default each value is explored from its
/// uses, and the values that are live in many nodes are solved together as rows of bits:
/// O(V + E + values + touches) and, per value, the cost of the cheaper form up to a constant factor. Live
/// ranges follow Wimmer and Franz, "Linear scan register allocation on SSA form", CGO 2010.

#include <sublet/analysis/control_flow.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

// --- live sets -------------------------------------------------------------------------------------------

/// The live-in and live-out set of each node, stored in rows of bits or in lists.
///
///     node      live in      live out           A value is stored in one of two ways: as a bit in the row
///       0         { }         {a, c}            of each node (live in many nodes), or in the lists of the
///       1       {a, c}         {c}              nodes where it is live (few). Queries hide the difference.

namespace sublet {
namespace detail {

/// The values of one set, ascending. Refers to the live_sets that it belongs to.
class live_list {
public:
    class cursor {
    public:
        using value_type = value_id;
        using difference_type = std::ptrdiff_t;

        cursor() = default;
        cursor(std::span<value_id const> listed, detail::bit_rows::word const* row, std::size_t words,
               value_id const* value_of)
            : listed_(listed.data()), listed_end_(listed.data() + listed.size()), row_(row), words_(words),
              value_of_(value_of)
        {
            find_bit();
            ++*this;
        }
        value_id operator*() const { return at_; }
        cursor& operator++()
        {
            value_id const listed = listed_ == listed_end_ ? no_value : *listed_;
            at_ = listed < by_bit_ ? listed : by_bit_;
            if (by_bit_ < listed) find_bit();
            else if (listed != no_value) ++listed_;
            return *this;
        }
        cursor operator++(int)
        {
            cursor const here = *this;
            ++*this;
            return here;
        }
        friend bool operator==(cursor const& a, cursor const& b) { return a.at_ == b.at_; }

    private:
        void find_bit()
        {
            while (bits_ == 0) {
                if (word_ == words_) {
                    by_bit_ = no_value;
                    return;
                }
                bits_ = row_[word_++];
            }
            auto const bit = static_cast<std::size_t>(std::countr_zero(bits_));
            by_bit_ = value_of_[(word_ - 1) * detail::bit_rows::word_bits + bit];
            bits_ &= bits_ - 1;
        }

        value_id const* listed_ = nullptr;
        value_id const* listed_end_ = nullptr;
        detail::bit_rows::word const* row_ = nullptr;
        std::size_t words_ = 0;
        value_id const* value_of_ = nullptr;
        std::size_t word_ = 0;
        detail::bit_rows::word bits_ = 0;
        value_id by_bit_ = no_value;
        value_id at_ = no_value; // the end
    };

    explicit live_list(cursor first) : first_(first) {}
    [[nodiscard]] cursor begin() const { return first_; }
    [[nodiscard]] cursor end() const { return {}; }
    [[nodiscard]] bool empty() const { return *first_ == no_value; }

private:
    cursor first_;
};

struct node_sets {
    bit_rows bits;                      // by node and column
    csr_rows<node_id, value_id> listed; // the other values, ascending; no rows if every value has a column

    [[nodiscard]] std::span<value_id const> list(node_id n) const;
};

} // namespace detail

/// Which algorithm computes the sets.
struct liveness_options {
    /// The algorithm; all compute the same sets.
    enum class method : std::uint8_t {
        automatic,   ///< worklist; in large programs per_value for values that are live in few nodes
        worklist,    ///< iteration over rows of bits to the fixed point: any program
        loop_forest, ///< two passes over rows of bits, no iteration: strict SSA form only
        per_value    ///< path exploration from the uses of each value, into lists: any program, short ranges
    };

    liveness_options::method policy = liveness_options::method::automatic; ///< the algorithm to use
    /// `automatic` uses rows of bits if a matrix (nodes * cross-block values / 64) has at most so many words.
    std::size_t dense_words = std::size_t{1} << 17;
};

/// The live-in and live-out set of each node.
///
/// Requires: node and value ids are ids of the program.
class live_sets {
public:
    live_sets() = default;
    /// For the solvers. `column` of a value (`no_column`: listed) and `value`, by column, map values to bits.
    live_sets(liveness_options::method policy, std::size_t nodes, table<value_id, std::uint32_t> column,
              std::vector<value_id> value, detail::node_sets in, detail::node_sets out);
    /// The algorithm used; `automatic` if some values were solved by worklist and others one by one.
    [[nodiscard]] liveness_options::method policy() const { return policy_; }

    /// How many nodes the program has.
    [[nodiscard]] std::size_t nodes() const { return nodes_; }
    /// How many values the program has.
    [[nodiscard]] std::size_t values() const { return column_.size(); }

    /// v is live where node n begins; where it ends: a successor needs it, or a phi operand at the end of n.
    /// O(1) for a value stored as bits, O(log of the size of the list) otherwise.
    [[nodiscard]] bool is_live_in(value_id v, node_id n) const { return contains(in_, v, n); }
    /// The same where node n ends.
    [[nodiscard]] bool is_live_out(value_id v, node_id n) const { return contains(out_, v, n); }

    /// The set as a range, ascending.  O(values stored as bits / 64 + size of the set)
    [[nodiscard]] detail::live_list live_in(node_id n) const { return list(in_, n); }
    /// The same where node n ends.
    [[nodiscard]] detail::live_list live_out(node_id n) const { return list(out_, n); }

    /// Calls `visit` with each value of the set, in no particular order. Faster than the range.
    template <class Visit>
    void for_each_live_in(node_id n, Visit visit) const
    {
        for_each(in_, n, visit);
    }
    /// The same where node n ends.
    template <class Visit>
    void for_each_live_out(node_id n, Visit visit) const
    {
        for_each(out_, n, visit);
    }

    /// Calls `ends` with each value that is live where `from` ends and not where `to` begins, then `begins`
    /// with each that is live only where `to` begins.
    /// O(values stored as bits / 64 + listed values of both sets + calls)
    template <class Ends, class Begins>
    void for_each_change(node_id from, node_id to, Ends ends, Begins begins) const
    {
        for_each_in_one(out_, from, in_, to, ends);
        for_each_in_one(in_, to, out_, from, begins);
    }

    /// How many values are live where node n begins.
    [[nodiscard]] std::size_t live_in_count(node_id n) const { return count(in_, n); }
    /// How many values are live where node n ends.
    [[nodiscard]] std::size_t live_out_count(node_id n) const { return count(out_, n); }

    /// How many values are stored as bits, one bit per node and set. The others are listed.
    [[nodiscard]] std::size_t values_as_bits() const { return value_.size(); }

    /// Equal sets, however they are stored.
    friend bool operator==(live_sets const& a, live_sets const& b) { return same(a, b); }

private:
    bool contains(detail::node_sets const& sets, value_id v, node_id n) const
    {
        return column_[v] != detail::no_column ? sets.bits.test(n, column_[v]) : is_listed(sets.list(n), v);
    }
    static bool is_listed(std::span<value_id const> ascending, value_id v);
    template <class Visit>
    void for_each(detail::node_sets const& sets, node_id n, Visit& visit) const
    {
        detail::bit_rows::word const* const row = sets.bits[n];
        for (std::size_t w = 0; w != sets.bits.words(); ++w)
            for (detail::bit_rows::word rest = row[w]; rest != 0; rest &= rest - 1)
                visit(value_[w * detail::bit_rows::word_bits +
                             static_cast<std::size_t>(std::countr_zero(rest))]);
        for (value_id v : sets.list(n)) visit(v);
    }
    /// In the set of `n` and not in that of `m`.
    template <class Visit>
    void for_each_in_one(detail::node_sets const& sets, node_id n, detail::node_sets const& others, node_id m,
                         Visit& visit) const
    {
        detail::bit_rows::word const* const row = sets.bits[n];
        detail::bit_rows::word const* const other = others.bits[m];
        for (std::size_t w = 0; w != sets.bits.words(); ++w)
            for (detail::bit_rows::word rest = row[w] & ~other[w]; rest != 0; rest &= rest - 1)
                visit(value_[w * detail::bit_rows::word_bits +
                             static_cast<std::size_t>(std::countr_zero(rest))]);
        std::span<value_id const> const absent = others.list(m);
        auto next = absent.begin();
        for (value_id v : sets.list(n)) {
            while (next != absent.end() && *next < v) ++next;
            if (next == absent.end() || *next != v) visit(v);
        }
    }
    detail::live_list list(detail::node_sets const& sets, node_id n) const
    {
        return detail::live_list({sets.list(n), sets.bits[n], sets.bits.words(), value_.data()});
    }
    std::size_t count(detail::node_sets const& sets, node_id n) const
    {
        return sets.bits.count(n) + sets.list(n).size();
    }
    static bool same(live_sets const& a, live_sets const& b);

    liveness_options::method policy_ = liveness_options::method::automatic;
    std::size_t nodes_ = 0;
    table<value_id, std::uint32_t> column_;
    std::vector<value_id> value_;
    detail::node_sets in_;
    detail::node_sets out_;
};

// --- liveness --------------------------------------------------------------------------------------------

///     0: def a, b          live in 1: {a, b}        b is needed at the end of 1 by a phi of 2, so it is
///     |                    live out 1: {b, c}       live out of 1; the result of the phi is not live in at 2
///     1: use a, def c
///     |  b                 live in 2: {c}
///     2: def phi(b), use c
///
/// A value is live where some path leads to a use of it and contains no def before. A step reads before it
/// writes; a use at the end of a predecessor is read where that node ends. Unreachable nodes are solved like
/// the others. (A `sequence` has no edges, so nothing is live between its nodes: use `lifetimes`.) Three
/// algorithms give the same sets; detail/liveness_methods.hpp describes them.

namespace detail {

inline void expect_sets_of(snapshot const& p, live_sets const& live)
{
    SUBLET_EXPECTS(live.nodes() == p.nodes() && live.values() == p.values(),
                   "sublet: the live sets belong to another program");
}

} // namespace detail

/// The values live where each node begins and ends, for any program.
///
/// Complexity: that of the policy. `automatic`: O(V + E + values + touches) and, per cross-block value, at
///             most the cost of bits or of lists, whichever is less, up to a constant factor.
/// Throws:     precondition_error if the policy is `loop_forest`, the program is not in strict SSA form, and
///             that would make a set wrong.
[[nodiscard]] live_sets liveness(snapshot const& p, liveness_options const& options);

/// By the policy `automatic`. (An overload, so that its callers do not depend on the other policies.)
[[nodiscard]] live_sets liveness(snapshot const& p);

namespace detail {

/// Requires: every vertex is one of `vertices(g)`.
template <class V>
class vertex_live_sets {
public:
    vertex_live_sets(vertex_numbering<V> numbers, live_sets sets)
        : numbers_(std::move(numbers)), sets_(std::move(sets))
    {
    }
    [[nodiscard]] bool is_live_in(value_id v, V const& at) const { return sets_.is_live_in(v, number(at)); }
    [[nodiscard]] bool is_live_out(value_id v, V const& at) const { return sets_.is_live_out(v, number(at)); }
    [[nodiscard]] live_list live_in(V const& at) const { return sets_.live_in(number(at)); }
    [[nodiscard]] live_list live_out(V const& at) const { return sets_.live_out(number(at)); }
    [[nodiscard]] std::size_t live_in_count(V const& at) const { return sets_.live_in_count(number(at)); }
    [[nodiscard]] std::size_t live_out_count(V const& at) const { return sets_.live_out_count(number(at)); }

    [[nodiscard]] live_sets const& by_number() const { return sets_; }
    [[nodiscard]] vertex_numbering<V> const& numbers() const { return numbers_; }

private:
    node_id number(V const& at) const
    {
        node_id const n = numbers_.number_of(at);
        SUBLET_EXPECTS(n != no_node, "sublet: live sets are queried for a vertex that is not in the graph");
        return n;
    }

    vertex_numbering<V> numbers_;
    live_sets sets_;
};

} // namespace detail

/// For any graph, with callables as in `flow`. The first of `vertices(g)` is the entry.
template <graph G, class Effects>
    requires detail::effects_function<Effects, detail::vertex_of<G> const&,
                                      detail::vertex_effect_sink<detail::vertex_of<G>>>
[[nodiscard]] auto liveness(G const& g, std::size_t values, Effects effects,
                            liveness_options const& options = {})
{
    vertex_numbering<detail::vertex_of<G>> numbers(g);
    live_sets sets = liveness(flow(g, numbers, values, std::move(effects)), options);
    return detail::vertex_live_sets<detail::vertex_of<G>>(std::move(numbers), std::move(sets));
}

/// The same from two callables, each of which returns a list of values.
template <graph G, class Uses, class Defs>
    requires detail::id_list_function<Uses, detail::vertex_of<G> const&, value_id> &&
             detail::id_list_function<Defs, detail::vertex_of<G> const&, value_id>
[[nodiscard]] auto liveness(G const& g, std::size_t values, Uses uses, Defs defs,
                            liveness_options const& options = {})
{
    return liveness(g, values,
                    detail::uses_then_defs(uses, defs, vertex_numbering<detail::vertex_of<G>>(g).size()),
                    options);
}

template <class G, class Effects>
    requires(!detail::takes_graph<G, Effects>)
live_sets liveness(G const&, std::size_t, Effects, liveness_options const& = {},
                   detail::graph_problem<G> = {}) = delete;
template <class G, class Uses, class Defs>
    requires(!detail::take_graph<G, Uses, Defs>)
live_sets liveness(G const&, std::size_t, Uses, Defs, liveness_options const& = {},
                   detail::graph_problem<G, Uses, Defs> = {}) = delete;

// --- live intervals --------------------------------------------------------------------------------------

///     node          0      1             2            0 leads to 1 and to 2
///     position      0      1      2      3
///                 def a  def b  use b  use a
///     a             [======)             [======)     with a hole: a is not live in 1
///     b                    [=============)            fits into the hole
///
/// A position is in a range of a value if its step defines the value, uses it (unless early), or has it live
/// afterwards; also if it is that of the program's first step, and the value is live where that begins. The
/// algorithm walks the order backwards: a live-out value opens a range, a definition closes it, and a range
/// open where the node begins ends there, unless the value is live at the end of the previous node.
///
/// Live-out sets come from `liveness`, or, in strict SSA form, from the walk itself: where all successors
/// have been processed, the ranges open at their beginnings are the live-out set, and a value that is live at
/// a loop header is live throughout the loop. That takes an order that keeps loops contiguous, and loops
/// with a single entry; both are checked (an addition to Wimmer and Franz).

namespace detail {

/// An order of the nodes in which every loop is contiguous and begins with its header. If no loop has several
/// entries and the entry reaches all nodes, only edges to headers lead backwards.  As `loops`
template <graph G>
[[nodiscard]] std::vector<node_id> loop_contiguous_order(G const& g)
{
    return loops(g).preorder;
}

} // namespace detail

/// The order of the nodes, and how ranges are computed.
struct interval_options {
    std::vector<node_id> order = {}; ///< of the nodes; empty: 0, 1, 2 ...
    /// How they are computed; the result is the same.
    live_range_lists::source method = live_range_lists::source::automatic;
};

namespace detail {

struct node_layout {
    std::vector<node_id> order;
    table<node_id, std::uint32_t> index_of; // of each node in the order
    table<node_id, position_id> end;        // of each node: the position after its last step
};

/// Throws: precondition_error if `order`, unless empty, does not name every node once.
node_layout lay_out(snapshot const& p, std::vector<node_id> order);

/// From live sets as trees: lists only what changes from the end of a node to the begin of the next one.
///
/// Complexity: as live_by_trees, and O(log values) for each range.
live_range_lists intervals_by_trees(snapshot const& p, node_layout const& layout);

} // namespace detail

/// From the live sets of any program, for any order.
///
/// Ensures:    position i is in a range of v if and only if v occupies the i-th step.
/// Complexity: O(nodes + values + touches) time and memory, and the time to list all live sets.
/// Throws:     precondition_error if the order does not name every node once, or `live` is not of p.
[[nodiscard]] live_range_lists live_intervals(snapshot const& p, live_sets const& live,
                                              std::vector<node_id> order = {});

/// The same, with the liveness computed here where it is needed.
///
/// Ensures:    the same ranges; `method()` is the method used.
/// Complexity: in one pass O(V + E + values + touches) and the number of values live at each edge that does
///             not lead to the next node. `automatic`: without loops O((V + E + values + touches) log values),
///             and O(log values) for each range, and each value in which the live sets of two successors
///             differ.
/// Throws:     precondition_error if the order does not name every node once, or the method is `one_pass` and
///             its requirements do not hold.
[[nodiscard]] live_range_lists live_intervals(snapshot const& p, interval_options const& options = {});

// --- live ranges of a control-flow graph -----------------------------------------------------------------

/// Live ranges in a control-flow graph that is entered with inputs and left with outputs.
///
///     entry           The program is augmented by a virtual entry, at position 0, where inputs are written,
///        0: def a     and a virtual exit, which reads the outputs and follows all nodes without successors.
///       /        \    .
///     1: use a   2: def out
///       \        /    Liveness of the augmented program takes the roles into account.
///       exit: out     Over 1, `out` is read without having been written: this is detected.
///
/// A loop without an exit may be stopped at the end of any of its nodes, where outputs written so far have to
/// be intact. So its nodes lead to the virtual exit, too. An operand that a step may overwrite is live
/// throughout the step; only the decision whether it can be overwritten uses ranges without those positions.

namespace detail {

/// The end of an operand at a step that may overwrite it.
enum class operand_end : std::uint8_t {
    held,      ///< held to the end of the step, as any other operand
    read_early ///< read before the step writes
};

/// Collects ranges by owner, in any order; they may overlap.
class unsorted_ranges {
public:
    void add(std::uint32_t id, live_range r)
    {
        if (!is_empty(r)) ranges_.push_back({id, descending(r.first), r.last});
    }
    /// Complexity: O(n log n).
    [[nodiscard]] live_range_lists lists(std::size_t count, live_range_lists::source method,
                                         std::uint32_t positions);

private:
    std::vector<sort_key> ranges_; // {owner, begin (latest first), end}
};

/// The operands that a result of the step may overwrite, ascending.
///
/// Complexity: O(n log n) for n touches and pairs of the step.
std::vector<value_id> overwritable_operands(snapshot const& p, step_id s);

/// The program with virtual entry and exit: node n becomes n + 1, and step s becomes s + 1.
snapshot augmented(snapshot const& p, table<value_id, value_role> const& role, operand_end operands);

/// Live ranges over the positions of the augmented program: 0 is the entry, i + 1 the i-th step of the order.
///
/// Requires:   `role` has one entry per value, `order` names every node once.
/// Ensures:    position 0 is in the range of a value if and only if it is an input, or some path may read it
///             before it is written.
/// Complexity: as live_intervals, and O(r log r), r = ranges.
[[nodiscard]] live_range_lists cfg_live_ranges(snapshot const& p, table<value_id, value_role> const& role,
                                               std::vector<node_id> const& order, operand_end operands);

/// The same over the positions of the order: values live at the entry occupy the first step of the program.
///
/// Requires:   `augmented` are the ranges of the program in this order, held to the ends of steps.
/// Complexity: O(n + r log r), r = ranges.
[[nodiscard]] live_range_lists to_program_positions(snapshot const& p, live_range_lists const& augmented,
                                                    std::vector<node_id> const& order);

/// A read of a value that is not given, which some path from the entry reaches without a def: of the lowest
/// such value, any. If such reads are allowed, only of values that nothing writes. Without a step: an output,
/// at the end of the program. `other`: the value itself if some step writes it, on another path or later.
///
/// Requires:   `augmented` are the ranges of the program.
/// Complexity: O(values + touches), and O(V + E + touches) for each value that may be read undefined.
[[nodiscard]] std::optional<counterexample> undefined_read(snapshot const& p,
                                                           live_range_lists const& augmented,
                                                           table<value_id, value_role> const& role,
                                                           bool is_allowed);

/// The nodes that the entry reaches; all of a sequence, which has no edges.
table<node_id, unsigned char> reached_nodes(snapshot const& p);

/// The positions of both, by owner.  O(ranges)
live_range_lists common_ranges(live_range_lists const& one, live_range_lists const& other);

/// The live ranges without the positions that no write of their value reaches, except those at which a step
/// holds it; `position` is that of each step, from 1.
///
/// Complexity: O((V + E + touches) log values + r log r), r = ranges, as written_by_trees.
live_range_lists where_written(snapshot const& p, live_range_lists const& augmented,
                               table<value_id, unsigned char> const& is_unwritten,
                               std::vector<node_id> const& order, table<step_id, position_id> const& position,
                               bool counts_held);

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/liveness.ipp>
#endif

#endif
