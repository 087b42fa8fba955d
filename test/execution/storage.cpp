// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/storage.hpp>

#include "../checked_resource.hpp"
#include "../dead_bytes.hpp"
#include "../operations.hpp"
#include "../random_program.hpp"
#include "../random_source.hpp"

#include <sublet/execution/detail/poison.hpp>
#include <sublet/execution/detail/value_storage.hpp>
#include <sublet/execution/internal/counted_memory.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

using storage = detail::value_storage;

namespace {

//     a ─► b ─► c ─► d        each read once, by the next
snapshot const chain = op_list(4, {{}, {0}, {1}, {2}}, {{0}, {1}, {2}, {3}});
/// The same, each result in place if it may.
snapshot const chain_in_place = sequence(4, 4, [](auto step, effect_sink& s) {
    if (step != 0) s.use(step - 1), s.may_overwrite(step - 1, +step);
    s.def(+step);
});

value_role const none = value_role::intermediate, input = value_role::input, output = value_role::output;

/// Live bytes during each step, and after the last.
template <class Mode>
std::vector<std::size_t> live_bytes(snapshot const& p, plan_options const& options, Mode const& mode,
                                    checked_resource& source)
{
    lowered_program const lowered = lower_program(p, options);
    storage values(lowered, mode, counted_memory(&source));
    std::vector<std::size_t> live;
    for (buffer_id b = 0; b != lowered.ref_counts.size(); ++b)
        if (has_role(lowered.table.buffers[b].role, input)) values.provide(lowered, b);
    values.begin(lowered);
    for (position_id at = 0; at != lowered.positions(); ++at) {
        values.before(lowered, at);
        live.push_back(source.live());
        values.after(lowered, at);
    }
    live.push_back(source.live());
    values.end(lowered);
    live.push_back(source.live());
    return live;
}

using sizes = std::vector<std::size_t>;

std::optional<counterexample> refusal(snapshot const& p, plan_options const& options, memory_plan const& plan)
{
    checked_resource source;
    try {
        storage(lower_program(p, options), arena{plan}, counted_memory(&source));
    } catch (unsound_plan const& e) {
        CHECK(source.requests.empty());
        return e.why();
    }
    return std::nullopt;
}

} // namespace

TEST_CASE("each mode holds the bytes that the header shows: all to the end, the live ones, or one block")
{
    plan_options const options{.bytes = {1, 20, 300, 4000}, .role = {none, none, none, output}};
    checked_resource source;
    CHECK(live_bytes(chain, options, no_plan{}, source) == sizes{1, 21, 321, 4321, 4321, 4000});
    CHECK(live_bytes(chain, options, recycle{}, source) == sizes{1, 21, 320, 4300, 4000, 4000});
    CHECK(source.live_blocks.empty());
    source.requests.clear();
    auto const planned = plan_memory(chain, options);
    std::size_t const all = planned.report().arena_bytes;
    CHECK(live_bytes(chain, options, arena{planned}, source) == sizes{all, all, all, all, all, all});
    CHECK(source.requests.size() == 1);
    CHECK(source.live_blocks.empty());
}

TEST_CASE("a result that no step reads is freed with its step, an input with its last reader or with the "
          "first step")
{
    auto const p = op_list(5, {{0}, {0}, {}}, {{2}, {3}, {4}});
    plan_options const options{.bytes = {1, 20, 300, 4000, 50000}, .role = {input, input, none, none, none}};
    checked_resource source;
    CHECK(live_bytes(p, options, recycle{}, source) == sizes{321, 4001, 50000, 0, 0});
    CHECK(live_bytes(p, options, no_plan{}, source) == sizes{321, 4321, 54321, 54321, 0});
}

