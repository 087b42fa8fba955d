// SPDX-License-Identifier: BSL-1.0
// What a run calls on the fake of the CUDA runtime, and the graphs that it captures.
#include <sublet/execution/cuda.hpp>

#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "cuda/fake_runtime.hpp"

#include <sublet/execution/streams.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// One command of the device a step.
struct empty_kernel {
    template <class Call>
    void operator()(Call const& call) const
    {
        fake_cuda::launch(call.stream(), [] {});
    }
};

using closure = std::vector<std::vector<bool>>; // by node: those that are after it

/// Requires: edges lead upwards.
template <class Edges>
closure closure_of(std::size_t nodes, Edges const& edges)
{
    closure after(nodes, std::vector<bool>(nodes, false));
    std::vector<std::vector<std::size_t>> next(nodes);
    for (auto const& [from, to] : edges) next[from].push_back(to);
    for (std::size_t a = nodes; a-- != 0;)
        for (std::size_t b : next[a]) {
            after[a][b] = true;
            for (std::size_t c = b; c != nodes; ++c)
                if (after[b][c]) after[a][c] = true;
        }
    return after;
}
/// Those that no others imply.
template <class Edges>
std::size_t count_of_reduction(Edges const& edges, closure const& after)
{
    return static_cast<std::size_t>(std::count_if(edges.begin(), edges.end(), [&](auto const& edge) {
        for (std::size_t middle = edge.first + 1; middle != edge.second; ++middle)
            if (after[edge.first][middle] && after[middle][edge.second]) return false;
        return true;
    }));
}

struct edge_counts {
    std::size_t captured = 0, without_implied = 0, needed = 0;
};
edge_counts count_edges(std::size_t streams)
{
    edge_counts sum;
    for (unsigned seed = 0; seed != 100; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_tasks const drawn = draw_tasks(pick, {.tasks = 30, .back = 6, .edges = 20, .in_place = 20});
        snapshot const p = drawn.program();
        plan_options const options = drawn.options();
        auto const planned = plan_with_handoffs(p, options);
        REQUIRE(planned);
        fake_cuda::start();
        cuda_device device(0);
        alignas(64) static std::array<std::byte, 1 << 16> bound{};
        stream_executor run{device, p, options, arena{planned}, empty_kernel{}, {.streams = streams}};
        for (auto const& its : run.order().lowered.table.buffers)
            if (!its.is_planned()) run.bind(its.root, bound);
        (void)run.capture();
        std::vector<std::pair<std::size_t, std::size_t>> needed;
        for (step_waits::wait const& wait : run.order().waits.list) needed.emplace_back(wait.from, wait.to);
        closure const after = closure_of(p.steps(), fake_cuda::edges());
        for (auto const& [from, to] : needed) CHECK(after[from][to]);
        sum.captured += fake_cuda::edges().size();
        sum.without_implied += count_of_reduction(fake_cuda::edges(), after);
        sum.needed += needed.size();
        CHECK(fake_cuda::misuses().empty());
    }
    return sum;
}

/// Copies its operand; with `is_longer`, the first step also fills its result.
struct copy_kernel {
    bool const* is_longer;
    template <class Call>
    void operator()(Call const& call) const
    {
        std::size_t const size = call.out(0).size();
        if (*is_longer && call.step == 0) (void)cudaMemsetAsync(call.out(0).data(), 0, size, call.stream());
        (void)cudaMemcpyAsync(call.out(0).data(), call.in(0).data(), size, cudaMemcpyDeviceToDevice,
                              call.stream());
    }
};

//     0: w -> a     1: w -> b     2: a -> c     w is external, b and c are outputs
snapshot const copies =
    sequence(3, 4, [](auto step, effect_sink& s) { s.use(step == 2 ? 1 : 0), s.def(step + 1); });
plan_options const copies_options{.bytes = 64,
                                  .role =
                                      std::vector<value_role>{value_role::external, value_role::intermediate,
                                                              value_role::output, value_role::output}};

/// An executor of these copies, and two blocks with different contents to be bound.
template <class Mode>
struct copy_run {
    static constexpr std::byte first{1}, second{2};

    explicit copy_run(Mode const& mode)
        : device((fake_cuda::start({.devices = 2}), 1)), stream(device.make_stream()),
          blocks{device.allocate(64, 64, stream), device.allocate(64, 64, stream)},
          run(device, copies, copies_options, mode, copy_kernel{&is_longer},
              {.streams = 2, .keeps_io_addresses = true})
    {
        device.fill(blocks[0], first, 64, stream);
        device.fill(blocks[1], second, 64, stream);
        device.synchronize();
    }
    ~copy_run()
    {
        for (std::byte* block : blocks) try {
                device.deallocate(block, 64, 64, stream);
            } catch (cuda_error const&) { // ignored in a destructor
            }
        device.destroy_stream(stream);
    }
    void bind(std::size_t block) { run.bind(0, std::span(blocks[block], 64)); }
    /// The byte that both outputs are full of.
    std::byte result()
    {
        std::array<std::byte, 64> b{}, c{};
        run.take(2, b);
        run.take(3, c);
        return b == c && std::count(b.begin(), b.end(), b[0]) == 64 ? b[0] : std::byte{};
    }

