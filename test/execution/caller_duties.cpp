// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/detail/run_desk.hpp>

#include <sublet/execution/run_options.hpp>

#include "../op_list.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// image * weights -> scores, with a view of unknown storage beside it.
struct task {
    enum { image, weights, cache, part, scores, idle };
    snapshot program = op_list(6, {{image, weights, part}}, {{scores}});
    plan_options options{.bytes = std::vector<byte_count>{16, 8, no_size, 24, 4, 4},
                         .alignment = std::vector<byte_count>{1, 8, 1, 1, 1, 1},
                         .role = {value_role::input, value_role::external, value_role::external,
                                  value_role::external, value_role::output, value_role::external},
                         .alias_of =
                             std::vector<value_id>{no_value, no_value, no_value, cache, no_value, no_value}};
    run_tape tape = tape_of(program, options, per_value<bool>(false));
    detail::caller_duties duties{tape};

    void give(value_id v) { duties.give(tape.table.buffer_of[v]); }
    value_id missed() const
    {
        try {
            duties.expect_all(tape);
        } catch (unusable_value const& e) {
            return e.value();
        }
        return no_value;
    }
};

} // namespace

TEST_CASE("what is bound stays, what is given is used up by a run, and what no step touches is not owed")
{
    task its;
    CHECK(its.missed() == task::image);
    its.give(task::image);
    CHECK(its.missed() == task::weights);
    CHECK_THROWS_AS(its.duties.expect_bound(its.tape), unusable_value);
    its.give(task::weights);
    its.give(task::part); // with all that it is a view of
    CHECK(its.missed() == no_value);
    its.duties.use_up_inputs(its.tape);
    CHECK(its.missed() == task::image);
    CHECK_NOTHROW(its.duties.expect_bound(its.tape));
}

TEST_CASE("storage that is bound is as large as it has to be, and as aligned")
{
    task its;
    alignas(8) std::array<std::byte, 25> bytes{};
    auto fits = [&](value_id v, std::size_t begin, std::size_t size) {
        try {
            its.duties.expect_fit(its.tape, v, std::span(bytes).subspan(begin, size));
        } catch (unusable_value const& e) {
            return e.value();
        }
        return no_value;
    };
    CHECK(fits(task::weights, 0, 8) == no_value);
    CHECK(fits(task::weights, 0, 7) == task::weights);
    CHECK(fits(task::weights, 1, 8) == task::weights);
    CHECK(fits(task::cache, 0, 24) == no_value);
    CHECK(fits(task::cache, 0, 23) == task::part); // the view tells what is too small
    CHECK_THROWS_AS(fits(task::image, 0, 16), precondition_error);
}

TEST_CASE("a value is asked for what it is")
{
    task its;
    CHECK_THROWS_AS(its.duties.value_of(its.tape, 6), precondition_error);
    CHECK_THROWS_AS(its.duties.expect_input(its.tape, task::weights), precondition_error);
    CHECK_THROWS_AS(its.duties.expect_output(its.tape, task::image), precondition_error);
    CHECK_THROWS_AS(its.duties.expect_results(task::scores, false), unusable_value);
    CHECK_NOTHROW(its.duties.expect_input(its.tape, task::image));
    CHECK_NOTHROW(its.duties.expect_output(its.tape, task::scores));
    CHECK_NOTHROW(its.duties.expect_results(task::scores, true));
}

} // namespace this_test