TEST_CASE("in recycle mode a result takes over the block of a dead operand of the same size and sufficient "
          "alignment")
{
    checked_resource source;
    CHECK(live_bytes(chain_in_place, {.bytes = 8}, recycle{}, source) == sizes{8, 8, 8, 8, 0, 0});
    CHECK(source.requests.size() == 1);
    auto count_blocks = [&](plan_options const& options, snapshot const& p = chain_in_place) {
        source.requests.clear();
        live_bytes(p, options, recycle{}, source);
        CHECK(source.live_blocks.empty());
        return source.requests.size();
    };
    CHECK(count_blocks({.bytes = 8, .in_place = false}) == 4);
    CHECK(count_blocks({.bytes = {8, 8, 9, 8}}) == 3);
    CHECK(count_blocks({.bytes = 8, .alignment = {8, 16, 8, 8}}) == 2);
    CHECK(count_blocks({.bytes = 8, .alignment = {16, 8, 8, 16}}) == 1);
    CHECK(count_blocks({.bytes = 8, .pool = {0, 0, 1, 1}}) == 2);
    CHECK(count_blocks({.bytes = 8, .role = {none, output, none, none}}) == 2);
    CHECK(count_blocks({.bytes = 8, .role = {input, none, none, output}}) == 1);
    CHECK(count_blocks({.bytes = 8, .role = {none, value_role::external, none, none}}) == 2);
    auto const read_later = sequence(3, 2, [](auto step, effect_sink& s) {
        if (step != 0) s.use(0);
        if (step == 1) s.may_overwrite(0, 1);
        if (step != 2) s.def(+step);
    });
    CHECK(count_blocks({.bytes = 8}, read_later) == 2);
    auto const two_results = sequence(2, 3, [](auto step, effect_sink& s) {
        if (step == 0) return s.def(0);
        s.use(0);
        for (value_id v : {1u, 2u}) s.def(v), s.may_overwrite(0, v);
    });
    CHECK(count_blocks({.bytes = 8}, two_results) == 2);
    auto const two_operands = sequence(2, 3, [](auto step, effect_sink& s) {
        if (step == 0) return s.def(0), s.def(1);
        for (value_id v : {0u, 1u}) s.use(v), s.may_overwrite(v, 2);
        s.def(2);
    });
    CHECK(count_blocks({.bytes = 8}, two_operands) == 2);
}

TEST_CASE("values of the caller, of unknown size or of 0 bytes are never allocated")
{
    auto const p = op_list(5, {{}, {0, 1, 2, 3}}, {{0, 1, 2, 3}, {4}});
    checked_resource source;
    plan_options const options{.bytes = std::vector<byte_count>{0, no_size, 8, 8, 8},
                               .role = {none, none, value_role::external, none, none},
                               .eligible = {true, true, true, false, true}};
    CHECK(live_bytes(p, options, no_plan{}, source) == sizes{0, 8, 8, 0});
    CHECK(live_bytes(p, options, recycle{}, source) == sizes{0, 8, 0, 0});
    CHECK(live_bytes(p, options, arena{plan_memory(p, options).plan}, source) == sizes{8, 8, 8, 8});

    lowered_program const lowered = lower_program(p, options);
    storage values(lowered, no_plan{}, counted_memory(&source));
    CHECK(values.bytes_of(1).empty());
    CHECK(values.value_bytes(lowered, 1).data() == nullptr);
    std::vector<std::byte> live_blocks(100);
    values.bind(1, std::span(live_blocks));
    values.bind(2, std::span(live_blocks));
    CHECK(values.bytes_of(1).size() == 100);
    CHECK(values.value_bytes(lowered, 1).size() == 100);
    CHECK(values.value_bytes(lowered, 2).size() == 8);
    values.release_all(lowered);
    CHECK(values.where(1) == live_blocks.data());
}

TEST_CASE("a view is the first bytes of its root")
{
    auto const p = with_views(op_list(3, {{}, {0}}, {{0}, {1, 2}}), {no_value, 0, 0});
    plan_options const options{.bytes = std::vector<byte_count>{16, 4, no_size}, .alias_of = {-1, 0, 0}};
    lowered_program const lowered = lower_program(p, options);
    checked_resource source;
    storage values(lowered, no_plan{}, counted_memory(&source));
    values.begin(lowered);
    values.before(lowered, 0);
    CHECK(values.value_bytes(lowered, 0).size() == 16);
    CHECK(values.value_bytes(lowered, 1).data() == values.value_bytes(lowered, 0).data());
    CHECK(values.value_bytes(lowered, 1).size() == 4);
    CHECK(values.value_bytes(lowered, 2).size() == 16);
    CHECK(source.requests.size() == 1);
}

TEST_CASE("there is one block per arena, aligned to the largest alignment of its values and of the pool")
{
    checked_resource source;
    plan_options const options{.bytes = 24,
                               .alignment = {8, 64, 16, 2},
                               .pool = {0, 0, 2, 2},
                               .pools = {{no_limit, 4}, {no_limit, 4096}, {no_limit, 256}}};
    auto const planned = plan_memory(chain, options);
    REQUIRE(planned);
    lowered_program const lowered = lower_program(chain, options);
    storage values(lowered, arena{planned}, counted_memory(&source));
    CHECK(source.requests == std::vector<std::pair<std::size_t, std::size_t>>{
                                 {planned.plan.arena_bytes[0], 64}, {planned.plan.arena_bytes[2], 256}});
    CHECK(values.arenas().size() == 3);
    for (value_id v = 0; v != 4; ++v) {
        CHECK(values.where(+v) == values.arenas()[options.pool[v]].bytes + planned.plan.offset_of(v));
        CHECK(reinterpret_cast<std::uintptr_t>(values.where(+v)) % options.alignment[v] == 0);
    }
    CHECK(values.memory().use().bytes.live == planned.report().arena_bytes);
}

