// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_ANCESTOR_WALK_IPP
#define SUBLET_ANALYSIS_IMPL_ANCESTOR_WALK_IPP

#include <sublet/analysis/ancestor_walk.hpp>
#include <sublet/impl/config.hpp>

#include <bit>
#include <utility>

namespace sublet {

SUBLET_DECL ancestor_walk::ancestor_walk(csr_rows before)
    : before_(std::move(before)), is_before_(before_.rows() / 64 + 1)
{
}

SUBLET_DECL std::uint64_t ancestor_walk::ancestors(step_id b)
{
    walk(b, 0);
    std::uint64_t count = 0;
    for (std::size_t w = 0; w <= b / 64; ++w) count += static_cast<unsigned>(std::popcount(is_before_[w]));
    return count;
}

SUBLET_DECL void ancestor_walk::walk(step_id b, step_id floor)
{
    auto mark_before = [this](step_id t) {
        for (step_id p : before_[t]) is_before_[p / 64] |= std::uint64_t{1} << p % 64;
    };
    if (b != from_) {
        for (std::uint64_t& bits : is_before_) bits = 0;
        from_ = done_ = b;
        mark_before(b);
    }
    while (done_ > floor + 1) { // of those from done_ on, all are done
        step_id const w = (done_ - 1) / 64;
        std::uint64_t const left = is_before_[w] & (~std::uint64_t{0} >> (63 - (done_ - 1) % 64));
        if (left == 0) {
            done_ = 64 * w;
        } else {
            done_ = 64 * w + static_cast<step_id>(std::bit_width(left)) - 1;
            mark_before(done_);
        }
    }
}

} // namespace sublet

#endif
