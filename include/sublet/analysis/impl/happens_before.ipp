// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_HAPPENS_BEFORE_IPP
#define SUBLET_ANALYSIS_IMPL_HAPPENS_BEFORE_IPP

#include <sublet/analysis/happens_before.hpp>
#include <sublet/analysis/unreached.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/live_range.hpp>
#include <sublet/sorting.hpp>

namespace sublet {

SUBLET_DECL precedence::precedence(dependence_graph const& g, precedence_options const& options)
    : means_(options.means), violation_(g.violation), position_of_(g.position_of)
{
    if (violation_) return;
    start_of_.reserve(position_of_.size());
    for (step_id s = 0; s != position_of_.size(); ++s) start_of_.push_back(g.start_of(s));
    if (means_ == precedence_means::automatic || means_ == precedence_means::ranges) {
        std::size_t const n = g.positions();
        std::vector<step_id> all;
        all.reserve(n + 1);
        for (step_id p = 0; p <= n; ++p) all.push_back(p);
        std::uint64_t const most = larger(std::uint64_t{1} << 24, 8 * std::uint64_t{n});
        unreached_.emplace(n, options.max_ranges == 0 ? most : options.max_ranges);
        auto has_room = [&](auto const&...) {
            return means_ == precedence_means::ranges || !unreached_->has_forgotten();
        };
        detail::find_unreached(g, all, *unreached_, true, has_room);
        means_ = has_room() ? precedence_means::ranges : precedence_means::columns;
        if (means_ == precedence_means::columns) unreached_.reset();
    }
    if (means_ == precedence_means::columns) columns_.emplace(g.before);
    if (means_ == precedence_means::search) walk_.emplace(g.before);
}

SUBLET_DECL bool precedence::before(step_id a, step_id b)
{
    if (columns_) return columns_->before(a, b);
    if (walk_) return walk_->before(a, b);
    auto const not_after = (*unreached_)[a];
    std::size_t const at = first_that(not_after.size(), [&](std::size_t i) { return b < not_after[i].last; });
    return at == not_after.size() || b < not_after[at].first;
}

SUBLET_DECL std::vector<step_id> precedence::after_all(std::span<step_id const> ends,
                                                       std::span<step_id const> positions)
{
    std::vector<step_id> found;
    for (step_id p : positions) {
        std::size_t i = 0;
        while (i != ends.size() && ends[i] < p && before(ends[i], p)) ++i;
        if (i == ends.size()) found.push_back(p);
    }
    return found;
}

SUBLET_DECL std::uint64_t precedence::ordered_pairs()
{
    std::uint64_t const n = positions();
    std::uint64_t pairs = 0;
    if (columns_)
        for (std::size_t block = 0; block != columns_->blocks(); ++block) {
            columns_->load(block);
            pairs += columns_->loaded_pairs();
        }
    if (walk_)
        for (step_id b = 0; b != n; ++b) pairs += walk_->ancestors(b);
    if (unreached_) pairs = n * (n - 1) / 2 - count_unreached(false);
    return pairs;
}

SUBLET_DECL std::uint64_t precedence::count_unreached(bool only_in_doubt) const
{
    std::uint64_t count = 0;
    for (std::size_t t = 0; t != unreached_->owners(); ++t) {
        step_id const from = only_in_doubt ? unreached_->known_until(t) : 0;
        for (live_range r : (*unreached_)[t]) count += length({larger(r.first, from), r.last});
    }
    return count;
}

} // namespace sublet

#endif
