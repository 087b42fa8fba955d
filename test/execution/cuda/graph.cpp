// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/cuda_runtime.hpp>

#include "cuda/fake_runtime.hpp"

#include <sublet/execution/cuda.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// Two streams and the events between them.
struct graph_fixture {
    graph_fixture()
        : device((fake_cuda::start({.devices = 2}), 1)), main(device.make_stream()),
          side(device.make_stream()), fork(device.make_event()), join(device.make_event())
    {
    }
    ~graph_fixture()
    {
        device.destroy_event(join);
        device.destroy_event(fork);
        device.destroy_stream(side);
        device.destroy_stream(main);
    }
    template <class Kernel>
    void call(cudaStream_t stream, Kernel kernel)
    {
        device.calls()("launch", [&] { return fake_cuda::launch(stream, kernel), cudaPeekAtLastError(); });
    }
    void note(cudaStream_t stream, int what)
    {
        call(stream, [this, what] { done.push_back(what); });
    }
    /// 1 on the main stream, 2 on the side stream, 3 after both.
    void issue(bool is_joined = true)
    {
        note(main, 1);
        device.record(fork, main);
        device.wait(side, fork);
        note(side, 2);
        device.record(join, side);
        if (is_joined) device.wait(main, join);
        note(main, 3);
    }

    cuda_device device;
    cudaStream_t main, side;
    cudaEvent_t fork, join;
    std::vector<int> done;
};

} // namespace

TEST_CASE("captured work is not run at capture, and is run at each launch")
{
    {
        graph_fixture its;
        its.device.begin_capture(its.main);
        its.issue();
        cuda_graph graph = its.device.end_capture(its.main);
        CHECK(its.done.empty());
        CHECK(graph.nodes() == 3);
        graph.launch(its.main);
        CHECK(its.done == std::vector{1, 2, 3});

        cuda_graph moved = std::move(graph);
        moved.launch(its.side);
        its.device.synchronize();
        CHECK(its.done == std::vector{1, 2, 3, 1, 2, 3});
        its.issue(); // streams work as before
        CHECK(its.done.size() == 9);
        static_assert(!std::is_copy_constructible_v<cuda_graph>);
    }
    CHECK(fake_cuda::held() == fake_cuda::live_objects());
    CHECK(fake_cuda::misuses().empty());
}

TEST_CASE(
    "memory that a capture allocates and frees belongs to the graph, at the same address in each launch")
{
    graph_fixture its;
    {
        its.device.begin_capture(its.main);
        auto* const block = its.device.allocate(100, 512, its.main);
        its.device.fill(block, std::byte{7}, 100, its.main);
        its.call(its.main, [&its, block] { its.done.push_back(std::to_integer<int>(block[99])); });
        its.device.deallocate(block, 100, 512, its.main);
        auto graph = its.device.end_capture(its.main);
        CHECK(graph.nodes() == 4);
        for (int i = 0; i != 2; ++i) graph.launch(its.main);
        CHECK(its.done == std::vector{7, 7});
        CHECK(its.device.memory() == cuda_memory_use());
        CHECK(its.device.graph_memory().used_high >= 100);
        CHECK(fake_cuda::held().blocks == 1);
    }
    its.device.reset_high();
    its.device.trim();
    CHECK(its.device.graph_memory() == cuda_memory_use());
    CHECK(fake_cuda::held().blocks == 0);
    CHECK(fake_cuda::misuses().empty());
}

TEST_CASE("a failed capture is over, and streams work as before")
{
    graph_fixture its;
    SUBCASE("a stream is not joined")
    {
        its.device.begin_capture(its.main);
        its.issue(false);
        CHECK_THROWS_AS((void)its.device.end_capture(its.main), cuda_error);
    }
    SUBCASE("a command cannot be captured")
    {
        its.device.begin_capture(its.main);
        its.note(its.main, 1);
        CHECK_THROWS_AS(its.device.synchronize(its.main), cuda_error);
        CHECK_THROWS_AS(its.note(its.main, 2), cuda_error);
        CHECK_THROWS_AS((void)its.device.end_capture(its.main), cuda_error);
    }
    SUBCASE("the capture is abandoned")
    {
        its.device.begin_capture(its.main);
        its.note(its.main, 1);
        its.device.record(its.fork, its.main);
        its.device.wait(its.side, its.fork);
        its.device.abandon_capture(its.main);
        its.device.abandon_capture(its.main); // without a capture: no effect
    }
    SUBCASE("no capture was begun") { CHECK_THROWS_AS((void)its.device.end_capture(its.main), cuda_error); }
    CHECK(!its.device.is_lost());
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(its.done.empty());
    CHECK(fake_cuda::held().graphs == 0);
    its.issue();
    its.device.synchronize();
    CHECK(its.done == std::vector{1, 2, 3});
    its.device.begin_capture(its.main);
    its.issue();
    CHECK(its.device.end_capture(its.main).nodes() == 3);
}

TEST_CASE("any call of a capture and a launch may fail: nothing is held and the next one succeeds")
{
    std::size_t nth = 1;
    for (;; ++nth) {
        CAPTURE(nth);
        graph_fixture its;
        auto const before = fake_cuda::held();
        fake_cuda::fail_call(nth, cudaErrorMemoryAllocation);
        bool has_failed = false;
        try {
            its.device.begin_capture(its.main);
            auto* const block = its.device.allocate(64, 64, its.main);
            its.issue();
            its.device.deallocate(block, 64, 64, its.main);
            auto graph = its.device.end_capture(its.main);
            graph.launch(its.main);
        } catch (cuda_error const& failure) {
            CHECK(failure.code() == cudaErrorMemoryAllocation);
            has_failed = true;
            its.device.abandon_capture(its.main);
        }
        bool const was_there = fake_cuda::calls() >= nth;
        fake_cuda::fail_call(0);
        CHECK(fake_cuda::held() == before);
        CHECK(!its.device.is_lost());
        if (has_failed) its.done.clear();
        CHECK(its.done.empty() == has_failed);
        its.done.clear();
        its.issue();
        its.device.synchronize();
        CHECK(its.done == std::vector{1, 2, 3});
        CHECK(fake_cuda::misuses().empty());
        if (!was_there) break;
    }
    CHECK(nth > 30);
}

} // namespace this_test
