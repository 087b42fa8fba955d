// SPDX-License-Identifier: BSL-1.0
// Guarantees of Apache SINGA's graph scheduler, and each defect in its history on the smallest program that
// shows it: here the result is right, and the planted defect is found.
#include <sublet/execution/recorder.hpp>

#include "../../bench/address_space.hpp"
#include "../checked_resource.hpp"
#include "../dead_bytes.hpp"
#include "../operations.hpp"
#include "../printed.hpp"

#include <sublet/checking/check_plan.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

using kernel = std::function<void(cpu_call const&)>; // erased, so that one executor is compiled
using executor = cpu_executor<kernel>;
using enum value_role;

/// Calls `visit` for every order of the nodes without a use before its def.
template <class Visit>
void each_order(snapshot const& p, plan_options options, Visit visit)
{
    options.order.resize(p.nodes());
    std::iota(options.order.begin(), options.order.end(), node_id{0});
    do {
        if (lifetimes(p, {.role = options.role, .order = options.order})) visit(options);
    } while (std::next_permutation(options.order.begin(), options.order.end()));
}

} // namespace

TEST_CASE("singa-687: a value that feeds several operations is freed after the last of them, in every order")
{
    // A cell of a recurrent network: h feeds three operations.
    enum { x, h, p, q, r, y };
    snapshot const program = op_list(6, {{x}, {h}, {h, p}, {h}, {q, r}}, {{h}, {p}, {q}, {r}, {y}});
    plan_options const listed{
        .bytes = 64, .role = {input, intermediate, intermediate, intermediate, intermediate, output}};
    auto result = [&](plan_options const& options, auto const& mode, executor_options const& how) {
        executor run(program, options, mode, synthetic_kernel{}, how);
        fill_noise(run.input(x), 1);
        run.run();
        return digest(run.output(y));
    };
    std::uint64_t const expected = result(listed, no_plan{}, {});
    std::size_t orders = 0, refused = 0, caught = 0;
    each_order(program, listed, [&](plan_options const& in_order) {
        ++orders;
        memory_plan const plan = plan_memory(program, in_order).plan;
        CHECK(result(in_order, recycle{}, {.check = executor_options::checks::digest}) == expected);
        CHECK(result(in_order, arena{plan}, {.check = executor_options::checks::digest}) == expected);
        // SINGA's defect: a plan for one order is used in another.
        each_order(program, listed, [&](plan_options const& another) {
            memory_plan moved = plan;
            moved.order = another.order;
            if (check_plan(program, moved, another)) {
                CHECK(result(another, arena{moved}, {.check = executor_options::checks::digest}) == expected);
                return;
            }
            ++refused;
            CHECK(thrown_by([&] { result(another, arena{moved}, {}); }) != "");
            try {
                result(another, arena{moved}, {.check = executor_options::checks::digest, .prove = false});
                FAIL_CHECK("not detected");
            } catch (clobbered_value const&) {
                ++caught;
            }
        });
    });
    CHECK(orders == 3);
    CHECK(refused > 0);
    CHECK(caught == refused);
}

TEST_CASE("singa-680: an operation that touches undeclared values is stopped or detected")
{
    recorder net;
    auto const a = net.input<std::uint64_t>(8);
    auto const b = net.intermediate<std::uint64_t>(8), c = net.intermediate<std::uint64_t>(8);
    auto const d = net.output<std::uint64_t>(8), e = net.output<std::uint64_t>(8);
    std::span<std::uint64_t const> old_b; // kept from an earlier step, bypassing the call
    std::span<std::uint64_t> old_e;
    enum { nothing, by_call, bypasses_read, bypasses_write } wrong = nothing;
    auto copy = [](auto from, auto to) { std::copy(from.begin(), from.end(), to.begin()); };
    net.record({a}, {b, e}, [=, &old_b, &old_e](auto const& call) {
        copy(call.read(a), call.write(b)), copy(call.read(a), call.write(e));
        old_b = call.write(b), old_e = call.write(e);
    });
    net.record({b}, {c}, [=](auto const& call) { copy(call.read(b), call.write(c)); });
    bool was_dead = false;
    net.record({c}, {d}, [=, &wrong, &old_b, &old_e, &was_dead](auto const& call) {
        copy(call.read(c), call.write(d));
        if (wrong == by_call) (void)call.read(b);
        if (wrong == bypasses_read) was_dead = is_dead(reinterpret_cast<std::byte const*>(old_b.data()));
        if (wrong == bypasses_write) old_e[7] ^= 1;
    });
    // With these pins, b's bytes are dead when the last step runs.
    plan_options options = net.options();
    options.pinned = {0, 64, 128, 192, 256};
    auto const planned = plan_memory(net, options);
    REQUIRE(planned);
    auto run = [&](auto how_wrong) {
        wrong = how_wrong;
        executor one(net, options, arena{planned}, net.kernel(), {.check = executor_options::checks::digest});
        fill_noise(one.input(a), 1);
        one.run();
        return digest(one.output(d));
    };
    auto const expected = run(nothing);
    CHECK(thrown_by([&] { run(by_call); }) ==
          "sublet: at step 2, a kernel threw: sublet: a recorded function reads value 1, which it has not "
          "declared to read");
    CHECK(run(bypasses_read) == expected);
    CHECK(was_dead);
    CHECK(thrown_by([&] { run(bypasses_write); }) == "sublet: value 4, made by step 0, is not what it was "
                                                     "when the run ends: nothing is planned over it, so a "
                                                     "kernel wrote beyond its results");
    CHECK(run(nothing) == expected);
}

