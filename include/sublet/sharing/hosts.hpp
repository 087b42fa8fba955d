// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_HOSTS_HPP
#define SUBLET_SHARING_HOSTS_HPP

/// Values whose slot needs no search, because it is the slot of another; and what is left, in parts.
///
///     a: 40 --- c: 16         whatever b interferes with, a does too, and a is larger and does not interfere
///     b: 8 ----/              with b: in every plan b may move to the slot of a, which costs nothing
///
/// A guest is told its host and leaves the problem; that may make guests of others. A value that interferes
/// with all that are left has a slot of its own, and so has a group that interferes with all others groups of
/// slots: such parts are problems of their own, and the bytes of their slots are added.

#include <sublet/analysis/bit_rows.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <vector>

namespace sublet {

/// Values are numbered the largest first.
template <std::same_as<bit_rows> Bits = bit_rows>
class hosted_values {
public:
    /// No two interfere.
    explicit hosted_values(std::size_t values) : interferes_(values, values), is_left_(1, values)
    {
        for (std::size_t v = 0; v != values; ++v) {
            is_left_.set(0, v);
            host_.push_back(static_cast<value_id>(v));
        }
    }
    void connect(value_id u, value_id v)
    {
        interferes_.set(u, v);
        interferes_.set(v, u);
    }

    /// Guest and host are to share, though it may not be for nothing: what interferes with either does with
    /// the host now.
    ///
    /// Requires: both are left, and the host comes before the guest.
    void join(value_id guest, value_id host)
    {
        for_each(interferes_[guest], [&](value_id v) { connect(host, v); });
        leave(guest, host);
    }

    /// Whoever can be a guest for nothing is one.  O(values^3 / 64) for a round; there is one more than
    /// rounds that find a guest
    void find_hosts()
    {
        for (std::size_t before = no_value; before != guests_.size();) {
            before = guests_.size();
            for (auto v = static_cast<value_id>(host_.size()); v-- != 0;)
                for (value_id u = 0; u != v && host_[v] == v; ++u)
                    if (host_[u] == u && is_covered(v, u)) leave(v, u);
        }
    }

    /// Those that are left, a part a row, ascending.  O(values^2 / 64 + values log values)
    [[nodiscard]] csr_rows parts() const
    {
        csr_rows result;
        Bits open = is_left_;
        std::vector<value_id> part;
        for (std::size_t w = 0; w != open.words();) {
            if (open[0][w] == 0) {
                ++w;
                continue;
            }
            part.assign(1,
                        static_cast<value_id>(w * 64) + static_cast<value_id>(std::countr_zero(open[0][w])));
            open[0][w] &= open[0][w] - 1;
            for (std::size_t i = 0; i != part.size(); ++i) {
                auto const* const others = interferes_[part[i]];
                for_each(open[0], [&](value_id v) {
                    if ((others[v / 64] >> v % 64 & 1) == 0) part.push_back(v);
                });
                for (std::size_t k = w; k != open.words(); ++k) open[0][k] &= others[k];
            }
            sort_ascending(part);
            for (value_id v : part) result.append(v);
            result.close_row();
        }
        return result;
    }

    /// Requires: those that are left have a slot.
    void settle(std::vector<slot_id>& slot_of) const
    {
        for (std::size_t i = guests_.size(); i-- != 0;) slot_of[guests_[i]] = slot_of[host_[guests_[i]]];
    }

    [[nodiscard]] Bits const& interferes() const { return interferes_; } ///< as it is for those that are left

private:
    using word = bit_rows::word;

    template <class Visit>
    void for_each(word const* bits, Visit visit) const
    {
        for (std::size_t w = 0; w != is_left_.words(); ++w)
            for (word rest = bits[w]; rest != 0; rest &= rest - 1)
                visit(static_cast<value_id>(w * 64) + static_cast<value_id>(std::countr_zero(rest)));
    }
    /// Not if they interfere: nobody interferes with itself.
    bool is_covered(value_id v, value_id by) const
    {
        for (std::size_t w = 0; w != is_left_.words(); ++w)
            if ((interferes_[v][w] & is_left_[0][w] & ~interferes_[by][w]) != 0) return false;
        return true;
    }
    void leave(value_id guest, value_id host)
    {
        host_[guest] = host;
        guests_.push_back(guest);
        is_left_[0][guest / 64] ^= word{1} << guest % 64;
    }

    Bits interferes_, is_left_;
    std::vector<value_id> host_;   // by value; itself: it is left
    std::vector<value_id> guests_; // in the order in which they left
};

} // namespace sublet

#endif
