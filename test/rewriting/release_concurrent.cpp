// SPDX-License-Identifier: BSL-1.0
#include <sublet/rewriting/release.hpp>

#include "../dice.hpp"
#include "../random_tasks.hpp"

#include <sublet/analysis/lifetimes.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using rows = std::vector<std::vector<std::uint32_t>>;

rows rows_of(csr_rows const& all)
{
    rows result;
    for (std::size_t r = 0; r != all.rows(); ++r) result.emplace_back(all[r].begin(), all[r].end());
    return result;
}

/// 0: a; 1: a -> b; 2: a -> c; 3: b, c -> d
snapshot diamond()
{
    return sequence(
        4, 4,
        [](step_id s) {
            return std::vector<std::vector<int>>{{}, {0}, {0}, {1, 2}}[s];
        },
        [](step_id s) { return std::vector<value_id>{s}; });
}
std::vector<buffer_id> const each_its_own{0, 1, 2, 3};
auto const last_is_output = std::vector<value_role>{{}, {}, {}, value_role::output};

release_points concurrent(snapshot const& p, std::size_t buffers, std::vector<buffer_id> const& buffer_of,
                          std::vector<value_role> const& role)
{
    return releases(p, dependences(p, {.role = role}), buffers, buffer_of, role);
}

} // namespace

TEST_CASE("in any order it dies when all have ended whom nobody follows")
{
    auto const points = concurrent(diamond(), 4, each_its_own, last_is_output);
    CHECK(rows_of(points.after) == rows{{}, {0}, {0}, {1, 2}});
    CHECK(points.counter == std::vector<std::uint32_t>{2, 1, 1, 0});
    // 3 reads a as well, and follows 1 and 2
    snapshot const joined = sequence(
        4, 4,
        [](step_id s) {
            return std::vector<std::vector<int>>{{}, {0}, {0}, {1, 2, 0}}[s];
        },
        [](step_id s) { return std::vector<value_id>{s}; });
    CHECK(concurrent(joined, 4, each_its_own, last_is_output).counter ==
          std::vector<std::uint32_t>{1, 1, 1, 0});
}

TEST_CASE("a hundred thousand readers, and none after another")
{
    std::size_t const readers = 100'000;
    snapshot const star = sequence(
        readers + 1, readers + 1,
        [](step_id s) { return s == 0 ? std::vector<value_id>{} : std::vector<value_id>{0}; },
        [](step_id s) { return std::vector<value_id>{s}; });
    std::vector<buffer_id> own;
    for (value_id v = 0; v <= readers; ++v) own.push_back(v);
    auto const points = concurrent(star, readers + 1, own, std::vector<value_role>(readers + 1));
    CHECK(points.counter[0] == readers);
}

TEST_CASE("under every schedule the last of a few steps releases, and no fewer would do")
{
    std::size_t several = 0, searched = 0;
    for (std::uint32_t seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        random_tasks const drawn = draw_tasks(
            pick, {.tasks = 1 + pick.below(25), .back = pick.below(3) * 4, .edges = 30, .views = 20});
        snapshot const p = drawn.program();
        auto const classes = aliases(drawn.values(), [&](value_id v) { return drawn.alias_of[v]; });
        std::size_t const buffers = classes.root.size(), steps = drawn.tasks.size();
        auto const points = concurrent(p, buffers, classes.buffer_of, drawn.role);

        // Who waits for whom: edges, and those who read for who writes.
        std::vector<std::vector<bool>> before(steps, std::vector<bool>(steps));
        std::vector<std::vector<std::size_t>> touches(buffers); // by buffer: steps
        for (std::size_t s = 0; s != steps; ++s) {
            for (node_id n : drawn.tasks[s].next) before[s][n] = true;
            for (value_id v : drawn.tasks[s].defs)
                for (std::size_t t = 0; t != steps; ++t)
                    for (auto const* operands : {&drawn.tasks[t].uses, &drawn.tasks[t].early})
                        if (std::count(operands->begin(), operands->end(), v) != 0) before[s][t] = true;
            for (auto const* row : {&drawn.tasks[s].uses, &drawn.tasks[s].early, &drawn.tasks[s].defs})
                for (value_id v : *row) {
                    auto& its = touches[classes.buffer_of[v]];
                    if (its.empty() || its.back() != s) its.push_back(s);
                }
        }
        for (std::size_t k = 0; k != steps; ++k)
            for (std::size_t i = 0; i != steps; ++i)
                for (std::size_t j = 0; j != steps; ++j)
                    if (before[i][k] && before[k][j]) before[i][j] = true;

        std::vector<bool> is_kept(buffers), is_given_buffer(buffers);
        for (value_id v = 0; v != drawn.values(); ++v) {
            bool const stays =
                has_role(drawn.role[v], value_role::output) || has_role(drawn.role[v], value_role::external);
            if (stays) is_kept[classes.buffer_of[v]] = true;
            if (is_given(drawn.role[v])) is_given_buffer[classes.buffer_of[v]] = true;
        }
        std::vector<std::vector<std::size_t>> by_buffer(buffers);
        for (std::size_t s = 0; s != steps; ++s)
            for (buffer_id b : points.after[s]) by_buffer[b].push_back(s);
        for (buffer_id b = 0; b != buffers; ++b) {
            std::vector<std::size_t> last;
            for (std::size_t t : touches[b])
                if (std::none_of(touches[b].begin(), touches[b].end(),
                                 [&](std::size_t other) { return before[t][other]; }))
                    last.push_back(t);
            if (is_kept[b]) last.clear();
            REQUIRE(by_buffer[b] == last);
            REQUIRE(points.counter[b] == last.size());
            bool const starts = touches[b].empty() && is_given_buffer[b] && !is_kept[b];
            REQUIRE(std::count(points.at_start.begin(), points.at_start.end(), b) == (starts ? 1 : 0));
            several += last.size() > 1;
        }

        for (int schedule = 0; schedule != 3; ++schedule) {
            auto counter = points.counter;
            std::vector<std::size_t> left(buffers); // touches that have not been
            for (buffer_id b = 0; b != buffers; ++b) left[b] = touches[b].size();
            std::vector<bool> done(steps);
            for (std::size_t turn = 0; turn != steps; ++turn) {
                std::vector<std::size_t> ready;
                for (std::size_t s = 0; s != steps; ++s) {
                    bool waits = done[s];
                    for (std::size_t other = 0; other != steps; ++other)
                        if (before[other][s] && !done[other]) waits = true;
                    if (!waits) ready.push_back(s);
                }
                std::size_t const s = ready[pick.below(static_cast<std::uint32_t>(ready.size()))];
                done[s] = true;
                for (buffer_id b = 0; b != buffers; ++b)
                    left[b] -= static_cast<std::size_t>(std::count(touches[b].begin(), touches[b].end(), s));
                for (buffer_id b : points.after[s]) {
                    REQUIRE(counter[b] > 0);
                    --counter[b];
                }
                for (buffer_id b = 0; b != buffers; ++b)
                    if (!is_kept[b] && !touches[b].empty()) REQUIRE((counter[b] == 0) == (left[b] == 0));
            }
            ++searched;
        }
    }
    CHECK(several > rounds(3000));
    CHECK(searched > rounds(5000));
}

} // namespace this_test
