// SPDX-License-Identifier: BSL-1.0
#include <sublet/advise_memory.hpp>

#include <sublet/plan_memory.hpp>
#include <sublet/sharing/in_place.hpp>

#include "../dice.hpp"
#include "../random_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using ids = std::vector<value_id>;

namespace {

struct found {
    snapshot program;
    plan_options options;
    std::vector<step_id> steps;
    std::vector<memory_plan::in_place_pair> in_place;
    std::vector<absence> absences;

    found(snapshot p, plan_options asked) : program(std::move(p)), options(std::move(asked))
    {
        steps = steps_in_order(program, options.order);
        auto const lives = lifetimes(program, {.role = options.role, .order = options.order});
        auto const alone = gather_buffers(lives, options);
        auto const joined = options.in_place ? take_in_place(program, steps, alone) : alone;
        in_place = joined.in_place;
        auto const role = options.role.tabulate(program.values());
        absences = possible_absences(program, steps, alone, joined, role);
    }
    relieved_program apply(std::vector<absence> const& chosen) const
    {
        return apply_absences(program, steps, options, in_place, chosen);
    }
};

/// Contents as numbers, one a class, by what each kind of step means. What does `at_the_end` of `values` come
/// to, what has each original step read?
struct outcome {
    std::vector<std::uint64_t> read, left;
    friend bool operator==(outcome const&, outcome const&) = default;
};

outcome run(snapshot const& p, std::vector<relieved_program::step> const& steps,
            std::vector<value_id> const& alias_of, std::vector<value_role> const& role,
            std::vector<value_id> const& origin, std::span<value_id const> shown)
{
    auto root = [&](value_id v) {
        while (alias_of[v] != no_value) v = alias_of[v];
        return v;
    };
    std::map<value_id, std::uint64_t> content; // by root
    auto fold = [](std::uint64_t sum, std::uint64_t next) {
        sum = (sum ^ next) * 0x9e3779b97f4a7c15u;
        return sum ^ (sum >> 29);
    };
    for (value_id v = 0; v != p.values(); ++v)
        if (is_given(role[v])) content[root(v)] = fold(1, origin[root(v)]);
    outcome result;
    for (step_id s = 0; s != steps.size(); ++s) {
        auto const [kind, of] = steps[s];
        auto const touches = p.touches(s);
        if (kind == relieved_program::kind::copied_out || kind == relieved_program::kind::copied_back) {
            REQUIRE(touches.size() >= 2);
            REQUIRE(touches[0].kind == touch::access::use);
            REQUIRE(touches[1].kind == touch::access::def);
            std::uint64_t const bytes = content.at(root(touches[0].value));
            content[root(touches[1].value)] = bytes;
            continue;
        }
        std::uint64_t sum = fold(7, of);
        for (touch t : touches)
            if (t.kind != touch::access::def) sum = fold(sum, content.at(root(t.value)));
        if (kind == relieved_program::kind::original) result.read.push_back(sum);
        std::set<value_id> there;
        for (auto const& c : content) there.insert(c.first);
        for (touch t : touches) {
            if (t.kind != touch::access::def) continue;
            sum = fold(sum, 3);
            value_id const r = root(t.value);
            bool const is_view = r != t.value && there.count(r) != 0;
            if (!is_view) content[r] = fold(sum, r == t.value ? 0 : content[r]);
        }
    }
    for (value_id v : shown) result.left.push_back(content.at(root(v)));
    return result;
}

/// Of each time at most one absence, and nobody away whom a step that is run again reads.
std::vector<absence> draw_absences(dice& pick, found const& f, std::vector<value_id> const& alias_of)
{
    std::vector<absence> chosen;
    auto root = [&](value_id v) {
        while (alias_of[v] != no_value) v = alias_of[v];
        return v;
    };
    auto is_in_the_way = [&](absence const& made, absence const& away) { // who reads what is away
        if (made.rerun == no_step || away.after >= made.before || away.before <= made.before) return false;
        for (touch t : f.program.touches(f.steps[made.rerun]))
            if (t.kind != touch::access::def && root(t.value) == away.root) return true;
        return false;
    };
    std::uint32_t const chance = 1 + pick.below(4);
    for (absence const& a : f.absences) {
        bool is_free = pick.below(chance) == 0;
        for (absence const& c : chosen)
            is_free = is_free && !(c.root == a.root && c.before == a.before) && !is_in_the_way(a, c) &&
                      !is_in_the_way(c, a);
        if (is_free) chosen.push_back(a);
    }
    return chosen;
}

/// 0: a from nothing; 1: b from a; 2: c; 3: reads a and b.
found small(bool has_view = false)
{
    std::vector<std::vector<int>> const uses{{}, {0}, {}, {0, 1}}, defs{{0}, {1}, {2}, {}};
    return {sequence(
                4, 3, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; }),
            {.bytes = {64, 32, 16}, .alias_of = {-1, has_view ? 0 : -1, -1}}};
}

} // namespace

