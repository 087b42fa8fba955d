// SPDX-License-Identifier: BSL-1.0
#include <sublet/listing.hpp>

#include "affine_bytes.hpp"
#include "printed.hpp"
#include "random_source.hpp"
#include "random_views.hpp"

#include <sublet/advise_memory.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_schedule.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/checking/fits.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/execution/threads.hpp>
#include <sublet/ordering/order.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_nested.hpp>
#include <sublet/plan_symbolic.hpp>
#include <sublet/reporting/csv.hpp>
#include <sublet/reporting/html.hpp>
#include <sublet/reporting/svg.hpp>
#include <sublet/reporting/why_peak.hpp>
#include <sublet/schedules.hpp>
#include <sublet/sharing/share_slots.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <sstream>
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

/// A handle with one hash for all.
struct clashing {
    int number;
    friend bool operator==(clashing, clashing) = default;
};

/// The listing of a random program, with values of it as handles.
template <class Handle, class HandleOf>
listing<Handle> list_of(random_views const& views, HandleOf handle_of, listing<Handle> list = {})
{
    for (value_id v = 0; v != views.values(); ++v)
        if (detail::is_given(views.role[v]))
            list.facts(handle_of(v), {.bytes = views.bytes[v], .role = views.role[v], .pool = views.pool[v]});
    for (auto const& its : views.steps) {
        auto step = list.step();
        for (touch t : its.touches) {
            value_id const v = t.value;
            typename listing<Handle>::value_facts const facts{
                .bytes = views.bytes[v],
                .role = views.role[v],
                .pool = views.alias_of[v] == no_value ? views.pool[v] : pool_id{0}};
            if (t.kind == touch::access::use) step.read(handle_of(v));
            if (t.kind == touch::access::use_early) step.read_early(handle_of(v));
            if (t.kind == touch::access::write) step.write(handle_of(v));
            if (t.kind == touch::access::def) step.make(handle_of(v), facts);
            if (t.makes_view())
                step.view(handle_of(v), handle_of(views.alias_of[v]), views.view_offset[v], facts);
            if (t.kind == touch::access::write_view) step.write(handle_of(v));
        }
        for (auto [in, out] : its.pairs) step.may_overwrite(handle_of(in), handle_of(out));
        step.may_recompute(its.may_recompute());
        step.only_views();
    }
    return list;
}

} // namespace
} // namespace this_test

template <>
struct std::hash<this_test::clashing> {
    std::size_t operator()(this_test::clashing) const { return 42; }
};

