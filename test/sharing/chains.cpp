// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/sharing/detail/chains.hpp>

#include "../archetype.hpp"
#include "../concurrent_lives.hpp"
#include "../random_sharing.hpp"
#include "../random_source.hpp"
#include "../task_families.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using slots = std::vector<slot_id>;
using bytes = std::vector<byte_count>;

static constexpr chain_options::ranking orders[] = {
    chain_options::ranking::largest_first, chain_options::ranking::by_begin, chain_options::ranking::better};

namespace {

/// Precedence by the transitive closure; b must not descend, and a < b.
struct ascending_oracle {
    drawn_sharing const& d;
    position_id last = 0;
    bool before(position_id a, position_id b)
    {
        REQUIRE(a < b);
        REQUIRE(last <= b);
        last = b;
        step_id const s = d.graph.step_at[a], t = d.graph.step_at[b];
        return s == t || d.rule.before[s][t];
    }
};

chain_plan shared(drawn_sharing const& d, chain_options options)
{
    options.pool = d.tasks.pool;
    options.eligible = d.eligible;
    return share_in_chains(
        d.lives, d.conflicts, [&](buffer_id b) { return d.bytes[b]; }, options);
}

void check_sizes(drawn_sharing const& d, chain_plan const& plan)
{
    bytes largest(plan.slots);
    byte_count sum = 0;
    REQUIRE(plan.slot_pool.size() == plan.slots);
    for (buffer_id v : d.wanted) {
        largest[plan.slot_of[v]] = larger(largest[plan.slot_of[v]], d.bytes[v]);
        REQUIRE(plan.slot_pool[plan.slot_of[v]] == d.tasks.pool[v]);
    }
    for (byte_count b : largest) sum += b;
    REQUIRE(plan.slot_bytes == largest);
    REQUIRE(plan.total_bytes == sum);
}

} // namespace

TEST_CASE("random programs: every order gives valid chains, slots as large as their largest occupants, and "
          "no fewer bytes than the bound")
{
    std::size_t bound_met = 0;
    for (std::uint32_t seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        drawn_sharing const d = draw_sharing(seed, seed % 10 == 0 ? 60 : 14);
        byte_count naive = 0;
        for (byte_count b : d.bytes) naive += b;
        byte_count const least = least_slot_bytes(
            d.lives, d.conflicts, {.bytes = d.bytes, .pool = d.tasks.pool, .eligible = d.eligible});
        byte_count best = naive;
        for (chain_options::ranking order : orders) {
            chain_plan const plan = shared(d, {.order = order});
            char const* const fault = d.fault_of(plan.slot_of, plan.slots);
            REQUIRE_MESSAGE(!fault, fault);
            check_sizes(d, plan);
            REQUIRE(plan.total_bytes <= naive);
            if (order == chain_options::ranking::largest_first && seed % 5 != 0)
                for (slot_id k = 1; k < plan.slots; ++k)
                    REQUIRE((plan.slot_pool[k - 1] < plan.slot_pool[k] ||
                             (plan.slot_pool[k - 1] == plan.slot_pool[k] &&
                              plan.slot_bytes[k - 1] >= plan.slot_bytes[k])));
            REQUIRE(least <= plan.total_bytes);
            if (order == chain_options::ranking::better) {
                REQUIRE(plan.total_bytes == best);
                bound_met += plan.total_bytes == least;
            } else {
                REQUIRE(plan.order == order);
            }
            best = smaller(best, plan.total_bytes);
            REQUIRE(plan == shared(d, {.order = order}));
        }
        chain_plan const plain = shared(d, {.order = chain_options::ranking::largest_first, .visits = 0});
        char const* const fault = d.fault_of(plain.slot_of, plain.slots);
        REQUIRE_MESSAGE(!fault, fault);
        check_sizes(d, plain);
    }
    CHECK(bound_met > rounds(2700));
}

