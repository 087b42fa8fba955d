// SPDX-License-Identifier: BSL-1.0
#include <sublet/graph/program.hpp>

#include "../archetype.hpp"

#include <sublet/graph/snapshot.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

struct no_successors_program {
    std::size_t nodes() const { return 0; }
    std::size_t values() const { return 0; }
    void effects(node_id, effect_sink&) const {}
};

struct no_conversion_program {
    int nodes() const { return 0; }
    long values() const { return 0; }
    std::vector<std::string> successors(node_id) const { return {}; }
    void effects(node_id, effect_sink&) const {}
};

struct not_const {
    int nodes() { return 0; }
    int values() { return 0; }
    std::vector<int> successors(node_id) { return {}; }
    void effects(node_id, effect_sink&) {}
};

template <class I>
concept can_be_used = requires(effect_sink& sink, I const& v) { sink.use(v); };

enum class closed_enum { third = 2 };

/// The touches of one step.
template <class Effects>
snapshot saying(Effects effects)
{
    return sequence(1, 4, [&](auto, effect_sink& sink) { effects(sink); });
}

std::vector<touch> touches_of(snapshot const& p) { return {p.touches(0).begin(), p.touches(0).end()}; }

} // namespace

static_assert(program<archetype::program> && program<snapshot>);
static_assert(!program<no_successors_program> && has_effects<no_successors_program> &&
              !has_successors<no_successors_program>);
static_assert(!program<no_conversion_program> && has_nodes<no_conversion_program> &&
              !has_successors<no_conversion_program>);
static_assert(!program<not_const> && !has_nodes<not_const> && !has_effects<not_const>);
static_assert(!program<int> && !program<std::vector<int>> && !program<archetype::graph>);
static_assert(can_be_used<int> && can_be_used<std::size_t> && can_be_used<archetype::id>);
static_assert(!can_be_used<bool> && !can_be_used<double> && !can_be_used<char> && !can_be_used<closed_enum>);
static_assert(!can_be_used<int*> && !can_be_used<std::string>);

TEST_CASE("a step records its reads and its writes")
{
    snapshot const p = saying([](auto& sink) {
        sink.use(0);
        sink.use_early(1u);
        sink.def(std::int64_t{2});
        sink.may_overwrite(0, 2);
    });
    REQUIRE(p.steps() == 1);
    CHECK(touches_of(p) == std::vector<touch>{{0, touch::access::use},
                                              {1, touch::access::use_early},
                                              {2, touch::access::def}});
    REQUIRE(p.overwrites().size() == 1);
    CHECK(p.overwrites()[0] == overwrite{0, 0, 2});
}

TEST_CASE("absent operands are skipped")
{
    snapshot const p = saying([](auto& sink) {
        sink.use(-1);
        sink.use_early(no_value);
        sink.def(std::size_t(-1));
        sink.def(std::size_t{no_value});
        sink.use(archetype::id(-1));
        sink.may_overwrite(-1, 2);
        sink.may_overwrite(2, no_value);
        sink.use(3);
    });
    CHECK(touches_of(p) == std::vector<touch>{{3, touch::access::use}});
    CHECK(p.overwrites().empty());
}

TEST_CASE("values that do not exist are rejected in every member function")
{
    auto refuses = [](char const* sentence, auto effects) {
        CHECK_THROWS_WITH_AS((void)saying(effects), sentence, precondition_error);
    };
    char const* const absent = "sublet: step 0 touches value 4, but there are only 4 values";
    refuses(absent, [](auto& sink) { sink.use(4); });
    refuses(absent, [](auto& sink) { sink.use_early(4); });
    refuses(absent, [](auto& sink) { sink.def(4u); });
    refuses(absent, [](auto& sink) { sink.may_overwrite(0, 4); });
    refuses(absent, [](auto& sink) { sink.may_overwrite(4, 0); });
    refuses("sublet: step 0 touches value 4294967294, but there are only 4 values",
            [](auto& sink) { sink.def(no_value - 1); });
    refuses("sublet: step 2 touches value 7, but there are only 4 values", [](auto& sink) {
        sink.def(0);
        sink.next_step();
        sink.next_step();
        sink.use(7);
    });
    refuses("sublet: id -4 is negative (only -1 has a meaning: none)", [](auto& sink) { sink.use(-4); });
    refuses("sublet: id 4294967296 does not fit 32 bits", [](auto& sink) { sink.use(std::size_t{1} << 32); });
    refuses("sublet: node 0 uses a value at the end of node 0, which is not a predecessor",
            [](auto& sink) { sink.use_at_end_of(0, 0); });
    refuses("sublet: node 0 uses a value at the end of node 4294967295, which is not a predecessor",
            [](auto& sink) { sink.use_at_end_of(-1, 0); });
}

TEST_CASE("a user's effects need not be a template")
{
    void (*const effects)(step_id, effect_sink&) = [](step_id s, effect_sink& sink) { sink.def(+s); };
    CHECK(sequence(2, 2, effects).steps() == 2);
    CHECK(sequence(2, 2, std::function<void(int, effect_sink&)>(effects)).steps() == 2);
}

// --- explain -----------------------------------------------------------------------------------------------

// Errors are reported at compile time: see compile_fail/explain_*.cpp.
TEST_CASE("a graph and a program need no explanation")
{
    static_assert(explain_graph<csr_graph>());
    static_assert(explain_graph<archetype::graph>());
    static_assert(explain_program<snapshot>());
    static_assert(explain_program<archetype::program>());
    CHECK(explain_graph<csr_graph>());
    CHECK(explain_program<snapshot>());
}

} // namespace this_test
