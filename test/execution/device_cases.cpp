// SPDX-License-Identifier: BSL-1.0
// The cases of bench_execution_cuda on the simulated device, and the arithmetic of its table.
#include "../../bench/device_cases.hpp"
#include "../../bench/small_networks.hpp"

#include <sublet/testing/recording_device.hpp>
#include <sublet/testing/simulated_device.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace bench;

namespace {

/// Storage of the caller, aligned for a device, with noise.
class external_bytes {
public:
    explicit external_bytes(device_subject const& of) : of_(of)
    {
        for (value_id v : of.externals) {
            begin_.push_back(end_);
            end_ = align_up(end_ + of.bytes[v], device_alignment);
        }
        room_.resize(detail::to_size((end_ + device_alignment) / sizeof(line)) + 1);
    }
    void fill()
    {
        for (std::size_t i = 0; i != of_.externals.size(); ++i) fill_noise(bytes(i), of_.externals[i]);
    }
    template <class Executor>
    void bind(Executor& execute)
    {
        for (std::size_t i = 0; i != of_.externals.size(); ++i) execute.bind(of_.externals[i], bytes(i));
    }
    std::uint64_t digest_of_all()
    {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i != of_.externals.size(); ++i) sum = fold_digest(sum, digest(bytes(i)));
        return sum;
    }

private:
    struct alignas(256) line {
        std::byte bytes[256] = {};
    };
    std::span<std::byte> bytes(std::size_t i)
    {
        return {room_.data()->bytes + begin_[i], static_cast<std::size_t>(of_.bytes[of_.externals[i]])};
    }

    device_subject const& of_;
    std::vector<byte_count> begin_;
    byte_count end_ = 0;
    std::vector<line> room_;
};

template <class Executor>
void give_inputs(Executor& execute, device_subject const& of)
{
    for (value_id v : of.inputs) fill_noise(execute.input(v), v);
}

template <class Executor>
std::uint64_t digest_of(Executor& execute, external_bytes& external, std::vector<value_id> const& outputs)
{
    std::uint64_t sum = external.digest_of_all();
    for (value_id v : outputs) sum = fold_digest(sum, digest(execute.output(v)));
    return sum;
}

/// The kernel of the bench, on the host, which counts bytes.
struct host_touch {
    byte_count* moved;
    operand_list operands = {};
    template <class Call>
    void operator()(Call const& call)
    {
        operands.list(call);
        operands.each_kernel([&](step_kernel::operand const* of, unsigned reads, unsigned count) {
            step_kernel::line sum = {0, 0};
            for (unsigned i = 0; i != count; ++i) *moved += of[i].size;
            for (unsigned i = 0; i != reads; ++i) step_kernel::read_part(of[i], sum, 0, 1);
            for (unsigned i = reads; i != count; ++i) step_kernel::write_part(of[i], sum, 0, 1);
        });
    }
};

/// Of all buffers but the caller's, each with bytes of its own.
byte_count bytes_apart(plan_model::network const& net)
{
    byte_count sum = 0;
    for (auto const& v : net.values)
        if (v.alias_of == no_value && !has_role(v.role, value_role::external)) sum += v.bytes;
    return sum;
}

using recorded_device = recording_device<simulated_device>;

/// Of the commands from the first one that is named.
command_counts counts_in(stream_commands const& list, std::size_t first)
{
    using kind = stream_commands::operation_kind;
    command_counts counts;
    for (std::size_t i = first; i != list.operations.size(); ++i) {
        auto const& c = list.operations[i];
        counts.allocations += c.what == kind::allocate;
        counts.releases += c.what == kind::release;
        counts.kernels += c.what == kind::work;
        counts.events += c.what == kind::record;
        counts.waits += c.what == kind::wait;
    }
    return counts;
}

struct host_copy {
    template <class Call>
    void operator()(Call const& call) const
    {
        std::memcpy(call.out(0).data(), call.in(0).data(), call.in(0).size());
    }
};

} // namespace

