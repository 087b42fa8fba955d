// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_BYTE_UNIONS_IPP
#define SUBLET_PLACEMENT_IMPL_BYTE_UNIONS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/byte_unions.hpp>

namespace sublet {

SUBLET_DECL std::uint64_t byte_unions::unite(byte_union& all, byte_count begin, byte_count end)
{
    std::uint64_t steps = 1;
    std::uint32_t above = none, at = all.recent; // in the end `at` is the highest that begins so low
    if (at != none && stretches_[at].begin <= end) {
        for (; (above = stretches_[at].above) != none && stretches_[above].begin <= end; ++steps) at = above;
    } else {
        for (; at != none && stretches_[at].begin > end; at = stretches_[at].below, ++steps) above = at;
    }
    if (at == none || stretches_[at].end < begin) {
        std::uint32_t fresh = unused_;
        stretch const item{begin, end, at, above};
        if (fresh == none) {
            fresh = static_cast<std::uint32_t>(stretches_.size());
            stretches_.push_back(item);
        } else {
            unused_ = stretches_[fresh].below;
            stretches_[fresh] = item;
        }
        if (above != none) stretches_[above].below = fresh;
        (at == none ? all.lowest : stretches_[at].above) = fresh;
        all.recent = fresh;
        return steps;
    }
    stretch& grown = stretches_[at];
    grown.begin = smaller(grown.begin, begin);
    grown.end = larger(grown.end, end);
    while (grown.below != none && stretches_[grown.below].end >= grown.begin) {
        std::uint32_t const swallowed = grown.below;
        grown.begin = smaller(grown.begin, stretches_[swallowed].begin);
        grown.below = stretches_[swallowed].below;
        stretches_[swallowed].below = unused_;
        unused_ = swallowed;
    }
    (grown.below == none ? all.lowest : stretches_[grown.below].above) = at;
    all.recent = at;
    return steps;
}

} // namespace sublet

#endif
