// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/recorder.hpp>

#include <sublet/units.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <type_traits>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// A call without an executor around it: its operands lie where it says.
struct plain_call {
    step_id step = 0;
    std::vector<std::span<std::byte>> ins, outs;
    std::vector<value_id> names_in = std::vector<value_id>(ins.size());
    std::vector<value_id> names_out = std::vector<value_id>(outs.size());

    std::span<value_id const> uses() const { return names_in; }
    std::span<value_id const> defs() const { return names_out; }
    std::span<std::byte const> in(std::size_t i) const { return ins[i]; }
    std::span<std::byte> out(std::size_t j) const { return outs[j]; }
};
using function = detail::recorded_function<plain_call>;

template <class Action>
std::string complaint(Action action)
{
    try {
        action();
    } catch (precondition_error const& e) {
        return e.what();
    }
    return "";
}
csr_rows rows(std::vector<std::vector<value_id>> const& lists)
{
    csr_rows result;
    for (auto const& list : lists) {
        for (value_id v : list) result.append(v);
        result.close_row();
    }
    return result;
}

recorded_value<float> const x{4}, y{7}, w{9};
static_assert(std::is_nothrow_move_constructible_v<function>);
static_assert(
    std::is_same_v<decltype(std::declval<recorded_call<plain_call>>().read(x)), std::span<float const>>);
static_assert(std::is_same_v<decltype(std::declval<recorded_call<plain_call>>().write(x)), std::span<float>>);

} // namespace

TEST_CASE("an operand is found by its handle, wherever it stands, and only as it was declared")
{
    std::array<float, 2> old_w{1, 2}, its_x{3, 4}, its_y{};
    auto bytes = [](auto& floats) { return std::as_writable_bytes(std::span(floats)); };
    plain_call const step{.ins = {bytes(old_w), bytes(its_x)}, .outs = {bytes(its_y), bytes(old_w)}};
    std::array<value_id, 2> const reads{w, x}, writes{y, w};
    recorded_call<plain_call> const call(step, reads, writes);
    CHECK(call.read(x)[1] == 4);
    CHECK(call.read(w).data() == old_w.data());
    CHECK(call.write(w).data() == old_w.data());
    call.write(y)[1] = 5;
    CHECK(its_y[1] == 5);
    CHECK(call.read(x.as<std::byte>()).size() == 8);
    CHECK(&call.step() == &step);

    CHECK(complaint([&] { (void)call.read(y); }) ==
          "sublet: a recorded function reads what it has not declared to read");
    CHECK(complaint([&] { (void)call.write(x); }) ==
          "sublet: a recorded function writes what it has not declared to write");
    CHECK(complaint([&] { (void)call.read(recorded_value<double>{4}); }) == "");
    CHECK(complaint([&] { (void)call.read(recorded_value<std::array<float, 3>>{4}); }) ==
          "sublet: a value is no whole number of such objects");
}

TEST_CASE("what is updated is in one place, or the call is refused")
{
    std::array<std::byte, 4> before{}, after{};
    plain_call const step{.ins = {before}, .outs = {after}};
    std::array<value_id, 1> const both{w};
    recorded_call<plain_call> const call(step, both, both);
    CHECK(call.read(w).size() == 1);
    CHECK(complaint([&] { (void)call.write(w); }) ==
          "sublet: a value that is updated has two storages: its versions are to keep one");
}

TEST_CASE("a kernel calls at each step its function, and has copies of all of them")
{
    std::vector<int> called;
    auto counting = [&called, count = 0](recorded_call<plain_call> const& call) mutable {
        called.push_back(100 * static_cast<int>(call.step().step) + ++count);
    };
    std::vector<function> functions{function(counting), function(counting)};
    functions[0] = functions[1];
    recorded_kernel<plain_call> first(rows({{}, {4}}), rows({{}, {}}), functions);
    auto second = first;
    std::array<std::byte, 4> bytes{};
    plain_call const one{.step = 1, .ins = {bytes}, .outs = {}};
    first({}), first(one), first(one), second(one), first({});
    CHECK(called == std::vector{1, 101, 102, 101, 2});

    auto const wrong = "sublet: a recorded kernel is called for a step that was not recorded so";
    CHECK(complaint([&] { first({.step = 2, .ins = {}, .outs = {}}); }) == wrong);
    CHECK(complaint([&] { first({.step = 0, .ins = {bytes}, .outs = {}}); }) == wrong);
    CHECK(complaint([&] { first({.step = 1, .ins = {bytes}, .outs = {bytes}}); }) == wrong);
    CHECK(called.size() == 5);
}

} // namespace this_test
