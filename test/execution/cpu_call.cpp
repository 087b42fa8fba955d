// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/cpu.hpp>

#include <sublet/graph/snapshot.hpp>

#include <doctest/doctest.h>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

static_assert(cpu_kernel<void (*)(cpu_call const&)>);
static_assert(!cpu_kernel<void (*)(int)>);

TEST_CASE("bytes are read as objects of the type that is asked for, where they are aligned and whole")
{
    alignas(8) std::byte bytes[16]{};
    std::span<std::byte> const all(bytes);
    as<float>(all)[3] = 1.5f;
    CHECK(as<float>(std::span<std::byte const>(all))[3] == 1.5f);
    static_assert(std::same_as<decltype(as<float>(all)), std::span<float>>);
    static_assert(std::same_as<decltype(as<float const>(all)), std::span<float const>>);
    static_assert(std::same_as<decltype(as<float>(std::span<std::byte const>(all))), std::span<float const>>);
    CHECK(as<double>(all).size() == 2);
    CHECK(as<double>(all.first(0)).empty());
    CHECK(as<double>(std::span<std::byte>()).empty());
    CHECK_THROWS_WITH_AS((void)as<double>(all.subspan(4, 8)),
                         "sublet: a value is not aligned as its type needs it; plan it with that alignment",
                         precondition_error);
    CHECK_THROWS_WITH_AS((void)as<double>(all.first(12)),
                         "sublet: a value is no whole number of such objects", precondition_error);
}

TEST_CASE("a kernel sees its operands in the order of the program, and is told what it does not have")
{
    auto const p = sequence(2, 6, [](auto step, effect_sink& s) {
        if (step == 0) s.def(3), s.def(5), s.def(0);
        else s.use(3), s.use(no_value), s.use_early(0), s.use(3), s.def(4), s.def(1), s.def(2);
    });
    plan_options options{.bytes = {1, 2, 3, 4, 5, 6}, .alias_of = {-1, 3, -1, -1, -1, -1}, .order = {0, 1}};
    std::size_t refused = 0;
    auto const look = [&](cpu_call const& call) {
        CHECK(call.position == call.step);
        if (call.step == 1) {
            CHECK(std::vector(call.uses().begin(), call.uses().end()) == std::vector<value_id>{3, 0, 3});
            CHECK(std::vector(call.defs().begin(), call.defs().end()) == std::vector<value_id>{4, 1});
            CHECK(call.in(0).size() == 4);
            CHECK(call.in(1).size() == 1);
            CHECK(call.in(2).data() == call.in(0).data());
            CHECK(call.out(0).size() == 5);
            CHECK(call.out(1).data() == call.in(0).data());
            CHECK(call.out(1).size() == 2);
            CHECK(!call.is_view(0));
            CHECK(call.is_view(1));
            CHECK(call.scratch_count() == 1);
            CHECK(call.scratch().size() == 3);
        } else {
            CHECK(call.uses().empty());
            CHECK(call.scratch_count() == 1);
            CHECK(call.scratch(0).size() == 6);
        }
        auto refuses = [&](auto ask) {
            CHECK_THROWS_WITH_AS(ask(), "sublet: a kernel asks for an operand that its step does not have",
                                 precondition_error);
            ++refused;
        };
        refuses([&] { (void)call.in(call.uses().size()); });
        refuses([&] { (void)call.out(call.defs().size()); });
        refuses([&] { (void)call.is_view(call.defs().size()); });
        refuses([&] { (void)call.scratch(1); });
    };
    run_tape const tape = tape_of(p, options, [](value_id v) { return v == 2 || v == 5; });
    detail::value_storage values(tape, no_plan{}, counted_memory{});
    cpu_call call(tape, values);
    for (step_id at : {0u, 1u}) {
        values.before(tape, at);
        call.step = call.position = at;
        look(call);
    }
    CHECK(refused == 8);
}

} // namespace this_test
