// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/run_options.hpp>

#include "../checked_resource.hpp"
#include "../random_source.hpp"
#include "../simple_device.hpp"
#include "../stream_diamond.hpp"

#include <sublet/execution/streams.hpp>
#include <sublet/testing/synthetic.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory_resource>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using namespace stream_diamond;

TEST_CASE("by default a run proves its plan, allocates from the free store without a limit, and checks "
          "nothing else")
{
    executor_options const how;
    CHECK(how.check == executor_options::checks::plan);
    CHECK(how.prove);
    CHECK(how.limit == no_limit);
    CHECK(executor_options::checks::off < executor_options::checks::plan);
    CHECK(executor_options::checks::paint < executor_options::checks::digest);
    CHECK(run_report{}.workers == 1);
}

// --- errors ------------------------------------------------------------------------------------------------

namespace {

/// As in a handler: by reference to the base, copied, after the original was destroyed.
template <class E>
std::string what_of(E const& thrown)
{
    try {
        throw E(thrown);
    } catch (std::exception const& e) {
        return e.what();
    }
}

struct text_exception : std::exception {
    std::string text;
    explicit text_exception(std::string words) : text(std::move(words)) {}
    char const* what() const noexcept override { return text.c_str(); }
};

static_assert(std::is_base_of_v<precondition_error, unsound_plan>);
static_assert(std::is_base_of_v<precondition_error, unusable_value>);
static_assert(std::is_base_of_v<run_error, allocation_error>);
static_assert(std::is_base_of_v<run_error, clobbered_value>);
static_assert(!std::is_base_of_v<precondition_error, run_error>);
static_assert(std::is_nothrow_copy_constructible_v<unsound_plan>);
static_assert(std::is_nothrow_copy_constructible_v<run_error>);

} // namespace

TEST_CASE("an unsound_plan describes the fault and keeps the counterexample")
{
    counterexample const why{
        fault::clash,
        counterexample::overlap{.value = 3, .other = 7, .position = 12, .begin = 64, .end = 128}};
    unsound_plan const e(why);
    CHECK(what_of(e) == "sublet: a plan is not sound: values 3 and 7 are both alive at position 12 and share "
                        "bytes [64, 128) of pool 0");
    CHECK(e.why() == why);
    counterexample const undefined{fault::used_undefined, counterexample::access{.value = 3, .position = 1}};
    CHECK(
        what_of(unsound_plan(undefined)) ==
        "sublet: a program cannot run in this order: value 3 is used at position 1 and never defined, and is "
        "neither input nor external");
}

TEST_CASE("an unusable_value names the value")
{
    unusable_value const e(4, "is an input, and was not given since the last run");
    CHECK(what_of(e) == "sublet: value 4 is an input, and was not given since the last run");
    CHECK(e.value() == 4);
}

TEST_CASE("a run_error names the step and the exception that was thrown")
{
    auto thrown = [](auto what) { return std::make_exception_ptr(what); };
    CHECK(what_of(run_error(5, thrown(text_exception("no such operation")))) ==
          "sublet: at step 5, a kernel threw: no such operation");
    CHECK(what_of(run_error(4294967294u, thrown(42))) ==
          "sublet: at step 4294967294, a kernel threw: something that is no std::exception");
    CHECK(what_of(run_error(no_step, nullptr)) == "sublet: before any step, a kernel threw");
    CHECK(what_of(allocation_error(0, 4096, thrown(std::bad_alloc()))) ==
          "sublet: at step 0, 4096 bytes could not be allocated: " + std::string(std::bad_alloc().what()));
    CHECK(what_of(allocation_error(no_step, no_size - 1, nullptr)) ==
          "sublet: before any step, 18446744073709551614 bytes could not be allocated");
    CHECK(allocation_error(0, 4096, nullptr).bytes() == 4096);
    CHECK(allocation_error(7, 4096, nullptr).step() == 7);
}

TEST_CASE("the cause of a run_error can be rethrown")
{
    run_error const e(5, std::make_exception_ptr(42));
    CHECK(e.step() == 5);
    try {
        std::rethrow_exception(e.cause());
    } catch (int number) {
        CHECK(number == 42);
    }
    CHECK(run_error(5, nullptr).cause() == nullptr);
    CHECK(clobbered_value({}).cause() == nullptr);
}

