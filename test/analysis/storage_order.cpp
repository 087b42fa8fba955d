// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/versions.hpp>

#include "../dice.hpp"
#include "../random_tasks.hpp"

#include <sublet/analysis/dependences.hpp>

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using ids = std::vector<value_id>;

/// Task i defines value i and uses what is given.
snapshot tasks_of(std::vector<ids> const& uses)
{
    return sequence(uses.size(), uses.size(), [&](step_id s, effect_sink& sink) {
        for (value_id v : uses[s]) sink.use(v);
        sink.def(s);
    });
}

} // namespace

TEST_CASE("who overwrites waits for who reads")
{
    // 0 ─► 1, 2    3 overwrites 0
    auto const p = tasks_of({{}, {0}, {0}, {}});
    CHECK(storage_order(p, 1, {0, no_buffer, no_buffer, 0}, {1, 1, 1, 1}) ==
          std::vector<handoff>{{1, 3}, {2, 3}});
}

TEST_CASE("who overwrites what nobody has read waits for the write")
{
    CHECK(storage_order(tasks_of({{}, {}, {}}), 1, {0, 0, 0}, {1, 1, 1}) ==
          std::vector<handoff>{{0, 1}, {1, 2}});
}

TEST_CASE("storage that needs no order has none")
{
    CHECK(storage_order(tasks_of({{}, {}}), 0, {no_buffer, no_buffer}, {1, 1}).empty());
    CHECK(storage_order(tasks_of({{}, {}}), 2, {0, 1}, {1, 1}).empty());
    CHECK(storage_order(snapshot{}, 0, {}, {}).empty());
}

TEST_CASE("making a view is a read, and who reads the view waits for no more")
{
    // 1 = view of 0; 2 reads the view; 3 overwrites 0 and all its views; 4 reads the view, and what is new
    auto const p = tasks_of({{}, {0}, {1}, {}, {1}});
    CHECK(storage_order(p, 1, {0, 0, no_buffer, 0, no_buffer}, {1, 0, 1, 1, 1}) ==
          std::vector<handoff>{{1, 3}, {2, 3}, {3, 4}});
}

TEST_CASE("what edges, data and nodes say is not said again")
{
    CHECK(storage_order(tasks_of({{}, {0}, {1}}), 1, {0, no_buffer, 0}, {1, 1, 1}).empty());
    auto in_nodes = [](bool edge) { // a node with two steps, and one that follows it if there is an edge
        return flow(
            2, 4, [edge](node_id n) { return n == 0 && edge ? std::vector<int>{1} : std::vector<int>{}; },
            [](node_id n, effect_sink& s) {
                if (n == 0) s.def(0), s.next_step(), s.use(0), s.def(1);
                else s.def(2), s.next_step(), s.def(3);
            });
    };
    CHECK(storage_order(in_nodes(false), 2, {0, 0, 1, 1}, {1, 1, 1, 1}).empty());
    std::vector<buffer_id> const storage{0, no_buffer, no_buffer, 0};
    CHECK(storage_order(in_nodes(true), 1, storage, {1, 1, 1, 1}).empty());
    CHECK(storage_order(in_nodes(false), 1, storage, {1, 1, 1, 1}) == std::vector<handoff>{{1, 3}});
}

TEST_CASE("who reads at the end of a node waits by data, and is waited for")
{
    // 0 writes, 2 asks for it at the end of 1, 3 overwrites
    auto const p = flow(
        4, 2, [](node_id n) { return n == 1 ? std::vector<int>{2} : std::vector<int>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.def(0);
            if (n == 2) s.use_at_end_of(1, 0);
            if (n == 3) s.def(1);
        });
    CHECK(storage_order(p, 1, {0, 0}, {1, 1}) == std::vector<handoff>{{1, 3}});
}

TEST_CASE("touches of one storage run as listed, and nothing waits without need")
{
    std::size_t needed = 0;
    for (std::uint32_t seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937(seed)};
        auto const tasks = draw_tasks(roll, {.tasks = 1 + roll.below(14), .early = 0, .given = 0});
        snapshot const p = tasks.program();
        auto const steps = static_cast<step_id>(p.steps());
        unsigned const storages = 1 + roll.below(3);
        std::vector<buffer_id> storage_of;
        std::vector<unsigned char> is_written;
        for (value_id v = 0; v != p.values(); ++v) {
            buffer_id const b = roll.below(storages + 1);
            storage_of.push_back(b == storages ? no_buffer : b);
            is_written.push_back(roll.below(3) != 0);
        }
        auto const handoffs = storage_order(p, storages, storage_of, is_written);
        sharing_rule const data(tasks), all(tasks, handoffs);

        auto required = data.before;
        for (step_id a = 0; a != steps; ++a)
            for (step_id b = a + 1; b < steps; ++b)
                for (touch t : p.touches(a))
                    for (touch u : p.touches(b)) {
                        bool const writes = (t.kind == touch::access::def && is_written[t.value]) ||
                                            (u.kind == touch::access::def && is_written[u.value]);
                        if (storage_of[t.value] != no_buffer && storage_of[t.value] == storage_of[u.value] &&
                            writes)
                            required[a][b] = true;
                    }
        for (step_id k = 0; k != steps; ++k)
            for (step_id a = 0; a != steps; ++a)
                for (step_id b = 0; b != steps; ++b)
                    if (required[a][k] && required[k][b]) required[a][b] = true;
        REQUIRE(all.before == required);

        for (std::size_t i = 0; i != handoffs.size(); ++i) {
            auto const [from, to] = handoffs[i];
            if (i != 0) {
                handoff const last = handoffs[i - 1];
                REQUIRE((last.from < from || (last.from == from && last.to < to)));
            }
            bool is_said = false;
            for (touch t : p.touches(to))
                for (touch u : p.touches(from))
                    is_said |=
                        t.kind != touch::access::def && u.kind == touch::access::def && u.value == t.value;
            auto const next = p.successors(from);
            REQUIRE(!is_said);
            REQUIRE(std::find(next.begin(), next.end(), to) == next.end());
        }
        needed += handoffs.size();
    }
    CHECK(needed > rounds(8000));
}

} // namespace this_test
