// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/step_waits.hpp>

#include "../dice.hpp"
#include "../random_program.hpp"

#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("who moves in follows everybody whose bytes it takes, and an input nobody")
{
    enum { in, a, b, c };
    std::vector<std::vector<int>> const uses = {{in}, {in}, {a, b}}, defs = {{a}, {b}, {c}};
    snapshot const program = sequence(
        3, 4, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
    using enum value_role;
    plan_options const options{.bytes = {8, 8, 8, 20}, .role = {input, intermediate, intermediate, output}};
    run_tape const tape = tape_of(program, options, false);
    memory_plan plan;
    plan.arena_bytes = {100};
    byte_count const offsets[] = {0, 8, 16, 4};
    for (value_id v = 0; v != 4; ++v) {
        plan.buffer_of.push_back(v);
        plan.buffers.push_back({.root = v, .offset = offsets[v]});
    }
    detail::tenants arenas(tape, plan);
    auto followed = [&](buffer_id who) {
        std::vector<buffer_id> before;
        arenas.move_in(who, [&](buffer_id b) { before.push_back(b); });
        return before;
    };
    CHECK(followed(in).empty());
    CHECK(followed(a).empty());
    CHECK(followed(b).empty());
    CHECK(followed(c) == std::vector<buffer_id>{in, a, b});
    CHECK(followed(b) == std::vector<buffer_id>{c});
    CHECK(followed(b).empty()); // but not itself
}

TEST_CASE("random plans have the tenants that painting their bytes one by one finds")
{
    std::size_t found = 0;
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        random_program const p = draw_program(pick, 10);
        memory_plan const plan = plan_memory(p.program(), p.options()).plan;
        run_tape const tape = tape_of(p.program(), p.options(), p.is_scratch);
        detail::tenants arenas(tape, plan);
        std::map<std::pair<pool_id, byte_count>, buffer_id> lies_at;
        auto each_byte = [&](buffer_id b, auto see) {
            buffer const& its = tape.table.buffers[b];
            for (byte_count i = 0; its.is_planned() && i != its.size; ++i)
                see(std::pair{its.pool, plan.offset_of(its.root) + i});
        };
        for (buffer_id b = 0; b != tape.table.buffers.size(); ++b)
            if (is_given(tape.table.buffers[b].role)) each_byte(b, [&](auto at) { lies_at[at] = b; });
        for (step_id at = 0; at != tape.positions(); ++at)
            for (buffer_id b : tape.touched[at]) {
                if (tape.first_write[b] != at || is_given(tape.table.buffers[b].role)) continue;
                std::set<buffer_id> before, followed;
                each_byte(b, [&](auto byte) {
                    if (lies_at.count(byte) != 0) before.insert(lies_at.at(byte));
                    lies_at[byte] = b;
                });
                arenas.move_in(b, [&](buffer_id one) { followed.insert(one); });
                CHECK(followed == before);
                found += before.size();
            }
    }
    CHECK(found > 200);
}

} // namespace this_test
