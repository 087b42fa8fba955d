// SPDX-License-Identifier: BSL-1.0
// Callables in options are called once for each value, before anything else: every public call that takes
// options gives what it gives for tables, and lets the error of a callable pass.
#include <sublet/advise_memory.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_rewrite.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/checking/fits.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/execution/streams.hpp>
#include <sublet/execution/threads.hpp>
#include <sublet/ordering/order.hpp>
#include <sublet/placement/place.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_nested.hpp>
#include <sublet/plan_symbolic.hpp>
#include <sublet/rewriting/release.hpp>
#include <sublet/rewriting/rename.hpp>
#include <sublet/schedules.hpp>
#include <sublet/sharing/color_graph.hpp>
#include <sublet/sharing/share_slots.hpp>
#include <sublet/testing/synthetic.hpp>

#include "../operations.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../simple_device.hpp"
#include "affine_bytes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

struct refusal {};

/// CHECK, but for expressions that may throw a refusal.
void expect(bool holds) { CHECK(holds); }

/// Makes callables of tables, and counts their calls. Copies of a callable count together.
class counting {
public:
    template <class T, class Id>
    auto operator()(std::string const& name, per_value<T, Id> const& property, std::size_t count)
    {
        std::vector<unsigned>& of = calls_[name];
        of.assign(count, 0);
        auto table = std::make_shared<std::vector<typename per_value<T, Id>::cell>>(property.tabulate(count));
        return [&of, table, name, this](Id v) {
            ++of.at(v);
            if (name == refuses_) throw refusal{};
            return static_cast<T>((*table)[v]);
        };
    }

    plan_options options(plan_options all, std::size_t values)
    {
        all.bytes = (*this)("bytes", all.bytes, values);
        all.alignment = (*this)("alignment", all.alignment, values);
        all.role = (*this)("role", all.role, values);
        all.alias_of = (*this)("alias_of", all.alias_of, values);
        all.view_offset = (*this)("view_offset", all.view_offset, values);
        all.pool = (*this)("pool", all.pool, values);
        all.pinned = (*this)("pinned", all.pinned, values);
        all.eligible = (*this)("eligible", all.eligible, values);
        all.kind = (*this)("kind", all.kind, values);
        return all;
    }
    dependence_options data(plan_options const& all, std::size_t values)
    {
        return {.role = (*this)("role", all.role, values),
                .alias_of = (*this)("alias_of", all.alias_of, values),
                .view_offset = (*this)("view_offset", all.view_offset, values),
                .bytes = (*this)("bytes", all.bytes, values)};
    }
    lifetimes_options lives(plan_options const& all, std::size_t values)
    {
        dependence_options const same = data(all, values);
        return {same.role, all.order, same.alias_of, same.view_offset, same.bytes};
    }

    void refuse(std::string name) { refuses_ = std::move(name); }
    std::map<std::string, std::vector<unsigned>> const& calls() const { return calls_; }

private:
    std::map<std::string, std::vector<unsigned>> calls_;
    std::string refuses_;
};

/// `call(counting)` calls a function with callables from it. Some functions have no use for some properties.
template <class Call>
void expect_asked_once(char const* function, Call call, std::vector<std::string> const& unused = {})
{
    INFO(function);
    auto is_used = [&](std::string const& name) {
        return std::find(unused.begin(), unused.end(), name) == unused.end();
    };
    std::vector<std::string> names;
    {
        counting count;
        call(count);
        for (auto const& asked : count.calls()) {
            std::string const& name = asked.first;
            std::vector<unsigned> const& calls = asked.second;
            INFO(name);
            names.push_back(name);
            CHECK(calls == std::vector<unsigned>(calls.size(), is_used(name) ? 1 : 0));
        }
    }
    for (std::string const& name : names) {
        INFO(name);
        counting count;
        count.refuse(name);
        if (is_used(name)) CHECK_THROWS_AS(call(count), refusal);
        if (is_used(name) && !count.calls().at(name).empty()) CHECK(count.calls().at(name)[0] == 1);
    }
}

random_tasks draw(unsigned seed)
{
    random_source pick{std::mt19937{seed}};
    random_tasks_shape shape{.tasks = 8 + pick.below(8), .pools = 2, .alignments = 1};
    shape.views = seed % 2 == 0 ? 30 : 0;
    shape.in_place = 40;
    random_tasks drawn = draw_tasks(pick, shape);
    if (seed % 3 == 0) join_parts(pick, drawn);
    if (drawn.values() == 0) return draw(seed + 1000);
    return drawn;
}

