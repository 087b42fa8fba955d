// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/cpu.hpp>

#include "dead_bytes.hpp"
#include "operations.hpp"
#include "random_source.hpp"

#include <sublet/plan_memory.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using kernel = std::function<void(cpu_call const&)>;

/// Values of 16 bytes at these offsets, overlapping or not.
arena at_offsets(std::vector<byte_count> const& offsets)
{
    memory_plan plan;
    for (value_id v = 0; v != offsets.size(); ++v) {
        plan.buffer_of.push_back(+v);
        plan.buffers.push_back({.root = v, .life = {}, .size = 16, .offset = offsets[v]});
    }
    plan.arena_bytes = {*std::max_element(offsets.begin(), offsets.end()) + 16};
    return {plan};
}

plan_options sixteen(std::vector<value_role> const& role) { return {.bytes = 16, .role = role}; }
value_role const none = value_role::intermediate, output = value_role::output, input = value_role::input,
                 external = value_role::external;

executor_options const watched{.check = executor_options::checks::digest, .prove = false};

/// The finding of a run.
template <class Mode>
clobbered_value::finding found(snapshot const& p, plan_options const& options, Mode const& mode,
                               kernel const& compute, executor_options const& how = watched)
{
    cpu_executor<kernel> run(p, options, mode, compute, how);
    for (value_id v = 0; v != p.values(); ++v)
        if (has_role(options.role[v], value_role::input)) fill_noise(run.input(v), v);
    try {
        run.run();
    } catch (clobbered_value const& e) {
        return e.details();
    }
    return {};
}

std::span<std::byte> writable(std::span<std::byte const> bytes)
{
    return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

} // namespace

TEST_CASE("the last buffer that claims a range owns it, byte by byte")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::vector<sort_key> borders;
        std::vector<std::pair<byte_count, byte_count>> ranges;
        for (std::uint32_t i = 0, n = 1 + pick.below(6); i != n; ++i) {
            byte_count const begin = pick.below(30), end = begin + pick.below(10);
            ranges.push_back({begin, end});
            borders.push_back({begin, 0, i});
            borders.push_back({end, 0, i});
        }
        detail::byte_owners owners(borders, 40);
        std::vector<buffer_id> expected(40, no_buffer);
        for (int claim = 0; claim != 8; ++claim) {
            buffer_id const id = pick.below(static_cast<std::uint32_t>(ranges.size()));
            auto const [begin, end] = ranges[id];
            owners.claim(begin, end, id);
            for (byte_count b = begin; b != end; ++b) expected[b] = id;
            for (auto const& [from, to] : std::vector{std::pair<byte_count, byte_count>{0, 40}, ranges[0]}) {
                byte_count next = from;
                owners.each(from, to, [&](byte_count first, byte_count last, buffer_id owner) {
                    if (first == last) return;
                    CHECK(first == next);
                    for (next = first; next != last; ++next) CHECK(expected[next] == owner);
                });
                CHECK(next == to);
            }
        }
    }
}

TEST_CASE("a thousand buffers that begin at one byte make one border, and each segment is visited once")
{
    std::vector<sort_key> borders;
    for (std::uint32_t i = 0; i != 1000; ++i) borders.insert(borders.end(), {{0, 0, i}, {16, 0, i}});
    detail::byte_owners owners(borders, 32);
    owners.claim(0, 16, 7);
    std::vector<byte_count> begins;
    owners.each(0, 32, [&](byte_count begin, byte_count, buffer_id) { begins.push_back(begin); });
    CHECK(begins == std::vector<byte_count>{0, 16});
}