TEST_CASE("singa-c41eb9ba: outputs are kept for the caller, and other values cannot be read")
{
    //     x -> a -> b -> c -> y      a is read by an early step, and by the caller after the run
    enum { x, a, b, c, y };
    snapshot const program = op_list(5, {{x}, {a}, {b}, {c}}, {{a}, {b}, {c}, {y}});
    plan_options const held{.bytes = 64, .role = {input, output, intermediate, intermediate, output}};
    plan_options const dropped{.bytes = 64,
                               .role = {input, intermediate, intermediate, intermediate, output}};
    memory_plan const unaware = plan_memory(program, dropped).plan;
    std::optional<std::uint64_t> expected;
    auto check = [&](auto const& mode) {
        executor run(program, held, mode, synthetic_kernel{}, {.check = executor_options::checks::digest});
        for (int again = 0; again != 2; ++again) {
            fill_noise(run.input(x), 1);
            run.run();
            std::uint64_t const kept = fold_digest(digest(run.output(a)), digest(run.output(y)));
            CHECK(expected.value_or(kept) == kept);
            expected = kept;
        }
        executor unheld(program, dropped, mode, synthetic_kernel{}, {.prove = false});
        (void)unheld.input(x);
        unheld.run();
        CHECK(thrown_by([&] { (void)unheld.output(a); }) ==
              "sublet: output() is called for value 1, which is no output, or take() before bind()");
    };
    check(no_plan{});
    check(recycle{});
    check(arena{plan_memory(program, held).plan});
    // Without the output role its bytes are reused.
    auto const valid = check_plan(program, unaware, held);
    REQUIRE(!valid);
    CHECK(valid.error().value() == a);
    executor corrupted(program, held, arena{unaware}, synthetic_kernel{},
                       {.check = executor_options::checks::digest, .prove = false});
    fill_noise(corrupted.input(x), 1);
    CHECK_THROWS_AS(corrupted.run(), clobbered_value);
}

TEST_CASE(
    "singa-CopyData: a value has no address before its step runs, and a copy reads the bytes of that time")
{
    recorder net;
    auto const image = net.intermediate<float>(4), y = net.output<float>(4);
    std::vector<float> host(4, 1);
    net.record({}, {image}, [=, &host](auto const& call) {
        std::copy(host.begin(), host.end(), call.write(image).begin());
    });
    net.record({image}, {y}, [=](auto const& call) {
        for (std::size_t i = 0; i != 4; ++i) call.write(y)[i] = 2 * call.read(image)[i];
    });
    checked_resource source;
    {
        executor run(net, net.options(), recycle{}, net.kernel(), {.upstream = &source});
        CHECK(source.requests.empty());
        for (float now : {3.f, 5.f}) {
            host.assign(4, now);
            run.run();
            CHECK(as<float>(run.output(y))[3] == 2 * now);
            CHECK(source.live() == 16); // the output; the image's block has been freed
        }
    }
    CHECK(source.live_blocks.empty());
}

