// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DETAIL_NODE_SETS_HPP
#define SUBLET_ANALYSIS_DETAIL_NODE_SETS_HPP

/// A set of values for each node, in rows of bits or in lists, and the range that reads both as one,
/// ascending: it merges the list with the set bits of the row.

#include <sublet/core/ids.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <bit>
#include <cstddef>
#include <span>

namespace sublet::detail {

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

} // namespace sublet::detail

#endif
