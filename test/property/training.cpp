// SPDX-License-Identifier: BSL-1.0

// The bytes of a training step of ResNet-50, built in code, in each memory mode. The kernels do nothing and
// the storage is addresses only, so any batch is possible.

#include "../../bench/address_space.hpp"
#include "../../bench/training_network.hpp"

#include <sublet/execution.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace this_test {

using namespace sublet;
using plan_model::network;

namespace {

byte_count bytes_of_callers(network const& net)
{
    byte_count sum = 0;
    for (auto const& v : net.values)
        if (has_role(v.role, value_role::external) && v.alias_of == no_value) sum += v.bytes;
    return sum;
}

std::size_t operations_of(network const& net, std::string const& type)
{
    std::size_t count = 0;
    for (auto const& operation : net.operations) count += operation.type == type;
    return count;
}

byte_count parameters_of(network const& net) // in floats
{
    byte_count sum = 0;
    for (auto const& v : net.values)
        if (v.name.starts_with("parameter")) sum += v.bytes / 4;
    return sum;
}

struct two_runs {
    run_report first, second;
};

template <class Mode>
two_runs count(network const& net, plan_options const& options, Mode const& mode)
{
    bench::address_space nowhere(std::size_t{1} << 33);
    cpu_executor execute(as_program(net), options, mode, [](cpu_call const&) {}, {.upstream = &nowhere});
    for (value_id v = 0; v != net.values.size(); ++v)
        if (has_role(net.values[v].role, value_role::external))
            execute.bind(v, std::span(static_cast<std::byte*>(nowhere.allocate(1, 1)),
                                      static_cast<std::size_t>(net.values[v].bytes)));
    run_report const first = execute.run();
    return {first, execute.run()};
}

} // namespace

TEST_CASE("networks built in code have as many parameters as in their papers")
{
    network const resnet = bench::resnet50({.batch = 2});
    CHECK(operations_of(resnet, "convolution") == 53);
    CHECK(operations_of(resnet, "relu") == 49);
    CHECK(operations_of(resnet, "sgd_momentum") == 161);
    CHECK(operations_of(resnet, "threshold_backward") == 49);
    CHECK(parameters_of(resnet) == 25'557'032);
    CHECK(parameters_of(bench::resnet50({.trains = false})) == 25'557'032);
    CHECK(parameters_of(bench::densenet121({})) == 7'978'856);
    CHECK(parameters_of(bench::transformer({})) == 12 * 7'087'872 + 2 * 768 + 2 * 768 + 2);
    CHECK(operations_of(bench::inception({.trains = false}), "cat") == 9);
}

TEST_CASE("a training step of ResNet-50 needs 55 % less in an arena than without a plan, weights counted")
{
    for (byte_count batch : {16u, 32u})
        for (auto keeps : {bench::relu_keeps::result, bench::relu_keeps::operand})
            for (bool in_place : {false, true}) {
                bool const keeps_operand = keeps == bench::relu_keeps::operand;
                CAPTURE(batch);
                CAPTURE(keeps_operand);
                CAPTURE(in_place);
                network const net = bench::resnet50({.batch = batch, .keeps = keeps});
                plan_options options = as_options(net);
                options.in_place = in_place;
                planned_memory const planned = plan_memory(as_program(net), options);
                REQUIRE(planned);
                byte_count naive = 0; // of all results without views
                for (auto const& v : net.values)
                    if (v.producer != no_node && v.alias_of == no_value) naive += v.bytes;

                two_runs const none = count(net, options, no_plan{});
                two_runs const recycled = count(net, options, recycle{});
                two_runs const arenas = count(net, options, arena{planned});
                CHECK(none.first.run.bytes.peak == naive);
                CHECK(none.first.run.allocations.total == net.results);
                CHECK(recycled.first.run.bytes.peak < naive);
                CHECK(arenas.first.run.bytes.peak == planned.report().arena_bytes);
                for (two_runs const* each : {&none, &recycled, &arenas}) {
                    CHECK(each->second.run.bytes.peak == each->first.run.bytes.peak);
                    CHECK(each->first.run.bytes.peak >= each->first.lower_bound);
                    // In an arena the plan says which pairs are taken: those that are declared may be.
                    bool const has_fewer_pairs = each == &arenas && !in_place;
                    CHECK(each->first.lower_bound <= planned.report().lower_bound_bytes);
                    if (!has_fewer_pairs)
                        CHECK(each->first.lower_bound == planned.report().lower_bound_bytes);
                }
                CHECK(none.second.run.allocations.total == none.first.run.allocations.total);
                CHECK(arenas.first.run.allocations.total == 0); // the arena was allocated before
                CHECK(arenas.second.run.allocations.total == 0);

                byte_count const arena_bytes = planned.report().arena_bytes, more = bytes_of_callers(net);
                CHECK((arena_bytes + more) * 100 <= (naive + more) * 45);
                CHECK(arena_bytes * 100 <= planned.report().lower_bound_bytes * 101);
                CHECK(more > 8 * parameters_of(net)); // momenta, statistics, pictures
            }
}

} // namespace this_test
