// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/sharing/detail/chains.hpp>

#include "../concurrent_lives.hpp"
#include "../network.hpp"
#include "../random_sharing.hpp"
#include "../random_source.hpp"
#include "../task_families.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/max_cardinality_matching.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using buffers = std::vector<buffer_id>;
using slots = std::vector<slot_id>;

namespace {

/// Step s uses `uses[s]` and defines value s; none is an output.
struct made {
    std::vector<std::vector<value_id>> uses;
    snapshot p = sequence(uses.size(), uses.size(), [this](std::uint32_t s, effect_sink& sink) {
        for (auto v : uses[s]) sink.use(v);
        sink.def(s);
    });
    dependence_graph g = dependences(p);
    concurrent_live_ranges lives = lives_of_each(p, g);
    conflict_ranges conflicts = find_conflict_ranges(g, lives);
};

/// The least cost of groups of members that may share pairwise, if it is below `best`, by exhaustive search.
/// A cost never falls when a group is begun or grows.
template <class Cost>
std::uint64_t least_cost(drawn_sharing const& d, Cost const& cost, std::uint64_t best,
                         std::vector<buffers> const& groups = {}, std::size_t next = 0)
{
    std::uint64_t const now = cost(groups);
    if (now >= best) return best;
    if (next == d.wanted.size()) return now;
    buffer_id const v = d.wanted[next];
    for (std::size_t i = 0; i != groups.size(); ++i) {
        bool may = true;
        for (buffer_id u : groups[i]) may = may && d.may_share(u, v);
        if (!may) continue;
        std::vector<buffers> grown = groups;
        grown[i].push_back(v);
        best = least_cost(d, cost, best, grown, next + 1);
    }
    std::vector<buffers> more = groups;
    more.push_back({v});
    return least_cost(d, cost, best, more, next + 1);
}

/// By Edmonds' matching: two vertices per value, as predecessor and as successor.
std::size_t fewest_by_matching(drawn_sharing const& d)
{
    using graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;
    using index = boost::property_map<graph, boost::vertex_index_t>::const_type;
    std::size_t const n = d.wanted.size();
    graph g(2 * n);
    for (std::size_t i = 0; i != n; ++i)
        for (std::size_t j = 0; j != n; ++j)
            if (d.may_share(d.wanted[i], d.wanted[j]) && d.reusable_by(d.wanted[i], d.wanted[j]))
                add_edge(i, n + j, g);
    std::vector<graph::vertex_descriptor> mate(2 * n);
    boost::matching<graph, graph::vertex_descriptor*, index, boost::edmonds_augmenting_path_finder,
                    boost::greedy_matching, boost::no_matching_verifier>(g, mate.data(),
                                                                         get(boost::vertex_index, g));
    return n - boost::matching_size(g, mate.data());
}

chain_cover covered(drawn_sharing const& d)
{
    return fewest_slots(d.lives, d.conflicts,
                        {.bytes = d.bytes, .pool = d.tasks.pool, .eligible = d.eligible});
}

} // namespace

TEST_CASE("a chain of steps needs two slots, and two adjacent values are the proof")
{
    made const m{{{}, {0}, {1}, {2}}};
    auto const cover = fewest_slots(m.lives, m.conflicts);
    CHECK(cover.plan.slot_of == slots{0, 1, 0, 1});
    CHECK(cover.antichain.size() == 2);
    CHECK(cover.is_optimal());
}

TEST_CASE("values of which one may be read while the other is written do not share")
{
    made const m{{{}, {0}, {0}, {1, 2}}};
    auto const cover = fewest_slots(m.lives, m.conflicts);
    CHECK(cover.plan.slot_of == slots{0, 1, 2, 0});
    CHECK(cover.antichain == buffers{1, 2, 3});
}

TEST_CASE("a slot goes to the buffer that can reuse no other, not to the first that could")
{
    // 4 and 5 may reuse 0, but only 4 may reuse 1: 5 does not wait for 3, which reads 1.
    made const m{{{}, {}, {0}, {1}, {2, 3}, {2}}};
    auto const cover = fewest_slots(m.lives, m.conflicts);
    CHECK(cover.plan.slot_of == slots{0, 1, 2, 3, 1, 0});
    CHECK(cover.is_optimal());
}

TEST_CASE("no buffers and 0 bytes need no slot; other pools and ineligible buffers have slots of their own")
{
    made const nothing{{}};
    CHECK(fewest_slots(nothing.lives, nothing.conflicts).plan.slots == 0);
    made const m{{{}, {0}, {1}, {2}}};
    CHECK(fewest_slots(m.lives, m.conflicts, {.bytes = {8, 0, 8, 0}}).plan.slot_of ==
          slots{0, no_slot, 0, no_slot});
    CHECK(fewest_slots(m.lives, m.conflicts, {.pool = {1, 0, 0, 0}}).plan.slot_of == slots{2, 0, 1, 0});
    auto const kept = fewest_slots(m.lives, m.conflicts, {.eligible = std::vector<bool>{0, 1, 1, 1}});
    CHECK(kept.plan.slot_of == slots{2, 0, 1, 0});
    CHECK(kept.is_optimal());
    CHECK_THROWS_WITH_AS((void)fewest_slots(m.lives, m.conflicts, {.pool = -1}),
                         "sublet: buffer 0 names pool 4294967295, which is out of range", precondition_error);
}

