// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/run_options.hpp>

#include "../../simple_device.hpp"
#include "../../stream_diamond.hpp"

#include <sublet/execution/streams.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <map>
#include <new>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using namespace stream_diamond;

namespace {

/// Notes what is issued and does it when the graph is launched. Blocks of a capture stay.
struct capturing_device : simple_device {
    struct graph {
        std::vector<std::function<void()>> work;
        void launch(int)
        {
            for (auto const& one : work) one();
        }
    };
    ~capturing_device()
    {
        for (auto [block, bytes] : of_graphs)
            simple_device::deallocate(block, bytes, alignof(std::max_align_t), 0);
    }
    void begin_capture(int) { is_capturing = true; }
    graph end_capture(int)
    {
        is_capturing = false;
        return {std::move(noted)};
    }
    void abandon_capture(int)
    {
        is_capturing = false;
        noted.clear();
    }
    std::byte* allocate(byte_count bytes, byte_count alignment, int s)
    {
        if (is_capturing) alignment = alignof(std::max_align_t);
        std::byte* const block = simple_device::allocate(bytes, alignment, s);
        if (is_capturing) of_graphs[block] = bytes;
        return block;
    }
    void deallocate(std::byte* block, byte_count bytes, byte_count alignment, int s)
    {
        CHECK(of_graphs.count(block) == (is_capturing ? 1u : 0u)); // only what is the graph's own
        if (!is_capturing) simple_device::deallocate(block, bytes, alignment, s);
    }
    template <class Kernel, class Call>
    void launch(int s, Kernel& kernel, Call const& call)
    {
        if (!is_capturing) return simple_device::launch(s, kernel, call);
        if (call.step == refused) throw std::bad_alloc();
        noted.push_back([&kernel, call] { kernel(call); });
    }

    bool is_capturing = false;
    step_id refused = no_step;
    std::vector<std::function<void()>> noted{};
    std::map<std::byte*, byte_count> of_graphs{};
};
static_assert(captures_graphs<capturing_device>);
static_assert(!captures_graphs<simple_device>);

} // namespace

TEST_CASE("a run is captured once and launched as often as it is wanted")
{
    auto check = [&](auto const& mode) {
        capturing_device device;
        stream_executor run(device, diamond, diamond_options, mode, synthetic_kernel{}, {.keeps_ends = true});
        auto graph = run.capture();
        for (std::uint64_t seed = 0; seed != 4; ++seed) {
            CHECK_THROWS_AS(graph.launch(), unusable_value); // an input is owed
            give(run, seed);
            if (seed == 2) run.run(); // between two launches
            else graph.launch();
            CHECK(digest(run.output(4)) == expected(seed));
        }
    };
    check(no_plan{});
    check(recycle{});
    check(arena{diamond_plan});
    capturing_device device;
    stream_executor run(device, diamond, diamond_options, recycle{}, synthetic_kernel{});
    CHECK_THROWS_AS((void)run.capture(), precondition_error); // inputs and outputs would come and go
}

TEST_CASE("a capture that fails leaves an executor that runs")
{
    capturing_device device;
    stream_executor run(device, diamond, diamond_options, recycle{}, synthetic_kernel{},
                        {.keeps_ends = true});
    device.refused = 2;
    CHECK_THROWS_AS((void)run.capture(), run_error);
    CHECK_FALSE(device.is_capturing);
    device.refused = no_step;
    give(run, 3);
    run.run();
    CHECK(digest(run.output(4)) == expected(3));
    auto graph = run.capture();
    give(run, 4);
    graph.launch();
    CHECK(digest(run.output(4)) == expected(4));
}

TEST_CASE("a graph is launched into the storage that it was captured with, or not at all")
{
    bool is_failing = false;
    auto kernel = [&](auto const& call) {
        if (std::exchange(is_failing, false)) throw 3;
        synthetic_kernel{}(call);
    };
    auto check = [&](auto const& mode, bool stays) {
        capturing_device device;
        stream_executor run(device, diamond, diamond_options, mode, kernel, {.keeps_ends = true});
        auto graph = run.capture();
        give(run, 3);
        is_failing = true;
        CHECK_THROWS_AS(graph.launch(), run_error);
        give(run, 4);
        if (!stays) CHECK_THROWS_AS(graph.launch(), precondition_error); // its input and output are gone
        auto again = run.capture();
        if (stays) graph.launch();
        else again.launch();
        CHECK(digest(run.output(4)) == expected(4));
    };
    check(no_plan{}, false);
    check(recycle{}, false);
    check(arena{diamond_plan}, true);

    snapshot const doubled = sequence(1, 2, [](auto, effect_sink& s) { s.use(0), s.def(1); });
    plan_options const options{.bytes = 8, .role = std::vector<value_role>{value_role::external, output}};
    capturing_device device;
    stream_executor run(device, doubled, options, recycle{}, kernel, {.keeps_ends = true});
    CHECK_THROWS_AS((void)run.capture(), unusable_value); // nothing is bound
    alignas(64) std::byte one[8] = {}, other[8] = {};
    run.bind(0, one);
    auto graph = run.capture();
    run.bind(0, one);
    CHECK_NOTHROW(graph.launch());
    run.bind(0, other);
    CHECK_THROWS_AS(graph.launch(), precondition_error);
}

} // namespace this_test