    bool is_longer = false;
    cuda_device device;
    cudaStream_t stream;
    std::array<std::byte*, 2> blocks;
    stream_executor<cuda_device, copy_kernel> run;
};
memory_plan const copies_plan = plan_memory(copies, copies_options).plan;

std::size_t times_called(char const* name)
{
    auto const& log = fake_cuda::log();
    return static_cast<std::size_t>(std::count(log.begin(), log.end(), name));
}

} // namespace

TEST_CASE("a run calls CUDA once for each of its commands, and makes its device current once")
{
    random_source pick{std::mt19937{5}};
    random_tasks const drawn = draw_tasks(pick, {.tasks = 30, .back = 6, .edges = 20});
    snapshot const p = drawn.program();
    plan_options const options = drawn.options();
    auto const planned = plan_with_handoffs(p, options);
    REQUIRE(planned);
    for (std::size_t const streams : {1u, 4u}) {
        fake_cuda::start({.devices = 2});
        cuda_device device(1);
        alignas(64) static std::array<std::byte, 1 << 16> bound{};
        std::vector<std::byte> given;
        stream_executor run{device, p, options, arena{planned}, empty_kernel{}, {.streams = streams}};
        for (auto const& its : run.order().lowered.table.buffers) {
            if (!its.is_planned()) run.bind(its.root, bound);
            else if (has_role(its.role, value_role::input)) (void)run.input(its.root);
        }
        fake_cuda::fail_call(0); // counts from here
        run_report const report = run.run_async();
        CHECK(times_called("cudaEventRecord") == report.events);
        CHECK(times_called("cudaStreamWaitEvent") == report.waits);
        CHECK(times_called("cudaLaunchKernel") == 30);
        CHECK(fake_cuda::calls() == 30 + report.events + report.waits + 3); // and gets, sets and restores
        CHECK(fake_cuda::misuses().empty());
    }
}

TEST_CASE("no edge of a captured graph is implied by others, and with enough streams each is needed")
{
    for (std::size_t const streams : {1u, 4u, 64u}) {
        edge_counts const its = count_edges(streams);
        MESSAGE(streams, " streams: ", its.captured, " edges, and ", its.needed, " are needed");
        CHECK(its.captured == its.without_implied);
        if (streams == 64) CHECK(its.captured == its.needed);
    }
}

TEST_CASE("when storage moves, a graph is updated, and instantiated anew if CUDA refuses that")
{
    auto check = [](auto const& mode, bool is_updated) {
        {
            copy_run its(mode);
            its.bind(0);
            auto graph = its.run.capture();
            graph.launch();
            CHECK(its.result() == its.first);
            auto const executables = fake_cuda::held().executables;

            fake_cuda::fail_call(0);
            its.bind(1);
            graph.launch();
            CHECK(its.result() == its.second);
            CHECK(times_called("cudaGraphExecUpdate") == 1);
            CHECK(times_called("cudaGraphInstantiateWithFlags") == (is_updated ? 0 : 1));

            fake_cuda::fail_call(0);
            graph.launch();
            its.bind(1); // the same again
            graph.launch();
            CHECK(its.result() == its.second);
            CHECK(times_called("cudaStreamBeginCapture") == 0);

            its.is_longer = true; // a kernel issues another command: CUDA refuses the update
            its.bind(0);
            graph.launch();
            CHECK(its.result() == its.first);
            CHECK(times_called("cudaGraphExecUpdate") == 1);
            CHECK(times_called("cudaGraphInstantiateWithFlags") == 1);
            CHECK(fake_cuda::held().executables == executables);
            CHECK(fake_cuda::held().graphs == 1);

            its.bind(1);
            its.run.run(); // without the graph
            CHECK(its.result() == its.second);
            its.bind(0);
            fake_cuda::fail_call(0);
            graph.launch();
            CHECK(its.result() == its.first);
            CHECK(times_called("cudaGraphInstantiateWithFlags") == (is_updated ? 0 : 1));
        }
        CHECK(fake_cuda::held() == fake_cuda::live_objects());
        CHECK(fake_cuda::misuses().empty());
        CHECK(cudaPeekAtLastError() == cudaSuccess);
    };
    check(arena{copies_plan}, true);
    check(recycle{}, false); // the graph allocates memory
}

