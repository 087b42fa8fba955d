// SPDX-License-Identifier: BSL-1.0
#include <sublet/listing.hpp>

#include "printed.hpp"
#include "random_source.hpp"
#include "random_views.hpp"

#include <sublet/analysis/liveness.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/execution/threads.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

struct tensor {
    byte_count bytes = 0;
};

/// A handle with an order and no hash.
struct numbered {
    int number;
    friend bool operator<(numbered a, numbered b) { return a.number < b.number; }
};

/// The listing of a random program, with values of it as handles.
template <class Handle, class HandleOf>
listing<Handle> list_of(random_views const& views, HandleOf handle_of)
{
    listing<Handle> list;
    for (value_id v = 0; v != views.values(); ++v)
        if (detail::is_given(views.role[v]))
            list.facts(handle_of(v), {.bytes = views.bytes[v], .role = views.role[v], .pool = views.pool[v]});
    for (auto const& its : views.steps) {
        auto step = list.step();
        for (touch t : its.touches) {
            value_id const v = t.value;
            typename listing<Handle>::value_facts const facts{
                .bytes = views.bytes[v], .role = views.role[v], .pool = views.pool[v]};
            if (t.kind == touch::access::use) step.read(handle_of(v));
            if (t.kind == touch::access::use_early) step.read_early(handle_of(v));
            if (t.kind == touch::access::write) step.write(handle_of(v));
            if (t.kind == touch::access::def) step.make(handle_of(v), facts);
            if (t.makes_view())
                step.view(handle_of(v), handle_of(views.alias_of[v]), views.view_offset[v], facts);
            if (t.kind == touch::access::write_view) step.write(handle_of(v));
        }
        for (auto [in, out] : its.pairs) step.may_overwrite(handle_of(in), handle_of(out));
    }
    return list;
}

} // namespace

TEST_CASE("a listing is the program with ids, for pointers, integers, strings and ordered handles")
{
    for (std::uint32_t seed = 0; seed != 200; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_views const views = draw_views(pick, 12);
        plan_options const by_id = views.options();
        auto const expected = plan_memory(views.program(), by_id);
        auto check = [&](auto const& list, auto handle_of) {
            auto const planned = plan_memory(list);
            REQUIRE(bool(planned));
            CHECK(planned.report().naive_bytes == expected.report().naive_bytes);
            CHECK(planned.report().lower_bound_bytes == expected.report().lower_bound_bytes);
            std::size_t placed = 0;
            for (auto [handle, pool, offset] : planned) {
                CHECK(planned.offset_of(handle) == offset);
                CHECK(pool == planned.plan.buffers[planned.plan.buffer_of[list.id(handle)]].pool);
                ++placed;
            }
            std::size_t with_offset = 0;
            for (value_id v = 0; v != views.values(); ++v) {
                with_offset += planned.offset_of(handle_of(v)) != no_offset;
                if (list.id(handle_of(v)) == no_value) continue;
                CHECK(!(list.handle(list.id(handle_of(v))) < handle_of(v)));
            }
            CHECK(placed == with_offset);
        };
        std::vector<tensor> tensors(views.values());
        auto pointer = [&](value_id v) -> tensor const* { return &tensors[v]; };
        auto text = [](value_id v) { return "value " + std::to_string(v); };
        auto number = [](value_id v) { return numbered{static_cast<int>(7 * v)}; };
        auto id = [](value_id v) { return std::uint64_t{v} << 20; };
        check(list_of<tensor const*>(views, pointer), pointer);
        check(list_of<std::string>(views, text), text);
        check(list_of<numbered>(views, number), number);
        check(list_of<std::uint64_t>(views, id), id);
    }
}

TEST_CASE("every planner and executor takes a listing")
{
    listing<std::string> list;
    list.facts("image", {.bytes = 64, .role = value_role::input});
    list.step("blur").read("image").make("b", {.bytes = 64}).may_overwrite("image", "b");
    list.step("edges").read("b").make("c", {.bytes = 32});
    list.step("add").read("b").read("c").make("d", {.bytes = 64, .role = value_role::output});
    CHECK(plan_memory(list).bytes() == 160);
    CHECK(bool(plan_concurrent(list)));
    CHECK(bool(plan_with_handoffs(list)));
    CHECK(bool(plan_flow(list)));
    CHECK(liveness(snapshot(list)).is_live_in(list.id("image"), 0));
    auto run = [&](auto& executor) {
        fill_noise(executor.input(list.id("image")), 1);
        executor.run();
        return digest(executor.output(list.id("d")));
    };
    cpu_executor apart{list, no_plan{}, synthetic_kernel{}};
    cpu_executor packed{list, arena{plan_memory(list)}, synthetic_kernel{}};
    thread_executor threads{list, arena{plan_concurrent(list)}, synthetic_kernel{}, {.workers = 2}};
    std::uint64_t const expected = run(apart);
    CHECK(run(packed) == expected);
    CHECK(run(threads) == expected);
}

