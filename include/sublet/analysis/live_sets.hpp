// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_LIVE_SETS_HPP
#define SUBLET_ANALYSIS_LIVE_SETS_HPP

/// The live-in and live-out set of each node, stored in rows of bits or in lists.
///
///     node      live in      live out           A value is stored in one of two ways: as a bit in the row
///       0         { }         {a, c}            of each node (live in many nodes), or in the lists of the
///       1       {a, c}         {c}              nodes where it is live (few). Queries hide the difference.

#include <sublet/analysis/detail/node_sets.hpp>
#include <sublet/core/ids.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet {

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

class live_sets;

namespace detail {

/// For the solvers. `column` of a value (`no_column`: listed) and `value`, by column, map values to bits.
[[nodiscard]] live_sets solved_sets(liveness_options::method policy, std::size_t nodes,
                                    table<value_id, std::uint32_t> column, std::vector<value_id> value,
                                    node_sets in, node_sets out);

} // namespace detail

/// The live-in and live-out set of each node.
///
/// Requires: node and value ids are ids of the program.
class live_sets {
public:
    live_sets() = default;
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
    [[nodiscard]] auto live_in(node_id n) const { return list(in_, n); }
    /// The same where node n ends.
    [[nodiscard]] auto live_out(node_id n) const { return list(out_, n); }

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
    friend live_sets detail::solved_sets(liveness_options::method policy, std::size_t nodes,
                                         table<value_id, std::uint32_t> column, std::vector<value_id> value,
                                         detail::node_sets in, detail::node_sets out);
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

namespace detail {

inline void expect_sets_of(snapshot const& p, live_sets const& live)
{
    SUBLET_EXPECTS(live.nodes() == p.nodes() && live.values() == p.values(),
                   "sublet: the live sets belong to another program");
}

} // namespace detail

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/live_sets.ipp>
#endif

#endif