TEST_CASE("there are 20 cases, one of them the reference of the raw loop, and each has a driver's case")
{
    CHECK(std::size(device_cases) == 20);
    CHECK(std::count_if(std::begin(device_cases), std::end(device_cases), is_raw_reference) == 1);
    for (device_case const& c : device_cases) {
        device_case const& driver = device_cases[driver_case_of(c)];
        CHECK(driver.memory == device_memory::driver);
        CHECK(driver.is_captured);
        CHECK(driver.is_wide == c.is_wide);
        auto const same = [&](device_case const& other) {
            return other.memory == c.memory && other.is_wide == c.is_wide &&
                   other.is_captured == c.is_captured;
        };
        CHECK(std::count_if(std::begin(device_cases), std::end(device_cases), same) == 1);
    }
}

TEST_CASE("bytes and milliseconds give gigabytes a second, and two times a ratio")
{
    CHECK(gigabytes_per_second(3'000'000, 1) == doctest::Approx(3)); // 3 MB in a millisecond
    CHECK(gigabytes_per_second(2 * (byte_count{256} << 20), 0.25) == doctest::Approx(2147.483648));
    CHECK(gigabytes_per_second(0, 5) == 0);
    CHECK(gigabytes_per_second(100, 0) == 0);
    CHECK(gigabytes_per_second(~byte_count{0}, 1e3) == doctest::Approx(18446744073.709));
    CHECK(ratio(3, 2) == doctest::Approx(1.5));
    CHECK(ratio(3, 0) == 0);
}

TEST_CASE("a part of a peak is rounded down, up to the largest size")
{
    CHECK(percent_of(0, 60) == 0);
    CHECK(percent_of(1, 99) == 0);
    CHECK(percent_of(199, 50) == 99);
    CHECK(percent_of(~byte_count{0}, 100) == ~byte_count{0});
    CHECK(percent_of(~byte_count{0}, 60) == ~byte_count{0} / 5 * 3); // 2^64 - 1 is a multiple of 5
}

TEST_CASE("as many rounds are run as fit into the time, but at least one")
{
    CHECK(rounds_within(5, 100, 8000) == 5);
    CHECK(rounds_within(5, 2000, 8000) == 4);
    CHECK(rounds_within(5, 9000, 8000) == 1);
    CHECK(rounds_within(5, 0, 8000) == 5);
    CHECK(rounds_within(1, 1e300, 8000) == 1);
}

TEST_CASE("a step moves the bytes of what it reads and of what it writes, but not of a view")
{
    auto const p = sequence(4, 5, [](step_id s, effect_sink& step) {
        if (s == 0) step.def(0);
        if (s == 1) step.use(0), step.use(3), step.def(1);
        if (s == 2) step.use(1), step.view(2);
        if (s == 3) step.use(2), step.write(3), step.use(4);
    });
    CHECK(moved_bytes(p, {1, 10, 100, 1000, no_size}) ==
          std::vector<byte_count>{1, 1011, 10, 1100 + unknown_room});
    CHECK(sum_of({}) == 0);
    CHECK(sum_of({3, 5}) == 8);
    CHECK_THROWS_AS((void)sum_of({~byte_count{0}, 1}), precondition_error);
    CHECK(moved_bytes(sequence(0, 0, [](step_id, effect_sink&) {}), {}).empty());
}

TEST_CASE("operands are listed read before written, and split into kernels of at most 240")
{
    CHECK(kernels_for(0) == 1);
    CHECK(kernels_for(240) == 1);
    CHECK(kernels_for(241) == 2);
    operand_list list;
    auto kernels = [&](std::size_t reads, std::size_t writes) {
        list.all.assign(reads + writes, step_kernel::operand{nullptr, 0});
        list.reads = reads;
        std::vector<unsigned> found;
        list.each_kernel([&](step_kernel::operand const* of, unsigned its_reads, unsigned count) {
            CHECK(of == list.all.data() + found.size() / 2 * most_operands);
            found.push_back(its_reads);
            found.push_back(count);
        });
        return found;
    };
    CHECK(kernels(0, 0) == std::vector<unsigned>{0, 0});
    CHECK(kernels(2, 1) == std::vector<unsigned>{2, 3});
    CHECK(kernels(240, 1) == std::vector<unsigned>{240, 240, 0, 1});
    CHECK(kernels(250, 300) == std::vector<unsigned>{240, 240, 10, 240, 0, 70});
}

