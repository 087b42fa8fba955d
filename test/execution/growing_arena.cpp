// SPDX-License-Identifier: BSL-1.0
// Random programs with SUBLET_ROUNDS and SUBLET_SEED as in property/.
#include <sublet/execution/growing_arena.hpp>

#include "../operations.hpp"
#include "../random_shapes.hpp"
#include "../random_source.hpp"
#include "../rounds.hpp"
#include "../run_environment.hpp"
#include "affine_bytes.hpp"

#include <sublet/execution/cpu.hpp>
#include <sublet/execution/streams.hpp>
#include <sublet/execution/threads.hpp>
#include <sublet/listing.hpp>
#include <sublet/plan_symbolic.hpp>
#include <sublet/testing/simulated_device.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

value_role const none = value_role::intermediate, input = value_role::input, output = value_role::output;

//     a ─► b ─► c ─► d        a is an input, d is an output
snapshot const chain = op_list(4, {{0}, {1}, {2}}, {{1}, {2}, {3}});
symbolic_options chain_options(byte_count scale, byte_count most)
{
    return {.bytes = {affine_bytes{0, 64 * scale}, {40, 32 * scale}, {0, 16 * scale}, {scale, 48 * scale}},
            .dims = batches(most),
            .alignment = 64,
            .role = {input, none, none, output}};
}

/// On every machine one block of the largest batch.
class block_arena : public growing_blocks<host_pages> {
public:
    explicit block_arena(planned_symbolic const& planned)
        : growing_blocks(plan_of(planned), [](byte_count most, byte_count alignment) {
              return host_pages(most, alignment, false);
          })
    {
    }
};

/// Pages without memory for more than some bytes.
struct scarce_pages : host_pages {
    using host_pages::host_pages;
    byte_count limit = 0;
    void resize(byte_count wanted)
    {
        if (wanted > limit) throw std::bad_alloc();
        host_pages::resize(wanted);
    }
};
class scarce_arena : public growing_blocks<scarce_pages> {
public:
    scarce_arena(planned_symbolic const& planned, byte_count limit)
        : growing_blocks(plan_of(planned), [limit](byte_count most, byte_count alignment) {
              scarce_pages its(most, alignment);
              its.limit = limit;
              return its;
          })
    {
    }
};

using executor = cpu_executor<synthetic_kernel>;

template <class Memory>
executor executor_for(Memory& memory, symbolic_options const& options, byte_count batch,
                      executor_options::checks check = executor_options::checks::plan)
{
    return {chain, options.at(batch), memory.at(batch), synthetic_kernel{}, {.check = check}};
}
template <class Executor>
std::uint64_t result_of(Executor& run, unsigned seed)
{
    fill_noise(run.input(0), seed);
    run.run();
    return digest(run.output(3));
}
std::uint64_t expected_result(symbolic_options const& options, byte_count batch, unsigned seed)
{
    executor run(chain, options.at(batch), no_plan{}, synthetic_kernel{});
    return result_of(run, seed);
}

/// Bytes from this address on that lie in memory, as the system counts them; none: it does not count.
std::optional<byte_count> resident_bytes([[maybe_unused]] std::byte* first, [[maybe_unused]] byte_count bytes)
{
#if defined(__linux__)
    auto const page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> is_resident((bytes + page - 1) / page);
    if (::mincore(first, bytes, is_resident.data()) != 0) return std::nullopt;
    byte_count sum = 0;
    for (unsigned char each : is_resident) sum += (each & 1) * page;
    return sum;
#else
    return std::nullopt;
#endif
}
byte_count page_bytes()
{
#if defined(__linux__)
    return static_cast<byte_count>(::sysconf(_SC_PAGESIZE));
#else
    return 4096;
#endif
}

} // namespace

