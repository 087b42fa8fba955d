// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/detail/executor_state.hpp>

#include <doctest/doctest.h>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("work and outputs are told apart")
{
    executor_state its;
    CHECK(its.now() == run_state::empty);
    its.drop_outputs();
    its.settle(); // there is nothing to drop, and nothing to wait for
    CHECK(its.now() == run_state::empty);
    its.queue();
    CHECK(its.now() == run_state::loading);
    CHECK((its.has_work() && !its.has_outputs()));
    its.make_outputs();
    CHECK(its.now() == run_state::queued);
    CHECK((its.has_work() && its.has_outputs()));
    its.queue();
    CHECK(its.now() == run_state::queued);
    its.settle();
    CHECK(its.now() == run_state::done);
    CHECK((!its.has_work() && its.has_outputs()));
    its.queue(); // bound storage is given anew: outputs stay
    CHECK(its.now() == run_state::queued);
    its.drop_outputs();
    CHECK(its.now() == run_state::loading);
    its.settle();
    CHECK(its.now() == run_state::empty);
    CHECK_THROWS_AS(its.make_outputs(), precondition_error); // nothing was queued that makes them
}

TEST_CASE("while kernels may run there are no outputs, and afterwards the state is what it was")
{
    executor_state its;
    its.queue();
    its.make_outputs();
    its.settle();
    {
        kernels_running const now(its);
        CHECK(its.is_running());
        CHECK((!its.has_work() && !its.has_outputs()));
        CHECK(its.start() == run_state::running); // a second caller is refused
        CHECK_THROWS_AS(its.queue(), precondition_error);
        CHECK_THROWS_AS(its.make_outputs(), precondition_error);
        CHECK_THROWS_AS(its.lose(), precondition_error);
        CHECK(its.is_running());
    }
    CHECK(its.now() == run_state::done);
    CHECK(its.start() == run_state::done);
    its.finish(run_state::empty);
    CHECK(its.now() == run_state::empty);
}

TEST_CASE("a lost device stays lost")
{
    executor_state its;
    its.queue();
    CHECK_THROWS_AS(its.lose(), precondition_error); // queued work is discarded before
    its.settle();
    its.lose();
    its.settle();
    its.drop_outputs();
    CHECK(its.is_lost());
    {
        kernels_running const now(its);
    }
    CHECK(its.is_lost());
    CHECK_THROWS_AS(its.queue(), precondition_error);
    CHECK_THROWS_AS(its.make_outputs(), precondition_error);
}

} // namespace this_test