TEST_CASE("a value is copied to a home of the caller's and back into another value")
{
    found const f = small();
    auto const relieved = f.apply({{0, 0, 1, 3}});
    using enum relieved_program::kind;
    CHECK(relieved.steps ==
          std::vector<relieved_program::step>{
              {original, 0}, {original, 1}, {copied_out, 1}, {original, 2}, {copied_back, 3}, {original, 3}});
    REQUIRE(relieved.homes == ids{3});
    CHECK(relieved.origin == ids{0, 1, 2, 0, 0});
    CHECK(relieved.at_the_end == ids{4, 1, 2});
    using touches = std::vector<touch>;
    auto of = [&](step_id s) {
        auto const all = relieved.program.touches(s);
        return touches(all.begin(), all.end());
    };
    CHECK(of(2) == touches{{0, touch::access::use}, {3, touch::access::def}});
    CHECK(of(4) == touches{{3, touch::access::use}, {4, touch::access::def}});
    CHECK(of(5) == touches{{4, touch::access::use}, {1, touch::access::use}});
    auto const options = relieved.options(f.options);
    CHECK(options.bytes[4] == 64);
    CHECK(has_role(options.role[3], value_role::state));
    auto const planned = plan_memory(relieved.program, options);
    CHECK(planned.is_sound());
    CHECK(planned.report.lower_bound_bytes == 96);
}

TEST_CASE("a step is run again right before its result is needed")
{
    found const f = small();
    auto const relieved = f.apply({{1, 1, 1, 3, 1}});
    using enum relieved_program::kind;
    CHECK(relieved.steps == std::vector<relieved_program::step>{
                                {original, 0}, {original, 1}, {original, 2}, {run_again, 1}, {original, 3}});
    CHECK(relieved.homes.empty());
    CHECK(relieved.at_the_end == ids{0, 3, 2});
    CHECK(plan_memory(relieved.program, relieved.options(f.options)).is_sound());
}

TEST_CASE("a view comes back with what it is a view of")
{
    found const f = small(true);
    REQUIRE(f.absences == std::vector<absence>{{0, 0, 1, 3}});
    auto const relieved = f.apply(f.absences);
    CHECK(relieved.at_the_end == ids{4, 5, 2});
    CHECK(relieved.alias_of == ids{no_value, 0, no_value, no_value, no_value, 4});
    CHECK(plan_memory(relieved.program, relieved.options(f.options)).is_sound());
}

TEST_CASE("a view comes back for a step that is run again, though nobody else reads it any more")
{
    // 1 is a view of 0, and 2 is made of it; then 0 and 2 are away until step 5 reads both.
    std::vector<std::vector<int>> const uses{{}, {0}, {1}, {}, {}, {0, 2}}, defs{{0}, {1}, {2}, {3}, {4}, {}};
    found const f(
        sequence(
            6, 5, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; }),
        {.bytes = 8, .alias_of = {-1, 0, -1, -1, -1}});
    auto const relieved = f.apply({{0, 0, 2, 5}, {2, 1, 2, 5, 2}});
    auto const read = relieved.program.touches(static_cast<step_id>(relieved.steps.size() - 2))[0].value;
    CHECK(relieved.steps[relieved.steps.size() - 2].kind == relieved_program::kind::run_again);
    CHECK(read != 1);
    CHECK(relieved.origin[read] == 1);
    auto const planned = plan_memory(relieved.program, relieved.options(f.options));
    CHECK(planned.is_sound());
    CHECK(planned.report.lower_bound_bytes == 16); // nothing of old is held
}

TEST_CASE("without absences the program is the same list of steps, and of no program it is none")
{
    found const f = small();
    auto const relieved = f.apply({});
    CHECK(relieved.steps.size() == 4);
    CHECK(relieved.origin == ids{0, 1, 2});
    CHECK(plan_memory(relieved.program, relieved.options(f.options)).report.arena_bytes ==
          plan_memory(f.program, f.options).report.arena_bytes);
    found const none(sequence(0, 0, [](step_id, effect_sink&) {}), {.bytes = 8});
    CHECK(none.apply({}).program == snapshot{});
}

TEST_CASE("random programs read and leave the same with any absences, and their plans are sound")
{
    std::size_t applied = 0, reruns = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        random_program const p = draw_program(pick, 10);
        found const f(p.program(), p.options(pick.below(2) == 0));
        auto const chosen = draw_absences(pick, f, p.alias_of);
        applied += chosen.size();
        for (absence const& a : chosen) reruns += a.rerun != no_step;
        auto const relieved = f.apply(chosen);

        std::vector<value_id> itself, shown;
        std::vector<relieved_program::step> as_it_is;
        for (value_id v = 0; v != p.values(); ++v) {
            itself.push_back(v);
            if (has_role(p.role[v], value_role::output) || has_role(p.role[v], value_role::state))
                shown.push_back(v);
        }
        auto const plain = f.apply({});
        outcome const expected = run(plain.program, plain.steps, p.alias_of, p.role, itself, shown);
        for (value_id& v : shown) v = relieved.at_the_end[v];
        CHECK(run(relieved.program, relieved.steps, relieved.alias_of, relieved.role, relieved.origin,
                  shown) == expected);
        for (value_id v = 0; v != p.values(); ++v)
            CHECK(has_role(relieved.role[relieved.at_the_end[v]], value_role::output) ==
                  has_role(p.role[v], value_role::output));
        auto const planned = plan_memory(relieved.program, relieved.options(f.options));
        CHECK(planned.is_sound());
        CHECK(planned.report.is_checked);
    }
    CHECK(applied > rounds(800));
    CHECK(reruns > rounds(100));
}

} // namespace this_test