TEST_CASE("a result placed over a live value is reported, with producer, reader and culprit")
{
    //   a ─► b ─► c, and a is read again
    auto const p = op_list(3, {{}, {0}, {0, 1}}, {{0}, {1}, {2}});
    auto const options = sixteen({none, none, output});
    CHECK(found(p, options, at_offsets({0, 16, 32}), synthetic_kernel{}) == clobbered_value::finding{});
    CHECK(found(p, options, at_offsets({0, 8, 32}), synthetic_kernel{}) ==
          clobbered_value::finding{.value = 0, .producer = 0, .reader = 1, .culprit = 1, .culprit_step = 1});
    CHECK(found(p, options, at_offsets({0, 16, 1}), synthetic_kernel{}) ==
          clobbered_value::finding{.value = 0, .producer = 0, .reader = 2, .culprit = 2, .culprit_step = 2});

    //   a and b, then only a is read
    auto const later = op_list(3, {{}, {}, {0}}, {{0}, {1}, {2}});
    CHECK(found(later, options, at_offsets({0, 15, 32}), synthetic_kernel{}) ==
          clobbered_value::finding{.value = 0, .producer = 0, .reader = 2, .culprit = 1, .culprit_step = 1});
    CHECK(found(later, sixteen({output, none, output}), at_offsets({0, 32, 15}), synthetic_kernel{}) ==
          clobbered_value::finding{.value = 0, .producer = 0, .reader = 2, .culprit = 2, .culprit_step = 2});
    auto const unread = op_list(2, {{}, {}}, {{0}, {1}});
    CHECK(found(unread, sixteen({output, none}), at_offsets({0, 15}), synthetic_kernel{}) ==
          clobbered_value::finding{
              .value = 0, .producer = 0, .reader = no_step, .culprit = 1, .culprit_step = 1});
    CHECK(found(unread, sixteen({input, none}), at_offsets({8, 0}), synthetic_kernel{}) ==
          clobbered_value::finding{});
}

TEST_CASE("steps are reported by their number in the program, whatever the order")
{
    auto const p = op_list(3, {{0, 1}, {}, {}}, {{2}, {0}, {1}});
    plan_options options = sixteen({none, none, output});
    options.order = {2, 1, 0};
    arena plan = at_offsets({0, 8, 32});
    plan.plan.order = options.order;
    CHECK(found(p, options, plan, synthetic_kernel{}) ==
          clobbered_value::finding{.value = 1, .producer = 2, .reader = 0, .culprit = 0, .culprit_step = 1});
}

TEST_CASE("of two overlapping results of one step, the one that is needed later is reported")
{
    auto const p = op_list(3, {{}, {0}}, {{0, 1}, {2}});
    auto const q = op_list(3, {{}, {1}}, {{0, 1}, {2}});
    auto const options = sixteen({none, none, output});
    CHECK(found(p, options, at_offsets({0, 8, 32}), synthetic_kernel{}) ==
          clobbered_value::finding{.value = 0, .producer = 0, .reader = 1, .culprit = 1, .culprit_step = 0});
    CHECK(found(q, options, at_offsets({0, 8, 32}), synthetic_kernel{}) ==
          clobbered_value::finding{.value = 1, .producer = 0, .reader = 1, .culprit = 0, .culprit_step = 0});
}

TEST_CASE("a kernel that writes a value that is not its result is found in every mode")
{
    auto const p = op_list(3, {{}, {0}, {0}}, {{0}, {1}, {2}});
    auto const options = sixteen({none, none, output});
    kernel const careless = [](cpu_call const& call) {
        synthetic_kernel{}(call);
        if (call.step == 1) writable(call.in(0))[15] ^= std::byte{1};
    };
    clobbered_value::finding const expected{.value = 0, .producer = 0, .reader = 1};
    CHECK(found(p, options, no_plan{}, careless) == expected);
    CHECK(found(p, options, recycle{}, careless) == expected);
    CHECK(found(p, options, at_offsets({0, 16, 32}), careless) == expected);

    executor_options painting = watched;
    painting.check = executor_options::checks::paint;
    CHECK(found(p, options, no_plan{}, careless, painting) == clobbered_value::finding{});
}

TEST_CASE("a kernel that writes beyond its results is found when a step needs the bytes there")
{
    auto const p = op_list(3, {{}, {}, {0, 1}}, {{0}, {1}, {2}});
    auto beyond = [](step_id at) -> kernel {
        return [at](cpu_call const& call) {
            synthetic_kernel{}(call);
            if (call.step == at) *(call.out(0).data() + 16) ^= std::byte{1};
        };
    };
    auto const plan = at_offsets({16, 0, 32});
    auto const options = sixteen({output, none, output});
    CHECK(found(p, options, plan, beyond(1)) ==
          clobbered_value::finding{.value = 0, .producer = 0, .reader = 2});
    auto const below = at_offsets({32, 0, 16});
    CHECK(found(p, options, below, beyond(2)) ==
          clobbered_value::finding{.value = 0, .producer = 0, .reader = 2});
    auto const unread = op_list(2, {{}, {}}, {{0}, {1}});
    CHECK(found(unread, sixteen({output, none}), at_offsets({16, 0}), beyond(1)) ==
          clobbered_value::finding{.value = 0, .producer = 0, .reader = no_step});
    auto const given = op_list(3, {{}, {0}}, {{1}, {2}});
    CHECK(found(given, sixteen({input, none, output}), plan, beyond(0)) ==
          clobbered_value::finding{.value = 0, .producer = no_step, .reader = 1});
}

