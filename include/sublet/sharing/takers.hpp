// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_TAKERS_HPP
#define SUBLET_SHARING_TAKERS_HPP

/// Who may take a buffer's bytes, as ranges of buffers in the order of their begins.
///
///     begin         -   0   1   1   2   4        a ends at 1, and what begins at 2 may come before that:
///     buffer        i   a   b   c   d   e          a conflicts with [0, 2) and [2, 3)
///     place         0   1   2   3   4   5          its takers are the places [5, 6)
///
/// A relation that is dense, for most later buffers may follow most earlier ones, but has few gaps: who walks
/// over the ranges visits nobody in vain.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/later_conflicts.hpp>
#include <sublet/live_range.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

class takers {
public:
    /// Requires: `members` are in the order of `begin_key`; `lives` and `conflicts` belong together and
    ///           outlive this.
    takers(concurrent_lives const& lives, conflict_ranges const& conflicts, std::vector<buffer_id> members);

    /// What is given comes before all that begins.
    [[nodiscard]] static std::uint64_t begin_key(concurrent_lives const& lives, buffer_id b);

    [[nodiscard]] std::size_t size() const { return members_.size(); }
    [[nodiscard]] buffer_id operator[](std::size_t place) const { return members_[place]; }

    /// Calls `visit(live_range)` for the places of those that the buffer at `place` gives to, ascending.
    ///
    /// Complexity: O(ranges log size), and a test for each member in them that begins at several positions.
    template <class Visit>
    void for_each_range(std::size_t place, Visit visit) const
    {
        buffer_id const u = members_[place];
        auto const end = static_cast<std::uint32_t>(size());
        auto const never = conflicts_.of[u];
        std::size_t r = 0;
        if (lives_.begins[u].empty() && lives_.ends[u].empty()) visit_all({place_of(0), end}, u, visit);
        else
            for (; r != never.size(); ++r)
                visit_all(
                    {place_of(never[r].last), r + 1 != never.size() ? place_of(never[r + 1].first) : end}, u,
                    visit);
    }

private:
    /// The first that begins at the position or behind it.
    [[nodiscard]] std::uint32_t place_of(step_id position) const;

    /// Without those that begin elsewhere as well, where u forbids it.
    template <class Visit>
    void visit_all(live_range places, buffer_id u, Visit& visit) const
    {
        std::size_t k =
            first_that(several_.size(), [&](std::size_t i) { return several_[i] >= places.first; });
        for (; k != several_.size() && several_[k] < places.last; ++k) {
            if (gives_to(conflicts_, lives_, u, members_[several_[k]])) continue;
            if (places.first != several_[k]) visit(live_range{places.first, several_[k]});
            places.first = several_[k] + 1;
        }
        if (places.first < places.last) visit(places);
    }

    concurrent_lives const& lives_;
    conflict_ranges const& conflicts_;
    std::vector<buffer_id> members_;
    std::vector<step_id> begin_;         // by place
    std::size_t given_ = 0;              // how many are
    std::vector<std::uint32_t> several_; // places of those that begin at several positions
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/takers.ipp>
#endif

#endif