TEST_CASE("every case leaves the same results on a simulated device, and issues what its schedule counts")
{
    for (plan_model::network const& net : small_networks()) {
        device_subject const of = subject_of(net);
        external_bytes external(of);
        std::uint64_t expected = 0;
        byte_count arena_of[3] = {}; // by plan
        for (device_case const& c : device_cases) {
            CAPTURE(std::string(c.name));
            CAPTURE(c.is_wide);
            CAPTURE(c.is_captured);
            external.fill();
            simulated_device inner({.order = simulated_options::order_kind::latest_first});
            recorded_device device(inner);
            with_device_case(device, of, c, 3, synthetic_kernel{}, true, [&](auto& execute) {
                external.bind(execute);
                give_inputs(execute, of);
                execute.run();
                CHECK(device.check());
                std::uint64_t const found = digest_of(execute, external, of.outputs);
                if (expected == 0) expected = found;
                CHECK(found == expected);
            });

            // Once more with the kernel that is timed: counts of the second run.
            byte_count moved = 0;
            with_device_case(device, of, c, 3, host_touch{&moved}, false, [&](auto& execute) {
                external.bind(execute);
                give_inputs(execute, of);
                execute.run();
                give_inputs(execute, of);
                execute.synchronize();
                std::size_t const before = device.commands().operations.size();
                moved = 0;
                run_report const report = execute.run_async();
                command_counts const counts = counts_in(device.commands(), before);
                command_counts expected_counts = counts_of(execute.schedule(), execute.order().lowered);
                if (!has_arena(c) && !c.is_captured) // those of the run before
                    expected_counts.releases += of.outputs.size();
                CHECK(counts == expected_counts);
                CHECK(counts.kernels == report.steps);
                CHECK(counts.events == report.events);
                CHECK(counts.waits == report.waits);
                CHECK(counts.nodes() == counts.kernels + counts.allocations + counts.releases);
                if (!c.is_wide) CHECK(counts.events + counts.waits == 0);
                byte_count const peak = execute.memory().bytes.peak;
                if (has_arena(c)) {
                    CHECK(counts.allocations + counts.releases == 0);
                    CHECK(counts.nodes() == report.steps);
                    CHECK(peak == report.plan_bytes);
                    std::size_t const which = static_cast<std::size_t>(c.memory) -
                                              static_cast<std::size_t>(device_memory::one_order);
                    byte_count& arena = arena_of[which];
                    if (arena != 0) CHECK(arena == peak); // on one stream and on many, issued and captured
                    arena = peak;
                    if (c.memory == device_memory::one_order) CHECK(peak >= of.peak);
                    CHECK(peak <= of.naive + device_alignment * of.bytes.size());
                } else {
                    CHECK(counts.allocations > 0);
                    if (c.memory == device_memory::no_plan) CHECK(peak == bytes_apart(net));
                    else CHECK(peak < bytes_apart(net));
                    if (!c.is_wide && !c.is_captured && c.memory != device_memory::no_plan)
                        CHECK(peak >= report.lower_bound);
                }
                execute.synchronize();
                CHECK(moved == of.moved);
            });
            device.synchronize();
            CHECK(inner.memory().used == 0);
        }
        CHECK(arena_of[1] <= arena_of[2]); // waits can only save bytes
    }
}

TEST_CASE("a program without steps and one without bytes run in every case")
{
    plan_model::network empty, weightless;
    weightless.values.resize(1);
    weightless.values[0].bytes = 0;
    weightless.operations.resize(1);
    weightless.operations[0].outputs = {0};
    for (plan_model::network const* net : {&empty, &weightless}) {
        device_subject const of = subject_of(*net);
        CHECK(of.moved + of.peak + of.naive == 0);
        CHECK(of.externals.empty());
        for (device_case const& c : device_cases) {
            simulated_device device;
            with_device_case(device, of, c, 3, synthetic_kernel{}, true, [&](auto& execute) {
                CHECK(execute.run().steps == net->operations.size());
                command_counts const counts = counts_of(execute.schedule(), execute.order().lowered);
                CHECK(counts.kernels == net->operations.size());
                CHECK(counts.events + counts.waits == 0);
            });
        }
        CHECK(bool(spill_to(of, 60).advice));
    }
}