TEST_CASE("a long cause is truncated, and so is a nested one")
{
    std::string const start = "sublet: at step 5, a kernel threw: ";
    for (std::size_t length : {283u, 284u, 285u, 319u, 320u, 5000u}) {
        CAPTURE(length);
        run_error const e(5, std::make_exception_ptr(text_exception(std::string(length, 'x'))));
        std::string const all = start + std::string(length, 'x');
        CHECK(what_of(e) == all.substr(0, 319));
        CHECK(what_of(run_error(5, std::make_exception_ptr(e))) == (start + all).substr(0, 319));
    }
    detail::bounded_text full;
    for (unsigned i = 0; i != 500; ++i) full << i << "," << 'a';
    CHECK(std::string(full.text()).size() == 319);
}

TEST_CASE("every number is written in full")
{
    detail::bounded_text text;
    text << 0u << ' ' << std::uint8_t{255} << ' ' << std::uint64_t{1000000000000000000u} << ' '
         << ~std::uint64_t{0};
    CHECK(std::string(text.text()) == "0 255 1000000000000000000 18446744073709551615");
}

TEST_CASE("a clobbered_value names the value, its producer, its reader and the value that overlaps it")
{
    clobbered_value::finding what{.value = 3, .producer = 1, .reader = 6, .culprit = 7, .culprit_step = 4};
    auto said = [&what] { return what_of(clobbered_value(what)); };
    CHECK(said() == "sublet: value 3, made by step 1, is not what it was when step 6 needs it: "
                    "value 7 lies over it, since step 4");
    CHECK(clobbered_value(what).details() == what);
    CHECK(clobbered_value(what).step() == 6);
    what.culprit_step = no_step;
    CHECK(said() == "sublet: value 3, made by step 1, is not what it was when step 6 needs it: "
                    "value 7 lies over it");
    what.culprit = no_value;
    what.producer = no_step;
    CHECK(said() == "sublet: value 3, which was given, is not what it was when step 6 needs it: "
                    "nothing is planned over it, so a kernel wrote beyond its results");
    what.reader = no_step;
    CHECK(said() == "sublet: value 3, which was given, is not what it was when the run ends: "
                    "nothing is planned over it, so a kernel wrote beyond its results");
    CHECK(clobbered_value(what).step() == no_step);
}

// --- memory ------------------------------------------------------------------------------------------------

namespace {

struct allocate_only_resource {
    void* allocate(std::size_t, std::size_t) { return nullptr; }
};

static_assert(memory_resource_like<checked_resource>);
static_assert(memory_resource_like<std::pmr::memory_resource>);
static_assert(!memory_resource_like<allocate_only_resource>);

/// Returns addresses that must not be accessed: blocks may have any size.
struct fake_resource {
    std::size_t asked = 0;
    void* allocate(std::size_t, std::size_t) { return ++asked, this; }
    void deallocate(void*, std::size_t, std::size_t) {}
};

} // namespace

TEST_CASE("memory comes from the free store, a standard resource, or a type with the two members")
{
    std::pmr::monotonic_buffer_resource monotonic;
    std::pmr::synchronized_pool_resource pool;
    checked_resource own;
    memory_source const sources[] = {{}, &monotonic, &pool, std::pmr::new_delete_resource(), &own};
    for (memory_source const& source : sources)
        for (std::size_t const alignment : {1u, 8u, 64u, 4096u}) {
            CAPTURE(alignment);
            void* const block = source.allocate(100, alignment);
            CHECK(reinterpret_cast<std::uintptr_t>(block) % alignment == 0);
            static_cast<char*>(block)[99] = 'x';
            source.deallocate(block, 100, alignment);
        }
    CHECK(own.requests.size() == 4);
    CHECK(own.live_blocks.empty());
    CHECK_THROWS_AS((void)memory_source(std::pmr::null_memory_resource()).allocate(1, 1), std::bad_alloc);
}

TEST_CASE("a null pointer to a resource is rejected")
{
    CHECK_THROWS_WITH_AS((memory_source{static_cast<checked_resource*>(nullptr)}),
                         "sublet: a memory resource is a null pointer", precondition_error);
}

