// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_ORDER_QUESTIONS_IPP
#define SUBLET_CHECKING_IMPL_ORDER_QUESTIONS_IPP

#include <sublet/checking/order_questions.hpp>
#include <sublet/impl/config.hpp>

#include <bit>

namespace sublet {

SUBLET_DECL void order_questions::ask(std::uint32_t row, step_id last, std::uint64_t name)
{
    step_id const end = order_.position[last];
    step_id first = end;
    for (step_id s : rows_[row]) first = smaller(first, order_.position[s]);
    auto const reach = static_cast<std::uint64_t>(std::bit_width(end - first));
    if (reach != 0) asked_.push_back({reach << 32 | end, name, row});
}

SUBLET_DECL std::uint64_t order_questions::first_no()
{
    sort_keyed(asked_);
    lowest_no_ = none;
    for (std::size_t i = 0; i != asked_.size();) i = answer_from(i);
    asked_.clear();
    return lowest_no_;
}

SUBLET_DECL std::size_t order_questions::answer_from(std::size_t begin)
{
    std::uint64_t const bits = asked_[begin].key >> 32, reach = std::uint64_t{1} << bits;
    step_id const lowest = position_of(asked_[begin]);
    step_id const floor = lowest < reach ? 0 : lowest - static_cast<step_id>(reach - 1);
    std::size_t end = begin;
    columns_.clear();
    for (; end != asked_.size() && asked_[end].key >> 32 == bits; ++end) {
        step_id const at = position_of(asked_[end]);
        if (!columns_.empty() && columns_.back() == at) continue;
        if (columns_.size() == 64 * words || at - lowest > larger(reach, std::uint64_t{64 * words})) break;
        columns_.push_back(at);
    }
    fill_rows(floor);

    std::size_t column = 0;
    for (std::size_t i = begin; i != end; ++i) {
        step_id const last = position_of(asked_[i]);
        if (columns_[column] != last) ++column;
        for (step_id s : rows_[asked_[i].who]) {
            std::uint64_t const word = bits_[(order_.position[s] - floor) * words + column / 64];
            if ((word >> column % 64 & 1) == 0) lowest_no_ = smaller(lowest_no_, asked_[i].tie);
        }
    }
    return end;
}

SUBLET_DECL void order_questions::fill_rows(step_id floor)
{
    step_id const top = columns_.back();
    std::size_t const needed = (top - floor + std::size_t{1}) * words;
    if (bits_.size() < needed) bits_ = std::vector<std::uint64_t>(needed);
    std::size_t column = columns_.size();
    for (step_id at = top + 1; at-- != floor;) {
        std::uint64_t row[words] = {};
        for (step_id next : order_.after[order_.step_at[at]]) {
            step_id const above = order_.position[next];
            if (above > top) continue;
            for (std::size_t w = 0; w != words; ++w) row[w] |= bits_[(above - floor) * words + w];
        }
        if (column != 0 && columns_[column - 1] == at) {
            --column;
            row[column / 64] |= std::uint64_t{1} << column % 64;
        }
        for (std::size_t w = 0; w != words; ++w) bits_[(at - floor) * words + w] = row[w];
    }
}

} // namespace sublet

#endif
