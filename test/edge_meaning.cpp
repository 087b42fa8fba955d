// SPDX-License-Identifier: BSL-1.0
// An edge is an order or a way that control may take. Every function that reads edges holds to what the
// program says: where steps run once, control flow is refused; where control flow is read, a list or an order
// runs as it is listed.
#include <sublet/sublet.hpp>

#include <sublet/checking/check_streams.hpp>
#include <sublet/execution.hpp>
#include <sublet/testing/simulated_device.hpp>
#include <sublet/testing/synthetic.hpp>

#include "affine_bytes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

using ids = std::vector<std::uint32_t>;

/// One of two branches runs: one makes and reads a value, the other reads what the first node makes.
struct branches {
    edge_meaning meaning;
    std::size_t nodes() const { return 4; }
    std::size_t values() const { return 3; }
    ids successors(node_id n) const { return n == 0 ? ids{1, 2} : n == 3 ? ids{} : ids{3}; }
    edge_meaning edges() const { return meaning; }
    void effects(node_id n, effect_sink& s) const
    {
        if (n == 0) s.def(0);
        if (n == 1) s.def(1), s.next_step(), s.use(1);
        if (n == 2) s.use(0), s.def(2);
    }
};

snapshot const control(branches{edge_meaning::control_flow});
snapshot const order_of_tasks(branches{edge_meaning::order});
snapshot const list =
    sequence(4, 3, [](step_id s, effect_sink& sink) { branches{edge_meaning::none}.effects(+s, sink); });
plan_options const eights{.bytes = 8};
symbolic_options const any_batch{.bytes = affine_bytes{0, 8}, .dims = batches(2)};

bool is_refused(auto call)
{
    try {
        call();
    } catch (precondition_error const& e) {
        return std::string(e.what()).starts_with("sublet: the edges of this program are control flow");
    }
    return false;
}

/// Whether it is refused for control flow, and for nothing else.
void check_runs_once(std::string const& name, auto call)
{
    CAPTURE(name);
    CHECK(is_refused([&] { call(control); }));
    CHECK_NOTHROW(call(order_of_tasks));
    CHECK_NOTHROW(call(list));
}

} // namespace

TEST_CASE("where each step runs once, control flow is refused")
{
    using namespace sublet::detail;
    memory_plan const plan = plan_memory(list, eights).plan, any_order = plan_concurrent(list, eights).plan;
    symbolic_plan const every_batch = plan_symbolic(list, any_batch).plan;
    table<value_id, buffer_id> const buffer_of{0, 1, 2};
    auto const kernel = [](cpu_call const&) {};
    check_runs_once("lifetimes", [](snapshot const& p) { (void)lifetimes(p); });
    check_runs_once("dependences", [](snapshot const& p) { (void)dependences(p); });
    check_runs_once("versions", [](snapshot const& p) { (void)versions(p, eights); });
    check_runs_once("order", [](snapshot const& p) { (void)order(p, eights); });
    check_runs_once("order by a rule",
                    [](snapshot const& p) { (void)order(p, eights, node_order::method::breadth_first); });
    check_runs_once("share_slots", [](snapshot const& p) { (void)share_slots(p, eights); });
    check_runs_once("plan_memory", [](snapshot const& p) { (void)plan_memory(p, eights); });
    check_runs_once("plan_concurrent", [](snapshot const& p) { (void)plan_concurrent(p, eights); });
    check_runs_once("plan_with_handoffs", [](snapshot const& p) { (void)plan_with_handoffs(p, eights, {}); });
    check_runs_once("schedules", [](snapshot const& p) { (void)schedules(p, eights); });
    check_runs_once("check_schedule", [](snapshot const& p) {
        step_schedule none;
        none.steps.resize(p.steps());
        (void)check_schedule(p, none, eights, {});
    });
    check_runs_once("plan_symbolic", [](snapshot const& p) { (void)plan_symbolic(p, any_batch); });
    check_runs_once("advise_memory", [](snapshot const& p) { (void)advise_memory(p, eights); });
    check_runs_once("check_plan", [&](snapshot const& p) { (void)check_plan(p, plan, eights); });
    check_runs_once("check_plan, every batch",
                    [&](snapshot const& p) { (void)check_plan(p, every_batch, any_batch); });
    check_runs_once("check_concurrent_plan",
                    [&](snapshot const& p) { (void)check_concurrent_plan(p, any_order, eights); });
    check_runs_once("check_rewrite", [](snapshot const& p) { (void)check_rewrite(p, p); });
    check_runs_once("releases", [&](snapshot const& p) { (void)releases(p, 3, buffer_of); });
    check_runs_once("cpu_executor",
                    [&](snapshot const& p) { cpu_executor run(p, eights, arena{plan}, kernel); });
    check_runs_once("thread_executor", [&](snapshot const& p) {
        thread_executor run(p, eights, arena{any_order}, kernel, {.workers = 1});
    });
    check_runs_once("stream_executor", [](snapshot const& p) {
        simulated_device device;
        stream_executor run(device, p, eights, recycle{}, synthetic_kernel{}, {.streams = 1});
    });
    // One node without an edge is no control flow.
    snapshot const block =
        flow(1, 1, [](node_id) { return ids{}; }, [](node_id, effect_sink& s) { s.def(0); });
    CHECK(plan_memory(block, eights).bytes() == 8);
    snapshot const loop =
        flow(1, 1, [](node_id) { return ids{0}; }, [](node_id, effect_sink& s) { s.def(0); });
    CHECK(is_refused([&] { (void)plan_memory(loop, eights); }));
}