TEST_CASE("allowed reuse is no alarm: an in-place pair, an operand read early, a dead value")
{
    auto const pair = sequence(2, 2, [](auto step, effect_sink& s) {
        if (step == 1) s.use(0), s.may_overwrite(0, 1);
        s.def(+step);
    });
    auto const early = sequence(2, 2, [](auto step, effect_sink& s) {
        if (step == 1) s.use_early(0);
        s.def(+step);
    });
    auto const options = sixteen({none, output});
    for (byte_count const at : {0u, 8u}) {
        CHECK(found(pair, options, at_offsets({0, at}), synthetic_kernel{}) == clobbered_value::finding{});
        CHECK(found(early, options, at_offsets({0, at}), synthetic_kernel{}) == clobbered_value::finding{});
    }
    CHECK(found(pair, options, recycle{}, synthetic_kernel{}) == clobbered_value::finding{});
    CHECK(found(pair, options, no_plan{}, synthetic_kernel{}) == clobbered_value::finding{});

    plan_options apart = options;
    apart.in_place = false; // but the plan has taken it
    CHECK(found(pair, apart, at_offsets({0, 0}), synthetic_kernel{}) == clobbered_value::finding{});

    // No pair, a second result next to it, and a later reader.
    auto const unrelated = sequence(2, 2, [](auto step, effect_sink& s) {
        if (step == 1) s.use(0);
        s.def(+step);
    });
    CHECK(found(unrelated, options, at_offsets({0, 0}), synthetic_kernel{}) ==
          clobbered_value::finding{.value = 0, .producer = 0, .reader = 1, .culprit = 1, .culprit_step = 1});
    auto const beside = sequence(2, 3, [](auto step, effect_sink& s) {
        if (step == 1) s.use(0), s.may_overwrite(0, 1), s.def(2);
        s.def(+step);
    });
    CHECK(found(beside, sixteen({none, output, output}), at_offsets({0, 32, 0}), synthetic_kernel{}) ==
          clobbered_value::finding{.value = 0, .producer = 0, .reader = 1, .culprit = 2, .culprit_step = 1});
    auto const read_again = sequence(3, 2, [](auto step, effect_sink& s) {
        if (step != 0) s.use(0);
        if (step == 1) s.may_overwrite(0, 1);
        if (step != 2) s.def(+step);
    });
    CHECK(found(read_again, options, at_offsets({0, 0}), synthetic_kernel{}) ==
          clobbered_value::finding{.value = 0, .producer = 0, .reader = 1, .culprit = 1, .culprit_step = 1});
}

TEST_CASE("an allowed in-place result is not reported for one that is not allowed")
{
    auto const p = sequence(2, 3, [](auto step, effect_sink& s) {
        if (step == 1) s.use(0), s.may_overwrite(0, 1), s.def(1), s.def(2);
        else s.def(0);
    });
    plan_options const options{.bytes = {16, 8, 8}, .role = {none, output, output}};
    auto const plan = at_offsets({0, 0, 8});
    CHECK(found(p, options, plan, synthetic_kernel{}) ==
          clobbered_value::finding{.value = 0, .producer = 0, .reader = 1, .culprit = 2, .culprit_step = 1});
}

TEST_CASE("an in-place result in the caller's storage is no alarm in any mode")
{
    //   w, gradient ─► w', with the same bytes bound for both
    auto const declared = sequence(2, 3, [](auto step, effect_sink& s) {
        if (step == 0) s.def(0);
        else s.use(0), s.use(1), s.def(2), s.may_overwrite(1, 2);
    });
    auto const read_early = sequence(2, 3, [](auto step, effect_sink& s) {
        if (step == 0) s.def(0);
        else s.use(0), s.use_early(1), s.def(2);
    });
    auto const options = sixteen({none, external, external});
    auto trained = [&](auto const& p, auto const& mode) {
        std::vector<std::byte> weights(16);
        cpu_executor<kernel> run(p, options, mode, synthetic_kernel{},
                                 {.check = executor_options::checks::digest});
        run.bind(1, std::span(weights));
        run.bind(2, std::span(weights));
        run.run();
        run.run();
        return digest(std::span(weights));
    };
    for (snapshot const& p : {declared, read_early}) {
        auto const expected = trained(p, no_plan{});
        CHECK(trained(p, recycle{}) == expected);
        CHECK(trained(p, arena{plan_memory(p, options).plan}) == expected);
    }
}

