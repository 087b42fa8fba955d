// SPDX-License-Identifier: BSL-1.0
#include <sublet/symbolic_plan.hpp>

#include <doctest/doctest.h>
#include <vector>

namespace this_test {

using namespace sublet;

TEST_CASE("for one batch the options are those of an ordinary plan")
{
    std::vector<affine_bytes> const sizes{{0, 64}, {32, 0}, affine_bytes::unknown()};
    symbolic_options const options{.bytes = sizes,
                                   .max_batch = 8,
                                   .alignment = 16,
                                   .role = {value_role::input, value_role::output, value_role::external},
                                   .pools = {{.capacity = 4096}},
                                   .order = {0},
                                   .in_place = false};
    plan_options const one = options.at(3);
    CHECK(one.bytes.tabulate(3) == std::vector<byte_count>{192, 32, no_size});
    CHECK(one.alignment[0] == 16);
    CHECK(one.role[1] == value_role::output);
    CHECK(one.alias_of[0] == no_value);
    CHECK(one.pools[0].capacity == 4096);
    CHECK(one.order == std::vector<node_id>{0});
    CHECK(!one.in_place);
    CHECK(one.check);
}

TEST_CASE("sizes are a constant, a table or a callable")
{
    CHECK(symbolic_options{.bytes = affine_bytes{4, 8}}.bytes[9].at(2) == 20);
    symbolic_options const called{.bytes = [](auto v) { return affine_bytes{0, v}; }, .max_batch = 2};
    CHECK(called.at(2).bytes[21] == 42);
}

TEST_CASE("there is no batch of nobody, and none beyond the largest")
{
    symbolic_options const options{.bytes = affine_bytes{4, 8}, .max_batch = 5};
    CHECK_THROWS_AS(static_cast<void>(options.at(0)), precondition_error);
    CHECK_THROWS_AS(static_cast<void>(options.at(6)), precondition_error);
    CHECK(options.at(5).bytes[0] == 44);
}

} // namespace this_test
