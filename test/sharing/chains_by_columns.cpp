// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/chains_by_columns.hpp>

#include "../archetype.hpp"
#include "../dice.hpp"
#include "../drawn_sharing.hpp"
#include "../position_closure.hpp"
#include "../task_families.hpp"

#include <sublet/sharing/chains.hpp>

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

namespace this_test {

using namespace sublet;
using slots = std::vector<slot_id>;
using bytes = std::vector<byte_count>;

namespace {

constexpr slot_choice choices[] = {slot_choice::most_shared, slot_choice::best_fit,
                                   slot_choice::smallest_sufficient, slot_choice::grow_largest,
                                   slot_choice::caffe2_sized};

/// A buffer a value, of a task graph in which task i makes value i.
struct family_lives {
    snapshot program;
    dependence_graph graph;
    concurrent_lives lives;

    explicit family_lives(task_family const& family) : program(family.program()), graph(dependences(program))
    {
        std::vector<buffer_id> each(family.tasks());
        std::iota(each.begin(), each.end(), buffer_id{0});
        lives = concurrent_lifetimes(program, graph, each.size(), each, std::vector<value_role>(each.size()));
    }
};

bool has_several(drawn_sharing const& d)
{
    for (value_id v : d.wanted)
        if (d.lives.begins[v].size() > 1) return true;
    return false;
}

} // namespace

TEST_CASE("who begins where all ends of another come before takes its slot")
{
    // 0 makes a, 1 and 2 read it, 3 reads what they make, 4 what 3 makes: b and c run at any time.
    snapshot const p = sequence(5, 5, [](step_id s, effect_sink& sink) {
        if (s == 1 || s == 2) sink.use(0);
        if (s == 3) sink.use(1), sink.use(2);
        if (s == 4) sink.use(3);
        sink.def(s);
    });
    dependence_graph const g = dependences(p);
    auto const lives = concurrent_lifetimes(p, g, 5, {0, 1, 2, 3, 4}, std::vector<value_role>(5));
    auto const plan = share_by_columns(g, lives, archetype::sizes{});
    CHECK(plan.slot_of == slots{0, 1, 2, 0, 1});
    CHECK(plan.slots == 3);
    auto sizes = [](buffer_id b) { return b == 0 ? 0 : 10 * (b + 1); };
    CHECK(share_by_columns(g, lives, sizes).slot_of == slots{no_slot, 0, 1, 2, 1});
    CHECK(share_by_columns(g, lives, sizes).slot_bytes == bytes{20, 50, 40});
    CHECK_THROWS_WITH_AS((void)share_by_columns(g, lives, [](int) { return no_size; }),
                         "sublet: a buffer of unknown size cannot share a slot", precondition_error);
    CHECK_THROWS_WITH_AS((void)share_by_columns(dependence_graph(), lives, archetype::sizes{}),
                         "sublet: these are lives of another graph", precondition_error);
}

TEST_CASE("without buffers there are no slots, and inputs of a program without steps have their own")
{
    dependence_graph const g = dependences(snapshot());
    CHECK(share_by_columns(g, concurrent_lives(), archetype::sizes{}).slots == 0);
    snapshot const idle = sequence(0, 2, [](step_id, effect_sink&) {});
    std::vector<value_role> const role(2, value_role::input);
    auto const lives = concurrent_lifetimes(idle, dependences(idle, {.role = role}), 2, {0, 1}, role);
    CHECK(share_by_columns(g, lives, archetype::sizes{}).slot_of == slots{0, 1});
}

TEST_CASE("random programs: the slots are those by single questions, whatever the choice, and keep the rule")
{
    std::size_t several = 0;
    for (std::uint32_t seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        drawn_sharing const d = draw_sharing(seed, seed % 10 == 0 ? 60 : 16);
        several += has_several(d);
        position_closure oracle(d.graph);
        auto sizes = [&](buffer_id b) { return d.bytes[b]; };
        for (slot_choice choice : choices) {
            CAPTURE(static_cast<int>(choice));
            sized_slot_plan const plan = share_by_columns(
                d.graph, d.lives, sizes, {.choice = choice, .pool = d.tasks.pool, .eligible = d.eligible});
            char const* const fault = d.fault_of(plan.slot_of, plan.slots);
            REQUIRE_MESSAGE(!fault, fault);
            sized_slot_plan const single = share_in_chains(
                d.lives, oracle, sizes, {.choice = choice, .pool = d.tasks.pool, .eligible = d.eligible});
            REQUIRE(plan == single);
            REQUIRE(plan.slot_bytes == single.slot_bytes);
            REQUIRE(plan.slot_pool == single.slot_pool);
            REQUIRE(plan.total_bytes == single.total_bytes);
        }
    }
    CHECK(several > 20);
}

TEST_CASE("families of several blocks have the slots by single questions, whatever the choice")
{
    for (auto name : family_names)
        for (std::size_t tasks : {512u, 513u, 1700u}) {
            CAPTURE(name);
            CAPTURE(tasks);
            task_family const family = draw_family(name, tasks);
            family_lives const f(family);
            position_closure oracle(f.graph);
            auto sizes = [&](buffer_id b) { return family.bytes[b]; };
            for (slot_choice choice : choices) {
                CAPTURE(static_cast<int>(choice));
                sized_slot_plan const single = share_in_chains(f.lives, oracle, sizes, {.choice = choice});
                REQUIRE(share_by_columns(f.graph, f.lives, sizes, {.choice = choice}) == single);
            }
        }
}

} // namespace this_test