TEST_CASE("offsets of every plan are multiples of the alignment of a device")
{
    for (plan_model::network const& net : small_networks()) {
        device_subject const of = subject_of(net);
        for (memory_plan const* plan : {&of.one_order, &of.handoffs, &of.every_schedule}) {
            std::size_t placed = 0;
            for (value_id v = 0; v != of.bytes.size(); ++v) {
                bool const is_planned =
                    of.options.alias_of.tabulate(of.bytes.size())[v] == no_value && of.bytes[v] != 0 &&
                    std::find(of.externals.begin(), of.externals.end(), v) == of.externals.end();
                if (!is_planned) continue;
                CHECK(plan->offset_of(v) % device_alignment == 0);
                ++placed;
            }
            CHECK(placed > 5);
        }
    }
}

TEST_CASE("a program with spills leaves the same results, copies on a stream of its own, and takes less")
{
    std::size_t spilled_networks = 0;
    for (plan_model::network const& net : small_networks()) {
        device_subject const of = subject_of(net);
        external_bytes external(of);
        external.fill();
        std::uint64_t expected = 0;
        simulated_device plain;
        with_device_case(plain, of, device_cases[8], 1, synthetic_kernel{}, true, [&](auto& execute) {
            external.bind(execute);
            give_inputs(execute, of);
            execute.run();
            expected = digest_of(execute, external, of.outputs);
        });
        for (unsigned percent : {60u, 80u, 100u}) {
            CAPTURE(percent);
            spilled_subject const its = spill_to(of, percent);
            if (!its.advice) continue;
            spilled_program const& spilled = its.advice.spilled;
            byte_count copied = 0, moved = 0;
            for (auto const& s : its.advice.suggestions) copied += 2 * s.bytes;
            CHECK(its.copied <= copied); // a buffer may be larger than the value that is copied
            if (its.copies == 0) CHECK(its.moved == of.moved);
            spilled_networks += its.copies != 0;

            std::vector<std::byte> homes(detail::to_size(its.home_bytes + device_alignment));
            auto const at = reinterpret_cast<std::uintptr_t>(homes.data()) % device_alignment;
            std::byte* const block = homes.data() + (device_alignment - at) % device_alignment;
            external.fill();
            simulated_device inner({.order = simulated_options::order_kind::starve, .which = 1});
            recorded_device device(inner);
            spilled_kernel<synthetic_kernel, host_copy> const kernel{{}, {}, &spilled.steps};
            with_spills(device, its, kernel, true, [&](auto& execute) {
                external.bind(execute);
                bind_homes(execute, its, block);
                give_inputs(execute, of);
                device.forget();
                run_report const report = execute.run();
                CHECK(device.check());
                CHECK(report.run.bytes.peak <= percent_of(of.peak, percent));
                std::vector<value_id> outputs;
                for (value_id v : of.outputs) outputs.push_back(spilled.final_version[v]);
                CHECK(digest_of(execute, external, outputs) == expected);
                std::size_t copies = 0;
                for (auto const& c : device.commands().operations) {
                    if (c.what != stream_commands::operation_kind::work || c.which == no_step) continue;
                    bool const is_on_copy_stream = c.stream == 1;
                    CHECK(is_copy(spilled.steps[c.which].kind) == is_on_copy_stream);
                    copies += is_on_copy_stream;
                }
                CHECK(copies == its.copies);
                if (its.copies != 0) CHECK(report.events > 0);
            });
            with_spills(inner, its, spilled_kernel<host_touch, host_copy>{{&moved}, {}, &spilled.steps},
                        false, [&](auto& execute) {
                            external.bind(execute);
                            bind_homes(execute, its, block);
                            give_inputs(execute, of);
                            execute.run();
                        });
            CHECK(moved == its.moved);
        }
    }
    CHECK(spilled_networks > 0);
}

} // namespace this_test