TEST_CASE("memory follows the batch that runs, up and down, and addresses stay")
{
    symbolic_options const options = chain_options(1000, 32);
    auto const planned = plan_symbolic(chain, options);
    growing_arena memory(planned);
    REQUIRE(memory.at(1).plan.arena_bytes.size() == 1);
    CHECK(memory.bytes() == 0);
    std::byte* const first = memory.addresses()[0];
    byte_count const most = planned.bytes();
    bool const counts = memory.is_growing() && resident_bytes(first, most) == 0;
#if defined(__linux__)
    CHECK(memory.is_growing());
#endif

    std::vector<executor> all;
    std::vector<byte_count> const batches{1, 3, 32};
    for (byte_count n : batches) all.push_back(executor_for(memory, options, n));
    if (memory.is_growing()) CHECK(memory.bytes() == 0); // until the first is used
    for (std::size_t const i : {0u, 1u, 2u, 1u, 0u, 2u, 0u}) {
        CAPTURE(batches[i]);
        auto const seed = static_cast<unsigned>(10 + i);
        CHECK(result_of(all[i], seed) == expected_result(options, batches[i], seed));
        memory_plan const plan = planned.plan.at(batches[i]);
        CHECK(all[i].output(3).data() == first + plan.offset_of(3));
        if (memory.is_growing()) CHECK(memory.bytes() == align_up(plan.arena_bytes[0], page_bytes()));
        if (!counts) continue;
        byte_count const resident = *resident_bytes(first, align_up(most, page_bytes()));
        CHECK(resident <= align_up(plan.arena_bytes[0], page_bytes()));
        CHECK(resident + page_bytes() * plan.buffers.size() >= plan.arena_bytes[0]);
    }
    CHECK(memory.addresses()[0] == first);
    CHECK(all[0].memory().allocations.total == 0);
    run_report const report = (fill_noise(all[1].input(0), 1), all[1].run());
    CHECK(report.reserved == planned.plan.at(3).arena_bytes[0]);
    CHECK(report.plan_bytes == planned.plan.at(3).arena_bytes[0]);
}

TEST_CASE("results and inputs are lost when another executor is used, and that is noticed")
{
    symbolic_options const options = chain_options(10, 8);
    auto const planned = plan_symbolic(chain, options);
    growing_arena memory(planned);
    executor one = executor_for(memory, options, 1), many = executor_for(memory, options, 8);
    auto const expected = result_of(one, 1);
    CHECK(digest(one.output(3)) == expected);
    (void)one.input(0);
    (void)many.input(0);
    CHECK_THROWS_AS(one.run(), unusable_value); // its input is lost
    CHECK_NOTHROW(many.run());                  // a refused run changes nothing
    CHECK(result_of(one, 1) == expected);
    (void)many.input(0);
    CHECK_THROWS_AS((void)one.output(3), unusable_value);
    CHECK_NOTHROW(many.run());
    CHECK(digest(many.output(3)) != 0);
    CHECK(result_of(one, 1) == expected);
    executor moved = std::move(one);
    CHECK(digest(moved.output(3)) == expected);
    CHECK_THROWS_AS(many.run(), unusable_value);
}

TEST_CASE("one executor at a time may be made for each request")
{
    symbolic_options const options = chain_options(100, 16);
    auto const planned = plan_symbolic(chain, options);
    growing_arena memory(planned);
    std::optional<executor> run;
    for (unsigned n : {16u, 1u, 7u, 16u, 2u}) {
        run.emplace(executor_for(memory, options, n));
        CHECK(result_of(*run, n) == expected_result(options, n, n));
    }
    for (unsigned n : {0u, 17u}) CHECK_THROWS_AS((void)memory.at(n), precondition_error);
}

TEST_CASE("where no addresses can be reserved, it is one block of the largest batch")
{
    symbolic_options const options = chain_options(100, 16);
    auto const planned = plan_symbolic(chain, options);
    block_arena memory(planned);
    CHECK(!memory.is_growing());
    CHECK(memory.bytes() == planned.plan.at(16).arena_bytes[0]);
    executor one = executor_for(memory, options, 1, executor_options::checks::digest),
             many = executor_for(memory, options, 16), unchecked = executor_for(memory, options, 1);
    for (unsigned seed = 0; seed != 3; ++seed) {
        CHECK(result_of(one, seed) == expected_result(options, 1, seed));
        CHECK(result_of(many, seed) == expected_result(options, 16, seed));
        CHECK(result_of(unchecked, seed) == expected_result(options, 1, seed));
    }
    CHECK(memory.bytes() == planned.plan.at(16).arena_bytes[0]);
}

TEST_CASE("a batch without enough memory is an error with its bytes, and smaller ones run on")
{
    symbolic_options const options = chain_options(1000, 32);
    auto const planned = plan_symbolic(chain, options);
    scarce_arena memory(planned, planned.plan.at(3).arena_bytes[0]);
    executor three = executor_for(memory, options, 3), four = executor_for(memory, options, 4);
    CHECK(result_of(three, 1) == expected_result(options, 3, 1));
    for (int tries = 0; tries != 2; ++tries) {
        try {
            (void)four.input(0);
            FAIL("no error");
        } catch (allocation_error const& error) {
            CHECK(error.step() == no_step);
            CHECK(error.bytes() == planned.plan.at(4).arena_bytes[0]);
            CHECK(std::string(error.what()).find("sublet: before any step, ") == 0);
            CHECK(std::string(error.what()).find(" bytes could not be allocated") != std::string::npos);
        }
        CHECK_THROWS_AS((void)three.output(3), unusable_value);
        CHECK(result_of(three, 2) == expected_result(options, 3, 2));
    }
}

