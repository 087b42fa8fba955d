// SPDX-License-Identifier: BSL-1.0
#include <sublet/advise_memory.hpp>

#include <sublet/sharing/in_place.hpp>

#include "../dice.hpp"
#include "../random_program.hpp"

#include <doctest/doctest.h>

#include <map>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using ids = std::vector<int>;

namespace {

std::vector<absence> absences_of(snapshot const& p, plan_options const& options)
{
    auto const steps = steps_in_order(p, options.order);
    auto const alone = gather_buffers(lifetimes(p, {.role = options.role, .order = options.order}), options);
    auto const joined = options.in_place ? take_in_place(p, steps, alone) : alone;
    auto const role = options.role.tabulate(p.values());
    return possible_absences(p, steps, alone, joined, role);
}

std::vector<absence> absences_of(std::vector<ids> const& uses, std::vector<ids> const& defs, int values,
                                 plan_options const& options = {.bytes = 8})
{
    return absences_of(sequence(
                           uses.size(),
                           static_cast<std::size_t>(values), [&](auto s) -> auto& { return uses[s]; },
                           [&](auto s) -> auto& { return defs[s]; }),
                       options);
}

/// Values by role: `i` input, `o` output, `x` external, `.` none.
std::vector<value_role> roles(char const* text)
{
    std::vector<value_role> result;
    for (; *text != 0; ++text)
        result.push_back(*text == 'i'   ? value_role::input
                         : *text == 'o' ? value_role::output
                         : *text == 'x' ? value_role::state
                                        : value_role::intermediate);
    return result;
}

} // namespace

TEST_CASE("a buffer is away between two steps that touch it, and comes back by copy or by its step")
{
    auto const found = absences_of({{}, {0}, {}, {0}, {1}}, {{0}, {1}, {2}, {3}, {}}, 4);
    CHECK(found == std::vector<absence>{{0, 0, 1, 3}, {0, 0, 1, 3, 0}, {1, 1, 1, 4}});
    // Step 1 cannot be run again before step 4: its operand has died.
    auto const longer = absences_of({{}, {0}, {}, {0}, {1}, {0}}, {{0}, {1}, {2}, {3}, {}, {}}, 4);
    CHECK(longer ==
          std::vector<absence>{
              {0, 0, 1, 3}, {0, 0, 1, 3, 0}, {1, 1, 1, 4}, {1, 1, 1, 4, 1}, {0, 0, 3, 5}, {0, 0, 3, 5, 0}});
}

TEST_CASE("steps that follow each other leave no time between them, and nothing has none")
{
    CHECK(absences_of({{}, {0}, {0}}, {{0}, {1}, {2}}, 3).empty());
    CHECK(absences_of({}, {}, 0).empty());
    CHECK(absences_of({{}, {}, {}, {}}, {{0}, {}, {}, {}}, 1).empty()); // never read
}

TEST_CASE("an input is touched as the run begins and an output as it ends; an input is not made again")
{
    plan_options const options{.bytes = 8, .role = roles("io")};
    CHECK(absences_of({{}, {}, {0}, {}, {}}, {{}, {1}, {}, {}, {}}, 2, options) ==
          std::vector<absence>{{0, 0, 0, 2}, {1, 1, 1, 4}, {1, 1, 1, 4, 1}});
}

TEST_CASE("what is not planned, or pinned, or has a pinned view, is never away")
{
    std::vector<ids> const uses{{}, {}, {0}}, defs{{0}, {1}, {}};
    CHECK(absences_of(uses, defs, 2).size() == 2);
    CHECK(absences_of(uses, defs, 2, {.bytes = 0}).empty());
    CHECK(absences_of(uses, defs, 2, {.bytes = no_size}).empty());
    CHECK(absences_of(uses, defs, 2, {.bytes = 8, .role = roles("x.")}).empty());
    CHECK(absences_of(uses, defs, 2, {.bytes = 8, .eligible = false}).empty());
    CHECK(absences_of(uses, defs, 2, {.bytes = 8, .pinned = {byte_count{0}, no_offset}}).empty());
    CHECK(absences_of({{}, {0}, {}, {1}}, {{0}, {1}, {2}, {}}, 3,
                      {.bytes = 8, .alias_of = {-1, 0, -1}, .pinned = {no_offset, byte_count{0}, no_offset}})
              .empty());
}

