// SPDX-License-Identifier: BSL-1.0
// Equal input and options give equal placements, plans and orders: on every compiler, at every optimization
// level, header-only or compiled, on any number of threads. The hashes here were recorded with one compiler.
// If you change how buffers are placed or steps are ordered, update them; nothing else may change them.
#include <sublet/ordering/order.hpp>
#include <sublet/placement/internal/pack.hpp>
#include <sublet/placement/place.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_symbolic.hpp>

#include "../../bench/decoder_graphs.hpp"
#include "../network.hpp"
#include "../random_flow.hpp"
#include "../random_placements.hpp"
#include "../random_program.hpp"
#include "affine_bytes.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <sstream>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// Fowler, Noll and Vo's hash.
struct digest {
    std::uint64_t value = 14695981039346656037u;

    void add(std::uint64_t number)
    {
        for (int byte = 0; byte != 8; ++byte, number >>= 8) value = (value ^ (number & 255)) * 1099511628211u;
    }
    void add(placement_problem const& problem)
    {
        std::ostringstream text;
        text << problem;
        for (char c : text.str()) add(static_cast<std::uint64_t>(c));
    }
    void add(placement const& placed)
    {
        for (byte_count offset : placed.offset) add(offset);
        for (placement::pool_result const& pool : placed.pools) {
            add(pool.height);
            add(pool.lower_bound);
            add(pool.nodes);
            for (buffer_id b : pool.proof.buffers) add(b);
        }
    }
    void add(memory_plan const& plan)
    {
        for (buffer_id b : plan.buffer_of) add(std::uint64_t{b});
        for (memory_plan::placed_buffer const& b : plan.buffers)
            for (std::uint64_t part :
                 {std::uint64_t{b.life.first}, std::uint64_t{b.life.last}, b.size, b.offset})
                add(part);
        for (handoff h : plan.handoffs) add(std::uint64_t{h.from} << 32 | h.to);
        for (byte_count bytes : plan.arena_bytes) add(bytes);
    }
    template <class Planned>
    void add_planned(Planned const& planned)
    {
        add(planned.plan);
        add(planned.figures.lower_bound_bytes);
        add(std::uint64_t{!planned});
    }
    /// What the planners for one order, for any order, and with hand-offs make of it.
    void add_plans(snapshot const& program, plan_options const& options)
    {
        add_planned(plan_memory(program, options));
        add_planned(plan_concurrent(program, options));
        add_planned(plan_with_handoffs(program, options));
    }
};

/// Live ranges of all lengths and sizes of all magnitudes, which greedy orders alone do not place well.
placement_problem hard_problem(std::uint32_t seed, std::uint32_t buffers, std::uint32_t positions)
{
    std::mt19937 random(seed);
    auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    placement_problem problem;
    for (std::uint32_t i = 0; i != buffers; ++i) {
        position_id const first = below(positions), length = 1 + below(1 + positions / 3);
        byte_count const size = byte_count{1 + below(64)} << below(8);
        problem.buffers.push_back({{first, first + length}, size});
    }
    return problem;
}

} // namespace

TEST_CASE("small problems with all features are placed equally on every platform")
{
    digest problems, placements;
    for (unsigned seed = 0; seed != 300; ++seed) {
        random_source pick{std::mt19937{seed}};
        auto const problem = draw_placement(pick, draw_placement_shape(pick));
        problems.add(problem);
        placements.add(detail::pack(problem));
    }
    REQUIRE(problems.value == 7590278099454851428u); // the problems are the same
    CHECK(placements.value == 9022950184430084510u);
}

TEST_CASE("orders, repair and search give equal placements on every platform, on any number of threads")
{
    detail::pack_options const few{.improve_visits = 2'000'000, .nodes = 3000};
    digest problems, one_thread, four_threads;
    for (std::uint32_t buffers : {50u, 150u, 400u, 3000u}) {
        auto const problem = hard_problem(buffers, buffers, buffers / 2);
        problems.add(problem);
        one_thread.add(place(problem, {}, few));
        four_threads.add(place(problem, {.threads = 4}, few));
    }
    REQUIRE(problems.value == 11129625743202695548u);
    CHECK(one_thread.value == 1808963278481777993u);
    CHECK(four_threads.value == one_thread.value);
}

TEST_CASE("each network has the same plans and the same best order on every platform")
{
    std::uint64_t const recorded[] = {2877362851186251435u,  13650721181016324527u, 4856301555866655430u,
                                      10940504358229199237u, 9122509975351399561u,  15933536699104203254u,
                                      13233813914684438070u, 15308853332726293820u, 16159878957413372070u,
                                      9523769459127058140u};
    static_assert(std::size(recorded) == std::size(bench::graph_models));
    std::size_t at = 0;
    for (bench::named_model const& model : bench::graph_models) {
        CAPTURE(model.name);
        bench::decoder_graph const g(model.model, 150);
        digest plans;
        plans.add_planned(plan_memory(g.program(), g.options(effort::fast)));
        plans.add_plans(g.program(), g.options());
        for (node_id n : order(g.program(), g.options()).order) plans.add(std::uint64_t{n});
        CHECK(plans.value == recorded[at++]);
    }
    auto const resnet = network::resnet50();
    digest plans;
    plans.add_plans(resnet.program(), resnet.options());
    CHECK(plans.value == 15659683304923112935u);

    std::vector<affine_bytes> sizes;
    for (byte_count b : resnet.bytes) sizes.push_back({0, b});
    digest formulas;
    auto const planned = plan_symbolic(
        resnet.program(),
        {.bytes = sizes, .dims = batches(32), .role = resnet.options().role, .alias_of = resnet.alias_of});
    CHECK(bool(planned));
    for (stacking::layer const& its : planned.plan.stack.order) formulas.add(std::uint64_t{its.buffer});
    for (buffer_id b : planned.plan.stack.below) formulas.add(std::uint64_t{b});
    CHECK(formulas.value == 9099178081681365672u);
}

TEST_CASE("random programs and control flow have the same plans on every platform")
{
    digest listed, flows;
    for (unsigned seed = 0; seed != 200; ++seed) {
        random_source pick{std::mt19937{seed}};
        random_program const p = draw_program(pick);
        listed.add_plans(p.program(), p.options());
        snapshot const flow = draw_flow(pick).program();
        flows.add_planned(plan_flow(flow, {.bytes = [](value_id v) { return byte_count{8} << v % 5; }}));
    }
    CHECK(listed.value == 17182731883802143587u);
    CHECK(flows.value == 11342914247326287201u);
}

} // namespace this_test
