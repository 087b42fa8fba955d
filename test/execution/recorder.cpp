// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/recorder.hpp>

#include "../printed.hpp"
#include "../random_recording.hpp"
#include "../random_source.hpp"
#include "../rows_of.hpp"

#include <sublet/analysis/versions.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <type_traits>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using executor = cpu_executor<recorded_kernel<cpu_call>>;
static_assert(program<recorder>);
static_assert(cpu_kernel<recorded_kernel<cpu_call>>);

} // namespace

TEST_CASE("nothing runs while it is recorded; then a parameter is read and updated, and the next run reads "
          "the update")
{
    recorder net;
    auto const x = net.input<float>(2), y = net.output<float>(2), w = net.state<float>(2);
    int ran = 0;
    net.record({x, w}, {y}, [=, &ran](auto const& call) {
        for (std::size_t i : {0u, 1u}) call.write(y)[i] = call.read(x)[i] * call.read(w)[i];
        ++ran;
    });
    net.record({y, w}, {w}, [=](auto const& call) {
        for (std::size_t i : {0u, 1u}) call.write(w)[i] -= call.read(y)[i] / 2;
    });
    CHECK(ran == 0);
    auto const planned = plan_memory(net, net.options());
    REQUIRE(planned);
    CHECK(planned.plan.arena_bytes == std::vector<byte_count>{16}); // x and y; w is the caller's
    executor first(net, net.options(), arena{planned}, net.kernel());
    executor second(net, net.options(), recycle{}, net.kernel());
    CHECK(ran == 0);
    for (executor* run : {&first, &second}) {
        std::vector<float> weights{8, 16};
        run->bind(w, std::as_writable_bytes(std::span(weights)));
        for (float expected : {8.f, 4.f, 2.f}) {
            auto const given = as<float>(run->input(x));
            given[0] = given[1] = 1;
            run->run();
            CHECK(as<float>(run->output(y))[0] == expected);
            CHECK(as<float>(run->output(y))[1] == 2 * expected);
            CHECK(weights[0] == expected / 2);
        }
    }
    CHECK(ran == 6);
}

TEST_CASE("a recording is an ordinary program with the recorded effects, in-place pairs and order")
{
    recorder net;
    auto const a = net.input<std::uint32_t>(3), b = net.intermediate<std::uint32_t>(3, {.alignment = 64});
    auto const c = net.output<std::byte>(3, {.pool = 2});
    auto const nothing = [](auto const&) {};
    step_id const first = net.record({a}, {b}, nothing);
    step_id const second = net.record(std::vector{value_id{b}}, {c}, nothing);
    net.may_overwrite(first, a, b);
    net.after(first, second);
    net.may_recompute(second);
    snapshot const expected = tasks(
        2, 3, [](node_id n) { return n == 0 ? std::vector<node_id>{1} : std::vector<node_id>(); },
        [](node_id n, effect_sink& s) {
            s.use(+n), s.def(n + 1);
            if (n == 0) s.may_overwrite(0, 1);
            s.may_recompute(n == 1);
        });
    CHECK(snapshot(net) == expected);
    auto const options = net.options();
    CHECK(options.bytes.tabulate(3) == std::vector<byte_count>{12, 12, 3});
    CHECK(options.alignment.tabulate(3) == std::vector<byte_count>{4, 64, 1});
    CHECK(options.pool.tabulate(3) == std::vector<pool_id>{0, 0, 2});
    CHECK(options.role.tabulate(3) ==
          std::vector{value_role::input, value_role::intermediate, value_role::output});
    net.record({b, c}, {c}, nothing);
    CHECK(net.updated().tabulate(3) == std::vector<unsigned char>{0, 0, 1});
    recorder const empty;
    CHECK(snapshot(empty) == sequence(0, 0, [](step_id, effect_sink&) {}));
    CHECK(executor(empty, empty.options(), no_plan{}, empty.kernel()).run().steps == 0);
}

