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
#include <sublet/units.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <vector>

namespace sublet {

/// Values are numbered the largest first.
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
        for (std::size_t w = 0; w != is_left_.words(); ++w)
            for_each(w, interferes_[guest][w], [&](value_id v) { connect(host, v); });
        leave(guest, host);
    }

    /// Whoever can be a guest for nothing is one.  O(values^3 / 64) for each round that finds somebody, and
    /// for one more
    void find_hosts()
    {
        for (std::size_t before = no_value; before != guests_.size();) {
            before = guests_.size();
            for (auto v = static_cast<value_id>(host_.size()); v-- != 0;)
                for (value_id u = 0; u != v && host_[v] == v; ++u)
                    if (host_[u] == u && is_covered(v, u)) leave(v, u);
        }
    }

    /// Those that are left, a part a row, ascending.  O(values^2 / 64)
    [[nodiscard]] csr_rows parts() const
    {
        csr_rows result;
        bit_rows open = is_left_;
        std::vector<value_id> reached;
        for (std::size_t first = 0; first != open.words();) {
            if (open[0][first] == 0) {
                ++first;
                continue;
            }
            bit_rows part = open;
            auto const bit = static_cast<value_id>(std::countr_zero(open[0][first]));
            reached.assign(1, static_cast<value_id>(first * 64) + bit);
            open[0][first] ^= word{1} << bit;
            while (!reached.empty()) {
                word const* const others = interferes_[reached.back()];
                reached.pop_back();
                for (std::size_t w = first; w != open.words(); ++w) {
                    for_each(w, open[0][w] & ~others[w], [&](value_id v) { reached.push_back(v); });
                    open[0][w] &= others[w];
                }
            }
            for (std::size_t w = first; w != open.words(); ++w)
                for_each(w, part[0][w] & ~open[0][w], [&](value_id v) { result.append(v); });
            result.close_row();
        }
        return result;
    }

    /// Requires: those that are left have a slot.
    void settle(std::vector<slot_id>& slot_of) const
    {
        for (std::size_t i = guests_.size(); i-- != 0;) slot_of[guests_[i]] = slot_of[host_[guests_[i]]];
    }

    [[nodiscard]] bit_rows const& interferes() const
    {
        return interferes_;
    } ///< as it is for those that are left

private:
    using word = bit_rows::word;

    template <class Visit>
    static void for_each(std::size_t w, word bits, Visit visit)
    {
        for (; bits != 0; bits &= bits - 1)
            visit(static_cast<value_id>(w * 64) + static_cast<value_id>(std::countr_zero(bits)));
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

    bit_rows interferes_, is_left_;
    std::vector<value_id> host_;   // by value; itself: it is left
    std::vector<value_id> guests_; // in the order in which they left
};

} // namespace sublet

#endif
