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

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

class takers {
public:
    /// Requires: `members` are in the order of `begin_key`; `lives` and `conflicts` belong together and
    ///           outlive this.
    takers(concurrent_lives const& lives, conflict_ranges const& conflicts, std::vector<buffer_id> members)
        : lives_(lives), conflicts_(conflicts), members_(std::move(members))
    {
        begin_.reserve(members_.size());
        for (std::size_t i = 0; i != members_.size(); ++i) {
            std::size_t const begins = lives.begins[members_[i]].size();
            begin_.push_back(lives.first(members_[i]));
            if (begins == 0) given_ = i + 1;
            if (begins > 1) several_.push_back(static_cast<std::uint32_t>(i));
        }
    }

    /// What is given comes before all that begins.
    [[nodiscard]] static std::uint64_t begin_key(concurrent_lives const& lives, buffer_id b)
    {
        return lives.begins[b].empty() ? 0 : std::uint64_t{lives.first(b)} + 1;
    }

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
    [[nodiscard]] std::uint32_t place_of(step_id position) const
    {
        return static_cast<std::uint32_t>(given_ + first_that(size() - given_, [&](std::size_t i) {
                                              return begin_[given_ + i] >= position;
                                          }));
    }

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

#endif
