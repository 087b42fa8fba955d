// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_LIVE_SETS_HPP
#define SUBLET_ANALYSIS_LIVE_SETS_HPP

/// Which values are alive where each node begins and where it ends: what a liveness analysis finds.
///
///     node      live in      live out           A value is stored in one of two ways: as a bit in the row
///       0         { }         {a, c}            of each node (many nodes), or listed in the rows of the
///       1       {a, c}         {c}              nodes where it lives (few). Who asks does not notice.

#include <sublet/analysis/bit_rows.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet {

/// How liveness is found. The sets are the same.
enum class liveness_policy : std::uint8_t {
    automatic,   ///< worklist; in large programs per_value for the values that live in few nodes
    worklist,    ///< iterate over rows of bits until nothing changes: any program
    loop_forest, ///< two passes over rows of bits, without iteration: strict SSA only
    per_value    ///< walk up from the uses of each value, into lists: any program, short live ranges
};

/// The values of one set, ascending. Refers to the sets that it came from.
class live_list {
public:
    class cursor {
    public:
        using value_type = value_id;
        using difference_type = std::ptrdiff_t;

        cursor() = default;
        cursor(std::span<value_id const> listed, bit_rows::word const* row, std::size_t words,
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
            by_bit_ = value_of_[(word_ - 1) * bit_rows::word_bits + bit];
            bits_ &= bits_ - 1;
        }

        value_id const* listed_ = nullptr;
        value_id const* listed_end_ = nullptr;
        bit_rows::word const* row_ = nullptr;
        std::size_t words_ = 0;
        value_id const* value_of_ = nullptr;
        std::size_t word_ = 0;
        bit_rows::word bits_ = 0;
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

namespace detail {

/// Half of the answer: a set for each node.
struct node_sets {
    bit_rows bits;   // by node and column
    csr_rows listed; // by node: the other values, ascending; no rows at all if every value has a column

    [[nodiscard]] std::span<value_id const> list(node_id n) const;
};

} // namespace detail

/// Node and value ids are those of the program, all below its counts.
class live_sets {
public:
    live_sets() = default;
    /// Made by the solvers. `column` (by value; `no_value`: listed) and `value` (by column) tell what a bit
    /// means.
    live_sets(liveness_policy policy, std::size_t nodes, std::vector<std::uint32_t> column,
              std::vector<value_id> value, detail::node_sets in, detail::node_sets out);
    /// How they were found; `automatic` if some values by worklist and the others one by one.
    [[nodiscard]] liveness_policy policy() const { return policy_; }

    [[nodiscard]] std::size_t nodes() const { return nodes_; }
    [[nodiscard]] std::size_t values() const { return column_.size(); }

    /// v is alive where node n begins; where it ends: needed by a successor, or at the end of n by a phi.
    /// O(1) for a value stored as bits, O(log of the size of the list) otherwise.
    [[nodiscard]] bool is_live_in(value_id v, node_id n) const;
    [[nodiscard]] bool is_live_out(value_id v, node_id n) const;

    /// To iterate over, ascending.  O(values stored as bits / 64 + size of the set)
    [[nodiscard]] live_list live_in(node_id n) const { return list(in_, n); }
    [[nodiscard]] live_list live_out(node_id n) const { return list(out_, n); }

    /// Calls `visit` with each value of the set, in no particular order: cheaper than to iterate.
    template <class Visit>
    void for_each_live_in(node_id n, Visit visit) const
    {
        for_each(in_, n, visit);
    }
    template <class Visit>
    void for_each_live_out(node_id n, Visit visit) const
    {
        for_each(out_, n, visit);
    }

    [[nodiscard]] std::size_t live_in_count(node_id n) const { return count(in_, n); }
    [[nodiscard]] std::size_t live_out_count(node_id n) const { return count(out_, n); }

    /// How many values are stored as bits, 1/64 of a word for each node and set. The others are listed.
    [[nodiscard]] std::size_t values_as_bits() const { return value_.size(); }

    /// The same sets, however stored.
    friend bool operator==(live_sets const& a, live_sets const& b) { return same(a, b); }

private:
    bool contains(detail::node_sets const& sets, value_id v, node_id n) const;
    template <class Visit>
    void for_each(detail::node_sets const& sets, node_id n, Visit& visit) const
    {
        bit_rows::word const* const row = sets.bits[n];
        for (std::size_t w = 0; w != sets.bits.words(); ++w)
            for (bit_rows::word rest = row[w]; rest != 0; rest &= rest - 1)
                visit(value_[w * bit_rows::word_bits + static_cast<std::size_t>(std::countr_zero(rest))]);
        for (value_id v : sets.list(n)) visit(v);
    }
    live_list list(detail::node_sets const& sets, node_id n) const
    {
        return live_list({sets.list(n), sets.bits[n], sets.bits.words(), value_.data()});
    }
    std::size_t count(detail::node_sets const& sets, node_id n) const
    {
        return sets.bits.count(n) + sets.list(n).size();
    }
    static bool same(live_sets const& a, live_sets const& b);

    liveness_policy policy_ = liveness_policy::automatic;
    std::size_t nodes_ = 0;
    std::vector<std::uint32_t> column_;
    std::vector<value_id> value_;
    detail::node_sets in_;
    detail::node_sets out_;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/live_sets.ipp>
#endif

#endif