TEST_CASE("of a range much larger than memory only what is used is taken")
{
    if constexpr (sizeof(void*) == 8) {
        symbolic_options const options = chain_options(1 << 20, 1 << 10); // 80 GiB at the largest batch
        auto const planned = plan_symbolic(chain, options);
        std::unique_ptr<growing_arena> memory;
        try {
            memory = std::make_unique<growing_arena>(planned);
        } catch (std::bad_alloc const&) { // this process may not have so many addresses
            return;
        }
        if (!memory->is_growing()) return;
        auto const touches_nothing = [](cpu_call const&) {};
        cpu_executor run(chain, options.at(1000), memory->at(1000), touches_nothing,
                         {.check = executor_options::checks::off});
        try {
            (void)run.input(0);
            run.run();
            CHECK(memory->bytes() > byte_count{60} << 30);
        } catch (allocation_error const& error) { // this machine promises no more than it has
            CHECK(error.bytes() > byte_count{60} << 30);
        }
        executor small = executor_for(*memory, options, 1);
        CHECK(result_of(small, 1) == expected_result(options, 1, 1));
        CHECK(memory->bytes() < byte_count{200} << 20);
    }
}

TEST_CASE("plans without bytes, pools without bytes, and alignments larger than a page")
{
    auto const nothing = plan_symbolic(snapshot{}, {.bytes = affine_bytes{8, 8}, .dims = batches(3)});
    growing_arena empty(nothing);
    cpu_executor idle(snapshot{}, {.bytes = 0}, empty.at(2), synthetic_kernel{});
    CHECK_NOTHROW(idle.run());

    symbolic_options options = chain_options(300, 5);
    options.pool = {0, 2, 0, 2};
    options.pools = {{.alignment = 1 << 16}, {}, {}};
    auto const planned = plan_symbolic(chain, options);
    growing_arena memory(planned);
    block_arena block(planned);
    for (auto const* its : {&memory.addresses(), &block.addresses()}) {
        REQUIRE(its->size() == 3);
        CHECK(reinterpret_cast<std::uintptr_t>((*its)[0]) % (1 << 16) == 0);
        CHECK((*its)[1] == nullptr);
    }
    executor one = executor_for(memory, options, 1), five = executor_for(memory, options, 5);
    CHECK(result_of(one, 1) == expected_result(options, 1, 1));
    CHECK(result_of(five, 1) == expected_result(options, 5, 1));
    CHECK(result_of(one, 2) == expected_result(options, 1, 2));
}

TEST_CASE("an arena of another plan, a plan that failed, and odd alignments are refused")
{
    symbolic_options const options = chain_options(100, 4);
    auto const planned = plan_symbolic(chain, options);
    symbolic_options small = options;
    small.pools = {{.capacity = 10}};
    CHECK_THROWS_AS((void)growing_arena(plan_symbolic(chain, small)), unsound_plan);
    small = options;
    small.alignment = 3;
    CHECK_THROWS_AS((void)growing_arena(plan_symbolic(chain, small)), precondition_error);

    symbolic_plan beyond = planned.plan;
    beyond.buffers.back().pool = 1;
    CHECK_THROWS_WITH_AS((void)growing_arena(beyond),
                         "sublet: value 3 lies in pool 1, but its plan has only 1 pools", precondition_error);

    growing_arena memory(planned);
    auto other = plan_symbolic(chain, chain_options(100, 400));
    arena foreign = memory.at(1);
    foreign.plan = other.plan.at(400);
    CHECK_THROWS_AS((void)executor(chain, chain_options(100, 400).at(400), foreign, synthetic_kernel{}),
                    precondition_error);
    arena more = memory.at(1); // of a pool that the arenas do not have, without bytes and with some
    more.plan.arena_bytes.push_back(0);
    executor run(chain, options.at(1), more, synthetic_kernel{});
    CHECK(result_of(run, 1) == expected_result(options, 1, 1));
    more.plan.arena_bytes.back() = 8;
    CHECK_THROWS_AS((void)executor(chain, options.at(1), more, synthetic_kernel{}), precondition_error);
    symbolic_options in_another = options;
    in_another.pool = pool_id{1};
    other = plan_symbolic(chain, in_another);
    arena without = memory.at(1);
    without.plan = other.plan.at(1);
    CHECK_THROWS_AS((void)executor(chain, in_another.at(1), without, synthetic_kernel{}), precondition_error);
}

