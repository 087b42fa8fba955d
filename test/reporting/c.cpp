// SPDX-License-Identifier: BSL-1.0
#include <sublet/reporting/c.hpp>

#include "written_plan.h" // what this test writes

#include <sublet/plan_symbolic.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// Each kind of formula, two pools, an alignment, a pin, and a value without bytes for some shapes.
planned_symbolic written_plan()
{
    formula const batch = symbol(0), height = symbol(1);
    std::vector<formula> const sizes{12 * batch * height * height,
                                     ceil_divide(batch * height, 8),
                                     larger_of(4096, 4 * batch * height),
                                     8 * batch - 8,
                                     round_up(5 * batch, 16),
                                     4 * batch, // a view of the last
                                     8};        // without storage of the plan
    snapshot const chain = sequence(7, 7, [](step_id step, effect_sink& sink) {
        if (step == 6) return sink.view(5);
        if (step != 0) sink.use(step - 1);
        if (step > 1) sink.use(step - 2);
        if (step != 5) sink.def(+step);
        else sink.use(6);
    });
    return plan_symbolic(
        chain, {.bytes = sizes,
                .dims = {{"batch", 1, 9}, {"the height", 0, 64, 16}},
                .alignment = {1, 16, 48, 1, 1, 1, 1},
                .role = [](value_id v) { return v == 6 ? value_role::external : value_role::intermediate; },
                .alias_of = [](value_id v) { return v == 5 ? value_id{4} : no_value; },
                .view_offset = [batch](value_id v) { return v == 5 ? batch : formula{}; },
                .pool = {0, 0, 0, 1, 0, 0, 0},
                .pinned = [](value_id v) { return v == 3 ? byte_count{32} : no_offset; }});
}

} // namespace

TEST_CASE("a plan for every shape is written as C, and what is written gives its offsets")
{
    auto const planned = written_plan();
    REQUIRE(planned);
    std::ostringstream text;
    text << "/* SPDX-License-Identifier: BSL-1.0 */\n/* Written by sublet::write_c(). */\n";
    write_c(text, planned.plan,
            {.prefix = "written", .names = {"image", "mask", "rows", "*/ left", "sums", "part", "table"}});
    if (char const* const file = std::getenv("SUBLET_WRITE_C")) std::ofstream(file) << text.str();
    std::ifstream kept(std::string(__FILE__).substr(0, std::string(__FILE__).rfind('/')) + "/written_plan.h");
    std::ostringstream committed;
    committed << kept.rdbuf();
    CHECK(committed.str() == text.str()); // SUBLET_WRITE_C=test/reporting/written_plan.h makes it anew

    REQUIRE(planned.plan.buffers.size() == written_buffers);
    REQUIRE(planned.plan.stack.pools == written_pools);
    symbolic_plan::places now;
    for (byte_count batch = 1; batch <= 9; ++batch)
        for (byte_count height = 0; height <= 64; height += 16) {
            long long size[written_buffers], offset[written_buffers], bytes[written_pools];
            written_place(static_cast<long long>(batch), static_cast<long long>(height), size, offset, bytes);
            planned.plan.place({batch, height}, now);
            for (buffer_id b = 0; b != written_buffers; ++b) {
                CHECK(static_cast<byte_count>(size[+b]) == now.size[+b]);
                CHECK(static_cast<byte_count>(offset[+b]) == now.at.of[b]);
            }
            long long at[written_count];
            written_values(static_cast<long long>(batch), static_cast<long long>(height), offset, at);
            for (value_id v = 0; v != written_count; ++v)
                CHECK(at[+v] == (v == 6 ? -1 : static_cast<long long>(planned.plan.offset_of(v, now))));
            for (pool_id p = 0; p != written_pools; ++p)
                CHECK(static_cast<byte_count>(bytes[+p]) == now.at.bytes[p]);
        }
}

TEST_CASE("a size by shape is refused")
{
    symbolic_plan plan = written_plan().plan;
    plan.sizes[0] = formula::by_shape();
    std::ostringstream text;
    CHECK_THROWS_AS(write_c(text, plan), precondition_error);
}

TEST_CASE("a prefix that is no identifier is refused")
{
    symbolic_plan const plan = written_plan().plan;
    std::ostringstream text;
    for (char const* prefix : {"", "2d", "my plan", "a-b", "_x", static_cast<char const*>(nullptr)})
        CHECK_THROWS_WITH_AS(write_c(text, plan, {.prefix = prefix}),
                             "sublet: a prefix is no identifier of C", precondition_error);
    CHECK(text.str().empty());
    for (char const* prefix : {"d1", "int", "sublet", "a_2"}) { // with _place they are no keywords
        write_c(text, plan, {.prefix = prefix});
        CHECK(text.str().find(std::string(" ") + prefix + "_values(") != std::string::npos);
    }
}

TEST_CASE("a dimension with a name that C, C++ or what is written has taken gets a number")
{
    for (char const* name : {"wchar_t", "decltype", "bitand", "thread_local", "co_await", "linux",
                             "sublet_size", "sublet_at", "sublet_s0", "sublet_begin", "SUBLET_FORMULAS"}) {
        CAPTURE(name);
        symbolic_plan plan = written_plan().plan;
        plan.dims[0].name = name;
        std::ostringstream text;
        write_c(text, plan);
        CHECK(text.str().find("_place(long long d0, ") != std::string::npos);
    }
}

} // namespace this_test
