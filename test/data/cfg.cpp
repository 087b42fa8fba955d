// SPDX-License-Identifier: BSL-1.0
// The functions of SQLite: in SSA form with known live sets, numbers of values live at once and
// interferences; and as in the source, with variables that are written many times. The environment variable
// SUBLET_DATA names the folder.
#include "cfg_file.hpp"
#include "flow_oracle.hpp"
#include "max_live.hpp"

#include <sublet/analysis/control_flow.hpp>
#include <sublet/analysis/interference.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/checking/check_slots.hpp>
#include <sublet/sharing/color_graph.hpp>

#include <cstdint>
#include <cstdlib>
#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

using early = cfg_file::as_program<touch::access::use_early>;
using held = cfg_file::as_program<touch::access::use>;

std::vector<cfg_file::function> functions_of(std::string const& name)
{
    char const* folder = std::getenv("SUBLET_DATA");
    return cfg_file::functions_of(std::string(folder == nullptr ? "" : folder) + "/cfg/" + name);
}

std::size_t live_in_sum(live_sets const& live)
{
    std::size_t sum = 0;
    for (node_id n = 0; n != live.nodes(); ++n) sum += live.live_in_count(n);
    return sum;
}

/// Compares live sets with backward walks from each use.
bool is_as_walked(snapshot const& program, live_sets const& live)
{
    liveness_tables const walked = walked_liveness(program);
    for (node_id n = 0; n != program.nodes(); ++n)
        for (value_id v = 0; v != program.values(); ++v)
            if (live.is_live_in(v, n) != walked.in[n][v] || live.is_live_out(v, n) != walked.out[n][v])
                return false;
    return true;
}

} // namespace

TEST_CASE("real functions in SSA form have the known live sets, whatever the policy")
{
    auto const functions = functions_of("sqlite_cfg.txt.gz");
    CHECK(functions.size() == 1931);
    std::size_t blocks = 0, values = 0, live_in = 0;
    for (cfg_file::function const& f : functions) {
        CAPTURE(f.name);
        snapshot const program(early{f});
        live_sets const live = liveness(program);
        for (auto policy : {liveness_options::method::worklist, liveness_options::method::loop_forest,
                            liveness_options::method::per_value}) {
            CAPTURE(static_cast<int>(policy));
            CHECK(liveness(program, {.policy = policy}) == live);
        }
        CHECK(liveness(held{f}) == live);
        CHECK(liveness(program, {.dense_words = 0}) == live);
        CHECK(is_as_walked(program, live));
        blocks += program.nodes();
        values += program.values();
        live_in += live_in_sum(live);
    }
    CHECK(blocks == 59'795);
    CHECK(values == 216'064);
    CHECK(live_in == 1'682'567);
}

TEST_CASE("real functions in SSA form take as many slots as the known maximum of values live at once")
{
    std::size_t early_slots = 0, held_slots = 0;
    auto slots_of = [](auto const& source) {
        snapshot const program(source);
        live_sets const live = liveness(program);
        chordal_coloring const colored = color(program, live);
        CHECK(colored.plan.slots == max_live(program, live));
        CHECK(colored.is_optimal());
        CHECK(check_slots(program, colored.plan));
        return colored.plan.slots;
    };
    for (cfg_file::function const& f : functions_of("sqlite_cfg.txt.gz")) {
        CAPTURE(f.name);
        early_slots += slots_of(early{f});
        held_slots += slots_of(held{f});
    }
    CHECK(early_slots == 21'459);
    CHECK(held_slots == 22'794);
}

TEST_CASE("real functions in SSA form have the known number of interferences")
{
    std::uint64_t pairs_early = 0, pairs_held = 0, counted = 0;
    for (cfg_file::function const& f : functions_of("sqlite_cfg.txt.gz")) {
        pairs_early += interference(early{f}).graph().items() / 2;
        pairs_held += interference(held{f}).graph().items() / 2;
        counted += interference(held{f}, {.budget = 0}).edges();
    }
    CHECK(pairs_early == 6'746'871);
    CHECK(pairs_held == 6'864'722);
    CHECK(counted == pairs_held);
}

TEST_CASE("real functions with variables that are written many times have the same live sets by each policy")
{
    auto const functions = functions_of("sqlite_vars_nonssa.txt.gz");
    CHECK(functions.size() == 3303);
    std::size_t blocks = 0, values = 0, not_ssa = 0;
    for (cfg_file::function const& f : functions) {
        CAPTURE(f.name);
        snapshot const program(early{f});
        live_sets const live = liveness(program);
        CHECK(liveness(program, {.policy = liveness_options::method::worklist}) == live);
        CHECK(liveness(program, {.policy = liveness_options::method::per_value}) == live);
        CHECK(is_as_walked(program, live));
        try {
            live_sets const other = liveness(program, {.policy = liveness_options::method::loop_forest});
            CHECK(other == live);
        } catch (precondition_error const&) {
            ++not_ssa;
        }
        blocks += program.nodes();
        values += program.values();
    }
    CHECK(blocks == 48'684);
    CHECK(values == 18'831);
    CHECK(not_ssa > 0);
}

} // namespace this_test