TEST_CASE("random programs give for every shape the results that they give without a plan")
{
    constexpr std::array levels{executor_options::checks::off, executor_options::checks::plan,
                                executor_options::checks::paint, executor_options::checks::digest};
    unsigned const first = first_seed(), programs = rounds(80);
    std::size_t runs = 0;
    for (unsigned seed = first; seed != first + programs; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_shapes all = draw_shapes(pick);
        all.options.pools = {}; // their alignments may be odd
        if (pick.below(3) == 0) all.options.dims[0].most += all.options.dims[0].stride * pick.below(200);
        snapshot const program = all.program();
        auto const planned = plan_symbolic(program, all.options);
        REQUIRE(planned);
        growing_arena memory(planned);
        block_arena block(planned);
        struct made {
            std::unique_ptr<run_environment> environment;
            outcome results;
            std::unique_ptr<cpu_executor<any_kernel>> on_one;
            std::unique_ptr<thread_executor<any_kernel>> on_two;
        };
        std::vector<made> kept; // several executors of one arena
        any_kernel traced;      // of the shape that runs
        std::vector<std::unique_ptr<run_environment>> bound; // what was bound for a shape stays bound
        std::unique_ptr<cpu_executor<any_kernel>> every;     // shape
        std::vector<shape> const ends = some_shapes(pick, all.options.dims, 2); // the least and the largest
        for (unsigned number = 1; number != 6; ++number) {
            shape const n = number == 1   ? ends.back()
                            : number == 2 ? ends.front()
                                          : draw_shape(pick, all.options.dims);
            CAPTURE(n[0]);
            subject const its{program, all.options.at(n)};
            executor_options const settings{.check = levels[pick.below(4)]};
            run_environment expected(its);
            cpu_executor<any_kernel> unplanned(program, its.options, no_plan{}, expected.traced(0));
            outcome const results = expected.run(unplanned, 1);
            auto run_once = [&](auto make) {
                made one{std::make_unique<run_environment>(its), results, nullptr, nullptr};
                auto& run = make(one);
                CHECK(one.environment->run(run, 1) == results);
                kept.push_back(std::move(one));
                ++runs;
            };
            executor_options const checked{.check = levels[(seed + runs) % 4]};
            if (!every) {
                auto call_it = [&traced](cpu_call const& call) { traced(call); };
                every = std::make_unique<cpu_executor<any_kernel>>(program, all.options, memory.at(n),
                                                                   call_it, checked);
            }
            bound.push_back(std::make_unique<run_environment>(its));
            run_environment& of_every = *bound.back();
            traced = of_every.traced(0);
            every->set_shape(n);
            CHECK(of_every.run(*every, 1) == results);
            CHECK(of_every.run(*every, 1) == results);
            for (int which = 0; which != 2; ++which)
                run_once([&](made& one) -> auto& {
                    arena const mode = which == 0 ? memory.at(n) : block.at(n);
                    one.on_one = std::make_unique<cpu_executor<any_kernel>>(
                        program, its.options, mode, one.environment->traced(0), settings);
                    return *one.on_one;
                });
            if (!program.edge_uses().empty() || pick.below(2) == 0) continue;
            run_once([&](made& one) -> auto& {
                one.on_two = std::make_unique<thread_executor<any_kernel>>(
                    program, its.options, memory.at(n), one.environment->traced(0),
                    thread_options{.workers = 2}, settings);
                return *one.on_two;
            });
        }
        for (made& one : kept) { // again, in turn
            if (one.on_one) CHECK(one.environment->run(*one.on_one, 1) == one.results);
            if (one.on_two) CHECK(one.environment->run(*one.on_two, 1) == one.results);
        }
    }
    CHECK(runs >= programs * 10);
}

