// SPDX-License-Identifier: BSL-1.0
// Random programs with all features: the checker proves every plan, and no plan is worse than no sharing.
#include <sublet/analysis/internal/pressure.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/sharing/color_intervals.hpp>

#include "../operations.hpp"
#include "../random_source.hpp"
#include "../view_sizes.hpp"

#include <doctest/doctest.h>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

struct drawn {
    snapshot program;
    plan_options options;
};

template <class Pick>
drawn draw(Pick& pick)
{
    auto below = [&](std::size_t n) { return static_cast<std::uint32_t>(pick() % n); };
    std::size_t const steps = 1 + below(12);
    struct operation {
        std::vector<value_id> uses, early, defs;
        std::vector<overwrite> pairs;
    };
    std::vector<operation> ops(steps);
    std::vector<byte_count> bytes, alignment, pinned;
    std::vector<value_role> role;
    std::vector<value_id> alias_of;
    std::vector<pool_id> pool;
    std::vector<bool> eligible;
    bool const pools = below(3) == 0, pins = below(6) == 0;
    auto value = [&](value_id alias) {
        bytes.push_back(below(12) == 0 ? (below(2) == 0 ? 0 : no_size) : 4 * (1 + below(4)));
        alignment.push_back(1 + below(below(3) == 0 ? 6 : 1));
        pinned.push_back(pins && below(5) == 0 ? 60 * below(4) : no_offset);
        role.push_back(value_role::intermediate);
        alias_of.push_back(alias);
        pool.push_back(pools ? below(2) : 0);
        eligible.push_back(below(20) != 0);
        return static_cast<value_id>(bytes.size() - 1);
    };
    for (std::size_t i = 0, given = 1 + below(3); i != given; ++i)
        role[value(no_value)] = below(2) == 0 ? value_role::input : value_role::external;
    for (auto& op : ops) {
        for (std::size_t k = 0, n = below(4); k != n; ++k)
            (below(6) == 0 ? op.early : op.uses).push_back(below(bytes.size()));
        for (std::size_t k = 0, n = below(3); k != n; ++k) {
            bool const is_view = !op.uses.empty() && below(4) == 0;
            value_id const out = value(is_view ? op.uses[0] : no_value);
            op.defs.push_back(out);
            if (below(6) == 0) role[out] = value_role::output;
            for (value_id in : op.uses)
                if (below(2) == 0) op.pairs.push_back({0, in, out});
        }
        if (below(10) == 0) op.defs.push_back(below(bytes.size())); // written again
    }
    auto program = sequence(steps, bytes.size(), [&](auto step, effect_sink& s) {
        for (auto v : ops[step].uses) s.use(v);
        for (auto v : ops[step].early) s.use_early(v);
        add_results(s, ops[step].defs, alias_of);
        for (auto o : ops[step].pairs) s.may_overwrite(o.in, o.out);
    });
    return {std::move(program), plan_options{.bytes = within_roots(bytes, alias_of),
                                             .alignment = alignment,
                                             .role = role,
                                             .alias_of = alias_of,
                                             .pool = of_roots(pool, alias_of),
                                             .pinned = pinned,
                                             .eligible = of_classes(eligible, alias_of)}};
}

} // namespace

TEST_CASE("every plan of a random program is proved; only conflicting pins are rejected")
{
    std::size_t sound = 0, in_place = 0;
    for (unsigned seed = 0; seed != rounds(4000); ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        drawn d = draw(pick);
        auto planned = plan_memory(d.program, d.options);
        if (!planned) {
            bool const pin = planned.error().what == fault::misaligned ||
                             planned.error().what == fault::off_pin || planned.error().what == fault::clash;
            CHECK(pin);
            CHECK(!planned.report().is_checked);
            continue;
        }
        ++sound;
        CHECK(planned.report().is_checked);
        CHECK(planned.report().lower_bound_bytes <= planned.report().arena_bytes);
        CHECK(plan_memory(d.program, d.options).plan == planned.plan);

        plan_options apart = d.options;
        apart.in_place = false;
        auto const without = plan_memory(d.program, apart);
        if (without) CHECK(planned.report().buffers <= without.report().buffers);
        in_place += bool(without) && planned.report().buffers < without.report().buffers;
    }
    CHECK(sound > rounds(3000));
    CHECK(in_place > rounds(300));
}

TEST_CASE("slots by any policy separate overlapping buffers, and offsets need no more bytes than slots in "
          "the same order")
{
    for (unsigned seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        drawn d = draw(pick);
        auto lives = lifetimes(d.program, {.role = d.options.role});
        REQUIRE(lives);
        auto table = gather_buffers(lives, d.options);
        auto life = [&](auto b) {
            return table.buffers[b].is_planned() ? table.buffers[b].life : live_range{};
        };
        auto size = [&](auto b) { return table.buffers[b].is_planned() ? table.buffers[b].size : 0; };
        auto colored = color(table.buffers.size(), life);
        for (auto fit : {linear_options::fit_kind::equal, linear_options::fit_kind::at_least,
                         linear_options::fit_kind::best_fit, linear_options::fit_kind::grow}) {
            auto recycled = share_linearly(table.buffers.size(), life, size, {.fit = fit});
            CHECK(recycled.slots >= colored.slots);
            auto const peak =
                pressure(table.buffers.size(), life, size, lives.positions == 0 ? 1 : lives.positions).peak;
            CHECK(recycled.total_bytes >= peak);
        }
    }
}

} // namespace this_test