TEST_CASE(
    "an oracle that only answers in ascending order gives the same slots by begin if each buffer begins once")
{
    std::size_t several = 0;
    for (std::uint32_t seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        drawn_sharing const d = draw_sharing(seed, 16);
        ascending_oracle oracle{d};
        chain_options options{
            .order = chain_options::ranking::by_begin, .pool = d.tasks.pool, .eligible = d.eligible};
        for (auto choice : {slot_choice::grow_largest, slot_choice::most_shared}) {
            options.choice = choice;
            oracle.last = 0;
            auto const plan = share_in_chains(
                d.lives, oracle, [&](buffer_id b) { return d.bytes[b]; }, options);
            char const* const fault = d.fault_of(plan.slot_of, plan.slots);
            REQUIRE_MESSAGE(!fault, fault);
            check_sizes(d, plan);
            bool one_begin = true;
            for (buffer_id v : d.wanted) one_begin = one_begin && d.lives.begins[v].size() <= 1;
            if (one_begin) REQUIRE(plan == shared(d, options));
            else ++several;
        }
    }
    CHECK(several > 20);
}

TEST_CASE("largest first: later buffers fit into open slots")
{
    // Sizes that grow along a chain: by begin both slots grow, largest first there is no third.
    snapshot const p = sequence(4, 4, [](std::uint32_t s, effect_sink& sink) {
        if (s != 0) sink.use(s - 1);
        sink.def(s);
    });
    dependence_graph const g = dependences(p);
    auto const lives = lives_of_each(p, g);
    auto const conflicts = find_conflict_ranges(g, lives);
    auto const plan = share_in_chains(lives, conflicts, [](int b) { return 10 + b; },
                                      {.order = chain_options::ranking::largest_first});
    CHECK(plan.slot_of == slots{1, 0, 1, 0});
    CHECK(plan.slot_bytes == bytes{13, 12});
    CHECK(plan.total_bytes == 25);
    CHECK(share_in_chains(lives, conflicts, archetype::sizes{}).slots == 2);
    CHECK_THROWS_WITH_AS((void)share_in_chains(lives, conflicts, [](int) { return no_size; }),
                         "sublet: buffer 0, of unknown size, cannot share a slot", precondition_error);
    CHECK_THROWS_WITH_AS((void)share_in_chains(lives, conflicts, archetype::sizes{}, {.pool = -1}),
                         "sublet: buffer 0 names pool 4294967295, which is out of range", precondition_error);
    CHECK_THROWS_AS((void)share_in_chains(lives, conflicts, [](int) { return no_size - 1; }),
                    precondition_error);
}

TEST_CASE("families of task graphs share in every order, and largest first is sometimes better")
{
    std::size_t begin_wins = 0;
    for (auto name : family_names) {
        CAPTURE(name);
        task_family const family = draw_family(name, 400);
        snapshot const p = family.program();
        dependence_graph const g = dependences(p);
        auto const lives = lives_of_each(p, g);
        auto const conflicts = find_conflict_ranges(g, lives);
        slot_id const fewest = fewest_slots(lives, conflicts).plan.slots;
        byte_count const least = least_slot_bytes(lives, conflicts, {.bytes = family.bytes});
        byte_count best = no_size;
        for (chain_options::ranking order : orders) {
            chain_plan const plan = share_in_chains(
                lives, conflicts, [&](buffer_id b) { return family.bytes[b]; }, {.order = order});
            CHECK(fewest <= plan.slots);
            CHECK(least <= plan.total_bytes);
            if (order == chain_options::ranking::better) CHECK(plan.total_bytes == best);
            begin_wins +=
                order == chain_options::ranking::better && plan.order == chain_options::ranking::by_begin;
            best = smaller(best, plan.total_bytes);
            std::vector<std::vector<buffer_id>> occupants(plan.slots);
            for (buffer_id b = 0; b != family.tasks(); ++b) occupants[plan.slot_of[b]].push_back(b);
            for (auto const& slot : occupants) {
                auto in_order = slot;
                std::sort(in_order.begin(), in_order.end(),
                          [&](buffer_id a, buffer_id b) { return lives.first(a) < lives.first(b); });
                for (std::size_t i = 1; i < in_order.size(); ++i)
                    REQUIRE(reusable_by(conflicts, lives, in_order[i - 1], in_order[i]));
            }
        }
    }
    CHECK(begin_wins > 0);
}

} // namespace this_test
