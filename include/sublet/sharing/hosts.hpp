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
#include <cstddef>
#include <vector>

namespace sublet {

/// Values are numbered the largest first.
class hosted_values {
public:
    /// No two interfere.
    explicit hosted_values(std::size_t values);
    void connect(value_id u, value_id v)
    {
        interferes_.set(u, v);
        interferes_.set(v, u);
    }

    /// Guest and host are to share, though it may not be for nothing: what interferes with either does with
    /// the host now.
    ///
    /// Requires: both are left, and the host comes before the guest.
    void join(value_id guest, value_id host);

    /// Whoever can be a guest for nothing is one.  O(values^3 / 64) for each round that finds somebody, and
    /// for one more
    void find_hosts();

    /// Those that are left, a part a row, ascending.  O(values^2 / 64)
    [[nodiscard]] csr_rows parts() const;

    /// Requires: those that are left have a slot.
    void settle(std::vector<slot_id>& slot_of) const;

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
    bool is_covered(value_id v, value_id by) const;
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

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/hosts.ipp>
#endif

#endif