TEST_CASE(
    "any CUDA call may fail from capture to update: the executor and its graph go on, or the device is lost")
{
    std::size_t failures = 0, lost = 0;
    auto with_failure = [&](std::size_t nth, auto const& mode, cudaError_t code, bool is_sticky) {
        bool was_reached = false;
        {
            copy_run its(mode);
            using graph_type = decltype(its.run.capture());
            std::optional<graph_type> graph;
            auto attempt = [&](std::size_t stage) { // captures, updates, instantiates, launches again
                its.bind(stage % 2);
                its.is_longer = stage >= 2;
                if (!graph) graph.emplace(its.run.capture());
                graph->launch();
                return its.result() == (stage % 2 == 0 ? its.first : its.second);
            };
            fake_cuda::fail_call(nth, code, is_sticky);
            for (std::size_t stage : {0u, 1u, 2u, 2u}) {
                if (its.device.is_lost()) break;
                try {
                    bool const is_right = attempt(stage); // a CHECK of it would catch its exceptions
                    CHECK(is_right);
                } catch (std::exception const& failure) {
                    ++failures;
                    CAPTURE(stage);
                    std::string const text = failure.what();
                    CAPTURE(text);
                    CHECK(text.starts_with("sublet: "));
                    CHECK(text.find(is_sticky ? "cudaErrorLaunchFailure" : "cudaErrorMemoryAllocation") !=
                          std::string::npos);
                    bool const is_ours = dynamic_cast<run_error const*>(&failure) != nullptr;
                    CHECK(is_ours);
                    if (is_sticky) {
                        CHECK(its.device.is_lost());
                        CHECK_THROWS_AS(its.run.run(), precondition_error);
                        CHECK_THROWS_AS((void)its.run.capture(), precondition_error);
                        if (graph) CHECK_THROWS_AS(graph->launch(), precondition_error);
                    } else {
                        CHECK(!its.device.is_lost());
                        was_reached = true;
                        fake_cuda::fail_call(0);
                        bool const is_right = attempt(stage);
                        CHECK(is_right);
                    }
                }
            }
            was_reached = was_reached || fake_cuda::calls() >= nth;
            lost += its.device.is_lost();
            if (!is_sticky) fake_cuda::fail_call(0);
        }
        CHECK(fake_cuda::calls_when_lost() <= 1); // as in test/execution/cuda/device.cpp
        if (!is_sticky) CHECK(fake_cuda::held() == fake_cuda::live_objects());
        if (!fake_cuda::misuses().empty()) FAIL_CHECK(fake_cuda::misuses().front());
        return was_reached;
    };
    auto each_call = [&](auto const& mode) {
        for (bool const is_sticky : {false, true}) {
            CAPTURE(is_sticky);
            cudaError_t const code = is_sticky ? cudaErrorLaunchFailure : cudaErrorMemoryAllocation;
            std::size_t nth = 1;
            for (bool was_reached = true; was_reached; ++nth) {
                CAPTURE(nth);
                was_reached = with_failure(nth, mode, code, is_sticky);
                REQUIRE(nth < 10'000);
            }
            CHECK(nth > 60);
        }
    };
    each_call(arena{copies_plan});
    each_call(recycle{});
    CHECK(failures > 200);
    CHECK(lost > 100);
}

TEST_CASE("a kernel that faults, a lost device and too little memory are told in one sentence, with the step")
{
    copy_run its(arena{copies_plan});
    its.bind(0);
    auto text_of_failure = [&](std::size_t nth, cudaError_t code, bool is_sticky) -> std::string {
        fake_cuda::fail_call(nth, code, is_sticky);
        try {
            its.run.run();
        } catch (run_error const& failure) {
            fake_cuda::fail_call(0);
            return failure.what();
        }
        return "nothing was thrown";
    };
    its.run.run();
    fake_cuda::fail_call(0);
    its.run.run();
    std::vector<std::string> const log = fake_cuda::log();
    auto const nth = [&](char const* name, std::size_t which) {
        for (std::size_t i = 0; i != log.size(); ++i)
            if (log[i] == name && which-- == 0) return i + 1;
        return log.size() + 1;
    };
    CHECK(
        text_of_failure(nth("cudaMemcpyAsync", 1), cudaErrorInvalidValue, false) ==
        "sublet: at step 1, a kernel threw: sublet: a kernel's launch: cudaErrorInvalidValue (as requested), "
        "at step 1");
    CHECK(text_of_failure(nth("cudaStreamSynchronize", 0), cudaErrorInvalidValue, false) ==
          "sublet: in a run on streams, the device failed at a step that it does not name: sublet: "
          "cudaStreamSynchronize: cudaErrorInvalidValue (as requested)");
    its.run.run();
    CHECK(text_of_failure(nth("cudaMemcpyAsync", 2), cudaErrorIllegalAddress, true) ==
          "sublet: in a run on streams, the device failed at step 2 or before it: sublet: a kernel's launch: "
          "cudaErrorIllegalAddress (as requested), at step 2");
    try {
        its.run.run();
        FAIL("nothing was thrown");
    } catch (precondition_error const& refusal) {
        CHECK(std::string(refusal.what()) ==
              "sublet: a device is lost, and nothing can be run on it any more");
    }
    fake_cuda::start({.devices = 1, .capacity = 100});
    cuda_device small(0);
    try {
        stream_executor run{small, copies, copies_options, arena{copies_plan}, empty_kernel{}};
        FAIL("nothing was thrown");
    } catch (allocation_error const& refusal) {
        CHECK(std::string(refusal.what()) ==
              "sublet: before any step, 192 bytes could not be allocated: sublet: cudaMallocFromPoolAsync: "
              "cudaErrorMemoryAllocation (as requested)");
    }
}

} // namespace this_test
