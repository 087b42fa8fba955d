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
    void ask(std::uint32_t row, step_id last, std::uint64_t name);

    /// The lowest name of a question to which the answer is no, or `none`. Then nothing is asked any more.
    ///
    /// Complexity: for q questions about rows of e steps, each row counted as often as it was asked about,
    ///             O(q log q + e). For each power of two that distances come to, O(steps + edges) times 8
    ///             words, and as much again for each 512 of the questions that go over all steps. Memory for
    ///             8 words a step of the longest distance.
    std::uint64_t first_no();

private:
    static constexpr std::size_t words = 8; // of a row: 512 different steps are asked about in one walk

    static step_id position_of(keyed const& question) { return static_cast<step_id>(question.key); }

    /// Walk down from the last step of a batch of questions to the first, and answer them.
    std::size_t answer_from(std::size_t begin);

    /// For every position from `floor` on: which columns come after it, or are it.
    void fill_rows(step_id floor);

    step_order const& order_;
    csr_rows const& rows_;
    std::vector<keyed> asked_; // {how far apart and the position of the last, name, row}
    std::vector<step_id> columns_;
    std::vector<std::uint64_t> bits_; // by position from the floor, as many words each
    std::uint64_t lowest_no_ = none;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/order_questions.ipp>
#endif

#endif