TEST_CASE("one executor takes any shape before a run, and is what one made for that shape is")
{
    symbolic_options const options = chain_options(1000, 32);
    auto const planned = plan_symbolic(chain, options);
    growing_arena memory(planned);
    for (executor_options::checks const level :
         {executor_options::checks::plan, executor_options::checks::digest}) {
        executor run(chain, options, memory.at(3), synthetic_kernel{}, {.check = level});
        CHECK(result_of(run, 1) == expected_result(options, 3, 1));
        for (byte_count const n : {32u, 1u, 7u, 7u, 3u}) {
            CAPTURE(n);
            run.set_shape(n);
            CHECK_THROWS_AS((void)run.output(3), unusable_value);
            CHECK_THROWS_AS(run.run(), unusable_value); // no input
            fill_noise(run.input(0), 5);
            run_report const report = run.run();
            auto const found = digest(run.output(3));
            CHECK(found == expected_result(options, n, 5));
            memory_plan const plan = planned.plan.at(n);
            CHECK(run.output(3).data() == memory.addresses()[0] + plan.offset_of(3));
            if (memory.is_growing()) CHECK(memory.bytes() == align_up(plan.arena_bytes[0], page_bytes()));
            executor fixed = executor_for(memory, options, n, level);
            fill_noise(fixed.input(0), 5);
            run_report const expected = fixed.run();
            CHECK(report.plan_bytes == expected.plan_bytes);
            CHECK(report.reserved == expected.reserved);
            CHECK(report.lower_bound == expected.lower_bound);
            CHECK(report.run == expected.run);
            CHECK_THROWS_AS((void)run.output(3), unusable_value);
        }
    }
}

TEST_CASE("a shape that is refused leaves the shape before, and its contents")
{
    symbolic_options const options = chain_options(10, 8);
    auto const planned = plan_symbolic(chain, options);
    growing_arena memory(planned);
    executor run(chain, options, memory.at(2), synthetic_kernel{});
    auto const expected = result_of(run, 1);
    CHECK_THROWS_WITH_AS(run.set_shape(9), "sublet: a shape has 9 for open dimension 0, which is from 1 to 8",
                         precondition_error);
    CHECK_THROWS_AS(run.set_shape({1, 2}), precondition_error);
    CHECK(digest(run.output(3)) == expected);
    CHECK(result_of(run, 2) == expected_result(options, 2, 2));

    executor of_one = executor_for(memory, options, 1);
    CHECK_THROWS_WITH_AS(
        of_one.set_shape(1),
        "sublet: set_shape() is called for an executor that was made with the options of one shape",
        precondition_error);
    CHECK_THROWS_WITH_AS(executor(chain, options, arena(planned.plan.at(1)), synthetic_kernel{}),
                         "sublet: an executor for every shape takes the arena of a growing arena, "
                         "memory.at(shape)",
                         precondition_error);
    std::size_t refused = 0;
    any_kernel kernel;
    auto call_it = [&kernel](cpu_call const& call) { kernel(call); };
    cpu_executor<any_kernel> calls(chain, options, memory.at(2), call_it);
    kernel = [&](cpu_call const&) {
        try {
            calls.set_shape(1);
        } catch (precondition_error const&) {
            ++refused;
        }
    };
    (void)calls.input(0);
    calls.run();
    CHECK(refused == 3);
}

TEST_CASE("the proof of a plan for every shape is that of the executor, and may be left out")
{
    symbolic_options const options = chain_options(10, 8);
    auto planned = plan_symbolic(chain, options);
    std::vector<buffer_id>& below = planned.plan.stack.below;
    REQUIRE(!below.empty());
    below.front() = planned.plan.stack.order.front().buffer;
    planned.plan.stack = {};
    for (buffer_id b = 0; b != planned.plan.buffers.size(); ++b) // all at the bottom
        planned.plan.stack.order.push_back({.buffer = b, .alignment = 64});
    planned.plan.stack.pools = 1;
    growing_arena memory(planned.plan);
    CHECK_THROWS_AS(executor(chain, options, memory.at(2), synthetic_kernel{}), unsound_plan);
    CHECK_NOTHROW(executor(chain, options, memory.at(2), synthetic_kernel{}, {.prove = false}));
    executor run(chain, options, memory.at(2), synthetic_kernel{},
                 {.check = executor_options::checks::digest, .prove = false});
    run.set_shape(3);
    (void)run.input(0);
    CHECK_THROWS_AS(run.run(), clobbered_value);
}