namespace this_test {

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
                with_offset += planned.find(handle_of(v)).has_value();
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

TEST_CASE("a listing has the program and the options of its description by ids")
{
    for (std::uint32_t seed = 0; seed != 200; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_views const views = draw_views(pick, 12);
        listing<value_id> list;
        for (value_id v = 0; v != views.values(); ++v) list.facts(v, {}); // numbers them as they are
        listing<value_id> const described = list_of<value_id>(views, [](value_id v) { return v; }, list);
        CHECK(described.program() == views.program());
        plan_options const given = described.options(), expected = views.options();
        for (value_id v = 0; v != views.values(); ++v) {
            if (given.bytes[v] == no_size) continue; // no step makes it
            CHECK(given.bytes[v] == expected.bytes[v]);
            CHECK(given.role[v] == expected.role[v]);
            if (views.alias_of[v] == no_value) CHECK(given.pool[v] == expected.pool[v]);
            CHECK(given.alias_of[v] == expected.alias_of[v]);
            CHECK(given.view_offset[v] == expected.view_offset[v]);
        }
    }
}

TEST_CASE("handles keep their numbers, whatever their hashes are")
{
    auto check = [](auto handle_of, std::uint64_t count) {
        listing<std::uint64_t> list;
        for (std::uint64_t i = 0; i != count; ++i) {
            list.facts(handle_of(i), {.bytes = i});
            list.facts(handle_of(i / 2), {.bytes = i / 2});
        }
        CHECK(list.values() == count);
        for (std::uint64_t i = 0; i != count; ++i) {
            REQUIRE(list.id(handle_of(i)) == i);
            REQUIRE(list.handle(value_id::of(i)) == handle_of(i));
        }
        for (std::uint64_t i = count; i != 2 * count; ++i) REQUIRE(list.id(handle_of(i)) == no_value);
    };
    check([](std::uint64_t i) { return 272 * i; }, 3000); // objects one after another
    check([](std::uint64_t i) { return ~(64 * i); }, 3000);
    check([](std::uint64_t i) { return i; }, 3000);
    check([](std::uint64_t i) { return i << 40; }, 3000);
    check([](std::uint64_t i) { return i << 62 ^ i * i; }, 3000);

    listing<clashing> same;
    for (int i = 0; i != 100; ++i) same.facts({i}, {.bytes = 1});
    CHECK(same.values() == 100);
    CHECK(same.id({99}) == 99);
    CHECK(same.id({100}) == no_value);
}

TEST_CASE("a program may be asked while its last step is open")
{
    listing<char> list;
    list.facts('c', {.bytes = 8, .role = value_role::state});
    auto step = list.step();
    step.view('v', 'c', 0, {.bytes = 4});
    CHECK(list.program().touches(0).size() == 1);
    step.write('v').read('c');
    snapshot const p = list.program();
    REQUIRE(p.touches(0).size() == 2);
    CHECK(p.touches(0)[1] == touch{list.id('v'), touch::access::write_view});
    CHECK(p.has_writes());
    CHECK(list.program() == p);
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
    CHECK(liveness(list.program()).is_live_in(list.id("image"), 0));
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

TEST_CASE("checkers, orders and reports take a listing, and have its names")
{
    listing<tensor const*> list;
    tensor const image{64}, small{16}, big{256}, sum{16};
    list.facts(&image, {.bytes = 64, .role = value_role::input, .name = "image"});
    list.step("grow").read(&image).make(&big, {.bytes = 256, .name = "big"});
    list.step("shrink").read(&image).make(&small, {.bytes = 16});
    list.step("add").read(&big).read(&small).make(&sum, {.bytes = 16, .role = value_role::output});
    auto const planned = plan_memory(list);
    CHECK(check_plan(list, planned.plan));
    CHECK(check_concurrent_plan(list, plan_concurrent(list).plan));
    CHECK(check_flow_plan(list, plan_flow(list).plan));
    memory_plan broken = planned.plan;
    for (auto& b : broken.buffers) b.offset = 0;
    counterexample const why = check_plan(list, broken).error();
    CHECK(printed(why).find("'image'") != std::string::npos);
    CHECK(printed(why).find("'grow'") != std::string::npos);
    CHECK(printed(list.names()(list.id(&big))) == "big");
    CHECK(printed(list.step_names()(0)) == "grow");

    std::ostringstream table, rows;
    write_why_peak(table, why_peak(list.program(), planned.plan),
                   {.names = list.names(), .steps = list.step_names()});
    std::string const text = table.str(); // as wide as the address of a value without a name
    std::size_t const step = text.find_first_not_of(' ', text.find("big ") + 3);
    REQUIRE(step < text.size());
    CHECK(text.compare(step, 4, "grow") == 0);
    CHECK(table.str().find("image") != std::string::npos);
    write_csv(rows, planned, {.names = list.names()});
    std::ostringstream address;
    address << static_cast<void const*>(&small);
    CHECK(rows.str().find("\n" + address.str() + ",1,3,16,") != std::string::npos); // one without a name

    byte_count const before = plan_memory(list).bytes();
    list.order = order(list).order;
    CHECK(plan_memory(list).bytes() <= before);
    CHECK(order(list).peak == plan_memory(list).report().lower_bound_bytes);
}

TEST_CASE("advice for a listing is asked with handles")
{
    listing<std::string> list;
    list.step("first").make("a", {.bytes = 64}).may_recompute();
    list.step("second").read("a").make("b", {.bytes = 64});
    list.step("third").read("b").make("c", {.bytes = 64});
    list.step("fourth").read("c").make("d", {.bytes = 64});
    list.step("last").read("a").read("d").make("e", {.bytes = 8, .role = value_role::output});
    list.pools = {{.capacity = 136}};
    CHECK(!plan_memory(list));
    auto const advice = advise_memory(list);
    REQUIRE(bool(advice));
    REQUIRE(advice.suggestions.size() == 1);
    CHECK(list.handle(advice.suggestions[0].value) == "a");
    CHECK(advice.suggestions[0].remat_step == 0); // the only one that may run again
    CHECK(advice.bytes() <= 136);
    CHECK(advice.offset_of("a") == advice.plan.offset_of(0));
    std::size_t of_a = 0;
    for (auto [handle, pool, offset] : advice) {
        CHECK(offset != no_offset);
        of_a += handle == "a";
    }
    CHECK(of_a == 2); // its first value, and the restored one
    list.pools = {{.capacity = 100}};
    CHECK(!advise_memory(list));
    CHECK(advise_memory(list).pools[0].least == 136);

    list.step("late").read("nothing");
    CHECK(printed(advise_memory(list).error()).find("value 'nothing' is used at position 5 ('late')") == 0);
}

TEST_CASE("a plan for every shape takes sizes by handle")
{
    struct scaled {
        affine_bytes bytes;
    };
    scaled const weights{{640, 0}}, x{{0, 64}}, row{{0, 32}}, y{{0, 64}}, z{{8, 0}}, late{{8, 0}};
    listing<scaled const*> list;
    list.facts(&weights, {.role = value_role::external});
    list.step("scale").read(&weights).make(&x);
    list.step("look").view(&row, &x).make(&y).read(&x);
    list.step("sum").read(&row).read(&y).make(&z, {.role = value_role::output, .name = "z"});
    auto const bytes_of = list.by_handle([](scaled const* s) { return s->bytes; });
    auto const planned = plan_symbolic(list, {.bytes = bytes_of, .dims = batches(16)});
    REQUIRE(bool(planned));
    CHECK(planned.bytes() == 16 * 128 + 8);
    CHECK(!planned.find(&weights, 4));
    CHECK_THROWS_AS((void)planned.offset_of(&weights, 4), precondition_error);
    for (byte_count batch : {1u, 7u, 16u}) {
        memory_plan const plan = planned.plan.at(batch);
        for (auto [handle, pool, offset] : planned) {
            CHECK(offset.at(batch) == planned.offset_of(handle, batch));
            CHECK(offset.at(batch) == plan.offset_of(list.id(handle)));
        }
        CHECK(planned.offset_of(&row, batch) == planned.offset_of(&x, batch));
    }
    auto const half = [&](value_id v) { return v == list.id(&row) ? affine_bytes{0, 32} : affine_bytes{}; };
    auto const lower = plan_symbolic(list, {.bytes = bytes_of, .dims = batches(16), .view_offset = half});
    CHECK(lower.offset_of(&row, 2) == lower.offset_of(&x, 2) + 64);
    symbolic_options const all = symbolic_options_of(list, {.bytes = bytes_of, .dims = batches(16)});
    CHECK(check_plan(list.program(), planned.plan, all));
    CHECK(check_plan(list.program(), planned.plan.at(7), all.at(7)));
    CHECK_THROWS_AS((void)plan_symbolic(list, {.bytes = bytes_of, .dims = batches(16), .alignment = 64}),
                    precondition_error);
    list.pools = {{.capacity = 1000}};
    CHECK(planned.plan.largest(0, 1, list.pools) == 7);
    CHECK(!plan_symbolic(list, {.bytes = bytes_of, .dims = batches(16)}));
    list.step("late").read(&z).read(&late);
    CHECK(printed(plan_symbolic(list, {.bytes = bytes_of, .dims = batches(2)}).error()).find("'late'") !=
          std::string::npos);
}

TEST_CASE("a listing per program plans a tree")
{
    std::vector<listing<std::string>> lists(2);
    lists[0].facts("x", {.bytes = 64, .role = value_role::input});
    lists[0].step("call").read("x").make("y", {.bytes = 64, .role = value_role::output});
    lists[1].step("inside").read("x").make("t", {.bytes = 32});
    lists[1].step("out").read("t").make("y", {.bytes = 64});
    program_tree tree(lists[0].program());
    tree.add_body(0, 0, program_body::run_kind::once, lists[1].program(),
                  {{lists[1].id("x"), lists[0].id("x")}, {lists[1].id("y"), lists[0].id("y")}});
    auto const planned = plan_nested(tree, lists);
    REQUIRE(bool(planned));
    CHECK(planned.bytes() == 160);
    CHECK(planned.offset_of(1, lists[1].id("y")) == planned.offset_of(0, lists[0].id("y")));
    lists[1].step("late").read("nothing");
    program_tree broken(lists[0].program());
    broken.add_body(0, 0, program_body::run_kind::once, lists[1].program(),
                    {{lists[1].id("x"), lists[0].id("x")}, {lists[1].id("y"), lists[0].id("y")}});
    auto const refused = plan_nested(broken, lists);
    REQUIRE(!refused);
    CHECK(printed(refused.error()).find("'nothing'") != std::string::npos);
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
    snapshot const p = list.program();
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
    static_cast<void>(empty_block.block());
    CHECK(empty_block.program().nodes() == 3);
    CHECK(empty_block.program().steps() == 3);

    listing<char> no_edge;
    auto before = no_edge.block();
    no_edge.step().make('a', {.bytes = 4});
    static_cast<void>(no_edge.block());
    no_edge.step().read_at_end_of(before, 'a');
    CHECK_THROWS_AS((void)no_edge.program(), precondition_error);
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

TEST_CASE("lives, versions, dependences, slots and orders of a listing say names in their errors, too")
{
    listing<std::string> list;
    list.step("add").read("a").make("b", {.bytes = 8});
    list.step("load").make("a", {.bytes = 8});
    auto says = [](auto const& result, std::string const& step) {
        REQUIRE(!result);
        std::string const said = printed(result.error());
        INFO(said);
        CHECK(said.find("'a'") != std::string::npos);
        CHECK(said.find("'" + step + "'") != std::string::npos);
    };
    says(lifetimes(list), "add");
    list.step("again").make("a");
    says(versions(list), "add");
    says(dependences(list), "again"); // makes it a second time
    says(share_slots(list), "again");
    says(order(list), "add");
}

TEST_CASE("values without a name are called as their handles are")
{
    auto error_of = [](auto handle) {
        listing<decltype(handle)> list;
        list.step("s").read(handle);
        auto const text = printed(plan_memory(list).error());
        return text.substr(0, text.find(" is used"));
    };
    enum class colour : signed char { red = -3 };
    CHECK(error_of(std::string("w")) == "value 'w'");
    CHECK(error_of('w') == "value 'w'");
    CHECK(error_of('\n') == "value '10'");
    CHECK(error_of(42) == "value '42'");
    CHECK(error_of(std::int64_t{-9223372036854775807} - 1) == "value '-9223372036854775808'");
    CHECK(error_of(~std::uint64_t{0}) == "value '18446744073709551615'");
    CHECK(error_of(colour::red) == "value '-3'");
    CHECK(error_of(static_cast<tensor const*>(nullptr)) == "value 'null'");
    CHECK(error_of(static_cast<char const*>(nullptr)) == "value 'null'");
    CHECK(error_of(numbered{5}) == "value 0");
    tensor const one{8};
    std::ostringstream address;
    address << "value '" << static_cast<void const*>(&one) << "'";
    CHECK(error_of(&one) == address.str());
}

TEST_CASE("an offset is asked of a value that has one, or find() says that there is none")
{
    listing<std::string> list;
    list.facts("weights", {.bytes = 8, .role = value_role::external});
    list.step("conv").read("weights").make("x", {.bytes = 8});
    auto const planned = plan_memory(list);
    CHECK(planned.offset_of("x") == 0);
    CHECK(planned.find("x") == byte_count{0});
    CHECK(!planned.find("weights"));
    CHECK(!planned.find("wieghts"));
    CHECK(thrown_by<precondition_error>([&] { (void)planned.offset_of("weights"); }) ==
          "sublet: value 'weights' has no offset: it is external, or its size is unknown");
    CHECK(thrown_by<precondition_error>([&] { (void)planned.offset_of("wieghts"); }) ==
          "sublet: value 'wieghts' has no offset: it is not in the listing");
    list.step("end").read("y");
    auto const none = plan_memory(list);
    CHECK(!none.find("x"));
    CHECK(thrown_by<precondition_error>([&] { (void)none.offset_of("x"); }) ==
          "sublet: value 'x' has no offset: there is no plan");
    listing<numbered> plain;
    CHECK(thrown_by<precondition_error>([&] { (void)plan_memory(plain).offset_of({7}); }) ==
          "sublet: value has no offset: it is not in the listing");
}

TEST_CASE("what is said twice is said alike, or refused with both values and where they were said")
{
    auto said = [](auto second) {
        listing<std::string> list;
        list.step("a").make("c", {.bytes = 64}).make("d", {.bytes = 64});
        auto step = list.step("b");
        step.view("r", "c", 0, {.bytes = 8, .alignment = 4})
            .make("o", {.role = value_role::output, .pool = 1});
        auto third = list.step();
        return thrown_by<precondition_error>([&] { second(third, list); });
    };
    using step = listing<std::string>::step_ref&;
    using listed = listing<std::string>&;
    CHECK(said([](step s, listed) { s.view("r", "c", 0, {.bytes = 8}); }).empty());
    CHECK(said([](step s, listed) { s.view("r", "c", 56); }) ==
          "sublet: the offset of value 'r' is 0 in step 'b', and 56 in step 2");
    CHECK(said([](step s, listed) { s.view("r", "d"); }) ==
          "sublet: the root of value 'r' is 'c' in step 'b', and 'd' in step 2");
    CHECK(said([](step, listed list) { list.facts("r", {.bytes = 9}); }) ==
          "sublet: the size of value 'r' is 8 in step 'b', and 9 by facts()");
    CHECK(said([](step s, listed) { s.make("r", {.alignment = 8}); }) ==
          "sublet: the alignment of value 'r' is 4 in step 'b', and 8 in step 2");
    CHECK(said([](step, listed list) { list.facts("o", {.role = value_role::state}); }) ==
          "sublet: the role of value 'o' is output in step 'b', and state by facts()");
    CHECK(said([](step, listed list) {
              list.facts("o", {.role = value_role::input | value_role::output});
          }) == "sublet: the role of value 'o' is output in step 'b', and input | output by facts()");
    CHECK(said([](step, listed list) { list.facts("o", {.pool = 2}); }) ==
          "sublet: the pool of value 'o' is 1 in step 'b', and 2 by facts()");
}

TEST_CASE("a step overwrites what it reads with what it makes, or the pair is refused")
{
    auto refused = [](auto last) {
        listing<std::string> list;
        list.step("first").make("a", {.bytes = 8}).make("b", {.bytes = 8}).make("c", {.bytes = 8});
        list.step("mid").read("a").make("m", {.bytes = 8}).may_overwrite("a", "m");
        auto step = list.step("last");
        last(step);
        list.step("end").read("b");
        return thrown_by<precondition_error>([&] { (void)plan_memory(list); });
    };
    using step = listing<std::string>::step_ref&;
    CHECK(refused([](step s) { s.may_overwrite("b", "x").make("x", {.bytes = 8}).read_early("b"); }).empty());
    CHECK(refused([](step s) { s.read("b").make("x", {.bytes = 8}).may_overwrite("a", "x"); }) ==
          "sublet: step 'last' says that 'x' may overwrite 'a', and does not read 'a'");
    CHECK(refused([](step s) { s.read("b").make("x", {.bytes = 8}).may_overwrite("bb", "x"); }) ==
          "sublet: step 'last' says that 'x' may overwrite 'bb', and does not read 'bb'");
    CHECK(refused([](step s) { s.read("b").make("x", {.bytes = 8}).may_overwrite("b", "y"); }) ==
          "sublet: step 'last' says that 'y' may overwrite 'b', and does not make 'y'");
    CHECK(refused([](step s) { s.read("b").read("m").may_overwrite("b", "m"); }) ==
          "sublet: step 'last' says that 'm' may overwrite 'b', and does not make 'm'");
}

TEST_CASE("a planner needs the sizes of what steps make and of inputs, or that they are unknown")
{
    using words = listing<std::string>;
    auto refused = [](auto describe) {
        words list;
        describe(list);
        std::string const by_order = thrown_by<precondition_error>([&] { (void)plan_memory(list); });
        CHECK(thrown_by<precondition_error>([&] { (void)plan_concurrent(list); }) == by_order);
        CHECK(thrown_by<precondition_error>([&] { (void)plan_with_handoffs(list); }) == by_order);
        CHECK(thrown_by<precondition_error>([&] { (void)plan_flow(list); }) == by_order);
        CHECK(thrown_by<precondition_error>([&] { (void)advise_memory(list); }) == by_order);
        CHECK(thrown_by<precondition_error>([&] { (void)order(list); }) == by_order);
        return by_order;
    };
    std::string const ends = " is not said: say .bytes, or no_size if it is unknown";
    CHECK(refused([](words& l) { l.step("s").make("b"); }) ==
          "sublet: the size of value 'b', made in step 's'," + ends);
    CHECK(refused([](words& l) { l.step("s").allocate("b"); }) ==
          "sublet: the size of value 'b', made in step 's'," + ends);
    CHECK(refused([](words& l) {
              l.facts("in", {.role = value_role::input});
              l.step("s").read("in");
          }) == "sublet: the size of value 'in'" + ends);
    CHECK(refused([](words& l) { l.step("s").make("b", {.bytes = no_size}); }).empty());
    CHECK(refused([](words& l) { l.step("s").make("b", {.eligible = false}); }).empty());
    CHECK(refused([](words& l) { l.step("s").make("b"), l.facts("b", {.bytes = 8}); }).empty());
    CHECK(refused([](words& l) { l.step("s").make("b", {.bytes = 8}).view("v", "b"); }).empty());
    words slots; // sizes are not needed for slots
    slots.step("s").make("b");
    slots.step("t").read("b");
    CHECK(lifetimes(slots).of.size() == 1);
}

TEST_CASE("a report counts what is not placed")
{
    listing<std::string> list;
    list.facts("w", {.bytes = 8, .role = value_role::external});
    list.step("s").read("w").make("u", {.bytes = no_size}).make("own", {.bytes = 8, .eligible = false});
    auto check = [&list](auto const& planned, bool is_placed) {
        plan_report const& r = planned.report();
        CHECK(r.external == std::vector<value_id>{list.id("w"), list.id("own")});
        CHECK(r.unsized == std::vector<value_id>{list.id("u")});
        std::string const text = printed(r), unknown = "1 value of unknown size is not placed";
        if (is_placed) CHECK(text.find("; " + unknown) != std::string::npos);
        else CHECK(text == "nothing to place: 2 values are external, " + unknown);
    };
    for (bool is_placed : {false, true}) {
        if (is_placed) list.step("t").make("x", {.bytes = 8});
        check(plan_memory(list), is_placed);
        check(plan_concurrent(list), is_placed);
        check(plan_with_handoffs(list), is_placed);
        check(plan_flow(list), is_placed);
    }
}

TEST_CASE("values of no bytes have a place, no buffer and no bytes, in every plan")
{
    listing<std::string> list;
    list.facts("given", {.bytes = 0, .role = value_role::input, .pool = 1});
    list.step("a").make("e", {.bytes = 0}).make("x", {.bytes = 32});
    list.step("b").read("e").view("view of e", "e");
    list.step("c").read("view of e").read("given").view("end of x", "x", 32, {.bytes = 0}).only_views();
    list.step("d").read("end of x").make("pinned", {.bytes = 0, .pinned = 64});
    auto check = [&](auto const& planned) {
        REQUIRE(bool(planned));
        std::size_t visited = 0;
        for (auto [handle, pool, offset] : planned) {
            ++visited;
            CHECK(pool == (handle == "given"));
            CHECK(planned.offset_of(handle) == offset);
        }
        CHECK(visited == list.values());
        CHECK(planned.offset_of("e") == 0);
        CHECK(planned.offset_of("view of e") == 0);
        CHECK(planned.offset_of("end of x") == planned.offset_of("x") + 32);
        CHECK(planned.offset_of("pinned") == 64);
        CHECK(planned.bytes() == 32);
        CHECK(planned.plan.buffers.size() == 1);
        CHECK(bool(fits(planned, list)));
    };
    check(plan_memory(list)), check(plan_concurrent(list)), check(plan_with_handoffs(list)),
        check(plan_flow(list));
    memory_plan lacking = plan_memory(list).plan;
    lacking.empty.pop_back();
    CHECK(printed(check_plan(list, lacking)) == "value 'pinned' needs storage and has none");
}

TEST_CASE("a listing says what options say: pins, storage of its own, choices of pools")
{
    listing<std::string> list;
    list.step("s").make("p", {.bytes = 8, .pinned = 64}).make("own", {.bytes = 8, .eligible = false});
    list.step("t").make("c", {.bytes = 8});
    list.may_lie_in("c", 0, 5);
    list.may_lie_in("c", 1);
    list.pools = {{.capacity = 100}, {.capacity = 100}};
    auto const planned = plan_memory(list);
    REQUIRE(bool(planned));
    CHECK(planned.offset_of("p") == 64);
    CHECK(!planned.find("own"));
    CHECK(planned.plan.pool_of(list.id("c")) == 1);
    CHECK(thrown_by<precondition_error>([&] { (void)plan_symbolic(list, {.bytes = affine_bytes{8, 0}}); }) ==
          "sublet: value 'c' has a choice of pools, and a plan for every shape cannot keep that");
    listing<std::string> chosen;
    chosen.step("s").make("c", {.bytes = 8});
    chosen.may_lie_in("c", 1);
    CHECK(thrown_by<precondition_error>([&] {
              (void)plan_symbolic(chosen, {.bytes = affine_bytes{8, 0}});
          }) == "sublet: value 'c' has a choice of pools, and a plan for every shape cannot keep that");
    CHECK(thrown_by<precondition_error>([&] { list.facts("p", {.pinned = 8}); }) ==
          "sublet: the pinned offset of value 'p' is 64 in step 's', and 8 by facts()");
}

TEST_CASE("an alignment that is said of a view divides its offset, or is refused with both")
{
    auto refused = [](byte_count of_root, byte_count of_view) {
        listing<std::string> list;
        list.step("make").make("x", {.bytes = 64, .alignment = of_root});
        list.step("view").view("half", "x", 8, {.bytes = 32});
        list.step("again").view("quarter", "half", 8, {.bytes = 8, .alignment = of_view});
        return thrown_by<precondition_error>([&] { (void)plan_memory(list); });
    };
    CHECK(refused(1, 16).empty());
    CHECK(refused(32, 16).empty());
    std::string const why =
        "sublet: the alignment of value 'quarter' is 32 in step 'again', but it begins at "
        "byte 16 of value 'x'";
    CHECK(refused(1, 32) == why);
    CHECK(refused(32, 32) == why); // also where it is that of the root
}

TEST_CASE("a plan fits a listing with other handles by position")
{
    auto list_of_steps = [](std::string const& prefix, byte_count bytes, std::size_t steps) {
        listing<std::string> list;
        std::string before;
        for (std::size_t s = 0; s != steps; ++s) {
            std::string const made = prefix + std::to_string(s);
            auto step = list.step();
            if (!before.empty()) step.read(before);
            step.make(made, {.bytes = bytes});
            before = made;
        }
        return list;
    };
    auto const planned = plan_memory(list_of_steps("a", 64, 4));
    auto const smaller = list_of_steps("b", 32, 3);
    CHECK(!fits(planned, smaller));
    auto const fitted = fits_by_position(planned, smaller);
    REQUIRE(bool(fitted));
    for (std::size_t s = 0; s != 3; ++s)
        CHECK(fitted.offset_of("b" + std::to_string(s)) == planned.offset_of("a" + std::to_string(s)));
    CHECK(!fits_by_position(planned, list_of_steps("b", 65, 4)));
    CHECK(!fits_by_position(plan_memory(listing<std::string>()), smaller));
}

TEST_CASE("what a step says too early, or of a value that is there, is said by name in every schedule")
{
    listing<std::string> early;
    early.step("write").write("x");
    early.step("make").make("x", {.bytes = 8});
    std::string const why = "value 'x' is used at ", later = ", listed before step 'make', which makes it";
    CHECK(printed(plan_memory(early).error()) == why + "position 0 ('write')" + later);
    CHECK(printed(plan_concurrent(early).error()) == why + "step 'write'" + later);
    listing<std::string> given;
    given.facts("w", {.bytes = 8, .role = value_role::external});
    given.step("set").make("w");
    CHECK(printed(plan_concurrent(given).error()) ==
          "value 'w' is made at step 'set', and is there before, as it is external or an input: say write()");
    listing<char const*> pointers;
    pointers.step("s").read(nullptr);
    CHECK(printed(plan_memory(pointers).error()).find("value 'null' is used") == 0);
}

TEST_CASE("a listing is ordered by each rule, whatever its handles are")
{
    std::vector<tensor> tensors(4);
    auto check = [](auto list, auto handle_of) {
        list.step("wide").make(handle_of(0), {.bytes = 8});
        list.step("grow").read(handle_of(0)).make(handle_of(1), {.bytes = 96});
        list.step("other").read(handle_of(0)).make(handle_of(2), {.bytes = 8});
        list.step("sum").read(handle_of(1)).make(handle_of(3), {.bytes = 8});
        list.step("end").read(handle_of(2)).read(handle_of(3));
        using rule = node_order::method;
        for (rule by : {rule::listed, rule::longest_path, rule::breadth_first, rule::depth_first,
                        rule::on_demand, rule::series_parallel, rule::least_peak, rule::exact}) {
            node_order const found = order(list, by);
            REQUIRE(found);
            CHECK(found.order.size() == 5);
            CHECK(found.lower_bound <= found.peak);
        }
        CHECK(order(list, rule::exact).is_optimal());
        CHECK(order(list).peak == order(list, rule::exact).peak);
        CHECK_THROWS_AS((void)order(list, rule::improved), precondition_error);
        list.order = order(list).order;
        CHECK(plan_memory(list).report().lower_bound_bytes == order(list).peak);
    };
    check(listing<int>(), [](int i) { return i; });
    check(listing<std::string>(), [](int i) { return "value " + std::to_string(i); });
    check(listing<tensor const*>(), [&](int i) -> tensor const* { return &tensors[unsigned(i)]; });
    check(listing<numbered>(), [](int i) { return numbered{i}; });
}

TEST_CASE("an order prints its peak, its rule, its proof and its steps by name, or why there is none")
{
    listing<std::string> list;
    list.step("a").make("a", {.bytes = 8});
    list.step("b").make("b", {.bytes = 2048});
    list.step("ends a").read("a");
    list.step().read("b");
    CHECK(printed(order(list, node_order::method::exact)) ==
          "2 KiB by exact search instead of 2.01 KiB as listed; proved lowest: no order goes below 2 KiB; "
          "order: a, ends a, b, 3");
    CHECK(printed(order(list, node_order::method::listed)) ==
          "2.01 KiB as listed; not proved lowest: no order goes below 2 KiB; order: a, b, ends a, 3");
    CHECK(printed(order(list.program(), list.options(), node_order::method::listed)) ==
          "2.01 KiB as listed; not proved lowest: no order goes below 2 KiB; order: 0, 1, 2, 3");
    CHECK(printed(order(listing<int>())) == "0 B as listed; proved lowest: no order goes below 0 B");

    list.step("again").make("a");
    std::string const twice = "value 'a' is written at step 'again' and is already defined: make each "
                              "version a value of its own first";
    CHECK(printed(dependences(list).error()) == twice);
    listing<std::string> cyclic;
    cyclic.step("x").read("b").make("a", {.bytes = 8});
    cyclic.step("y").read("a").make("b", {.bytes = 8});
    CHECK(printed(order(cyclic)) ==
          "no order: step 'y' waits for itself: the order has a cycle: step 'x' before 'y' before 'x'");
}

TEST_CASE("a reader that is listed before its writer is refused by every planner, and mended by an order")
{
    listing<std::string> list;
    list.step("late").read("x").make("y", {.bytes = 4});
    list.step("early").make("x", {.bytes = 4});
    list.step("end").read("y").make("z", {.bytes = 4});
    listing<std::string> chained = list; // the same, with an edge
    auto beside = chained.step("beside");
    chained.step("last").read("z").wait_for(beside);
    auto const affine = list.by_handle([](std::string const&) { return affine_bytes{4, 4}; });
    auto each = [&](listing<std::string> const& of, auto see) {
        see("plan_memory", plan_memory(of));
        see("plan_concurrent", plan_concurrent(of));
        see("plan_with_handoffs", plan_with_handoffs(of, {.workers = 2}));
        see("schedules", schedules(of, {.workers = 2}));
        see("plan_symbolic", plan_symbolic(of, {.bytes = affine, .dims = batches(4)}));
        see("advise_memory", advise_memory(of));
        see("lifetimes", lifetimes(of));
        see("dependences", dependences(of));
        see("share_slots", share_slots(of));
    };
    auto see_refused = [](char const* call, auto const& result) {
        CAPTURE(call);
        REQUIRE(!result);
        counterexample const& why = result.error();
        CHECK(why.what == fault::used_undefined);
        REQUIRE(why.as<counterexample::access>());
        CHECK(why.as<counterexample::access>()->maker == 1);
        CHECK(why.as<counterexample::access>()->has_order);
        std::string const said = printed(why);
        CHECK(said.find("value 'x' is used at ") != std::string::npos);
        CHECK(
            said.find(", listed before step 'early', which makes it: order() finds an order that can run") !=
            std::string::npos);
    };
    auto see_planned = [](char const* call, auto const& result) {
        CAPTURE(call);
        CHECK(bool(result));
    };
    each(list, see_refused);
    each(chained, see_refused);
    see_refused("plan_flow", plan_flow(list)); // runs as listed, so it takes no order

    snapshot const program = list.program();
    auto const nested = plan_nested(program_tree{program}, std::vector{list});
    REQUIRE(!nested);
    CHECK(printed(nested.error())
              .find("listed before step 1, which makes it: order() finds an order that can run") !=
          std::string::npos);

    node_order const found = order(list);
    REQUIRE(found);
    CHECK(!found.listed);
    CHECK(printed(found.listed.error()) == "value 'x' is used at step 'late', listed before step 'early', "
                                           "which makes it: order() finds an order "
                                           "that can run");
    CHECK(printed(found).find("; the listed order cannot run: value 'x' is used at step 'late'") !=
          std::string::npos);
    listing<std::string> mended = list;
    mended.order = found.order;
    each(mended, see_planned);
    CHECK(order(mended).listed);
    CHECK(check_plan(mended, plan_memory(mended).plan));
    CHECK(check_concurrent_plan(list, plan_concurrent(mended).plan)); // valid in every order that data allow
    memory_plan listed = plan_memory(mended).plan;
    listed.order.clear();
    CHECK(printed(check_plan(list, listed)) ==
          "value 'x' is used at position 0 ('late'), listed before step 'early', which makes it");
}

TEST_CASE(
    "of a reader before its writer no order is promised where none can run, and where numbers are no order")
{
    listing<std::string> cyclic;
    cyclic.step("late").read("x").make("y", {.bytes = 4});
    cyclic.step("early").read("y").make("x", {.bytes = 4});
    CHECK(printed(plan_memory(cyclic).error()) ==
          "value 'x' is used at position 0 ('late'), listed before step 'early', which makes it");
    CHECK(!order(cyclic));

    listing<std::string> changed; // the write keeps its place in the list
    changed.step("late").write("x");
    changed.step("early").make("x", {.bytes = 4});
    std::string const before = ", listed before step 'early', which makes it";
    CHECK(printed(plan_memory(changed).error()) == "value 'x' is used at position 0 ('late')" + before);
    CHECK(printed(plan_concurrent(changed).error()) == "value 'x' is used at step 'late'" + before);
    CHECK(printed(order(changed).error()) == "value 'x' is used at step 'late'" + before);

    // Node 0 reads what node 1 makes. A list runs in its order, and a task graph has only numbers.
    std::vector<std::vector<int>> const next{{2}, {}, {}}, uses{{0}, {}, {}}, defs{{}, {0}, {}};
    auto of = [](auto const& lists) { return [&lists](auto n) { return lists[+n]; }; };
    snapshot const graph = tasks(3, 1, of(next), of(uses), of(defs)), listed = sequence(3, 1, uses, defs);
    CHECK(listed.is_list());
    CHECK(!graph.is_list());
    CHECK(!plan_concurrent(listed, {.bytes = 4}));
    CHECK(plan_concurrent(graph, {.bytes = 4}));
    CHECK(!plan_concurrent(graph, {.bytes = 4, .order = {0, 1, 2}}));
    CHECK(!plan_memory(graph, {.bytes = 4}));
    CHECK(!order(graph, {.bytes = 4}).listed);
    CHECK(plan_memory(graph, {.bytes = 4, .order = order(graph, {.bytes = 4}).order}));
}

TEST_CASE("what is counted may be no bytes, and is printed by its name")
{
    listing<std::string> list;
    list.unit = "qubits";
    list.step("prepare").make("a", {.bytes = 1500});
    list.step("measure").read("a").make("b", {.bytes = 3});
    list.step("end").read("b");
    auto const planned = plan_memory(list);
    CHECK(printed(planned) ==
          "1503 qubits instead of 1503 qubits; no plan in this order goes below 1503 qubits");
    CHECK(
        printed(order(list)).find("1503 qubits as listed; proved lowest: no order goes below 1503 qubits") ==
        0);
    CHECK(printed(plan_symbolic(list, {.bytes = affine_bytes{3, 4}, .dims = batches(2)}))
              .find("6 + 8*N qubits instead of 6 + 8*N, for N from 1") == 0);
    auto by_id = plan_memory(list.program(), list.options());
    CHECK(printed(by_id).find("1.47 KiB") == 0);
    list.pools = {{.capacity = 1000}};
    CHECK(printed(plan_memory(list).error()) ==
          "the arena of pool 0 needs 1503 qubits and its capacity is 1000");
    by_id.figures.unit = "wires";
    CHECK(printed(by_id).find("1503 wires") == 0);

    std::ostringstream table, picture, page;
    write_why_peak(table, why_peak(list.program(), planned.plan), {.unit = "qubits"});
    CHECK(table.str().find("1503 qubits alive at position 1 of 3") == 0);
    CHECK(table.str().find(" B") == std::string::npos);
    write_svg(picture, planned, {.unit = "qubits <2>"});
    CHECK(picture.str().find("live qubits &lt;2&gt;</text>") != std::string::npos);
    CHECK(picture.str().find("1500 qubits &lt;2&gt; at 0") != std::string::npos);
    CHECK(picture.str().find(" bytes") == std::string::npos);
    write_html(page, planned, {.unit = "qubits"});
    CHECK(page.str().find("\"unit\":\"qubits\"") != std::string::npos);
}

TEST_CASE("storage begins at whichever step touches it first, and an order chooses the step")
{
    // q and r are touched by two steps each, in any order; the list keeps both alive at once.
    listing<std::string> list;
    for (char const* name : {"q", "r"}) list.facts(name, {.bytes = 8, .begins_at_first_touch = true});
    list.step("q1").write("q").make("a", {.bytes = 1});
    list.step("r1").write("r").read("a");
    list.step("q2").write("q").make("b", {.bytes = 1});
    list.step("r2").read("b").write("r");

    auto const listed = plan_memory(list);
    REQUIRE(listed);
    CHECK(listed.report().lower_bound_bytes == 17);
    node_order const found = order(list);
    CHECK(found.is_optimal());
    CHECK(found.given_peak == 17);
    CHECK(found.peak == 10);
    CHECK(found.listed);
    listing<std::string> chosen = list;
    chosen.order = found.order;
    auto const planned = plan_memory(chosen);
    CHECK(planned.bytes() == 10);
    CHECK(check_plan(chosen, planned.plan));

    // An edge says what comes first.
    listing<std::string> edged;
    edged.facts("q", {.bytes = 8, .begins_at_first_touch = true});
    auto measure = edged.step("measure");
    measure.write("q");
    edged.step("reset").write("q").wait_for(measure);
    for (auto by : {node_order::method::exact, node_order::method::on_demand})
        CHECK(order(edged, by).order == std::vector<node_id>{0, 1});
}

TEST_CASE("the exact order of small programs is the best of all with storage that begins at its first touch")
{
    std::size_t better = 0;
    for (std::uint32_t seed = 0; seed != 60; ++seed) {
        CAPTURE(seed);
        std::mt19937 draw(seed);
        auto below = [&](unsigned n) { return static_cast<unsigned>(draw() % n); };
        listing<int> list;
        int const begun = 3, steps = 5;
        for (int v = 0; v != begun; ++v)
            list.facts(v, {.bytes = 1 + below(8),
                           .role = below(6) == 0 ? value_role::output : value_role::intermediate,
                           .begins_at_first_touch = true});
        std::vector<listing<int>::step_ref> before(steps);
        for (int s = 0; s != steps; ++s) {
            auto step = list.step();
            for (int v = 0; v != begun; ++v)
                if (unsigned const kind = below(4); kind == 0) step.write(v);
                else if (kind == 1) step.read(v);
            step.make(begun + s, {.bytes = 1 + below(4)});
            if (s != 0 && below(2) == 0) step.read(begun + static_cast<int>(below(unsigned(s))));
            if (s != 0 && below(4) == 0) step.wait_for(before[below(unsigned(s))]);
            before[std::size_t(s)] = step;
        }
        std::vector<node_id> all{0, 1, 2, 3, 4};
        byte_count least = ~byte_count{0};
        do {
            listing<int> chosen = list;
            chosen.order = all;
            if (auto const planned = plan_memory(chosen))
                least = std::min(least, planned.report().lower_bound_bytes);
        } while (std::ranges::next_permutation(all, {}, [](node_id n) { return +n; }).found);
        node_order const exact = order(list, node_order::method::exact);
        CHECK(exact.is_optimal());
        CHECK(exact.peak == least);
        CHECK(exact.given_peak == plan_memory(list).report().lower_bound_bytes);
        better += exact.peak < exact.given_peak;
        listing<int> chosen = list;
        chosen.order = exact.order;
        auto const planned = plan_memory(chosen);
        CHECK(planned.report().lower_bound_bytes == exact.peak);
        CHECK(check_plan(chosen, planned.plan));
    }
    CHECK(better >= 10);
}

TEST_CASE("every planner, analysis, checker and executor takes storage that begins at its first touch")
{
    listing<std::string> list;
    list.facts("file", {.bytes = 16, .begins_at_first_touch = true});
    list.step("one").make("a", {.bytes = 4}).write("file");
    list.step("two").write("file").read("a");
    list.step("three").read("file").make("b", {.bytes = 4, .role = value_role::output});
    auto see_planned = [](char const* call, auto const& result) {
        CAPTURE(call);
        CAPTURE(failure_of(result));
        CHECK(bool(result));
    };
    auto see = [&](listing<std::string> const& of) {
        auto const planned = plan_memory(of);
        see_planned("plan_memory", planned);
        CHECK(planned.offset_of("file") != no_offset);
        see_planned("check_plan", check_plan(of, planned.plan));
        auto const concurrent = plan_concurrent(of);
        see_planned("plan_concurrent", concurrent);
        see_planned("check_concurrent_plan", check_concurrent_plan(of, concurrent.plan));
        see_planned("plan_with_handoffs", plan_with_handoffs(of, {.workers = 2}));
        schedule_curve const timed = schedules(of, {.workers = 2});
        see_planned("schedules", timed);
        see_planned("check_schedule", check_schedule(of, timed.points.front(), {.workers = 2}));
        see_planned("plan_symbolic", plan_symbolic(of, {.bytes = affine_bytes{8, 8}, .dims = batches(4)}));
        see_planned("advise_memory", advise_memory(of));
        see_planned("lifetimes", lifetimes(of));
        see_planned("versions", versions(of));
        see_planned("dependences", dependences(of));
        see_planned("share_slots", share_slots(of));
        see_planned("fits", fits(planned, of));
        if (of.order.empty()) {
            auto const flow = plan_flow(of);
            see_planned("plan_flow", flow);
            see_planned("check_flow_plan", check_flow_plan(of, flow.plan));
        }
        if (of.order.empty()) {
            snapshot const program = of.program();
            see_planned("plan_nested", plan_nested(program_tree{program}, std::vector{of}));
        }

        // Touches that no edge orders run as they are listed: they do not race.
        dependence_graph const g = dependences(of);
        std::vector<step_id> const in_turn =
            of.order.empty() ? std::vector<step_id>{0, 1, 2} : std::vector<step_id>{0, 2, 1};
        for (std::size_t i = 1; i != in_turn.size(); ++i) {
            bool waits = false;
            for (position_id next : g.after[g.position_of[in_turn[i - 1]]])
                waits = waits || next == g.position_of[in_turn[i]];
            CHECK(waits);
        }

        std::vector<int> seen;
        auto kernel = [&](cpu_call const& call) {
            seen.push_back(static_cast<int>(+call.step));
            for (std::size_t i = 0; i != call.defs().size(); ++i)
                for (std::byte& b : call.out(i)) b = std::byte{1};
        };
        cpu_executor run{of, arena{planned}, kernel};
        run.run();
        CHECK(seen.size() == 3);
        thread_executor threads{of, arena{concurrent}, kernel, {.workers = 1}};
        threads.run();
    };
    see(list);
    list.order = {0, 2, 1};
    see(list);
}

TEST_CASE("what contradicts storage that begins at its first touch is refused by name")
{
    auto begun = [](value_role role = value_role::intermediate) {
        listing<std::string> list;
        list.facts("q", {.bytes = 8, .role = role, .begins_at_first_touch = true});
        return list;
    };
    auto refused = [](listing<std::string> const& list) {
        return thrown_by<precondition_error>([&] { (void)plan_memory(list); });
    };
    listing<std::string> made = begun();
    made.step("prepare").make("q");
    CHECK(refused(made) ==
          "sublet: value 'q' begins at its first touch, and is made in step 'prepare': say write()");
    listing<std::string> given = begun(value_role::input);
    given.step("use").read("q");
    CHECK(refused(given) ==
          "sublet: value 'q' begins at its first touch, and is there before, as it is external or an input");
    listing<std::string> viewed = begun();
    viewed.step("use").view("row", "q", 0, {.bytes = 4}).read("row");
    CHECK(refused(viewed) == "sublet: value 'q' begins at its first touch, and 'row' is a view of it");
    listing<std::string> blocks = begun();
    (void)blocks.block();
    blocks.step("use").write("q");
    CHECK(thrown_by<precondition_error>([&] { (void)plan_flow(blocks); }) ==
          "sublet: value 'q' begins at its first touch, and in a listing with blocks no touch is the first");
    listing<std::string> unsized;
    unsized.facts("q", {.begins_at_first_touch = true});
    unsized.step("use").write("q");
    CHECK(refused(unsized) ==
          "sublet: the size of value 'q' is not said: say .bytes, or no_size if it is unknown");
    listing<std::string> kept = begun(value_role::output); // kept to the end
    kept.step("use").write("q");
    kept.step("other").make("x", {.bytes = 8});
    CHECK(plan_memory(kept).bytes() == 16);
}

TEST_CASE("a step may be none: it converts to false, equals another, and each call of it is refused by name")
{
    using step_ref = listing<int>::step_ref;
    step_ref last;
    CHECK(!last);
    CHECK(last == step_ref());
    CHECK(last.id() == no_step);
    listing<int> blocks, list;
    auto const block = blocks.block();
    step_ref const other = listing<int>().step();
    using call = std::function<void(step_ref&)>;
    std::vector<std::pair<std::string, call>> const calls = {
        {"read", [](step_ref& s) { s.read(1); }},
        {"read_early", [](step_ref& s) { s.read_early(1); }},
        {"make", [](step_ref& s) { s.make(1); }},
        {"make", [](step_ref& s) { s.make(1, {.bytes = 8}); }},
        {"allocate", [](step_ref& s) { s.allocate(1); }},
        {"view", [](step_ref& s) { s.view(1, 2); }},
        {"write", [](step_ref& s) { s.write(1); }},
        {"may_overwrite", [](step_ref& s) { s.may_overwrite(1, 2); }},
        {"may_recompute", [](step_ref& s) { s.may_recompute(); }},
        {"only_views", [](step_ref& s) { s.only_views(false); }},
        {"wait_for", [&](step_ref& s) { s.wait_for(other); }},
        {"wait_for", [](step_ref& s) { s.wait_for("a label"); }},
        {"read_at_end_of", [&](step_ref& s) { s.read_at_end_of(block, 1); }}};
    for (auto const& one : calls) {
        std::string const& name = one.first;
        call const& say = one.second;
        CAPTURE(name);
        CHECK(thrown_by<precondition_error>([&] { say(last); }) ==
              "sublet: " + name + "() is called on no step: this step_ref is empty, and step() makes one");
        listing<int> over;
        step_ref first = over.step();
        (void)over.step();
        CHECK(thrown_by<precondition_error>([&] { say(first); }) ==
              "sublet: " + name + "() is called on step 0 of a listing after the next one has begun");
    }
    CHECK(
        thrown_by<precondition_error>([&] { list.step().wait_for(last); }) ==
        "sublet: wait_for() is given no step: that step_ref is empty, and step() makes one; a later step is "
        "named by its label");
    for (int i = 0; i != 3; ++i) { // a chain of steps
        auto step = list.step();
        CHECK(step != last);
        if (last) step.wait_for(last);
        last = step;
        CHECK(step == last);
    }
    CHECK(last);
    CHECK(last.id() == 3);
    CHECK(dependences(list).edges() == 2);
}

TEST_CASE("a step waits for another by its label, which may be listed later")
{
    auto frame = [](auto say) {
        listing<std::string> list;
        list.step("shadows").make("map", {.bytes = 8});
        auto draw = list.step("draw").read("map").make("image", {.bytes = 8, .role = value_role::output});
        say(draw);
        list.step().make("x", {.bytes = 8});
        list.step("upload").make("mesh", {.bytes = 64});
        return list;
    };
    using step = listing<std::string>::step_ref&;
    auto const later = frame([](step draw) { draw.wait_for("upload"); });
    REQUIRE(later.program().successors(3).size() == 1);
    CHECK(later.program().successors(3)[0] == 1);
    CHECK(
        printed(plan_memory(later).error()) ==
        "an edge or a hand-off from position 3 ('upload') to step 'draw' goes backward in the order: choose "
        "another order, as order() does; a program with loops is made with flow() and planned by "
        "plan_flow()");
    CHECK(bool(plan_concurrent(later)));
    listing<std::string> ordered = later;
    ordered.order = order(later).order;
    CHECK(bool(plan_memory(ordered)));
    CHECK(bool(plan_with_handoffs(ordered, {.workers = 2})));
    auto const earlier = frame([](step draw) { draw.wait_for("shadows"); });
    CHECK(bool(plan_memory(earlier)));
    CHECK(earlier.program().successors(0).size() == 1);

    auto refused = [&](auto say) {
        return thrown_by<precondition_error>([&] { (void)plan_memory(frame(say)); });
    };
    CHECK(refused([](step draw) { draw.wait_for("uplaod"); }) ==
          "sublet: step 'draw' waits for step 'uplaod', which is not listed");
    CHECK(refused([](step draw) { draw.wait_for("draw"); }) == "sublet: step 'draw' waits for itself");
    CHECK(refused([](step draw) { draw.wait_for(""); }) ==
          "sublet: wait_for() is given an empty label of a step");
    listing<std::string> twice = later;
    twice.step("upload");
    CHECK(thrown_by<precondition_error>([&] { (void)plan_concurrent(twice); }) ==
          "sublet: step 'draw' waits for step 'upload', and steps 3 and 4 have that label: wait for one of "
          "them by its step_ref");
    twice = later;
    twice.step("draw"); // nothing waits for this label
    CHECK(bool(plan_concurrent(twice)));
    twice.step().wait_for("draw");
    CHECK(thrown_by<precondition_error>([&] { (void)plan_concurrent(twice); }) ==
          "sublet: step 5 waits for step 'draw', and steps 1 and 4 have that label: wait for one of them by "
          "its step_ref");
    listing<std::string> blocks;
    (void)blocks.block();
    CHECK(thrown_by<precondition_error>([&] { blocks.step().wait_for("upload"); }) ==
          "sublet: wait_for is for listings without blocks");
}

TEST_CASE("a cycle of waits is refused by the names of its steps, and nothing else is")
{
    std::size_t cyclic = 0, sound = 0;
    for (std::uint32_t seed = 0; seed != 300; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::uint32_t const steps = 2 + pick.below(7);
        std::vector<std::vector<bool>> before(steps, std::vector<bool>(steps));
        listing<int> list;
        for (std::uint32_t s = 0; s != steps; ++s) {
            auto step = list.step("step " + std::to_string(s));
            step.make(static_cast<int>(s), {.bytes = 8});
            if (s != 0 && pick.below(2) == 0) {
                std::uint32_t const read = pick.below(s);
                step.read(static_cast<int>(read));
                before[read][s] = true;
            }
            std::uint32_t const other = pick.below(steps);
            if (other == s || pick.below(2) == 0) continue;
            step.wait_for("step " + std::to_string(other));
            before[other][s] = true;
        }
        auto reaches = before;
        for (std::uint32_t k = 0; k != steps; ++k)
            for (std::uint32_t i = 0; i != steps; ++i)
                for (std::uint32_t j = 0; j != steps; ++j)
                    if (reaches[i][k] && reaches[k][j]) reaches[i][j] = true;
        bool has_cycle = false;
        for (std::uint32_t s = 0; s != steps; ++s) has_cycle = has_cycle || reaches[s][s];
        auto const concurrent = plan_concurrent(list);
        auto const found = order(list);
        REQUIRE(bool(concurrent) == !has_cycle);
        REQUIRE(bool(found) == !has_cycle);
        cyclic += has_cycle;
        if (!has_cycle) {
            ++sound;
            list.order = found.order;
            CHECK(bool(plan_memory(list)));
            continue;
        }
        for (counterexample const& why : {concurrent.error(), found.error()}) {
            REQUIRE(why.what == fault::cycle);
            REQUIRE(!why.schedule.empty());
            std::string text = "step '" + std::string(why.name_of_step(why.step())) +
                               "' waits for itself: the order has a cycle: step ";
            for (std::size_t i = 0; i != why.schedule.size(); ++i) {
                step_id const next = why.schedule[(i + 1) % why.schedule.size()];
                CHECK(before[+why.schedule[i]][+next]);
                text += "'step " + std::to_string(+why.schedule[i]) + "' before ";
            }
            CHECK(printed(why) == text + "'step " + std::to_string(+why.schedule[0]) + "'");
        }
    }
    CHECK(cyclic > 50);
    CHECK(sound > 50);
}

TEST_CASE("where pools are listed a value lies in one of them, or is refused by name in every planner")
{
    auto make = [](pool_id its, std::size_t listed, value_role role = value_role::intermediate) {
        listing<std::string> list;
        list.step("load").make("x", {.bytes = 8});
        list.step("work").read("x").make("y", {.bytes = 8, .role = role, .pool = its});
        list.step("end").read("y");
        list.pools.resize(listed);
        return list;
    };
    auto each = [](listing<std::string> const& list, std::string const& expected) {
        auto refuses = [&](char const* name, auto call) {
            CAPTURE(name);
            CHECK(thrown_by<precondition_error>(call) == expected);
        };
        refuses("plan_memory", [&] { (void)plan_memory(list); });
        refuses("plan_concurrent", [&] { (void)plan_concurrent(list); });
        refuses("plan_with_handoffs", [&] { (void)plan_with_handoffs(list); });
        refuses("schedules", [&] { (void)schedules(list, {.workers = 2}); });
        refuses("plan_flow", [&] { (void)plan_flow(list); });
        refuses("advise_memory", [&] { (void)advise_memory(list); });
        refuses("order", [&] { (void)order(list); });
        refuses("plan_nested", [&] {
            snapshot const program = list.program();
            (void)plan_nested(program_tree{program}, std::vector{list});
        });
        refuses("plan_symbolic",
                [&] { (void)plan_symbolic(list, {.bytes = affine_bytes{8, 8}, .dims = batches(4)}); });
        refuses("cpu_executor", [&] { cpu_executor run(list, no_plan{}, synthetic_kernel{}); });
        refuses("thread_executor", [&] { thread_executor run(list, no_plan{}, synthetic_kernel{}); });
    };
    each(make(7, 2),
         "sublet: the pool of value 'y' is 7 in step 'work', but only 2 pools are listed, from 0");
    each(make(1, 1), "sublet: the pool of value 'y' is 1 in step 'work', but only pool 0 is listed");
    auto chosen = make(0, 2);
    CHECK(plan_memory(chosen).plan.arena_bytes.size() == 2);
    chosen.may_lie_in("y", 0);
    chosen.may_lie_in("y", 2);
    CHECK(thrown_by<precondition_error>([&] { (void)plan_memory(chosen); }) ==
          "sublet: value 'y' may lie in pool 2, but only 2 pools are listed, from 0");
    CHECK(thrown_by<precondition_error>([&] { cpu_executor run(chosen, no_plan{}, synthetic_kernel{}); }) ==
          "sublet: value 'y' may lie in pool 2, but only 2 pools are listed, from 0");
    // Of storage that is not planned, and where no pool is listed, a pool is any number.
    CHECK(bool(plan_memory(make(7, 0))));
    auto own = make(7, 2, value_role::output);
    own.facts("y", {.eligible = false});
    CHECK(bool(plan_memory(own)));
    listing<std::string> unknown;
    unknown.step("make").make("y", {.bytes = no_size, .pool = 7}).make("x", {.bytes = 8});
    unknown.pools.resize(2);
    CHECK(bool(plan_memory(unknown)));
    listing<std::string> outer;
    outer.facts("y", {.bytes = 8, .role = value_role::external, .pool = 7});
    outer.step("read").read("y").make("x", {.bytes = 8});
    outer.pools.resize(2);
    CHECK(bool(plan_memory(outer)));
}

TEST_CASE("options that list pools refuse a value in another one, by its number or the name of the caller")
{
    listing<std::string> const list = [] {
        listing<std::string> made;
        made.step("load").make("x", {.bytes = 8});
        made.step("work").read("x").make("y", {.bytes = 8, .pool = 7});
        made.step("view").read("y").view("v", "y", 4, {.bytes = 4}).only_views();
        made.step("end").read("v");
        return made;
    }();
    snapshot const p = list.program();
    plan_options options = list.options();
    std::size_t const sizes[] = {1, 2, 7, 8};
    for (std::size_t listed : sizes) {
        CAPTURE(listed);
        options.pools.resize(listed);
        std::string const why = listed == 8   ? ""
                                : listed == 1 ? "value 1 names pool 7, but only pool 0 is listed"
                                              : "value 1 names pool 7, but only " + std::to_string(listed) +
                                                    " pools are listed, from 0";
        auto said = [](auto const& result) { return result ? std::string() : printed(result.error()); };
        CHECK(said(plan_memory(p, options)) == why);
        CHECK(said(plan_concurrent(p, options)) == why);
        CHECK(said(plan_with_handoffs(p, options)) == why);
        CHECK(said(schedules(p, options, {.workers = 2})) == why);
        CHECK(said(plan_flow(p, options)) == why);
        CHECK(said(advise_memory(p, options)) == why);
        CHECK(said(plan_nested(program_tree{p}, std::vector{options})) ==
              (why.empty() ? why : why + "; 1 is value 1 of program 0"));
        symbolic_options every{.bytes = {affine_bytes{8, 0}, affine_bytes{8, 8}, affine_bytes{4, 0}},
                               .dims = batches(4),
                               .alias_of = options.alias_of,
                               .pool = options.pool,
                               .pools = options.pools};
        every.view_offset = [](value_id v) { return affine_bytes{v == 2 ? 4u : 0u, 0}; };
        CHECK(said(plan_symbolic(p, every)) == why);
        CHECK(thrown_by<precondition_error>([&] {
                  cpu_executor run(p, options, no_plan{}, synthetic_kernel{});
              }).find(why) != std::string::npos);
    }
    options.pools.resize(2);
    counterexample const why = list.named(plan_memory(p, options)).error();
    CHECK(printed(why) == "value 'y' names pool 7, but only 2 pools are listed, from 0");
    CHECK(why == [&] {
        counterexample expected{fault::unlisted_pool,
                                counterexample::place{.value = 1, .pool = 7, .needed = 2}};
        expected.name(1, "y");
        return expected;
    }());
    options.pool = 1;
    options.pool_choices = {{0, 1}, {0, 2}};
    CHECK(printed(plan_memory(p, options).error()) ==
          "value 0 names pool 2, but only 2 pools are listed, from 0");
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
    listing<int> other;
    CHECK_THROWS_WITH_AS(other.step().wait_for(second),
                         "sublet: wait_for() is given a step of another listing", precondition_error);
    CHECK_THROWS_AS(other.step().wait_for(first), precondition_error); // a step of this number was there
    CHECK_THROWS_WITH_AS(second.wait_for(second), "sublet: step 1 of a listing waits for itself",
                         precondition_error);
    listing<int> blocks, one_block;
    auto here = one_block.block();
    auto there = blocks.block();
    CHECK_THROWS_WITH_AS(one_block.edge(here, there), "sublet: edge() is given a block of another listing",
                         precondition_error);
    auto gone = list.step();
    list = listing<int>();
    CHECK_THROWS_WITH_AS(list.step().wait_for(gone),
                         "sublet: wait_for() is given step 2 of a listing that has only 1 steps now",
                         precondition_error);
    list.facts(1, {.bytes = 8});
    CHECK_THROWS_AS(one_block.edge(there, here), precondition_error);
    CHECK_THROWS_AS(one_block.step().read_at_end_of(there, 1), precondition_error);
    CHECK(list.values() == 1);
    CHECK(list.id(2) == no_value);
    CHECK(plan_memory(listing<int>{}).bytes() == 0);
}

} // namespace this_test