TEST_CASE("a wrong recording is rejected where it is recorded")
{
    recorder net;
    auto const a = net.input<float>(1), b = net.intermediate<float>(1), c = net.state<float>(1);
    auto const nothing = [](auto const&) {};
    auto record = [&](recorder::list const& reads, recorder::list const& writes) {
        return thrown_by([&] { net.record(reads, writes, nothing); });
    };
    auto const unwritten = "sublet: a recorded call reads value 1, which no call has written yet";
    CHECK(record({a, recorded_value<float>{}}, {b}) ==
          "sublet: a call is recorded with value 4294967295, which was not declared");
    CHECK(record({a}, {3}) == "sublet: a call is recorded with value 3, which was not declared");
    CHECK(record({b}, {c}) == unwritten);
    CHECK(record({b}, {b}) == unwritten);
    CHECK(net.nodes() == 0);
    CHECK(record({a, c}, {b}) == "");
    CHECK(record({b, a}, {}) == "");
    std::string const rest = ": it does not read the one, or does not write the other";
    CHECK(thrown_by([&] { net.may_overwrite(0, b, a); }) ==
          "sublet: call 0 may not overwrite value 1 by value 0" + rest);
    CHECK(thrown_by([&] { net.may_overwrite(0, a, c); }) ==
          "sublet: call 0 may not overwrite value 0 by value 2" + rest);
    CHECK(thrown_by([&] { net.may_overwrite(2, a, b); }) ==
          "sublet: call 2, which was not recorded, is named");
    CHECK(thrown_by([&] { net.after(0, 2); }) == "sublet: call 2, which was not recorded, is named");
    CHECK(thrown_by([&] { net.may_recompute(2); }) == "sublet: call 2, which was not recorded, is named");
    CHECK(thrown_by([&] { net.after(1, 1); }) ==
          "sublet: after() names call 1 before call 1, against the order of their recording");
    CHECK(thrown_by([&] { net.input<double>(~std::size_t{0}); }) ==
          "sublet: the product of the sizes 18446744073709551615 and 8 exceeds 64 bits");
    CHECK(thrown_by([&] { net.input<double>(1, {.alignment = 0}); }) == "sublet: an alignment is 0");
    CHECK(net.values() == 3);
    CHECK(net.options().bytes.tabulate(3) == std::vector<byte_count>{4, 4, 4});
    CHECK(net.options().alignment.tabulate(3) == std::vector<byte_count>{4, 4, 4});
}

TEST_CASE("versions of an updated value share one storage, otherwise the call throws")
{
    recorder net;
    auto const sum = net.output<int>(1);
    net.record({}, {sum}, [=](auto const& call) { call.write(sum)[0] = 1; });
    for (int i = 0; i != 2; ++i) net.record({sum}, {sum}, [=](auto const& call) { call.write(sum)[0] += 2; });
    auto result = [&](per_value<bool> const& same_storage) {
        auto const made = versions(net, net.options(), same_storage);
        executor run(made.program, with_versions(net.options(), made), no_plan{}, net.kernel());
        run.run();
        return as<int>(run.output(made.last[sum]))[0];
    };
    CHECK(result(net.updated()) == 5);
    CHECK(thrown_by([&] { result(false); }) ==
          "sublet: at step 1, a kernel threw: sublet: the updated value 0 has two storages; its versions "
          "must share one");
}

TEST_CASE("a random recording computes the same as immediate calls, in every run and mode")
{
    std::size_t shared = 0, updated = 0, versioned = 0;
    for (unsigned seed = 0; seed != rounds(150); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        drawn_recording const drawn = draw_recording(pick);
        auto const expected = run_immediately(drawn, 3);
        auto const planned = plan_memory(drawn.net, drawn.net.options());
        REQUIRE(planned);
        shared += planned.report().arena_bytes < planned.report().naive_bytes;
        for (unsigned char is : drawn.net.updated().tabulate(drawn.size.size())) updated += is;
        for (executor_options::checks const level :
             {executor_options::checks::plan, executor_options::checks::paint,
              executor_options::checks::digest}) {
            CAPTURE(static_cast<int>(level));
            auto same = [&](auto const& mode) {
                executor run(drawn.net, drawn.net.options(), mode, drawn.net.kernel(), {.check = level});
                CHECK(run_recorded(drawn, run, 3, same_id) == expected);
            };
            same(no_plan{});
            same(recycle{});
            same(arena{planned});
        }
        // With versions, a value that is only written has other storage each time.
        auto const by_version = versions(drawn.net, drawn.net.options(), drawn.net.updated());
        REQUIRE(by_version);
        versioned += by_version.value_of.size() > drawn.size.size();
        auto const options = with_versions(drawn.net.options(), by_version);
        executor run(by_version.program, options, arena{plan_memory(by_version.program, options).plan},
                     drawn.net.kernel(), {.check = executor_options::checks::digest});
        CHECK(run_recorded(drawn, run, 3, [&](value_id v) { return by_version.last[v]; }) == expected);
    }
    CHECK(shared > rounds(50));
    CHECK(updated > rounds(50));
    CHECK(versioned > rounds(50));
}