TEST_CASE("storage that the caller binds to one value after another is no alarm")
{
    auto const p = op_list(4, {{}, {0}, {1}, {2}}, {{0}, {1}, {2}, {3}});
    plan_options const options{.bytes = std::vector<byte_count>{no_size, 16, no_size, 16},
                               .role = {none, none, none, output}};
    std::vector<std::byte> bound_bytes(32);
    cpu_executor<kernel> run(p, options, no_plan{}, synthetic_kernel{},
                             {.check = executor_options::checks::digest});
    run.bind(0, std::span(bound_bytes));
    run.bind(2, std::span(bound_bytes));
    CHECK_NOTHROW(run.run());
}

TEST_CASE(
    "external values that a kernel changes are found at the end of the run, if their storage is bound once")
{
    //   w ─► a ─► b     step 1 writes to w, which it does not declare
    auto const p = op_list(3, {{0}, {1}}, {{1}, {2}});
    std::vector<std::byte> weights(16);
    auto clobbering_kernel = [&weights](auto const& call) {
        if (call.step == 1) weights[3] ^= std::byte{1};
        synthetic_kernel{}(call);
    };
    auto check = [&](auto const& mode) {
        cpu_executor run(p, sixteen({external, none, output}), mode, clobbering_kernel,
                         {.check = executor_options::checks::digest});
        run.bind(0, std::span(weights));
        try {
            run.run();
            FAIL_CHECK("nothing was found");
        } catch (clobbered_value const& e) {
            CHECK(e.details() == clobbered_value::finding{.value = 0});
        }
    };
    check(no_plan{});
    check(recycle{});
    check(arena{plan_memory(p, sixteen({external, none, output})).plan});
}

TEST_CASE("storage bound for two values may change; adjacent storage is not shared")
{
    //   v, w ─► a     the step changes the last byte of w; v begins after it
    auto const p = op_list(3, {{0, 1}, {}}, {{2}, {}});
    auto const options = sixteen({external, external, output});
    auto finds = [&](std::size_t bind_offset) {
        std::vector<std::byte> bound_bytes(48);
        cpu_executor<kernel> run(p, options, no_plan{},
                                 [&bound_bytes](cpu_call const& call) {
                                     if (call.step == 1) bound_bytes[15] ^= std::byte{1};
                                     else synthetic_kernel{}(call);
                                 },
                                 {.check = executor_options::checks::digest});
        run.bind(1, std::span(bound_bytes).first(16));
        run.bind(0, std::span(bound_bytes).subspan(bind_offset, 16));
        try {
            run.run();
            return no_value;
        } catch (clobbered_value const& e) {
            return e.details().value;
        }
    };
    CHECK(finds(16) == 1);
    CHECK(finds(32) == 1);
    CHECK(finds(15) == no_value);
    CHECK(finds(0) == no_value);
}

TEST_CASE("dead bytes are painted or poisoned, live bytes are not")
{
    //   a ─► b ─► c ─► d     and two inputs, of which the first is read once; no bytes are shared
    auto const p = op_list(6, {{0}, {2}, {3, 1}, {4}}, {{2}, {3}, {4}, {5}});
    auto const options = sixteen({input, input, none, none, none, output});
    auto const plan = at_offsets({0, 16, 32, 48, 64, 80});
    std::vector<std::vector<value_id>> const alive{{0, 1, 2}, {1, 2, 3}, {1, 3, 4}, {4, 5}};
    for (auto const level : {executor_options::checks::paint, executor_options::checks::digest}) {
        std::byte* base = nullptr;
        std::byte const* bytes = nullptr;
        std::size_t looks = 0;
        cpu_executor<kernel> run(p, options, plan,
                                 [&](cpu_call const& call) {
                                     bytes = base;
                                     for (value_id v = 0; v != 6; ++v) {
                                         auto const& now = alive[call.step];
                                         bool const is_result = v == call.step + 2;
                                         bool const is_alive =
                                             std::find(now.begin(), now.end(), v) != now.end();
                                         if (is_result) continue; // usable, but not written yet
                                         for (int i = 0; i != 16; ++i)
                                             CHECK(is_dead(bytes + 16 * v + i) != is_alive);
                                         ++looks;
                                     }
                                     if (!under_asan)
                                         for (std::byte b : call.out(0)) CHECK(b == std::byte{0xFF});
                                     for (std::byte& b : call.out(0)) b = std::byte{1};
                                 },
                                 {.check = level});
        for (int repeat = 0; repeat != 2; ++repeat) {
            base = run.input(0).data();
            for (value_id v : {0u, 1u})
                for (std::byte& b : run.input(v)) b = std::byte{1};
            run.run();
            for (std::byte b : run.output(5)) CHECK(b == std::byte{1});
        }
        CHECK(looks == 2 * 4 * 5);
    }
}

