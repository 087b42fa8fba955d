// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/detail/step_order.hpp>

#include "../dice.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;

/// Step s reads what `operands[s]` have made.
step_order order_of(std::vector<std::vector<step_id>> const& operands)
{
    auto const n = operands.size();
    return order_of_steps(sequence(n, n,
                                   [&](step_id s, effect_sink& sink) {
                                       for (step_id d : operands[s]) sink.use(d);
                                       sink.def(s);
                                   }),
                          std::vector<value_role>(n), {});
}

std::vector<std::vector<step_id>> chain(step_id n)
{
    std::vector<std::vector<step_id>> operands(n);
    for (step_id s = 1; s < n; ++s) operands[s] = {s - 1};
    return operands;
}

csr_rows rows(std::vector<std::vector<step_id>> const& lists)
{
    csr_rows all;
    for (auto const& list : lists) {
        for (step_id s : list) all.append(s);
        all.close_row();
    }
    return all;
}

} // namespace

TEST_CASE("the answer is the lowest name to which the answer is no")
{
    // 0 ─► 1 ─► 3 and 0 ─► 2
    step_order const o = order_of({{}, {0}, {0}, {1}});
    csr_rows const asked = rows({{0}, {1}, {2}, {0, 1}, {1, 2}, {}});
    order_questions questions(o, asked);
    CHECK(questions.first_no() == questions.none);
    questions.ask(0, 3, 7);
    questions.ask(1, 3, 8);
    questions.ask(3, 3, 9);
    questions.ask(5, 3, 1); // of no steps all come before
    CHECK(questions.first_no() == questions.none);
    questions.ask(4, 3, 11);
    questions.ask(2, 3, 10);
    questions.ask(1, 2, 12);
    CHECK(questions.first_no() == 10);
    CHECK(questions.first_no() == questions.none); // nothing is asked any more
}

TEST_CASE("a step that is asked about itself is left out")
{
    step_order const o = order_of(chain(3));
    csr_rows const asked = rows({{2}, {0, 2}});
    order_questions questions(o, asked);
    questions.ask(0, 2, 1);
    questions.ask(1, 2, 2);
    CHECK(questions.first_no() == questions.none);
}

TEST_CASE("random questions, few and many, near and far, are answered as walking answers them")
{
    for (std::uint32_t seed = 0; seed != 60; ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        step_id const n = seed % 3 == 0 ? 1500 : 20 + roll.below(200);
        step_id const back = 1 + roll.below(seed % 2 == 0 ? 5 : n);
        std::vector<std::vector<step_id>> operands(n);
        std::vector<std::vector<bool>> before(n, std::vector<bool>(n)); // by the later one
        for (step_id s = 1; s != n; ++s)
            for (auto i = roll.below(3); i != 0; --i) {
                step_id const d = s - 1 - roll.below(smaller(s, back));
                operands[s].push_back(d);
                before[s][d] = true;
                for (step_id a = 0; a != d; ++a)
                    if (before[d][a]) before[s][a] = true;
            }
        step_order const o = order_of(operands);
        std::vector<std::vector<step_id>> lists;
        for (step_id r = 0; r != n; ++r) {
            lists.push_back({roll.below(n)});
            if (roll.below(4) == 0) lists.back().push_back(roll.below(n));
        }
        csr_rows const asked = rows(lists);
        order_questions questions(o, asked);
        // Mostly such that the answer is yes, so that it depends on every one of them.
        for (int round = 0; round != 6; ++round) {
            std::uint64_t lowest = questions.none;
            for (std::uint32_t i = roll.below(round % 2 == 0 ? 30 : 3 * n); i != 0; --i) {
                std::uint32_t const row = roll.below(n);
                step_id const last = roll.below(n);
                bool is_yes = true, may_be_asked = true;
                for (step_id s : lists[row]) {
                    may_be_asked = may_be_asked && s <= last;
                    is_yes = is_yes && (s == last || before[last][s]);
                }
                if (!may_be_asked || (!is_yes && roll.below(40) != 0)) continue;
                std::uint64_t const name = roll.below(1'000'000);
                questions.ask(row, last, name);
                if (!is_yes) lowest = smaller(lowest, name);
            }
            CHECK(questions.first_no() == lowest);
        }
    }
}

TEST_CASE("questions over a long distance are answered together with those over a short one")
{
    step_id const n = 200'000;
    step_order const o = order_of(chain(n));
    std::vector<std::vector<step_id>> lists;
    for (step_id s = 0; s != n; ++s) lists.push_back({s});
    csr_rows const asked = rows(lists);
    order_questions questions(o, asked);
    for (step_id s = 0; s + 1 < n; s += 97) questions.ask(s, s + 1, s);
    for (step_id s = 0; s != 600; ++s) questions.ask(s, n - 1 - s, n + s);
    questions.ask(0, n - 1, 2 * n);
    CHECK(questions.first_no() == questions.none);
}

} // namespace this_test