TEST_CASE("threads and streams take any shape of a plan for every schedule, and keep their waits")
{
    //   a ─► b, c ─► d        a is an input, d is an output
    snapshot const fork = op_list(4, {{0}, {0}, {1, 2}}, {{1}, {2}, {3}});
    symbolic_options options = chain_options(10, 8);
    auto const in_order = plan_symbolic(fork, options);
    growing_arena memory_of_one(in_order);
    CHECK_THROWS_WITH_AS(
        thread_executor<synthetic_kernel>(fork, options, memory_of_one.at(2), synthetic_kernel{}),
        "sublet: the plan for every shape is for steps in one order, and threads run one for every schedule: "
        "plan with valid_for = program_reading::concurrent",
        precondition_error);
    simulated_device device;
    auto with_handoff = [&](growing_arena& memory, handoff h) {
        stream_executor(device, fork, options, memory.at(2), synthetic_kernel{}, {.handoffs = {h}});
    };
    CHECK_THROWS_AS(with_handoff(memory_of_one, {9, 0}), precondition_error);
    CHECK_NOTHROW(with_handoff(memory_of_one, {0, 1}));
    options.valid_for = program_reading::concurrent;
    CHECK_THROWS_WITH_AS(
        thread_executor<synthetic_kernel>(fork, options, memory_of_one.at(2), synthetic_kernel{}),
        "sublet: the plan for every shape is for one order, and valid_for of the options says another "
        "reading",
        precondition_error);
    auto const planned = plan_symbolic(fork, options);
    growing_arena memory(planned), of_streams(planned);
    CHECK_THROWS_WITH_AS(
        executor(fork, chain_options(10, 8), memory.at(2), synthetic_kernel{}),
        "sublet: the plan for every shape is for every schedule, and valid_for of the options "
        "says another reading",
        precondition_error);
    thread_executor<synthetic_kernel> threads(fork, options, memory.at(1), synthetic_kernel{},
                                              {.workers = 2});
    CHECK_THROWS_AS(with_handoff(memory, {9, 0}), precondition_error);
    CHECK_NOTHROW(with_handoff(memory, {1, 0}));
    stream_executor streams(device, fork, options, of_streams.at(1), synthetic_kernel{}, {.streams = 2});
    CHECK(streams.schedule().streams == 2);
    std::size_t const waits = threads.waits().list.size();
    for (byte_count const n : {8u, 1u, 3u}) {
        executor unplanned(fork, options.at(n), no_plan{}, synthetic_kernel{});
        auto const expected = result_of(unplanned, 4);
        threads.set_shape(n);
        CHECK(result_of(threads, 4) == expected);
        streams.set_shape(n);
        CHECK(result_of(streams, 4) == expected);
        CHECK(threads.waits().list.size() == waits);
    }
    // A read of a view waits for a write through another one, if they have bytes in common for some shape.
    auto const rows = sequence(3, 3, [](step_id step, effect_sink& s) {
        if (step == 0) return s.def(0);
        s.view(+step);
        if (step == 1) s.write(1);
        else s.use(2);
    });
    symbolic_options open{.bytes = {72, 8, 8},
                          .dims = batches(9),
                          .alias_of = {-1, 0, 0},
                          .view_offset = {formula{}, 8, 8 * symbol(0) - 8},
                          .valid_for = program_reading::concurrent};
    growing_arena memory_of_rows(plan_symbolic(rows, open));
    for (byte_count const n : {1u, 2u}) {
        thread_executor<synthetic_kernel> run(rows, open, memory_of_rows.at(n), synthetic_kernel{});
        REQUIRE(run.waits().list.size() == 2); // 0 before 1 before 2
        CHECK(run.waits().list[1].from == 1);
    }
    symbolic_plan clashing = planned.plan; // nothing is below anything
    clashing.stack.below.clear();
    for (stacking::layer& its : clashing.stack.order) its.first_below = 0;
    growing_arena wrong(clashing);
    CHECK_THROWS_AS(thread_executor<synthetic_kernel>(fork, options, wrong.at(2), synthetic_kernel{}),
                    unsound_plan);
}

TEST_CASE("of a listing an executor for every shape takes what its planner takes, and finds values by handle")
{
    formula const n = symbol(0);
    listing<std::string> list;
    list.facts("x", {.role = input});
    list.facts("z", {.role = output});
    list.step("first").read("x").make("y");
    list.step("second").read("y").make("z");
    auto bytes_of = [n](std::string const& name) { return name == "y" ? 16 * n : 8 * n; };
    symbolic_options const sizes{.bytes = list.by_handle(bytes_of), .dims = {{"n", 1, 8}}};
    auto const planned = plan_symbolic(list, sizes);
    REQUIRE(planned);
    growing_arena memory(planned.plan);
    std::vector<std::size_t> seen;
    auto kernel = [&seen](cpu_call const& call) {
        seen.push_back(call.of(std::string("y")).size());
        synthetic_kernel{}(call);
    };
    cpu_executor run(list, sizes, memory.at(2), kernel);
    for (byte_count const size : {2u, 7u}) {
        run.set_shape(size);
        fill_noise(run.input(list.id("x")), 1);
        run.run();
        CHECK(run.output(list.id("z")).size() == 8 * size);
    }
    CHECK(seen == std::vector<std::size_t>{32, 32, 112, 112});
}