TEST_CASE("the bound counts for each size the slots of at least that size")
{
    made const m{{{}, {0}, {0}, {1, 2}}}; // 1, 2 and 3 conflict, and 0 with 1 and 2
    CHECK(least_slot_bytes(m.lives, m.conflicts, {.bytes = {8, 4, 2, 1}}) == 8 + 4 + 2);
    CHECK(least_slot_bytes(m.lives, m.conflicts, {.bytes = {1, 2, 4, 8}}) == 8 + 4 + 2);
    CHECK(least_slot_bytes(m.lives, m.conflicts, {.bytes = {8, 0, 0, 8}}) == 8);
    CHECK(least_slot_bytes(m.lives, m.conflicts, {.bytes = {8, 0, 0, 8}, .pool = {0, 0, 0, 1}}) == 16);
    CHECK_THROWS_AS((void)least_slot_bytes(m.lives, m.conflicts, {.bytes = no_size - 1}), precondition_error);
}

TEST_CASE("with undecided conflicts there is a plan, but no proof")
{
    made m{{{}, {0}, {1}, {2}}};
    m.conflicts.undecided = 1;
    auto const cover = fewest_slots(m.lives, m.conflicts);
    CHECK(cover.plan.slots == 2);
    CHECK(cover.antichain.empty());
    CHECK(!cover.is_optimal());
    CHECK(least_slot_bytes(m.lives, m.conflicts, {}) == 0);
}

TEST_CASE("random programs: every plan is valid and every antichain holds, so both are optimal")
{
    std::size_t several = 0, small = 0, met = 0;
    for (std::uint32_t seed = 0; seed != rounds(4000); ++seed) {
        CAPTURE(seed);
        drawn_sharing const d = draw_sharing(seed, seed % 10 == 0 ? 40 : 9);
        REQUIRE(d.graph);
        chain_cover const cover = covered(d);
        char const* const fault = d.fault_of(cover.plan.slot_of, cover.plan.slots);
        REQUIRE_MESSAGE(!fault, fault);
        REQUIRE(cover.is_optimal());
        REQUIRE(std::is_sorted(cover.antichain.begin(), cover.antichain.end()));
        for (buffer_id u : cover.antichain)
            for (buffer_id v : cover.antichain)
                if (u != v) REQUIRE(!d.may_share(u, v));
        for (buffer_id v : d.wanted) several += d.lives.begins[v].size() > 1;
        if (d.wanted.size() <= 60) REQUIRE(cover.plan.slots == fewest_by_matching(d));
        if (d.wanted.size() <= 8) {
            REQUIRE(cover.plan.slots ==
                    least_cost(d, [](auto const& groups) { return groups.size(); }, d.wanted.size() + 1));
            byte_count const least = least_slot_bytes(
                d.lives, d.conflicts, {.bytes = d.bytes, .pool = d.tasks.pool, .eligible = d.eligible});
            auto const bytes_of = [&d](std::vector<buffers> const& groups) {
                byte_count sum = 0;
                for (buffers const& group : groups) {
                    byte_count largest = 0;
                    for (buffer_id u : group) largest = std::max(largest, d.bytes[u]);
                    sum += largest;
                }
                return sum;
            };
            byte_count const fewest = least_cost(d, bytes_of, no_size);
            REQUIRE(least <= fewest);
            ++small;
            met += least == fewest;
        }
    }
    CHECK(several > rounds(100));
    CHECK(met * 10 > small * 9);
}

TEST_CASE("families of task graphs need few slots under every schedule")
{
    auto fewest = [](std::string_view name) {
        task_family const family = draw_family(name, 3000);
        snapshot const p = family.program();
        dependence_graph const g = dependences(p);
        auto const lives = lives_of_each(p, g);
        auto const cover = fewest_slots(lives, find_conflict_ranges(g, lives));
        CHECK(cover.is_optimal());
        return cover.plan.slots;
    };
    CHECK(fewest("chain") == 2);
    CHECK(fewest("residual") == 3);
    CHECK(fewest("ladder8") == 16);
    CHECK(fewest("nested") == 127);
    CHECK(fewest("inception") == 7);
}

TEST_CASE("ResNet-50 needs five slots under every schedule, four with batch norms in place, and no fewer")
{
    for (bool in_place : {false, true}) {
        CAPTURE(in_place);
        network::op_list const net = network::resnet50();
        snapshot const p = net.program();
        auto const role = net.options().role.tabulate(net.bytes.size());
        dependence_graph const g = dependences(p, {.role = role, .alias_of = net.alias_of});
        table<value_id, buffer_id> buffer_of;
        for (value_id v = 0; v != net.bytes.size(); ++v) {
            // It follows its convolution and is its only reader.
            bool const is_norm = in_place && net.uses[v].size() == 1 && net.bytes[v] == net.bytes[v - 1] &&
                                 net.uses[v][0] + 1 == v && !net.may_overwrite[v] && v + 5 < net.bytes.size();
            value_id const same = is_norm ? value_id{v - 1} : net.alias_of[v];
            buffer_of.push_back(same == no_value ? buffer_id{+v} : buffer_of[same]);
        }
        auto const lives = concurrent_lifetimes(p, g, net.bytes.size(), buffer_of, role);
        auto const conflicts = find_conflict_ranges(g, lives);
        std::vector<byte_count> bytes = net.bytes;
        for (value_id v = 0; v != bytes.size(); ++v)
            if (buffer_of[v] != +v) bytes[v] = 0;
        auto const cover = fewest_slots(lives, conflicts, {.bytes = bytes});
        CHECK(cover.is_optimal());
        CHECK(cover.plan.slots == (in_place ? 4 : 5));
    }
}

} // namespace this_test