TEST_CASE("blocks, edges and reads at the end of a block make a control-flow graph")
{
    listing<char> list;
    auto entry = list.block("entry");
    list.step().make('x', {.bytes = 8});
    auto loop = list.block("loop");
    list.edge(entry, loop);
    list.edge(loop, loop);
    list.step().read_at_end_of(entry, 'x').read_at_end_of(loop, 'y').make('i', {.bytes = 8});
    list.step().read('i').make('y', {.bytes = 8});
    auto exit = list.block("exit");
    list.edge(loop, exit);
    list.step().read('y');
    snapshot const p = list;
    CHECK(p.nodes() == 3);
    CHECK(p.steps() == 4);
    CHECK(p.edge_uses(1).size() == 2);
    auto const planned = plan_flow(list);
    REQUIRE(bool(planned));
    CHECK(planned.bytes() == 16);
    CHECK(planned.offset_of('x') != planned.offset_of('i') + 8);

    listing<char> empty_block;
    auto first = empty_block.block();
    auto second = empty_block.block();
    empty_block.edge(first, second);
    empty_block.step().make('a', {.bytes = 4});
    CHECK(empty_block.program().steps() == 2);
}

TEST_CASE("a step waits for another without data, and the order of a plan may be given")
{
    listing<int> list;
    auto load = list.step("load");
    load.make(1, {.bytes = 8});
    list.step("log").read(1).make(2, {.bytes = 8, .role = value_role::output}).wait_for(load);
    CHECK(list.program().successors(0).size() == 1);
    list.order = {1, 0};
    auto const planned = plan_memory(list);
    REQUIRE(!planned);
    CHECK(planned.error().what == fault::used_undefined);
}

TEST_CASE("errors name values and steps")
{
    listing<int> list;
    list.facts(7, {.name = "weights"});
    list.step("conv1").read(7).make(8, {.bytes = 16, .name = "features"});
    auto const planned = plan_memory(list);
    REQUIRE(!planned);
    CHECK(printed(planned.error()) ==
          "value 'weights' is used at position 0 ('conv1') and never defined, and is "
          "neither input nor external");
    CHECK(printed(planned.report()).starts_with("no plan: value 'weights'"));

    listing<std::string> cache;
    cache.facts("cache", {.bytes = 16, .role = value_role::state});
    cache.step("append").view("row", "cache", 12, {.bytes = 8}).write("row");
    CHECK(printed(plan_memory(cache).error()) ==
          "value 'row' is a view of value 'cache' that ends at byte 20, but there are only 16 bytes");

    listing<std::string> glue; // the write is not said
    glue.facts("cache", {.bytes = 16, .role = value_role::state});
    glue.step("look").view("row", "cache", 0, {.bytes = 8});
    glue.step("append").make("row");
    CHECK(printed(plan_memory(glue).error()) == "step 'append' defines value 'row', a view of value 'cache': "
                                                "say view() if it makes the view, write() if "
                                                "it writes through it, or both");
}

TEST_CASE("a listing refuses contradictions and steps that are over")
{
    listing<int> list;
    auto first = list.step();
    first.make(1, {.bytes = 8});
    CHECK_THROWS_AS(list.facts(1, {.bytes = 9}), precondition_error);
    CHECK_NOTHROW(list.facts(1, {.bytes = 8, .alignment = 4}));
    auto second = list.step();
    CHECK_THROWS_AS(first.read(1), precondition_error);
    CHECK_THROWS_AS((void)list.block(), precondition_error);
    CHECK_NOTHROW(second.read(1).wait_for(first));
    CHECK(list.values() == 1);
    CHECK(list.id(2) == no_value);
    CHECK(plan_memory(listing<int>{}).bytes() == 0);
}

} // namespace this_test