TEST_CASE("in every mode alignments are powers of two")
{
    auto made = [](auto const& mode, plan_options const& options) {
        (void)storage(lower_program(chain, options), mode, counted_memory());
    };
    doctest::Contains const sentence(", but an executor takes only powers of two");
    for (plan_options const& options : {plan_options{.bytes = 8, .alignment = {1, 2, 3, 4}},
                                        plan_options{.bytes = 8, .alignment = 4, .pools = {{no_limit, 6}}}}) {
        CHECK_THROWS_WITH_AS(made(no_plan{}, options), sentence, precondition_error);
        CHECK_THROWS_WITH_AS(made(recycle{}, options), sentence, precondition_error);
        CHECK_THROWS_WITH_AS(made(arena{plan_memory(chain, options).plan}, options), sentence,
                             precondition_error);
    }
    made(recycle{}, {.bytes = 0, .alignment = 3}); // no planned buffer
}

TEST_CASE("an invalid offset is rejected with its counterexample, before anything is allocated")
{
    plan_options const options{.bytes = 16};
    memory_plan const good = plan_memory(chain, options).plan;
    REQUIRE(good.arena_bytes == std::vector<byte_count>{32});
    CHECK(!refusal(chain, options, good));
    auto after = [&](auto change) {
        memory_plan plan = good;
        change(plan);
        return refusal(chain, options, plan)
            .value_or(counterexample{fault::needless, counterexample::place{}});
    };
    counterexample const foreign{fault::foreign_plan};
    CHECK(after([](memory_plan& plan) { plan = {}; }) == foreign);
    CHECK(after([](memory_plan& plan) { plan.buffer_of.push_back(0); }) == foreign);
    CHECK(after([](memory_plan& plan) { plan.buffer_of[3] = 4; }) == foreign);
    CHECK(after([](memory_plan& plan) { plan.arena_bytes.clear(); }) == foreign);
    CHECK(after([](memory_plan& plan) { plan.buffer_of[3] = no_buffer; }) ==
          counterexample{fault::unplaced, counterexample::place{.value = 3}});
    auto outside = [](byte_count begin, byte_count end) {
        return counterexample{fault::outside_arena,
                              counterexample::place{.value = 2, .begin = begin, .end = end, .needed = 32}};
    };
    CHECK(after([](memory_plan& plan) { plan.buffers[2].offset = 17; }) == outside(17, 33));
    CHECK(after([](memory_plan& plan) { plan.buffers[2].offset = 33; }) == outside(33, 49));
    CHECK(after([](memory_plan& plan) { plan.buffers[2].offset = no_offset; }) ==
          outside(no_offset, no_offset));
    CHECK(after([](memory_plan& plan) { plan.buffers[2].offset = no_offset - 8; }) ==
          outside(no_offset - 8, no_offset));
    CHECK(after([](memory_plan& plan) { plan.offset_in_root = {0, 0, 17, 0}; }) == outside(17, 33));
    CHECK(after([](memory_plan& plan) {
              plan.offset_in_root = {0, 0, no_offset, 0};
          }) == outside(no_offset, no_offset));
    CHECK(after([](memory_plan& plan) { plan.offset_in_root = {0, 0, 0}; }) == foreign);
    CHECK(after([](memory_plan& plan) {
              plan.buffers[2].offset = 16; // the sum is 2^64 + 8
              plan.offset_in_root = {0, 0, no_offset - 7, 0};
          }) == outside(no_offset, no_offset));
    CHECK(after([](memory_plan& plan) {
              plan.buffers[2].pool = 1; // not as the program was lowered
              plan.arena_bytes.push_back(16);
          }) == foreign);
    CHECK(after([](memory_plan& plan) { plan.arena_bytes[0] = 31; }).what == fault::outside_arena);
    CHECK(after([](memory_plan& plan) { plan.arena_bytes[0] = 15; }).what == fault::outside_arena);
}