// --- recorded call -----------------------------------------------------------------------------------------

namespace {

/// A call without an executor: its operands are given.
struct plain_call {
    step_id step = 0;
    std::vector<std::span<std::byte>> ins, outs;
    std::vector<value_id> names_in = std::vector<value_id>(ins.size());
    std::vector<value_id> names_out = std::vector<value_id>(outs.size());

    std::span<value_id const> uses() const { return names_in; }
    std::span<value_id const> defs() const { return names_out; }
    std::span<std::byte const> in(std::size_t i) const { return ins[i]; }
    std::span<std::byte> out(std::size_t j) const { return outs[j]; }
};

using function = detail::recorded_function<plain_call>;

recorded_value<float> const x{4}, y{7}, w{9};
static_assert(std::is_nothrow_move_constructible_v<function>);
static_assert(
    std::is_same_v<decltype(std::declval<recorded_call<plain_call>>().read(x)), std::span<float const>>);
static_assert(std::is_same_v<decltype(std::declval<recorded_call<plain_call>>().write(x)), std::span<float>>);

} // namespace

TEST_CASE("an operand is found by its handle at any index, and only as it was declared")
{
    alignas(double) std::array<float, 2> old_w{1, 2}, its_x{3, 4}, its_y{};
    auto bytes = [](auto& floats) { return std::as_writable_bytes(std::span(floats)); };
    plain_call const step{.ins = {bytes(old_w), bytes(its_x)}, .outs = {bytes(its_y), bytes(old_w)}};
    std::array<value_id, 2> const reads{w, x}, writes{y, w};
    recorded_call<plain_call> const call(step, reads, writes);
    CHECK(call.read(x)[1] == 4);
    CHECK(call.read(w).data() == old_w.data());
    CHECK(call.write(w).data() == old_w.data());
    call.write(y)[1] = 5;
    CHECK(its_y[1] == 5);
    CHECK(call.read(x.as<std::byte>()).size() == 8);
    CHECK(&call.step() == &step);

    CHECK(thrown_by([&] { (void)call.read(y); }) ==
          "sublet: a recorded function reads value 7, which it has not declared to read");
    CHECK(thrown_by([&] { (void)call.write(x); }) ==
          "sublet: a recorded function writes value 4, which it has not declared to write");
    CHECK(thrown_by([&] { (void)call.read(recorded_value<double>{4}); }) == "");
    CHECK(thrown_by([&] { (void)call.read(recorded_value<std::array<float, 3>>{4}); }) ==
          "sublet: the size of a value, 8 bytes, is not a multiple of the object size 12");
}

TEST_CASE("an updated value has one storage, or the call throws")
{
    alignas(float) std::array<std::byte, 4> before{}, after{};
    plain_call const step{.ins = {before}, .outs = {after}};
    std::array<value_id, 1> const both{w};
    recorded_call<plain_call> const call(step, both, both);
    CHECK(call.read(w).size() == 1);
    CHECK(thrown_by([&] { (void)call.write(w); }) ==
          "sublet: the updated value 9 has two storages; its versions must share one");
}

TEST_CASE("a kernel calls the function of each step, and has copies of all functions")
{
    std::vector<int> called;
    auto counting = [&called, count = 0](recorded_call<plain_call> const& call) mutable {
        called.push_back(100 * static_cast<int>(call.step().step) + ++count);
    };
    std::vector<function> functions{function(counting), function(counting)};
    functions[0] = functions[1];
    recorded_kernel<plain_call> first(rows_of<step_id, value_id>({{}, {4}}),
                                      rows_of<step_id, value_id>({{}, {}}), functions);
    auto second = first;
    std::array<std::byte, 4> bytes{};
    plain_call const one{.step = 1, .ins = {bytes}, .outs = {}};
    first({}), first(one), first(one), second(one), first({});
    CHECK(called == std::vector{1, 101, 102, 101, 2});

    auto const wrong = "sublet: a recorded kernel is called for a step of another program";
    CHECK(thrown_by([&] { first({.step = 2, .ins = {}, .outs = {}}); }) == wrong);
    CHECK(thrown_by([&] { first({.step = 0, .ins = {bytes}, .outs = {}}); }) == wrong);
    CHECK(thrown_by([&] { first({.step = 1, .ins = {bytes}, .outs = {bytes}}); }) == wrong);
    CHECK(called.size() == 5);
}

} // namespace this_test