TEST_CASE("storage of the caller's stays bound for shapes that it is large enough for")
{
    // w (the caller's) ─► a ─► b; u: of unknown size, with a view of it
    formula const n = symbol(0);
    snapshot const p = sequence(2, 5, [](std::uint32_t step, effect_sink& s) {
        if (step == 0) return s.use(0), s.use(4), s.def(1);
        s.use(1), s.def(2);
    });
    symbolic_options const options{
        .bytes = {8 * n, 16 * n, 8, formula::unknown(), 8 * n},
        .dims = {{"n", 1, 8}},
        .alignment = 8,
        .role = {value_role::external, none, output, value_role::external, value_role::external},
        .alias_of = std::vector<value_id>{no_value, no_value, no_value, no_value, 3},
        .view_offset = std::vector<formula>{0, 0, 0, 0, 8 * n}};
    auto const planned = plan_symbolic(p, options);
    REQUIRE(planned);
    growing_arena memory(planned);
    executor run(p, options, memory.at(1), synthetic_kernel{}, {.check = executor_options::checks::digest});
    alignas(8) std::byte weights[64]{}, unsized[128]{};
    auto bind = [&](std::size_t count) {
        run.bind(0, std::span(weights).first(8 * count));
        run.bind(3, std::span(unsized).first(16 * count));
    };
    auto refused = [&](value_id v) {
        try {
            run.run();
        } catch (unusable_value const& e) {
            return e.value() == v &&
                   std::string(e.what()) == "sublet: value " + std::to_string(+v) +
                                                " is larger for this shape than the storage "
                                                "that is bound for it";
        }
        return false;
    };
    bind(4);
    CHECK_NOTHROW(run.run());
    run.set_shape(4);
    CHECK_NOTHROW(run.run());
    run.set_shape(5);
    CHECK(refused(0));
    run.bind(0, weights);
    CHECK(refused(3));
    run.bind(3, unsized);
    CHECK_NOTHROW(run.run());
    run.set_shape(8);
    CHECK_NOTHROW(run.run());
    CHECK_THROWS_AS(run.bind(0, std::span(weights).first(56)), unusable_value);
}

TEST_CASE("an arena of sizes by shape that exceeds those of the samples is an error of that shape")
{
    auto at = [](byte_count n) { return n == 5 ? byte_count{1} << 20 : 8 * n; }; // 5 is no sample
    symbolic_options const options{
        .bytes = {formula{8}, formula::by_shape(), formula{8}, formula{8}},
        .dims = {{"n", 1, 1000}},
        .bytes_at = [at](value_id, std::span<byte_count const> n) { return at(n[0]); },
        .alignment = 8,
        .role = {input, none, none, output}};
    auto const planned = plan_symbolic(chain, options);
    REQUIRE(planned);
    growing_arena memory(planned);
    executor run(chain, options, memory.at(1), synthetic_kernel{});
    auto const before = result_of(run, 1);
    CHECK_THROWS_WITH_AS(
        run.set_shape(5),
        "sublet: 1048584 bytes of pool 0 are needed in a growing arena that has fewer: it was "
        "made for another plan, or a size by shape exceeds those of the samples",
        precondition_error);
    CHECK(digest(run.output(3)) == before);
    run.set_shape(6);
    CHECK(result_of(run, 1) == expected_result(options, 6, 1));
}

TEST_CASE("a view that ends outside of its root for one shape, of sizes by shape, is an error of that shape")
{
    snapshot const p = sequence(3, 3, [](std::uint32_t step, effect_sink& s) {
        if (step == 0) return s.def(0);
        if (step == 1) return s.view(1);
        s.use(1), s.def(2);
    });
    auto at = [](byte_count n) -> byte_count { return n == 5 ? 40 : 8; }; // 5 is no sample
    symbolic_options const options{
        .bytes = {formula{16}, formula::by_shape(), formula{8}},
        .dims = {{"n", 1, 1000}},
        .bytes_at = [at](value_id, std::span<byte_count const> n) { return at(n[0]); },
        .alignment = 8,
        .role = {none, none, output},
        .alias_of = std::vector<value_id>{no_value, 0, no_value},
        .view_offset = std::vector<formula>{0, 8, 0}};
    auto const planned = plan_symbolic(p, options);
    REQUIRE(planned);
    growing_arena memory(planned);
    executor run(p, options, memory.at(1), synthetic_kernel{});
    run.run();
    auto const before = digest(run.output(2));
    try {
        run.set_shape(5);
        FAIL("no error");
    } catch (unsound_plan const& error) {
        CHECK(error.why().what == fault::oversized_view);
        CHECK(error.why().at_shape == shape{5});
    }
    CHECK(digest(run.output(2)) == before);
    run.set_shape(6);
    CHECK_NOTHROW(run.run());
}