TEST_CASE("where control flow is read, a list and an order run as they are listed")
{
    using namespace sublet::detail;
    snapshot const chain = list.as_control_flow();
    REQUIRE(chain.successors(1).front() == 2);
    table<value_id, buffer_id> const buffer_of{0, 1, 2};
    std::vector<value_role> const role(3, value_role::intermediate);
    auto agree = [&](std::string const& name, auto ask) {
        CAPTURE(name);
        auto const expected = ask(chain);
        CHECK(ask(list) == expected);
        CHECK(ask(order_of_tasks) == expected);
        CHECK(ask(control) != expected); // else the test says nothing
    };
    agree("liveness", [](snapshot const& p) {
        std::vector<bool> in;
        live_sets const live = liveness(p),
                        again = liveness(p, {.policy = liveness_options::method::loop_forest});
        for (node_id n = 0; n != 4; ++n)
            for (value_id v = 0; v != 3; ++v)
                for (live_sets const* one : {&live, &again}) in.push_back(one->is_live_in(v, n));
        return in;
    });
    agree("live_intervals", [](snapshot const& p) {
        ids ends;
        live_range_lists const found = live_intervals(p), same = live_intervals(p, liveness(p));
        for (value_id v = 0; v != 3; ++v)
            for (live_range_lists const* one : {&found, &same})
                for (live_range r : (*one)[v]) ends.insert(ends.end(), {v, r.first, r.last});
        return ends;
    });
    agree("live_query", [](snapshot const& p) {
        live_query const query(p);
        return query.is_live_in(2, 1, ids{3});
    });
    agree("interference", [](snapshot const& p) { return interference(p).graph().items(); });
    agree("color", [](snapshot const& p) { return color(p).max_live_step; });
    agree("flow_releases", [&](snapshot const& p) {
        flow_release_points const points = flow_releases(p, 3, buffer_of, role);
        return points.on_edge.size() + points.at_entry.items();
    });
    agree("plan_flow", [](snapshot const& p) { return plan_flow(p, eights).plan; });
    agree("plan_nested", [](snapshot const& p) {
        return plan_nested(program_tree(p), [](program_id) { return eights; }).plan;
    });
    memory_plan const plan = plan_flow(chain, eights).plan, shorter = plan_flow(control, eights).plan;
    slot_plan const overwritten{.slot_of = {0, 0, 1}, .slots = 2};
    for (snapshot const* p : {&list, &order_of_tasks, &chain}) {
        CHECK(check_flow_plan(*p, plan, eights));
        CHECK(!check_flow_plan(*p, shorter, eights));
        CHECK(!check_slots(*p, overwritten));
    }
    CHECK(check_flow_plan(control, shorter, eights));
    CHECK(check_slots(control, overwritten));
}

} // namespace this_test
