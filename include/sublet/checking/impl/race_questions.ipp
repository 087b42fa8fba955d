// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_RACE_QUESTIONS_IPP
#define SUBLET_CHECKING_IMPL_RACE_QUESTIONS_IPP

#include <sublet/checking/race_questions.hpp>
#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL witness as_witness(race const& r)
{
    return {.what = fault::unordered,
            .value = r.first_value,
            .other = r.second_value,
            .position = r.second,
            .begin = r.begin,
            .end = r.end,
            .needed = r.first,
            .pool = r.space};
}

} // namespace sublet

namespace sublet::detail {

SUBLET_DECL access_walk::access_walk(std::vector<byte_access> const& list)
    : list_(list), begin_(list.size()), end_(list.size()), stretch_(number_borders()),
      stretches_(stretch_.size())
{
    for (byte_access const& a : list_) {
        SUBLET_EXPECTS(a.at != no_step, "sublet: an access has no place in the order");
        if (asked_by_.size() <= a.at) asked_by_.resize(a.at + std::size_t{1}, no_step);
    }
}

SUBLET_DECL std::size_t access_walk::number_borders()
{
    std::vector<keyed> borders; // {space, byte, access}
    for (std::uint32_t i = 0; i != list_.size(); ++i) {
        if (list_[i].begin >= list_[i].end) continue;
        borders.push_back({list_[i].space, list_[i].begin, i});
        borders.push_back({list_[i].space, list_[i].end, i});
    }
    sort_keyed(borders);
    std::uint32_t number = 0;
    for (std::size_t i = 0; i != borders.size(); ++i) {
        keyed const& b = borders[i];
        if (i == 0 || borders[i - 1].key != b.key || borders[i - 1].tie != b.tie) ++number;
        (list_[b.who].begin == b.tie ? begin_ : end_)[b.who] = number;
    }
    return number + std::size_t{1}; // 0 is nobody's, below all
}

SUBLET_DECL void access_walk::cut(std::uint32_t at)
{
    if (stretches_.contains(at)) return;
    std::uint32_t const below = stretches_.below(at);
    stretch_[at] = below == stretches_.none ? stretch{} : stretch_[below];
    stretches_.insert(at);
}

} // namespace sublet::detail

#endif
