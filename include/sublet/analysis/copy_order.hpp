// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_COPY_ORDER_HPP
#define SUBLET_ANALYSIS_COPY_ORDER_HPP

/// Copies that are meant to happen at once, one after the other.
///
///     at once    b = a   c = b   x = y   y = x
///     in turn    c = b   b = a   spare = x   x = y   y = spare
///
/// Nothing may be overwritten while another copy still has to read it. Copies that nobody waits for go first;
/// when none of those is left, all the rest stand in circles, and a spare value opens one.
///
/// Source: Boissinot, Darte, Rastello, Dupont de Dinechin and Guillon, "Revisiting out-of-SSA translation for
/// correctness, code quality, and efficiency", CGO 2009 (Algorithm 1). Here some may be views of others.

#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

struct value_copy {
    value_id from = no_value;
    value_id to = no_value;
    friend bool operator==(value_copy, value_copy) = default;
};

/// Puts copies in an order in which they can be done one after the other. It is made once for all places, for
/// its tables are as long as the values are many.
class copy_order {
public:
    /// `root_of`, by value: which values are the same bytes.
    explicit copy_order(std::vector<value_id> root_of);

    /// Calls `move(from, to)` for each copy, and none before those who still read what it overwrites. Where
    /// all that are left wait for each other, `spare_for(root)` names a new value, and what is in the way is
    /// moved there first.
    ///
    /// Complexity: O(copies), if no two write the same bytes.
    template <class Move, class SpareFor>
    void order(std::vector<value_copy> const& copies, Move move, SpareFor spare_for)
    {
        auto const count = static_cast<std::uint32_t>(copies.size());
        next_writer_.assign(count, none);
        is_listed_.assign(count, 0);
        ready_.clear();
        for (std::uint32_t i = count; i-- != 0;) { // from behind: the first stands first in its list
            ++readers_[from(copies[i])];
            next_writer_[i] = std::exchange(first_writer_[to(copies[i])], i);
        }
        for (std::uint32_t i = 0; i != count; ++i) list_if_ready(copies, i);
        std::size_t done = 0;
        for (std::uint32_t i = 0;; ++i) {
            for (; done != ready_.size(); ++done) {
                value_copy const c = copies[ready_[done]];
                value_id const root = from(c), kept = kept_in_[root];
                move(kept == no_value ? c.from : kept, c.to);
                if (kept != no_value) continue;
                --readers_[root];
                for (std::uint32_t w = first_writer_[root]; w != none; w = next_writer_[w])
                    list_if_ready(copies, w);
            }
            while (i != count && is_listed_[i]) ++i;
            if (i == count) break;
            value_id const root = to(copies[i]), spare = spare_for(root); // all that are left wait for others
            move(copies[i].to, spare);
            kept_in_[root] = spare;
            readers_[root] = 0;
            list_if_ready(copies, i);
        }
        for (value_copy const& c : copies) {
            readers_[from(c)] = 0;
            first_writer_[to(c)] = none;
            kept_in_[to(c)] = no_value;
        }
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    value_id from(value_copy const& c) const { return root_of_[c.from]; }
    value_id to(value_copy const& c) const { return root_of_[c.to]; }
    void list_if_ready(std::vector<value_copy> const& copies, std::uint32_t i);

    std::vector<value_id> root_of_;
    std::vector<std::uint32_t> readers_;      // by root: copies to come that read it
    std::vector<std::uint32_t> first_writer_; // by root
    std::vector<value_id> kept_in_;           // by root: the spare that its old bytes are in
    std::vector<std::uint32_t> next_writer_;  // by copy
    std::vector<unsigned char> is_listed_;    // by copy
    std::vector<std::uint32_t> ready_;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/copy_order.ipp>
#endif

#endif
