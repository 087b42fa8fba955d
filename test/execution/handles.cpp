// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/cpu.hpp>
#include <sublet/execution/recorder.hpp>
#include <sublet/execution/streams.hpp>
#include <sublet/execution/threads.hpp>
#include <sublet/listing.hpp>
#include <sublet/plan_memory.hpp>

#include "../simple_device.hpp"

#include <doctest/doctest.h>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

std::string const long_name = "a handle that is longer than a small string";

/// x, an input, is copied to y through a room; y is changed in place.
template <class Handle>
listing<Handle> copies(Handle const& x, Handle const& y, Handle const& room)
{
    listing<Handle> list;
    list.facts(x, {.bytes = 16, .role = value_role::input});
    list.facts(y, {.role = value_role::output});
    list.step("copy").read(x).make(y, {.bytes = 8}).allocate(room, {.bytes = 4});
    list.step("change").write(y);
    return list;
}

/// The bytes by a handle are those by the place among the operands.
template <class Handle>
auto looks(Handle const& x, Handle const& y, Handle const& room, unsigned& calls)
{
    return [=, &calls](auto const& call) {
        ++calls;
        CHECK(call.of(y).data() == call.out(0).data());
        CHECK(call.of(y).size() == 8);
        if (call.step == 1) {
            CHECK_THROWS_WITH_AS((void)call.of(x), doctest::Contains("which the step does not touch"),
                                 precondition_error);
            return;
        }
        CHECK(call.of(x).data() == call.in(0).data());
        CHECK(call.of(x).size() == 16);
        CHECK(call.of(room).data() == call.scratch().data());
        CHECK(call.of(room).size() == 4);
        if constexpr (!std::same_as<Handle, value_id>) // then it is a handle
            CHECK(call.of(value_id(call.uses()[0])).data() == call.in(0).data());
    };
}

template <class Handle>
void look_everywhere(Handle const& x, Handle const& y, Handle const& room)
{
    unsigned calls = 0;
    auto kernel = looks(x, y, room, calls);
    std::optional<listing<Handle>> list = copies(x, y, room);
    auto const planned = plan_memory(*list);
    value_id const in = list->id(x);
    simple_device device;
    cpu_executor first(*list, arena{planned}, kernel);
    cpu_executor second(std::move(first));
    thread_executor threads(*list, arena{planned}, kernel, {.workers = 1});
    stream_executor streams(device, *list, arena{planned}, kernel);
    list.reset();
    static_cast<void>(second.input(in)), static_cast<void>(threads.input(in));
    static_cast<void>(streams.input(in));
    second.run(), threads.run(), streams.run();
    CHECK(calls == 6);
}

/// What a kernel's question is answered with.
template <class List, class Ask>
std::string refused(List const& list, Ask ask)
{
    std::string why;
    auto kernel = [&](cpu_call const& call) {
        try {
            if (call.step == 0) static_cast<void>(ask(call));
        } catch (precondition_error const& e) {
            why = e.what();
        }
    };
    cpu_executor run(list, no_plan{}, kernel);
    static_cast<void>(run.input(0));
    run.run();
    return why;
}

} // namespace

TEST_CASE("a kernel finds bytes by the handle of a listing, in every executor, also when it is moved")
{
    look_everywhere<std::string>(long_name, "y", "room");
    look_everywhere<char const*>("x", "y", "room");
    look_everywhere<int>(-1, 7, 3);
    look_everywhere<unsigned char>(200, 7, 3);
    look_everywhere<value_id>(5, 7, 3);
    int const objects[3] = {};
    look_everywhere<int const*>(objects, objects + 1, objects + 2);
}

TEST_CASE("texts are strings, integers are of any width, and a pointer may be to const")
{
    auto of_strings = [](cpu_call const& call) {
        if (call.step != 0) return;
        CHECK(call.of("y").data() == call.out(0).data());
        CHECK(call.of(std::string_view("y")).data() == call.out(0).data());
        CHECK(call.of(std::string("y")).data() == call.out(0).data());
        CHECK(call.of(long_name.c_str()).data() == call.in(0).data());
        CHECK(as<float>(call.of("y")).size() == 2);
    };
    cpu_executor strings(copies<std::string>(long_name, "y", "room"), no_plan{}, of_strings);
    static_cast<void>(strings.input(0)), strings.run();
    auto of_longs = [](cpu_call const& call) { CHECK(call.of(7).data() == call.out(0).data()); };
    cpu_executor longs(copies<unsigned long>(1, 7, 3), no_plan{}, of_longs);
    static_cast<void>(longs.input(0)), longs.run();
    int objects[3] = {};
    auto of_pointers = [&](cpu_call const& call) {
        CHECK(call.of(objects + 1).data() == call.out(0).data());
    };
    cpu_executor pointers(copies<int const*>(objects, objects + 1, objects + 2), no_plan{}, of_pointers);
    static_cast<void>(pointers.input(0)), pointers.run();
}

TEST_CASE("a handle that a step does not touch, or that is none, is refused by its name")
{
    auto list = copies<std::string>("x", "y", "room");
    list.step().make("z", {.bytes = 4});
    CHECK(refused(list, [](auto const& call) { return call.of("z"); }) ==
          "sublet: the kernel of step 0 names value 'z', which the step does not touch");
    CHECK(refused(list, [](auto const& call) { return call.of("w"); }) ==
          "sublet: the kernel of step 0 names value 'w', which is not in its listing");
    CHECK(refused(list, [](auto const& call) { return call.of(1); }) ==
          "sublet: the kernel of step 0 names a value by a handle of another type than those of its listing");
    CHECK(refused(list, [](auto const& call) { return call.of(value_id(3)); }) ==
          "sublet: the kernel of step 0 names value 3, which the step does not touch");
    CHECK(refused(copies<int>(1, 2, 3), [](auto const& call) { return call.of(-5l); }) ==
          "sublet: the kernel of step 0 names value -5, which is not in its listing");
    CHECK(refused(copies<unsigned char>(1, 2, 3), [](auto const& call) { return call.of(257); }) ==
          "sublet: the kernel of step 0 names value 257, which is not in its listing");
}

TEST_CASE("without a listing, a kernel finds bytes by ids only")
{
    auto const p = sequence(1, 3, [](auto, effect_sink& s) { s.use(0), s.def(1); });
    auto kernel = [](cpu_call const& call) {
        CHECK(call.of(0).data() == call.in(0).data());
        CHECK(call.of(value_id(1)).data() == call.out(0).data());
        CHECK_THROWS_WITH_AS((void)call.of(2),
                             "sublet: the kernel of step 0 names value 2, which the step does not touch",
                             precondition_error);
        CHECK_THROWS_WITH_AS(
            (void)call.of("y"),
            "sublet: the kernel of step 0 names a value by a handle, but its executor was not "
            "made of a listing",
            precondition_error);
    };
    cpu_executor run(p, {.bytes = 4, .role = {value_role::input, {}, {}}}, no_plan{}, kernel);
    static_cast<void>(run.input(0)), run.run();

    recorder net;
    auto const x = net.input<int>(1), y = net.output<int>(1);
    net.record({x}, {y}, [=](auto& call) {
        CHECK(as<int>(call.step().of(y)).data() == call.write(y).data());
        CHECK(call.step().of(x).data() == call.step().in(0).data());
    });
    cpu_executor recorded(net, net.options(), no_plan{}, net.kernel());
    static_cast<void>(recorded.input(x)), recorded.run();
}

} // namespace this_test