TEST_CASE("without a plan a result is painted before its step begins, but not if it takes a block in place")
{
    auto const p = sequence(3, 3, [](auto step, effect_sink& s) {
        if (step != 0) s.use(step - 1);
        if (step == 2) s.may_overwrite(1, 2);
        s.def(+step);
    });
    std::size_t painted = 0, kept = 0;
    kernel const look = [&](cpu_call const& call) {
        auto const bytes = call.out(0);
        painted += std::count(bytes.begin(), bytes.end(), std::byte{0xFF}) == 16;
        kept += std::count(bytes.begin(), bytes.end(), std::byte{2}) == 16;
        std::fill(bytes.begin(), bytes.end(), static_cast<std::byte>(call.step + 1));
    };
    executor_options const painting{.check = executor_options::checks::paint};
    found(p, sixteen({none, none, output}), no_plan{}, look, painting);
    CHECK(painted == 3);
    found(p, sixteen({none, none, output}), recycle{}, look, painting);
    CHECK(painted == 5);
    CHECK(kept == 1);
}

TEST_CASE("memory is unpoisoned before it is freed, whatever was dead in it")
{
    struct inspector {
        std::size_t seen = 0;
        void* allocate(std::size_t bytes, std::size_t alignment)
        {
            return ::operator new(bytes, std::align_val_t{alignment});
        }
        void deallocate(void* block, std::size_t bytes, std::size_t alignment)
        {
            std::fill_n(static_cast<std::byte*>(block), bytes, std::byte{0});
            for (std::size_t i = 0; i != bytes; ++i)
                if (is_dead(static_cast<std::byte*>(block) + i)) FAIL_CHECK("freed while poisoned");
            seen += bytes;
            ::operator delete(block, std::align_val_t{alignment});
        }
    } source;
    auto const p = op_list(3, {{}, {0}, {1}}, {{0}, {1}, {2}});
    for (bool const fails : {false, true}) {
        cpu_executor<kernel> run(p, sixteen({none, none, output}), at_offsets({0, 16, 32}),
                                 [&](cpu_call const& call) {
                                     if (fails && call.step == 1) throw 1;
                                     synthetic_kernel{}(call);
                                 },
                                 {.check = executor_options::checks::digest, .upstream = &source});
        if (fails) CHECK_THROWS_AS(run.run(), run_error);
        else run.run();
    }
    CHECK(source.seen == 2 * 48);
}

TEST_CASE("a run that was cut short leaves no poison in bytes that the next one needs")
{
    auto const p = op_list(4, {{0}, {1}, {2}}, {{1}, {2}, {3}});
    auto const options = sixteen({input, none, none, output});
    auto const planned = plan_memory(p, options);
    REQUIRE(planned);
    bool fails = true;
    std::uint64_t results[2];
    for (step_id at = 0; at != 3; ++at) {
        cpu_executor<kernel> run(p, options, arena{planned},
                                 [&](cpu_call const& call) {
                                     if (fails && call.step == at) throw 1;
                                     synthetic_kernel{}(call);
                                 },
                                 {.check = executor_options::checks::digest});
        for (std::uint64_t& result : results) {
            for (bool const now : {true, false}) {
                fails = now;
                fill_noise(run.input(0), 7);
                if (fails) CHECK_THROWS_AS(run.run(), run_error);
                else run.run();
            }
            result = digest(run.output(3));
        }
        CHECK(results[0] == results[1]);
    }
}

} // namespace this_test