affine_bytes per_batch(byte_count bytes) { return {.fixed = 0, .per_batch = bytes}; }

symbolic_options symbolic(plan_options const& all, std::size_t values)
{
    std::vector<affine_bytes> bytes, begin;
    for (byte_count b : all.bytes.tabulate(values)) bytes.push_back(per_batch(b));
    for (byte_count b : all.view_offset.tabulate(values)) begin.push_back(per_batch(b));
    return {.bytes = bytes,
            .dims = batches(4),
            .alignment = all.alignment,
            .role = all.role,
            .alias_of = all.alias_of,
            .view_offset = begin,
            .pool = all.pool};
}

symbolic_options counted(counting& count, symbolic_options all, std::size_t values)
{
    all.bytes = count("bytes", all.bytes, values);
    all.alignment = count("alignment", all.alignment, values);
    all.role = count("role", all.role, values);
    all.alias_of = count("alias_of", all.alias_of, values);
    all.view_offset = count("view_offset", all.view_offset, values);
    all.pool = count("pool", all.pool, values);
    all.pinned = count("pinned", all.pinned, values);
    all.eligible = count("eligible", all.eligible, values);
    return all;
}

using kernel = std::function<void(cpu_call const&)>; // erased, so that one executor is compiled
void no_work(cpu_call const&) {}

} // namespace

TEST_CASE("planners ask once, and plan as with tables")
{
    for (unsigned seed = first_seed(), end = seed + rounds(12); seed != end; ++seed) {
        CAPTURE(seed);
        random_tasks const drawn = draw(seed);
        snapshot const p = drawn.program();
        std::size_t const n = p.values();
        plan_options all = drawn.options();
        expect_asked_once("plan_memory", [&](counting& c) {
            expect(plan_memory(p, c.options(all, n)).plan == plan_memory(p, all).plan);
        });
        expect_asked_once("plan_concurrent", [&](counting& c) {
            expect(plan_concurrent(p, c.options(all, n)).plan == plan_concurrent(p, all).plan);
        });
        expect_asked_once("plan_with_handoffs", [&](counting& c) {
            plan_options const counted = c.options(all, n);
            handoff_options const how{.duration =
                                          c("duration", per_value<std::uint64_t, step_id>(2), p.steps())};
            expect(plan_with_handoffs(p, counted, how).plan ==
                   plan_with_handoffs(p, all, {.duration = std::uint64_t{2}}).plan);
        });
        expect_asked_once("schedules", [&](counting& c) {
            plan_options const counted = c.options(all, n);
            handoff_options const how{.duration =
                                          c("duration", per_value<std::uint64_t, step_id>(2), p.steps())};
            expect(schedules(p, counted, how).points ==
                   schedules(p, all, {.duration = std::uint64_t{2}}).points);
        });
        expect_asked_once("plan_flow", [&](counting& c) {
            expect(plan_flow(p, c.options(all, n)).plan == plan_flow(p, all).plan);
        });
        expect_asked_once("plan_symbolic", [&](counting& c) {
            symbolic_options const sizes = symbolic(all, n);
            expect(plan_symbolic(p, counted(c, sizes, n)).plan == plan_symbolic(p, sizes).plan);
        });
        for (byte_count capacity : {no_limit, byte_count{40}, byte_count{0}}) {
            all.pools = {{.capacity = capacity}, {}};
            expect_asked_once("advise_memory", [&](counting& c) {
                plan_options const counted = c.options(all, n);
                advice_options how;
                how.step_cost = c("step_cost", how.step_cost, p.steps());
                how.movable = c("movable", how.movable, n);
                memory_advice const advice = advise_memory(p, counted, how);
                expect(advice.plan == advise_memory(p, all).plan);
                if (capacity == 0 || n == 0) return;
                for (value_id v = 0; v != n; ++v) (void)advice.options.bytes[v]; // without further calls
            });
        }
    }
}