TEST_CASE("a pool that is empty for the first shape has bytes for another")
{
    formula const n = symbol(0);
    symbolic_options const options{.bytes = {8 * n, 8 * n - 8, 8 * n, 8 * n},
                                   .dims = {{"n", 1, 8}},
                                   .alignment = 8,
                                   .role = {input, none, none, output},
                                   .pool = {0, 1000, 0, 0}};
    auto const planned = plan_symbolic(chain, options);
    REQUIRE(planned);
    growing_arena memory(planned);
    executor run(chain, options, memory.at(1), synthetic_kernel{});
    run.set_shape(8);
    fill_noise(run.input(0), 1);
    run_report const report = run.run();
    CHECK(digest(run.output(3)) == expected_result(options, 8, 1));
    executor fixed = executor_for(memory, options, 8);
    fill_noise(fixed.input(0), 1);
    CHECK(report.lower_bound == fixed.run().lower_bound);
}

TEST_CASE(
    "what the arena of a shape has in place of the plan is refused, and so are options of other storage")
{
    formula const n = symbol(0);
    symbolic_options const options{.bytes = {8 * n, 8 * n - 8, 8 * n, 8 * n},
                                   .dims = {{"n", 1, 8}},
                                   .alignment = 8,
                                   .role = {input, none, none, output},
                                   .pool = {0, 1, 0, 0}};
    auto const planned = plan_symbolic(chain, options);
    REQUIRE(planned);
    growing_arena memory(planned);
    arena together = memory.at(2), fewer = memory.at(1);
    for (auto& its : together.plan.buffers) its.offset = 0; // sound for no shape
    REQUIRE(fewer.plan.arena_bytes.size() == 2);
    fewer.plan.arena_bytes.pop_back();
    for (bool const proves : {true, false}) {
        executor_options const settings{.prove = proves};
        CHECK_THROWS_AS(executor(chain, options, together, synthetic_kernel{}, settings), unsound_plan);
        CHECK_THROWS_AS(executor(chain, options, fewer, synthetic_kernel{}, settings), unsound_plan);
        symbolic_options other = options;
        other.role = {value_role::external, none, none, output};
        CHECK_THROWS_AS(executor(chain, other, memory.at(1), synthetic_kernel{}, settings), unsound_plan);
        other = options;
        other.pool = {0, 700, 0, 0};
        CHECK_THROWS_AS(executor(chain, other, memory.at(1), synthetic_kernel{}, settings), unsound_plan);
    }
    symbolic_options without = options;
    without.eligible = {true, false, true, true};
    auto const partial = plan_symbolic(chain, without);
    growing_arena less(partial);
    executor run(chain, options, less.at(1), synthetic_kernel{}, {.prove = false}); // value 1 has no bytes
    try {
        run.set_shape(2);
        FAIL("no error");
    } catch (unsound_plan const& error) {
        CHECK(error.why().what == fault::unplaced);
        CHECK(error.why().at_shape == shape{2});
    }
}

TEST_CASE("storage that is too small for one shape is large enough for the next again")
{
    formula const n = symbol(0);
    symbolic_options const options{.bytes = {8 * n - 8, 8 * n, 8 * n, 8 * n},
                                   .dims = {{"n", 1, 8}},
                                   .alignment = 8,
                                   .role = {input, value_role::external, none, output},
                                   .eligible = {false, true, true, true}};
    snapshot const p = op_list(4, {{0}, {1}, {2}}, {{}, {2}, {3}});
    auto const planned = plan_symbolic(p, options);
    REQUIRE(planned);
    growing_arena memory(planned);
    executor run(p, options, memory.at(4), synthetic_kernel{});
    alignas(8) std::byte given[64]{}, weights[32]{};
    run.bind(1, weights);
    CHECK_THROWS_AS(run.run(), unusable_value); // value 0 is not bound
    run.set_shape(1);
    CHECK(run.input(0).empty());
    run.set_shape(4);
    CHECK_THROWS_AS(run.run(), unusable_value); // nor is it now
    run.bind(0, given);
    CHECK_NOTHROW(run.run());
    run.set_shape(5);
    CHECK_THROWS_AS(run.run(), unusable_value);
    run.set_shape(4);
    CHECK_NOTHROW(run.run());
}

} // namespace this_test