TEST_CASE("a step is not run again if its operand was written since, or if it writes what is not planned")
{
    // b = f(a), then a is written again.
    CHECK(absences_of({{}, {0}, {0}, {}, {1, 0}}, {{0}, {1}, {0}, {2}, {}}, 3) ==
          std::vector<absence>{{1, 1, 1, 4}, {0, 0, 2, 4}});
    // Beside b the step writes a state, or a view of something else, or a pinned value.
    std::vector<ids> const uses{{}, {}, {0}}, defs{{0, 1}, {}, {}};
    CHECK(absences_of(uses, defs, 2).size() == 2);
    CHECK(absences_of(uses, defs, 2, {.bytes = 8, .role = roles(".x")}).size() == 1);
    CHECK(absences_of(uses, defs, 2, {.bytes = {byte_count{8}, no_size}}).size() == 1);
    CHECK(absences_of(uses, defs, 2, {.bytes = 8, .pinned = {no_offset, byte_count{0}}}).size() == 1);
    CHECK(absences_of(uses, defs, 2, {.bytes = 8, .eligible = {true, false}}).size() == 1);
}

TEST_CASE("views and what is written in place are touches of the buffer")
{
    // b is a view of a
    CHECK(absences_of({{}, {0}, {}, {1}}, {{0}, {1}, {2}, {}}, 3, {.bytes = 8, .alias_of = {-1, 0, -1}}) ==
          std::vector<absence>{{0, 0, 1, 3}}); // the view was made by another step than its root
    // b is written over a, and neither can be made again
    auto const p = sequence(6, 3, [](auto step, effect_sink& s) {
        if (step == 0) s.def(0);
        if (step == 2) {
            s.use(0);
            s.def(1);
            s.may_overwrite(0, 1);
        }
        if (step == 3) s.def(2);
        if (step == 5) s.use(1);
    });
    CHECK(absences_of(p, {.bytes = 8}) == std::vector<absence>{{0, 0, 0, 2}, {0, 0, 0, 2, 0}, {1, 0, 2, 5}});
}

TEST_CASE("on random programs the absences are the times between the touches of planned classes")
{
    for (unsigned seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        random_program p = draw_program(pick, 10);
        auto const program = p.program();
        std::map<std::pair<value_id, step_id>, step_id> expected, copied, made; // {root, after} -> before
        auto const lives = lives_of(p);
        auto const end = static_cast<step_id>(p.turns().size());
        for (auto const& [root, its] : history_of(p)) {
            if (lives.count(root) == 0) continue;
            std::set<step_id> at;
            for (auto const& [position, how] : its) at.insert(position);
            auto const role = p.class_role(root);
            bool is_there = is_given(p.role[root]); // the root itself, not only a view of nothing
            if (has_role(role, value_role::input)) at.insert(0);
            if (has_role(role, value_role::output)) at.insert(end - 1);
            for (auto i = at.begin(); i != at.end(); ++i) {
                auto const here = its.find(*i);
                is_there = is_there || (here != its.end() && here->second.written.count(root) != 0);
                if (std::next(i) != at.end() && *std::next(i) - *i >= 2 && is_there)
                    expected[{root, *i}] = *std::next(i);
            }
        }
        for (absence const& a : absences_of(program, p.options(false))) {
            CHECK(p.root(a.root) == a.root);
            (a.rerun == no_step ? copied : made)[{a.root, a.after}] = a.before;
        }
        CHECK(copied == expected);
        for (auto const& m : made) CHECK(copied.count(m.first) == 1);
    }
}

} // namespace this_test