TEST_CASE("plan_nested asks once for each value of each program")
{
    snapshot const outer = program_of({{{}, {0}}, {{}, {}}, {{1}, {}}}, 2);
    program_tree tree(outer);
    tree.add_body(0, 1, program_body::run_kind::loop, program_of({{{0}, {1}, {{0, 1}}}}, 2), {},
                  {{0, 0, 1, 1}});
    counting outside, inside;
    std::vector<plan_options> const options{outside.options({.bytes = 8}, 2),
                                            inside.options({.bytes = 8}, 2)};
    CHECK(plan_nested(tree, options));
    for (counting const* count : {&outside, &inside})
        for (auto const& [name, calls] : count->calls()) CHECK(calls == std::vector<unsigned>{1, 1});
}

TEST_CASE("checkers ask once, of sound plans and of others")
{
    for (unsigned seed = first_seed(), end = seed + rounds(20); seed != end; ++seed) {
        CAPTURE(seed);
        random_tasks const drawn = draw(seed);
        snapshot const p = drawn.program();
        std::size_t const n = p.values();
        plan_options const all = drawn.options();
        symbolic_options const sizes = symbolic(all, n);
        symbolic_plan const for_batches = plan_symbolic(p, sizes).plan;
        std::vector<memory_plan> const plans{
            {}, plan_memory(p, all).plan, plan_concurrent(p, all).plan, plan_flow(p, all).plan};
        for (memory_plan const& plan : plans) {
            expect_asked_once("fits", [&](counting& c) {
                expect(fits(plan, p, c.options(all, n)).plan == fits(plan, p, all).plan);
            });
            expect_asked_once("check_plan", [&](counting& c) {
                expect(check_plan(p, plan, c.options(all, n)) == check_plan(p, plan, all));
            });
            expect_asked_once("check_flow_plan", [&](counting& c) {
                expect(check_flow_plan(p, plan, c.options(all, n)) == check_flow_plan(p, plan, all));
            });
            expect_asked_once("check_concurrent_plan", [&](counting& c) {
                expect(check_concurrent_plan(p, plan, c.options(all, n)) ==
                       check_concurrent_plan(p, plan, all));
            });
        }
        for (symbolic_plan const& plan : {symbolic_plan{}, for_batches})
            expect_asked_once("check_plan of a symbolic plan", [&](counting& c) {
                expect(check_plan(p, plan, counted(c, sizes, n)) == check_plan(p, plan, sizes));
            });
        for (snapshot const& after : {p, snapshot{}})
            expect_asked_once("check_rewrite", [&](counting& c) {
                rewrite_options const none;
                rewrite_options const names{.role = c("role", all.role, n),
                                            .alias_of = c("alias_of", all.alias_of, n),
                                            .given_as = c("given_as", none.given_as, n),
                                            .kept_as = c("kept_as", none.kept_as, n)};
                (void)check_rewrite(p, after, names);
            });
    }
}