TEST_CASE("singa-int: values and plans of more than 4 GiB have correct offsets, in every mode")
{
    byte_count const gib = byte_count{1} << 30;
    enum { a, b, c, d };
    snapshot const program = op_list(4, {{}, {a}, {b}, {a, c}}, {{a}, {b}, {c}, {d}});
    plan_options const options{.bytes = std::vector<byte_count>{3 * gib, 5 * gib + 1, 6 * gib, 5},
                               .alignment = 4096,
                               .role = {intermediate, intermediate, intermediate, output}};
    auto const planned = plan_memory(program, options);
    REQUIRE(planned);
    CHECK(planned.report().arena_bytes >= 14 * gib + 1);
    CHECK(planned.report().arena_bytes <= 14 * gib + 4096);
    bench::address_space nowhere(std::size_t{15} << 30); // addresses only: no byte is touched
    auto peak = [&](auto const& mode) {
        std::vector<std::byte const*> where(4);
        kernel const look = [&](cpu_call const& call) {
            for (std::size_t i = 0; i != call.uses().size(); ++i)
                CHECK(call.in(i).size() == options.bytes[call.uses()[i]]);
            CHECK(call.out(0).size() == options.bytes[call.defs()[0]]);
            where[call.step] = call.out(0).data();
        };
        executor run(program, options, mode, look, {.upstream = &nowhere});
        run_report const report = run.run();
        if constexpr (std::same_as<std::remove_cvref_t<decltype(mode)>, arena>)
            for (value_id v : {a, b, c, d})
                CHECK(static_cast<byte_count>(where[v] - where[a]) ==
                      planned.plan.offset_of(v) - planned.plan.offset_of(a));
        return report.run.bytes.peak;
    };
    CHECK(peak(no_plan{}) == 14 * gib + 6);
    CHECK(peak(recycle{}) == 14 * gib + 1);
    CHECK(peak(arena{planned}) == planned.report().arena_bytes);
}

TEST_CASE("singa-abort: every failure is thrown, and the executor can run again")
{
    snapshot const program = op_list(5, {{0}, {1}, {1, 2}, {3}}, {{1}, {2}, {3}, {4}});
    plan_options const options{.bytes = 64,
                               .role = {input, intermediate, intermediate, intermediate, output}};
    std::optional<std::uint64_t> expected;
    std::size_t threw = 0, ran_dry = 0;
    auto check = [&](auto const& mode) {
        checked_resource source;
        step_id broken = no_step;
        {
            executor run(program, options, mode,
                         [&](cpu_call const& call) {
                             if (call.step == broken) throw std::exception();
                             synthetic_kernel{}(call);
                         },
                         {.upstream = &source});
            auto attempt = [&] {
                fill_noise(run.input(0), 1);
                run.run();
                return digest(run.output(4));
            };
            if (!expected) expected = attempt();
            for (broken = 0; broken != 4; ++broken) {
                try {
                    attempt();
                } catch (run_error const& e) {
                    threw += e.step() == broken;
                }
                step_id const next = std::exchange(broken, no_step);
                CHECK(attempt() == *expected);
                broken = next;
            }
            broken = no_step;
            for (std::size_t more = 0; more != 5; ++more) {
                source.max_allocations = source.requests.size() + more;
                try {
                    attempt();
                } catch (allocation_error const& e) {
                    ran_dry += e.bytes() == 64;
                }
                source.max_allocations = ~std::size_t{0};
                CHECK(attempt() == *expected);
            }
        }
        CHECK(source.live_blocks.empty());
    };
    check(no_plan{});
    check(recycle{});
    check(arena{plan_memory(program, options).plan});
    CHECK(threw == 12);
    CHECK(ran_dry == 10); // an arena is allocated before anything can fail
}

TEST_CASE("S3, S4: storage is allocated at the first write and freed after the last read")
{
    recorder net;
    auto const a = net.intermediate<std::byte>(100), b = net.intermediate<std::byte>(200),
               c = net.intermediate<std::byte>(400), unread = net.intermediate<std::byte>(800),
               d = net.output<std::byte>(1600);
    checked_resource source;
    std::vector<std::size_t> seen;
    auto const look = [&](auto const&) { seen.push_back(source.live()); };
    net.record({}, {a}, look);
    net.record({a}, {b}, look);
    net.record({a}, {c, unread}, look);
    net.record({c, b}, {d}, look);
    executor run(net, net.options(), recycle{}, net.kernel(), {.upstream = &source});
    CHECK(source.live() == 0);
    run.run();
    CHECK(seen == std::vector<std::size_t>{100, 300, 1500, 2200});
    CHECK(source.live() == 1600);
    // Of the other modes, one frees nothing before the end, and one allocates nothing.
    seen.clear();
    executor all(net, net.options(), no_plan{}, net.kernel(), {.upstream = &source});
    all.run();
    CHECK(seen == std::vector<std::size_t>{1700, 1900, 3100, 4700});
    memory_plan const plan = plan_memory(net, net.options()).plan;
    executor planned(net, net.options(), arena{plan}, net.kernel(), {.upstream = &source});
    CHECK(planned.run().run.allocations.total == 0);
}

} // namespace this_test