TEST_CASE("an offset that is no multiple of an alignment is rejected, before anything is allocated")
{
    plan_options const of_value{.bytes = 8, .alignment = {8, 8, 16, 1}},
        of_view{.bytes = 8, .alignment = {8, 8, 1, 1}}, of_pool{.bytes = 8, .pools = {{.alignment = 4}}};
    memory_plan plan = plan_memory(chain, plan_options{.bytes = 8, .in_place = false}).plan;
    plan.arena_bytes = {48};
    for (buffer_id b = 0; b != 4; ++b) plan.buffers[b].offset = 16 * (b % 2);
    CHECK(!refusal(chain, of_value, plan));
    plan.buffers[2].offset = 24;
    CHECK(refusal(chain, of_value, plan) ==
          counterexample{fault::misaligned, counterexample::place{.value = 2, .begin = 24, .needed = 16}});
    CHECK(!refusal(chain, of_view, plan));
    plan.buffers[3].offset = 34;
    CHECK(!refusal(chain, of_view, plan));
    CHECK(refusal(chain, of_pool, plan) ==
          counterexample{fault::misaligned, counterexample::place{.value = 3, .begin = 34, .needed = 4}});
}

TEST_CASE("if one arena cannot be allocated the others are freed, and the error has its size")
{
    plan_options const options{.bytes = {8, 16, 32, 64}, .pool = {0, 1, 2, 3}};
    memory_plan const plan = plan_memory(chain, options).plan;
    for (std::size_t max_allocations = 0; max_allocations != 4; ++max_allocations) {
        checked_resource source{.max_allocations = max_allocations};
        try {
            storage(lower_program(chain, options), arena{plan}, counted_memory(&source));
            FAIL_CHECK("no error for an arena");
        } catch (allocation_error const& e) {
            CHECK(e.bytes() == byte_count{8} << max_allocations);
            CHECK(e.step() == no_step);
            CHECK_THROWS_AS(std::rethrow_exception(e.cause()), std::bad_alloc);
        }
        CHECK(source.requests.size() == max_allocations);
        CHECK(source.live_blocks.empty());
    }
}

TEST_CASE("the begin of a run keeps inputs, its end keeps outputs, and all is freed at last")
{
    plan_options const options{.bytes = {1, 20, 300, 4000}, .role = {input, none, none, output}};
    lowered_program const lowered = lower_program(chain, options);
    checked_resource source;
    {
        storage values(lowered, recycle{}, counted_memory(&source));
        values.provide(lowered, 0);
        std::byte* const given = values.where(0);
        values.provide(lowered, 0);
        CHECK(values.where(0) == given);
        CHECK(source.requests.size() == 1);
        for (int run = 0; run != 2; ++run) {
            values.provide(lowered, 0);
            values.begin(lowered);
            CHECK(source.live() == 1);
            for (position_id at = 0; at != 4; ++at) values.before(lowered, at), values.after(lowered, at);
            values.end(lowered);
            CHECK(source.live() == 4000);
        }
        values.before(lowered, 1);
        CHECK(source.live() == 4021);
        values.release_all(lowered);
        CHECK(source.live() == 0);
        values.provide(lowered, 0);
        storage moved = std::move(values);
        CHECK(source.live() == 1);
    }
    CHECK(source.live_blocks.empty());
}

// --- digest ------------------------------------------------------------------------------------------------

using detail::mix;

namespace {

std::vector<std::byte> counted_up(std::size_t n)
{
    std::vector<std::byte> bytes(n);
    for (std::size_t i = 0; i != n; ++i) bytes[i] = static_cast<std::byte>(i + 1);
    return bytes;
}

std::uint64_t digest_of(std::vector<std::byte> const& bytes) { return digest(std::span(bytes)); }

std::vector<std::byte> noise(std::size_t n, std::uint64_t seed)
{
    std::vector<std::byte> bytes(n + 1, std::byte{0x5A}); // one more, which must not be written
    fill_noise(std::span(bytes).first(n), seed);
    CHECK(bytes.back() == std::byte{0x5A});
    bytes.pop_back();
    return bytes;
}

/// The formula of the header, byte by byte.
std::uint64_t slow_digest(std::vector<std::byte> const& bytes)
{
    std::uint64_t sum = bytes.size();
    for (std::size_t k = 0; 8 * k < bytes.size(); ++k) {
        std::uint64_t word = 0;
        for (std::size_t i = 8 * k; i != std::min(8 * k + 8, bytes.size()); ++i)
            word |= std::to_integer<std::uint64_t>(bytes[i]) << 8 * (i % 8);
        sum += mix(word ^ mix(k + 1));
    }
    return sum;
}

} // namespace