TEST_CASE("analyses, orders, slots and rewritings ask once")
{
    for (unsigned seed = first_seed(), end = seed + rounds(20); seed != end; ++seed) {
        CAPTURE(seed);
        random_tasks const drawn = draw(seed);
        snapshot const p = drawn.program();
        std::size_t const n = p.values();
        plan_options all = drawn.options();
        std::vector<node_id> turned; // an order that most programs forbid
        for (node_id i = 0; i != p.nodes(); ++i) turned.push_back(static_cast<node_id>(p.nodes() - 1 - i));

        expect_asked_once("dependences", [&](counting& c) {
            expect(dependences(p, c.data(all, n)).after == dependences(p, dependences_of(all, {})).after);
        });
        for (std::vector<node_id> const& order : {std::vector<node_id>{}, turned}) {
            all.order = order;
            expect_asked_once("lifetimes", [&](counting& c) {
                expect(lifetimes(p, c.lives(all, n)).of == lifetimes(p, lifetimes_of(all)).of);
            });
            expect_asked_once("order", [&](counting& c) {
                expect(sublet::order(p, c.options(all, n)).order == sublet::order(p, all).order);
            });
            expect_asked_once("order by a rule", [&](counting& c) {
                (void)sublet::order(p, c.options(all, n), node_order::method::depth_first);
            });
            expect_asked_once("versions", [&](counting& c) {
                plan_options const counted = c.options(all, n);
                (void)versions(p, counted, c("same_storage", per_value<bool>(false), n));
            });
        }
        all.order.clear();
        live_ranges const lives = lifetimes(p, lifetimes_of(all));
        expect_asked_once("gather_buffers",
                          [&](counting& c) { (void)gather_buffers(lives, c.options(all, n)); });
        versioned_program const made = versions(p, all);
        expect_asked_once("with_versions", [&](counting& c) { (void)with_versions(c.options(all, n), made); },
                          {"role", "alias_of"});
        expect_asked_once("values_as_versions",
                          [&](counting& c) { (void)values_as_versions(p, c.options(all, n)); },
                          {"bytes", "alignment", "view_offset", "pool", "pinned", "eligible", "kind"});

        auto const kind = static_cast<slot_options::strategy_kind>(seed % 3);
        shared_slots const slots = share_slots(p, all, {.strategy = kind});
        expect_asked_once("share_slots", [&](counting& c) {
            plan_options const counted = c.options(all, n);
            slot_options const how{.strategy = kind,
                                   .takes_part = c("takes_part", per_value<bool, step_id>(true), p.steps())};
            expect(share_slots(p, counted, how).slot_of == slots.slot_of);
        });
        expect_asked_once("log_sharing",
                          [&](counting& c) { (void)log_sharing(p, slots, c.options(all, n), {}); },
                          {"alignment", "role", "view_offset", "pool", "pinned", "eligible", "kind"});
        expect_asked_once("name_slots",
                          [&](counting& c) {
                              plan_options const counted = c.options(all, n);
                              rename_options const naming{.is_slot = c("is_slot", per_value<bool>(false), n),
                                                          .keeps_name =
                                                              c("keeps_name", per_value<bool>(false), n)};
                              (void)name_slots(values_as_versions(p, all), slots, counted, naming);
                          },
                          {"alignment", "role", "alias_of", "view_offset", "pinned", "eligible", "kind"});

        memory_plan const plan = plan_memory(p, all).plan;
        expect_asked_once(
            "releases",
            [&](counting& c) { (void)releases(p, plan.buffers.size(), plan.buffer_of, c.lives(all, n)); },
            {"alias_of", "view_offset", "bytes"});

        csr_graph const clique{csr_rows<node_id, node_id>::gathered(n, [&](auto add) {
            for (node_id v = 0; v != n; ++v)
                for (node_id w = 0; w != n; ++w)
                    if (v != w) add(v, w);
        })};
        expect_asked_once("color_graph", [&](counting& c) {
            coloring_options how;
            how.bytes = c("bytes", how.bytes, n);
            how.fixed = c("fixed", how.fixed, n);
            (void)color(clique, how);
        });
        expect_asked_once("color_chordal",
                          [&](counting& c) { (void)color(p, c("fixed", per_value<slot_id>(no_slot), n)); });
    }
}

TEST_CASE("place asks once for each buffer, with positions and with clocks")
{
    placement_problem problem;
    for (position_id i = 0; i != 6; ++i) problem.buffers.push_back({{i, i + 2}, 8u + i});
    placement_problem with_clocks = problem;
    with_clocks.clocks.threads = 1;
    for (std::uint32_t i = 0; i != 6; ++i) {
        with_clocks.clocks.begin.push_back(i);
        with_clocks.clocks.end.push_back(i + 2);
    }
    for (placement_problem const* it : {&problem, &with_clocks})
        expect_asked_once("place", [&](counting& c) {
            place_options how;
            how.previous = c("previous", how.previous, 6);
            how.keep = c("keep", how.keep, 6);
            (void)place(*it, how);
        });
}

TEST_CASE("executors ask once, when they are made, and never again")
{
    for (unsigned seed = first_seed(), end = seed + rounds(8); seed != end; ++seed) {
        CAPTURE(seed);
        random_tasks const drawn = draw(seed);
        snapshot const p = drawn.program();
        std::size_t const n = p.values();
        plan_options const all = drawn.options();
        memory_plan const plan = plan_memory(p, all).plan, any_order = plan_concurrent(p, all).plan;
        expect_asked_once("cpu_executor", [&](counting& c) {
            plan_options const counted = c.options(all, n);
            cpu_executor<kernel> const run(p, counted, arena{plan}, no_work);
        });
        for (memory_plan const* one : {&plan, &any_order}) {
            expect_asked_once("thread_executor", [&](counting& c) {
                plan_options const counted = c.options(all, n);
                thread_executor<kernel> const run(p, counted, arena{*one}, no_work, {});
            });
            expect_asked_once("stream_executor", [&](counting& c) {
                simple_device device;
                plan_options const counted = c.options(all, n);
                stream_executor const run(device, p, counted, arena{*one}, synthetic_kernel{});
            });
        }
    }
}

} // namespace this_test
