// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_INTACT_VALUES_IPP
#define SUBLET_CHECKING_IMPL_INTACT_VALUES_IPP

#include <sublet/checking/intact_values.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>

#include <algorithm>

namespace sublet {

SUBLET_DECL placed_classes::placed_classes(plan_demands const& asked, memory_plan const& plan)
    : asked_(&asked), plan_(&plan)
{
    std::size_t const values = plan.buffer_of.size();
    std::vector<keyed> by_place;
    for (value_id r = 0; r != values; ++r)
        if (asked.root[r] == r && is_placed(r))
            by_place.push_back({detail::place_of(plan, r).pool, detail::place_of(plan, r).offset, r});
    sort_keyed(by_place);
    rank_ = std::vector<std::uint32_t>(values, rank_set::none);
    for (keyed const& k : by_place) {
        rank_[k.who] = static_cast<std::uint32_t>(root_.size());
        root_.push_back(k.who);
    }
    values_of_ = csr_rows::gathered(root_.size(), [this, values](auto add) {
        for (value_id v = 0; v != values; ++v)
            if (is_placed(v)) add(rank_of(v), v);
    });
}

SUBLET_DECL witness placed_classes::clash(value_id value, value_id other, step_id position) const
{
    auto const [begin, end] = overlap(value, other);
    return {.what = fault::clash,
            .value = value,
            .other = other,
            .position = position,
            .begin = begin,
            .end = end,
            .pool = detail::place_of(*plan_, value).pool};
}

SUBLET_DECL void intact_values::add(value_id v)
{
    if (has_[v]) return;
    has_[v] = 1;
    listed_.push_back(v);
    if (count_[all_->rank_of(v)]++ == 0) classes_.insert(all_->rank_of(v));
}

SUBLET_DECL void intact_values::write(value_id v)
{
    all_->each_hit(classes_, v, [this](std::uint32_t hit) {
        for (value_id other : all_->values_at(hit)) has_[other] = 0;
        count_[hit] = 0;
        classes_.erase(hit);
    });
    add(v);
}

SUBLET_DECL std::vector<value_id> intact_values::taken()
{
    std::vector<value_id> values, late; // late: those from the first that is out of order
    for (value_id v : listed_) {
        if (!has_[v]) continue; // gone, or listed twice
        bool const ascends = late.empty() && (values.empty() || values.back() < v);
        (ascends ? values : late).push_back(v);
        has_[v] = 0;
        if (--count_[all_->rank_of(v)] == 0) classes_.erase(all_->rank_of(v));
    }
    listed_.clear();
    if (late.empty()) return values;
    std::sort(late.begin(), late.end());
    std::vector<value_id> all;
    all.reserve(values.size() + late.size());
    for (std::size_t i = 0, j = 0; i != values.size() || j != late.size();) {
        bool const is_early = j == late.size() || (i != values.size() && values[i] < late[j]);
        all.push_back(is_early ? values[i++] : late[j++]);
    }
    return all;
}

} // namespace sublet

#endif