TEST_CASE("the limit is exact, and an allocation above it does not reach the source")
{
    checked_resource own;
    counted_memory memory(&own, 100);
    void* const first = memory.allocate(byte_count{60}, byte_count{1});
    run_report::memory_use const before = memory.use();
    CHECK_THROWS_WITH_AS((void)memory.allocate(byte_count{41}, byte_count{1}),
                         "sublet: 41 bytes more than the 60 that are allocated would exceed the limit of 100",
                         memory_limit_exceeded);
    try {
        (void)memory.allocate(byte_count{41}, byte_count{1});
    } catch (memory_limit_exceeded const& e) {
        CHECK(e.requested() == 41);
        CHECK(e.live() == 60);
        CHECK(e.limit() == 100);
    }
    CHECK(own.requests.size() == 1);
    CHECK(memory.use() == before);
    void* const second = memory.allocate(byte_count{40}, byte_count{1});
    CHECK(memory.use().bytes == run_report::counter{100, 100, 100});
    memory.deallocate(first, 60, 1);
    memory.deallocate(second, 40, 1);
    CHECK(memory.use().bytes == run_report::counter{0, 100, 100});
    CHECK(own.live_blocks.empty());
    CHECK_THROWS_AS((void)memory.allocate(byte_count{101}, byte_count{1}), memory_limit_exceeded);
}

TEST_CASE("a limit near 2^64 does not wrap round")
{
    fake_resource all_of_it;
    byte_count const most = no_limit;
    counted_memory memory(&all_of_it, most - 1);
    CHECK_THROWS_AS((void)memory.allocate(most, byte_count{1}), memory_limit_exceeded);
    void* const block = memory.allocate(most - 8, byte_count{1});
    CHECK_THROWS_AS((void)memory.allocate(byte_count{8}, byte_count{1}), memory_limit_exceeded);
    CHECK_THROWS_AS((void)memory.allocate(most - 8, byte_count{1}), memory_limit_exceeded);
    CHECK(all_of_it.asked == 1);
    (void)memory.allocate(byte_count{7}, byte_count{1});
    CHECK(memory.use().bytes.live == most - 1);
    memory.deallocate(block, most - 8, 1);
    CHECK(memory.use().bytes.live == 7);

    counted_memory nothing(&all_of_it, 0);
    CHECK_THROWS_AS((void)nothing.allocate(byte_count{1}, byte_count{1}), memory_limit_exceeded);
}

TEST_CASE("failed allocations of the source are not counted")
{
    counted_memory memory(std::pmr::null_memory_resource());
    CHECK_THROWS_AS((void)memory.allocate(byte_count{8}, byte_count{8}), std::bad_alloc);
    CHECK(memory.use() == run_report::memory_use{});
    CHECK(memory.use_since_mark() == run_report::memory_use{});

    struct { // not of the standard's type, which may not return null
        void* allocate(std::size_t, std::size_t) { return nullptr; }
        void deallocate(void*, std::size_t, std::size_t) {}
    } broken;
    counted_memory from_broken(&broken);
    CHECK_THROWS_AS((void)from_broken.allocate(byte_count{8}, byte_count{8}), std::bad_alloc);
    CHECK(from_broken.use() == run_report::memory_use{});
}

TEST_CASE("live, peak and total agree with a list of the blocks, in all and since the last mark")
{
    for (unsigned seed = 0; seed != 50; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        fake_resource source;
        counted_memory memory(&source);
        std::vector<byte_count> blocks;
        struct tally {
            run_report::counter bytes, allocations;
            void see(std::vector<byte_count> const& now, bool has_come)
            {
                bytes.live = 0;
                for (byte_count b : now) bytes.live += b;
                allocations.live = now.size();
                if (has_come) bytes.total += now.back(), ++allocations.total;
                bytes.peak = std::max(bytes.peak, bytes.live);
                allocations.peak = std::max(allocations.peak, allocations.live);
            }
        } all, since;
        for (int action = 0; action != 60; ++action) {
            bool const comes = blocks.empty() || pick.below(3) != 0;
            if (pick.below(10) == 0) {
                memory.mark();
                since = {};
                since.see(blocks, false);
                continue;
            }
            if (comes) {
                blocks.push_back(pick.below(100));
                (void)memory.allocate(blocks.back(), byte_count{1});
            } else {
                std::swap(pick.one_of(blocks), blocks.back());
                memory.deallocate(&source, blocks.back(), 1);
                blocks.pop_back();
            }
            all.see(blocks, comes);
            since.see(blocks, comes);
            CHECK(memory.use() == run_report::memory_use{all.bytes, all.allocations});
            CHECK(memory.use_since_mark() == run_report::memory_use{since.bytes, since.allocations});
        }
    }
}

