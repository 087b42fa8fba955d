// SPDX-License-Identifier: BSL-1.0
#include <sublet/rewriting/rename.hpp>

#include "../dice.hpp"
#include "../random_tasks.hpp"

#include <sublet/sharing/detail/tokens.hpp>
#include <sublet/sharing/share_slots.hpp>

#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

enum : value_id { a, b, c, d };

/// 0: a; 1: a -> b; 2: b -> c; 3: c, b -> d
snapshot chain()
{
    return sequence(
        4, 4,
        [](step_id s) {
            return std::vector<std::vector<int>>{{}, {0}, {1}, {2, 1}}[s];
        },
        [](step_id s) { return std::vector<value_id>{s}; });
}

slot_plan slots(std::vector<slot_id> slot_of, slot_id count) { return {std::move(slot_of), count}; }

std::vector<byte_count> const sizes{64, 32, 48, 80};

} // namespace

// SYSTEMS M7, T9: what replaced what, and the bytes saved.
TEST_CASE("every value says where it moved in, after whom, and what that saves")
{
    auto const log = log_sharing(chain(), slots({0, 1, 0, 0}, 2), {.bytes = sizes});
    std::ostringstream text;
    char const* const names[] = {"conv1", "relu1", "conv2", "sum"};
    write_log(text, log, [&](value_id v) { return names[v]; });
    CHECK(text.str() ==
          "conv1: 64 B opens slot 0\n"
          "relu1: 32 B opens slot 1\n"
          "conv2: 48 B takes slot 0 from conv1, saves 48 B\n"
          "sum: 80 B is written over slot 0, in place of conv2, which grows by 16 B, saves 64 B\n"
          "4 values in 2 slots, 1 of them shared: 112 B instead of 224 B\n");
    CHECK(log.saved() == 112);
    CHECK(log.shared == 1);
}

TEST_CASE("to any stream, and without names by numbers")
{
    std::ostringstream text;
    text << log_sharing(chain(), slots({0, no_slot, 1, no_slot}, 3), {.bytes = sizes});
    CHECK(text.str() == "0: 64 B opens slot 0\n2: 48 B opens slot 1\n"
                        "2 values in 2 slots, 0 of them shared: 112 B instead of 112 B\n");
    struct wire {
        std::string all;
        void operator<<(char const* s) { all += s; }
        void operator<<(char one) { all += one; }
    } plain;
    write_total(plain, sharing_log{});
    CHECK(plain.all == "0 values in 0 slots, 0 of them shared: 0 B instead of 0 B\n");
}

TEST_CASE("one value is traced: where it came, and who came after it")
{
    auto const log = log_sharing(chain(), slots({0, 1, 0, 0}, 2), {.bytes = sizes});
    auto const about = trace(log, c);
    REQUIRE(about.size() == 2);
    CHECK(about[0] == sharing_log::entry{c, a, 0, 48, 0, false});
    CHECK(about[1] == sharing_log::entry{d, c, 0, 80, 16, true});
    CHECK(trace(log, 77).empty());
}

TEST_CASE("views are nobody, and what is given comes first")
{
    auto const log = log_sharing(
        chain(), slots({0, 0, 1, 1}, 2),
        {.bytes = sizes, .alias_of = [](value_id v) { return v == b ? a : no_value; }}, {0, 1, 2, 3});
    CHECK(log.entries.size() == 3);
    snapshot const p = sequence(
        1, 3, [](step_id) { return std::vector{2}; }, [](step_id) { return std::vector{1}; });
    auto const given = log_sharing(p, slots({no_slot, 0, 1}, 2), {.bytes = 8});
    CHECK(given.entries[0].value == 2);
}

TEST_CASE("what cannot be told is refused")
{
    CHECK_THROWS_AS((void)log_sharing(chain(), slots({0}, 1), {.bytes = 8}), precondition_error);
    CHECK_THROWS_AS((void)log_sharing(chain(), slots({0, 0, 0, 5}, 1), {.bytes = 8}), precondition_error);
    CHECK_THROWS_AS((void)log_sharing(chain(), slots({0, 0, 0, 0}, 1), {.bytes = no_size}),
                    precondition_error);
    CHECK_THROWS_AS((void)log_sharing(chain(), slots({0, 1, 2, 3}, 4), {.bytes = no_size / 2}),
                    precondition_error);
}

TEST_CASE("the lines add up to what is saved")
{
    std::size_t in_place = 0;
    for (std::uint32_t seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(roll, {.tasks = 20, .views = 15, .in_place = 30});
        auto const plan = share_slots(tasks.program(), tasks.options());
        REQUIRE(!plan.violation);
        auto const log = log_sharing(tasks.program(), plan, tasks.options());
        byte_count naive = 0, saved = 0;
        std::map<slot_id, byte_count> largest;
        for (value_id v = 0; v != tasks.values(); ++v) {
            if (plan.slot_of[v] == no_slot || tasks.alias_of[v] != no_value) continue;
            naive += tasks.bytes[v];
            largest[plan.slot_of[v]] = std::max(largest[plan.slot_of[v]], tasks.bytes[v]);
        }
        byte_count total = 0;
        for (auto const& [slot, bytes] : largest) total += bytes;
        for (sharing_log::entry const& e : log.entries) {
            saved += e.saved();
            in_place += e.is_in_place;
        }
        REQUIRE(log.naive_bytes == naive);
        REQUIRE(log.slot_bytes == total);
        REQUIRE(log.slots == largest.size());
        REQUIRE(saved == naive - total);
        REQUIRE(saved == log.saved());
    }
    CHECK(in_place > rounds(200));
}

} // namespace this_test
