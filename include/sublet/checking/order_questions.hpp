// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_ORDER_QUESTIONS_HPP
#define SUBLET_CHECKING_ORDER_QUESTIONS_HPP

/// Many questions "do all steps of this row come before that step?", answered exactly, many at a time.
///
///     position  40  41  42  43  44  45  46  47        a bit for each step that is asked about, here 45 and
///       45       1   1   0   1   1   1   ·   ·        47; going down, a step has the bits of all that wait
///       47       1   1   1   1   0   0   1   1        for it. 42 comes before 47 and not before 45.
///
/// Most questions are about steps that lie close together in any order, and are asked together: one short
/// walk downwards answers as many as there are bits in a row. Those of which the steps lie further apart wait
/// until they are as many; so a walk is never much longer than the distance that it has to bridge.

#include <sublet/checking/step_order.hpp>
#include <sublet/keyed.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

class order_questions {
public:
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    /// Questions will be about rows of steps.  Requires: both live as long as this.
    order_questions(step_order const& order, csr_rows const& rows) : order_(order), rows_(rows) {}

    /// Do all steps of the row come before `last`, or are it?  The answer will call this question `name`.
    /// Requires: none of them stands behind `last`.
    void ask(std::uint32_t row, step_id last, std::uint64_t name)
    {
        step_id const end = order_.position[last];
        step_id first = end;
        for (step_id s : rows_[row]) first = smaller(first, order_.position[s]);
        auto const reach = static_cast<std::uint64_t>(std::bit_width(end - first));
        if (reach != 0) asked_.push_back({reach << 32 | end, name, row});
    }

    /// The lowest name of a question to which the answer is no, or `none`. Then nothing is asked any more.
    ///
    /// Complexity: for q questions about rows of e steps, each row counted as often as it was asked about,
    ///             O(q log q + e). For each power of two that distances come to, O(steps + edges) times 8
    ///             words, and as much again for each 512 of the questions that go over all steps. Memory for
    ///             8 words a step of the longest distance.
    std::uint64_t first_no()
    {
        sort_keyed(asked_);
        lowest_no_ = none;
        for (std::size_t i = 0; i != asked_.size();) i = answer_from(i);
        asked_.clear();
        return lowest_no_;
    }

private:
    static constexpr std::size_t words = 8; // of a row: 512 different steps are asked about in one walk

    static step_id position_of(keyed const& question) { return static_cast<step_id>(question.key); }

    /// Walk down from the last step of a batch of questions to the first, and answer them.
    std::size_t answer_from(std::size_t begin)
    {
        std::uint64_t const bits = asked_[begin].key >> 32, reach = std::uint64_t{1} << bits;
        step_id const lowest = position_of(asked_[begin]);
        step_id const floor = lowest < reach ? 0 : lowest - static_cast<step_id>(reach - 1);
        std::size_t end = begin;
        columns_.clear();
        for (; end != asked_.size() && asked_[end].key >> 32 == bits; ++end) {
            step_id const at = position_of(asked_[end]);
            if (!columns_.empty() && columns_.back() == at) continue;
            if (columns_.size() == 64 * words || at - lowest > larger(reach, std::uint64_t{64 * words}))
                break;
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

    /// For every position from `floor` on: which columns come after it, or are it.
    void fill_rows(step_id floor)
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

    step_order const& order_;
    csr_rows const& rows_;
    std::vector<keyed> asked_; // {how far apart and the position of the last, name, row}
    std::vector<step_id> columns_;
    std::vector<std::uint64_t> bits_; // by position from the floor, as many words each
    std::uint64_t lowest_no_ = none;
};

} // namespace sublet

#endif