// --- bounded text ------------------------------------------------------------------------------------------

using sublet::detail::bounded_text;

// An int might be meant as a character.
template <class S, class T>
concept takes = requires(S& s, T one) { s << one; };
static_assert(takes<bounded_text, char> && takes<bounded_text, unsigned> && takes<bounded_text, char const*>);
static_assert(!takes<bounded_text, int> && !takes<bounded_text, double> && !takes<bounded_text, std::string>);

TEST_CASE("a bounded_text is made of text, characters and numbers")
{
    bounded_text s;
    CHECK(s.text() == std::string());
    s << "value " << 0u << ' ' << ~std::uint64_t{0} << '!';
    CHECK(s.text() == std::string("value 0 18446744073709551615!"));
    bounded_text const copy = s;
    CHECK(copy.text() == std::string(s.text()));
    CHECK(static_cast<void const*>(copy.text()) != s.text());
}

TEST_CASE("text that does not fit is dropped")
{
    std::string const all(400, 'x');
    bounded_text s;
    s << all.c_str() << "more" << 7u;
    CHECK(s.text() == all.substr(0, 319));
}

// --- capture -----------------------------------------------------------------------------------------------

namespace {

/// Records commands and executes them when the graph is launched. Blocks of a capture stay.
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
        CHECK(of_graphs.count(block) == (is_capturing ? 1u : 0u)); // only the graph's own
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

TEST_CASE("a run is captured once and launched any number of times")
{
    auto check = [&](auto const& mode) {
        capturing_device device;
        stream_executor run(device, diamond, diamond_options, mode, synthetic_kernel{},
                            {.keeps_io_addresses = true});
        auto graph = run.capture();
        for (std::uint64_t seed = 0; seed != 4; ++seed) {
            CHECK_THROWS_AS(graph.launch(), unusable_value); // an input is required
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
    CHECK_THROWS_AS((void)run.capture(), precondition_error); // inputs and outputs would be reallocated
}

TEST_CASE("an executor can run after a failed capture")
{
    capturing_device device;
    stream_executor run(device, diamond, diamond_options, recycle{}, synthetic_kernel{},
                        {.keeps_io_addresses = true});
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

TEST_CASE("a graph is launched with the storage of its capture, or not at all")
{
    bool is_failing = false;
    auto kernel = [&](auto const& call) {
        if (std::exchange(is_failing, false)) throw 3;
        synthetic_kernel{}(call);
    };
    auto check = [&](auto const& mode, bool stays) {
        capturing_device device;
        stream_executor run(device, diamond, diamond_options, mode, kernel, {.keeps_io_addresses = true});
        auto graph = run.capture();
        give(run, 3);
        is_failing = true;
        CHECK_THROWS_AS(graph.launch(), run_error);
        give(run, 4);
        if (!stays) CHECK_THROWS_AS(graph.launch(), precondition_error); // its input and output were released
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
    stream_executor run(device, doubled, options, recycle{}, kernel, {.keeps_io_addresses = true});
    CHECK_THROWS_AS((void)run.capture(), unusable_value); // nothing is bound
    alignas(64) std::byte one[8] = {}, other[8] = {};
    run.bind(0, one);
    auto graph = run.capture();
    run.bind(0, one);
    CHECK_NOTHROW(graph.launch());
    run.bind(0, other);
    CHECK_THROWS_AS(graph.launch(), precondition_error);
}

// --- device ------------------------------------------------------------------------------------------------

TEST_CASE("a type without streams is not a stream_device")
{
    struct nothing {};
    CHECK_FALSE(stream_device<nothing>);
    CHECK_FALSE(takes_digests<nothing>);
}

} // namespace this_test