TEST_CASE("digests, noise and the functions below them never change")
{
    static_assert(mix(0) == 0);
    static_assert(mix(1) == 0x5692161d100b05e5u);
    static_assert(mix(0x9e3779b97f4a7c15u) == 0xe220a8397b1dcdafu); // SplitMix64's first number for seed 0
    static_assert(fold_digest(1, 2) == mix(0x9e3779b97f4a7c17u));
    static_assert(fold_digest(1, 2) != fold_digest(2, 1));
    if constexpr (std::endian::native == std::endian::little) {
        CHECK(digest_of({}) == 0);
        CHECK(digest_of(counted_up(1)) == 0x83ec686c1600460bu);
        CHECK(digest_of(counted_up(8)) == 0x36dea34441edc953u);
        CHECK(digest_of(counted_up(21)) == 0x901efa85804b7074u);
        CHECK(digest_of(noise(21, 7)) == 0x2974d279688d252du);
    }
}

TEST_CASE("a digest is the sum of the header for every length and address")
{
    if constexpr (std::endian::native != std::endian::little) return;
    for (std::size_t n = 0; n != 40; ++n) {
        CAPTURE(n);
        std::vector<std::byte> const bytes = counted_up(n);
        CHECK(digest_of(bytes) == slow_digest(bytes));
        for (std::size_t shift = 1; shift != 8; ++shift) {
            std::vector<std::byte> moved(shift + n);
            std::copy(bytes.begin(), bytes.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
            CHECK(digest(std::span<std::byte const>(moved).subspan(shift)) == digest_of(bytes));
        }
    }
}

TEST_CASE("trailing zeros change the digest")
{
    std::vector<std::byte> bytes;
    std::vector<std::uint64_t> seen;
    for (int n = 0; n != 30; ++n, bytes.emplace_back()) seen.push_back(digest_of(bytes));
    std::sort(seen.begin(), seen.end());
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
}

TEST_CASE("a change of any one bit changes the digest")
{
    for (std::size_t n = 1; n != 30; ++n) {
        std::vector<std::byte> bytes = noise(n, n);
        std::uint64_t const before = digest_of(bytes);
        for (std::size_t bit = 0; bit != 8 * n; ++bit) {
            CAPTURE(n);
            CAPTURE(bit);
            bytes[bit / 8] ^= std::byte{1} << bit % 8;
            CHECK(digest_of(bytes) != before);
            bytes[bit / 8] ^= std::byte{1} << bit % 8;
        }
    }
}

TEST_CASE("swapped words and changes of several words change the digest")
{
    for (unsigned seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::vector<std::byte> const before = noise(16 + pick.below(60), pick.wide());
        std::vector<std::byte> after = before;
        std::rotate(after.begin(), after.begin() + 8, after.end());
        CHECK(digest_of(after) != digest_of(before));
        after = before;
        for (std::uint32_t i = 0, n = 1 + pick.below(9); i != n; ++i)
            pick.one_of(after) = static_cast<std::byte>(pick.below(256));
        CHECK((digest_of(after) == digest_of(before)) == (after == before));
    }
}

TEST_CASE("mix changes about half of the bits for each changed bit")
{
    for (unsigned bit = 0; bit != 64; ++bit) {
        CAPTURE(bit);
        random_source pick{std::mt19937{bit}};
        int turned = 0;
        for (int i = 0; i != 200; ++i) {
            std::uint64_t const x = pick.wide();
            turned += std::popcount(mix(x) ^ mix(x ^ std::uint64_t{1} << bit));
        }
        CHECK(turned > 200 * 24);
        CHECK(turned < 200 * 40);
    }
}

TEST_CASE("noise is the same for the same seed, and different for others, down to a few bytes")
{
    for (std::size_t n = 4; n != 40; ++n) {
        CAPTURE(n);
        CHECK(noise(n, 3) == noise(n, 3));
        CHECK(noise(n, 3) != noise(n, 4));
        std::vector<std::byte> bytes = noise(n, 3);
        bytes.resize(4);
        CHECK(bytes != noise(4, 4));
        CHECK(std::count(bytes.begin(), bytes.end(), std::byte{0}) < 4);
    }
    CHECK(noise(0, 1).empty());
    CHECK(noise(1, 1).size() == 1);
}

// --- poison ------------------------------------------------------------------------------------------------

TEST_CASE("paint covers the given bytes and no others")
{
    for (std::size_t begin = 0; begin != 20; ++begin)
        for (std::size_t end = begin; end != 20; ++end) {
            std::vector<std::byte> bytes(20, std::byte{1});
            detail::paint(std::span(bytes).subspan(begin, end - begin));
            for (std::size_t i = 0; i != 20; ++i)
                CHECK((bytes[i] == std::byte{0xFF}) == (begin <= i && i < end));
        }
    detail::paint(std::span<std::byte>());
    float number = 0;
    detail::paint(std::span(reinterpret_cast<std::byte*>(&number), sizeof number));
    CHECK(number != number);
}

TEST_CASE("dead bytes are poisoned except for a border of less than 8 bytes, and no neighbour is")
{
    for (std::size_t begin = 0; begin != 33; ++begin)
        for (std::size_t end = begin; end != 33; ++end) {
            CAPTURE(begin);
            CAPTURE(end);
            std::vector<std::byte> bytes(40, std::byte{1});
            auto const region = std::span(bytes).subspan(begin, end - begin);
            detail::poison_bytes(region);
            for (std::size_t i = 0; i != 40; ++i) {
                bool const is_inside = begin <= i && i < end;
                bool const is_border = under_asan && i / 8 == end / 8;
                if (!is_inside) CHECK(!is_dead(&bytes[i]));
                else if (!is_border) CHECK(is_dead(&bytes[i]));
            }
            detail::unpoison_bytes(region);
            for (std::byte& b : region) b = std::byte{2};
            CHECK(std::count(bytes.begin(), bytes.end(), std::byte{2}) == static_cast<long>(end - begin));
        }
}

TEST_CASE("a live value next to a dead one can be used completely, whichever was placed first")
{
    std::vector<std::byte> bytes(64);
    for (std::size_t border = 0; border != 33; ++border) {
        CAPTURE(border);
        detail::poison_bytes(std::span(bytes));
        auto const low = std::span(bytes).first(border), high = std::span(bytes).subspan(border);
        for (auto const& [living, dead] : {std::pair(low, high), std::pair(high, low)}) {
            detail::unpoison_bytes(living);
            for (std::byte& b : living) b = std::byte{3};
            detail::poison_bytes(dead);
            CHECK(std::none_of(living.begin(), living.end(), [](std::byte& b) { return is_dead(&b); }));
            detail::unpoison_bytes(dead);
        }
    }
    detail::unpoison_bytes(std::span(bytes));
}

// --- lowered program ---------------------------------------------------------------------------------------

namespace {

template <class Id>
std::vector<Id> list(std::span<Id const> row)
{
    return {row.begin(), row.end()};
}
using lists = std::vector<std::vector<std::uint32_t>>;
template <class Item>
lists rows_of(csr_rows<position_id, Item> const& rows)
{
    lists all;
    for (position_id r = 0; r != rows.rows(); ++r) all.push_back({rows[r].begin(), rows[r].end()});
    return all;
}

lowered_program lowered_of(random_program const& p, bool in_place = true)
{
    return lower_program(p.program(), p.options(in_place));
}

} // namespace

TEST_CASE("the example of the header: uses, definitions and buffers by position")
{
    enum : std::uint32_t { a, b, c, w };
    // the node that runs first is the last in the program
    auto const p = tasks(
        3, 4, [](node_id) { return std::vector<node_id>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.use(a), s.view(b), s.def(c), s.allocate(w);
            if (n == 1) s.use(b), s.use(c);
            if (n == 2) s.def(a);
        });
    plan_options const options{.bytes = {8, 4, 6, 2}, .alias_of = {-1, 0, -1, -1}, .order = {2, 0, 1}};
    lowered_program const lowered = lower_program(p, options);
    CHECK(lowered.step_at == std::vector<step_id>{2, 0, 1});
    CHECK(rows_of(lowered.uses) == lists{{}, {a}, {b, c}});
    CHECK(rows_of(lowered.defs) == lists{{a}, {b, c}, {}});
    CHECK(rows_of(lowered.scratch) == lists{{}, {w}, {}});
    CHECK(rows_of(lowered.touched) == lists{{0}, {0, 1, 2}, {0, 1}});
    CHECK(lowered.ref_counts == std::vector<std::uint32_t>{3, 2, 1});
    CHECK(lowered.first_write == std::vector<position_id>{0, 1, 1});
    CHECK(lowered.bytes == std::vector<byte_count>{8, 4, 6, 2});
    CHECK(lowered.is_view(b, 1));
    CHECK(!lowered.is_view(a, 0));
    CHECK(!lowered.is_view(c, 1));
}

TEST_CASE("a view has no more bytes than its root, and a view of an input is one from the start")
{
    auto const p = sequence(1, 2, [](auto, effect_sink& s) { s.use(0), s.view(1); });
    lowered_program const lowered = lower_program(
        p,
        {.bytes = std::vector<byte_count>{8, no_size}, .role = {value_role::input, {}}, .alias_of = {-1, 0}});
    CHECK(lowered.bytes == std::vector<byte_count>{8, 8});
    CHECK(lowered.is_view(1, 0));
}

TEST_CASE("a view that its step also writes is not a view of existing bytes: the step writes it")
{
    auto const p = sequence(2, 2, [](auto step, effect_sink& s) {
        if (step == 0) s.write(1), s.def(0);
        s.view(1);
    });
    lowered_program const lowered = lower_program(p, {.bytes = 8, .alias_of = {-1, 0}});
    CHECK(!lowered.is_view(1, 0));
    CHECK(!lowered.is_view(0, 0));
    CHECK(lowered.is_view(1, 1));
}

TEST_CASE("an order that cannot be run is rejected with a counterexample")
{
    auto const p = sequence(3, 2, [](auto step, effect_sink& s) {
        if (step == 1) s.use(0);
        else s.def(0);
        s.def(1);
    });
    auto fault_of = [&p](plan_options const& options) {
        try {
            (void)lower_program(p, options);
        } catch (unsound_plan const& e) {
            return e.why();
        }
        return counterexample{fault::needless, counterexample::place{}};
    };
    CHECK(fault_of({.bytes = 8, .order = {1, 0, 2}}) ==
          counterexample{fault::used_undefined,
                         counterexample::access{.value = 0, .other = 0, .position = 0, .maker = 0}});
    CHECK(fault_of({.bytes = 8, .order = {0, 2, 1}}) ==
          counterexample{fault::write_moved, counterexample::access{.value = 0, .position = 1}});
    CHECK(fault_of({.bytes = 8}).what == fault::needless);
    auto const undefined = sequence(1, 1, [](auto, effect_sink& s) { s.use(0); });
    CHECK_THROWS_AS((void)lower_program(undefined, {.bytes = 8}), unsound_plan);
}

TEST_CASE("scratch is what one step allocates and no other touches, and what has no role")
{
    auto rows = [](auto effects, plan_options const& options = {.bytes = 8}) {
        auto const lowered = lower_program(sequence(2, 2, effects), options);
        return std::pair(rows_of(lowered.scratch), rows_of(lowered.defs));
    };
    auto once = [](auto step, effect_sink& s) {
        if (step == 0) s.allocate(1), s.allocate(0);
    };
    CHECK(rows(once) == std::pair(lists{{1, 0}, {}}, lists{{}, {}}));
    for (value_role role : {value_role::external, value_role::state}) // an output without contents is refused
        CHECK(rows(once, {.bytes = 8, .role = {role, {}}}) == std::pair(lists{{1}, {}}, lists{{0}, {}}));
    auto made = [](auto step, effect_sink& s) {
        if (step == 0) s.def(0), s.allocate(1), s.write(1); // written: a result
    };
    CHECK(rows(made) == std::pair(lists{{}, {}}, lists{{0, 1}, {}}));
    auto twice = [](auto, effect_sink& s) { s.allocate(0); };
    CHECK(rows(twice) == std::pair(lists{{}, {}}, lists{{0}, {0}}));
    auto written_later = [](auto step, effect_sink& s) { step == 0 ? s.allocate(0) : s.write(0); };
    CHECK(rows(written_later) == std::pair(lists{{}, {}}, lists{{0}, {0}}));
    // A step may write its scratch through views of its own, which are results.
    auto in_parts = [](auto step, effect_sink& s) {
        if (step == 0) s.allocate(0), s.view(1, 0, 4), s.write(1);
    };
    plan_options const part{.bytes = {8, 4}, .alias_of = {-1, 0}, .view_offset = {0, 4}};
    CHECK(rows(in_parts, part) == std::pair(lists{{0}, {}}, lists{{1}, {}}));
    auto part_of_another = [](auto step, effect_sink& s) {
        if (step == 0) s.allocate(0);
        else s.view(1, 0, 4), s.write(1);
    };
    CHECK(rows(part_of_another, part) == std::pair(lists{{}, {}}, lists{{0}, {1}}));
    // Nor may it be read at the end of a node.
    auto const phi = tasks(
        2, 1, [](node_id n) { return std::vector<node_id>(n == 0, 1); },
        [](node_id n, effect_sink& s) { n == 0 ? s.allocate(0) : s.use_at_end_of(0, 0); });
    auto unwritten = [&] { (void)lower_program(phi, {.bytes = 8}); };
    CHECK_THROWS_AS(unwritten(), unsound_plan);
}

TEST_CASE("an empty program, one without values, and one with unused inputs")
{
    CHECK(lower_program(snapshot{}, {.bytes = 8}).positions() == 0);
    auto const idle = sequence(3, 0, [](auto, effect_sink&) {});
    CHECK(lower_program(idle, {.bytes = 8}).positions() == 3);
    auto const unread = sequence(2, 2, [](auto, effect_sink&) {});
    lowered_program const lowered = lower_program(unread, {.bytes = 8, .role = value_role::input});
    CHECK(rows_of(lowered.touched) == lists{{0, 1}, {}});
}

TEST_CASE("pools are numbered from 0")
{
    auto const p = sequence(1, 1, [](auto, effect_sink& s) { s.def(0); });
    CHECK(lower_program(p, {.bytes = 8, .pool = 65535}).pools == 65536);
    CHECK_THROWS_AS((void)lower_program(p, {.bytes = 8, .pool = 65536}), precondition_error);
}

TEST_CASE("an input that the first step reads early may be reused where any step may be the first")
{
    auto const p = sequence(1, 2, [](auto, effect_sink& s) { s.use_early(0), s.def(1); });
    plan_options const options{.bytes = 8, .role = {value_role::input, value_role::output}};
    lowered_program const in_order = lower_program(p, options), at_once = lower_program(p, options, {0});
    CHECK(in_order.reuses_at(0).empty());
    REQUIRE(at_once.reuses_at(0).size() == 1);
    CHECK(at_once.reuses_at(0)[0].from == 0);
    CHECK(at_once.reuses_at(0)[0].to == no_buffer);
}

TEST_CASE("the lowered form of a random program agrees with lists made from it")
{
    std::size_t pairs = 0, early = 0, views = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program const p = draw_program(pick);
        bool const in_place = pick.below(4) != 0;
        lowered_program const lowered = lowered_of(p, in_place);
        class_history const touches = access_history(p);
        auto const turns = p.turns();
        REQUIRE(lowered.positions() == turns.size());
        auto class_at = [&](value_id root) { return lowered.table.buffer_of[root]; };

        std::map<value_id, position_id> first_write;
        std::map<value_id, std::uint32_t> ref_counts;
        for (auto const& [r, its] : touches)
            for (auto const& [at, how] : its) {
                ++ref_counts[r];
                if (how.written.count(r) != 0) first_write.try_emplace(r, at); // not a view
            }
        for (value_id v = 0; v != p.values(); ++v) {
            value_id const r = p.root(v);
            CHECK(lowered.bytes[v] == std::min(p.bytes[v], p.bytes[r]));
            CHECK(lowered.table.buffers[class_at(v)].root == r);
            if (v != r) continue;
            CHECK(lowered.ref_counts[class_at(r)] ==
                  ref_counts[r] + has_role(p.class_role(r), value_role::output));
            CHECK(lowered.first_write[class_at(r)] == (first_write.count(r) ? first_write[r] : no_position));
        }
        for (position_id at = 0; at != turns.size(); ++at) {
            auto const& [id, what, uses_at_end] = turns[at];
            CHECK(lowered.step_at[at] == id);
            random_program::ids uses = what->uses;
            uses.insert(uses.end(), what->early.begin(), what->early.end());
            CHECK(list(lowered.uses[at]) == uses);
            CHECK(list(lowered.defs[at]) == what->defs);
            CHECK(list(lowered.scratch[at]) == what->scratch);

            std::vector<std::pair<buffer_id, buffer_id>> reuses, expected;
            std::vector<buffer_id> touched, is_touched = list(lowered.touched[at]);
            for (auto const& [r, its] : touches) {
                if (its.count(at) == 0) continue;
                touched.push_back(class_at(r));
                bool const stays_live = at == 0 && has_role(p.class_role(r), value_role::input);
                if (its.at(at).is_early() && !stays_live) expected.push_back({class_at(r), no_buffer});
            }
            early += expected.size();
            for (auto const& [in, out] : what->pairs) {
                auto const& its = touches.at(p.root(in));
                if (!in_place || its.count(at) == 0 || !its.at(at).only_reads(in)) continue;
                if (p.root(out) == out && first_write.count(out) != 0 && first_write[out] == at)
                    expected.push_back({class_at(p.root(in)), class_at(p.root(out))}), ++pairs;
            }
            for (operand_reuse y : lowered.reuses_at(at)) reuses.push_back({y.from, y.to});
            for (auto* both : {&reuses, &expected}) std::sort(both->begin(), both->end());
            CHECK(reuses == expected);
            for (auto* both : {&touched, &is_touched}) std::sort(both->begin(), both->end());
            CHECK(is_touched == touched);

            for (value_id v : what->defs) {
                CHECK(lowered.is_view(v, at) == (v != p.root(v)));
                views += lowered.is_view(v, at);
            }
        }
    }
    CHECK(pairs > rounds(300));
    CHECK(early > rounds(300));
    CHECK(views > rounds(300));
}

} // namespace this_test
