// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/storage.hpp>

#include "../dice.hpp"
#include "../random_program.hpp"

#include <sublet/execution/run_options.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

std::vector<std::uint32_t> list(std::span<std::uint32_t const> row) { return {row.begin(), row.end()}; }
using lists = std::vector<std::vector<std::uint32_t>>;
lists rows_of(csr_rows const& rows)
{
    lists all;
    for (std::size_t r = 0; r != rows.rows(); ++r) all.push_back(list(rows[r]));
    return all;
}

run_tape taped(random_program const& p, bool in_place = true)
{
    return tape_of(p.program(), p.options(in_place), p.is_scratch);
}

} // namespace

TEST_CASE("the picture in the header")
{
    enum : value_id { a, b, c, w };
    // the node that runs first is the last
    auto const p = flow(
        3, 4, [](node_id) { return std::vector<node_id>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.use(a), s.def(b), s.def(c), s.def(w);
            if (n == 1) s.use(b), s.use(c);
            if (n == 2) s.def(a);
        });
    plan_options const options{.bytes = {8, 4, 6, 2}, .alias_of = {-1, 0, -1, -1}, .order = {2, 0, 1}};
    run_tape const tape = tape_of(p, options, [](value_id v) { return v == w; });
    CHECK(tape.step_at == std::vector<step_id>{2, 0, 1});
    CHECK(rows_of(tape.uses) == lists{{}, {a}, {b, c}});
    CHECK(rows_of(tape.defs) == lists{{a}, {b, c}, {}});
    CHECK(rows_of(tape.scratch) == lists{{}, {w}, {}});
    CHECK(rows_of(tape.touched) == lists{{0}, {0, 1, 2}, {0, 1}});
    CHECK(tape.holds == std::vector<std::uint32_t>{3, 2, 1});
    CHECK(tape.first_write == std::vector<step_id>{0, 1, 1});
    CHECK(tape.bytes == std::vector<byte_count>{8, 4, 6, 2});
    CHECK(tape.is_view(b, 1));
    CHECK(!tape.is_view(a, 0));
    CHECK(!tape.is_view(c, 1));
}

TEST_CASE("a view shows no more bytes than there are, and of an input it is one from the start")
{
    auto const p = sequence(1, 2, [](auto, effect_sink& s) { s.use(0), s.def(1); });
    run_tape const tape = tape_of(
        p,
        {.bytes = std::vector<byte_count>{8, no_size}, .role = {value_role::input, {}}, .alias_of = {-1, 0}},
        false);
    CHECK(tape.bytes == std::vector<byte_count>{8, 8});
    CHECK(tape.is_view(1, 0));
}

TEST_CASE("what is defined together with its root is no view of what was there before: the step writes it")
{
    auto const p = sequence(2, 2, [](auto step, effect_sink& s) {
        if (step == 0) s.def(1);
        s.def(0), s.def(1);
    });
    run_tape const tape = tape_of(p, {.bytes = 8, .alias_of = {-1, 0}}, false);
    CHECK(!tape.is_view(1, 0));
    CHECK(!tape.is_view(0, 0));
    CHECK(tape.is_view(1, 1));
    CHECK(!tape.is_view(0, 1));
}

TEST_CASE("an order that no step can follow is refused with a witness")
{
    auto const p = sequence(3, 2, [](auto step, effect_sink& s) {
        if (step == 1) s.use(0);
        else s.def(0);
        s.def(1);
    });
    auto fault_of = [&p](plan_options const& options) {
        try {
            (void)tape_of(p, options, false);
        } catch (unsound_plan const& e) {
            return e.why();
        }
        return witness{.what = fault::needless};
    };
    CHECK(fault_of({.bytes = 8, .order = {1, 0, 2}}) ==
          witness{.what = fault::used_undefined, .value = 0, .other = 0, .position = 0});
    CHECK(fault_of({.bytes = 8, .order = {0, 2, 1}}) ==
          witness{.what = fault::write_moved, .value = 0, .position = 1});
    CHECK(fault_of({.bytes = 8}).what == fault::needless);
    auto const nobody = sequence(1, 1, [](auto, effect_sink& s) { s.use(0); });
    CHECK_THROWS_AS((void)tape_of(nobody, {.bytes = 8}, false), unsound_plan);
}

TEST_CASE("scratch is defined by one step, used by none, and no output")
{
    auto with_scratch = [](auto effects, value_role role = value_role::intermediate) {
        auto const p = sequence(2, 1, effects);
        (void)tape_of(p, {.bytes = 8, .role = role}, true);
    };
    auto once = [](auto step, effect_sink& s) {
        if (step == 0) s.def(0);
    };
    with_scratch(once);
    CHECK_THROWS_WITH_AS(with_scratch(once, value_role::output),
                         "sublet: scratch is touched by one step only, and is no output", precondition_error);
    CHECK_THROWS_WITH_AS(with_scratch([](auto, effect_sink& s) { s.def(0); }),
                         "sublet: scratch is touched by one step only, and is no output", precondition_error);
    CHECK_THROWS_WITH_AS(with_scratch([](auto step, effect_sink& s) { step == 0 ? s.def(0) : s.use(0); }),
                         "sublet: scratch is read by no step", precondition_error);
    CHECK_THROWS_WITH_AS(
        with_scratch([](auto step, effect_sink& s) { step == 0 ? s.def(0) : s.use_early(0); }),
        "sublet: scratch is read by no step", precondition_error);
    // Not where its node ends, either.
    auto const phi = flow(
        2, 1, [](node_id n) { return std::vector<node_id>(n == 0, 1); },
        [](node_id n, effect_sink& s) { n == 0 ? s.def(0) : s.use_at_end_of(0, 0); });
    CHECK_THROWS_WITH_AS((void)tape_of(phi, {.bytes = 8}, true), "sublet: scratch is read by no step",
                         precondition_error);
}

TEST_CASE("an empty program, one without values, and one whose inputs nobody reads")
{
    CHECK(tape_of(snapshot{}, {.bytes = 8}, false).positions() == 0);
    auto const idle = sequence(3, 0, [](auto, effect_sink&) {});
    CHECK(tape_of(idle, {.bytes = 8}, false).positions() == 3);
    auto const unread = sequence(2, 2, [](auto, effect_sink&) {});
    run_tape const tape = tape_of(unread, {.bytes = 8, .role = value_role::input}, false);
    CHECK(rows_of(tape.touched) == lists{{0, 1}, {}});
}

TEST_CASE("pools are numbered from 0")
{
    auto const p = sequence(1, 1, [](auto, effect_sink& s) { s.def(0); });
    CHECK(tape_of(p, {.bytes = 8, .pool = 65535}, false).pools == 65536);
    CHECK_THROWS_AS((void)tape_of(p, {.bytes = 8, .pool = 65536}, false), precondition_error);
}

TEST_CASE("an input that the first step reads early yields where any other step might have been the first")
{
    auto const p = sequence(1, 2, [](auto, effect_sink& s) { s.use_early(0), s.def(1); });
    plan_options const options{.bytes = 8, .role = {value_role::input, value_role::output}};
    run_tape const in_order = tape_of(p, options, false), at_once = tape_of(p, options, false, {0});
    CHECK(in_order.yields_at(0).empty());
    REQUIRE(at_once.yields_at(0).size() == 1);
    CHECK(at_once.yields_at(0)[0].from == 0);
    CHECK(at_once.yields_at(0)[0].to == no_buffer);
}

TEST_CASE("the tape of a random program says what its lists say")
{
    std::size_t pairs = 0, early = 0, views = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        random_program const p = draw_program(pick);
        bool const in_place = pick.below(4) != 0;
        run_tape const tape = taped(p, in_place);
        class_history const touches = history_of(p);
        auto const turns = p.turns();
        REQUIRE(tape.positions() == turns.size());
        auto class_at = [&](value_id root) { return tape.table.buffer_of[root]; };

        std::map<value_id, step_id> first_write;
        std::map<value_id, std::uint32_t> holds;
        for (auto const& [r, its] : touches)
            for (auto const& [at, how] : its) {
                ++holds[r];
                if (!how.written.empty()) first_write.try_emplace(r, at);
            }
        for (value_id v = 0; v != p.values(); ++v) {
            value_id const r = p.root(v);
            CHECK(tape.bytes[v] == std::min(p.bytes[v], p.bytes[r]));
            CHECK(tape.table.buffers[class_at(v)].root == r);
            if (v != r) continue;
            CHECK(tape.holds[class_at(r)] == holds[r] + has_role(p.class_role(r), value_role::output));
            CHECK(tape.first_write[class_at(r)] == (first_write.count(r) ? first_write[r] : no_step));
        }
        for (step_id at = 0; at != turns.size(); ++at) {
            auto const& [id, what, leaving] = turns[at];
            CHECK(tape.step_at[at] == id);
            random_program::ids uses = what->uses;
            uses.insert(uses.end(), what->early.begin(), what->early.end());
            CHECK(list(tape.uses[at]) == uses);
            CHECK(list(tape.defs[at]) == what->defs);
            CHECK(list(tape.scratch[at]) == what->scratch);

            std::vector<std::pair<buffer_id, buffer_id>> yields, expected;
            std::vector<buffer_id> touched, is_touched = list(tape.touched[at]);
            for (auto const& [r, its] : touches) {
                if (its.count(at) == 0) continue;
                touched.push_back(class_at(r));
                bool const holds_on = at == 0 && has_role(p.class_role(r), value_role::input);
                if (its.at(at).is_early() && !holds_on) expected.push_back({class_at(r), no_buffer});
            }
            early += expected.size();
            for (auto const& [in, out] : what->pairs) {
                auto const& its = touches.at(p.root(in));
                if (!in_place || its.count(at) == 0 || !its.at(at).only_reads(in)) continue;
                if (first_write.count(p.root(out)) != 0 && first_write[p.root(out)] == at)
                    expected.push_back({class_at(p.root(in)), class_at(p.root(out))}), ++pairs;
            }
            for (yielded y : tape.yields_at(at)) yields.push_back({y.from, y.to});
            for (auto* both : {&yields, &expected}) std::sort(both->begin(), both->end());
            CHECK(yields == expected);
            for (auto* both : {&touched, &is_touched}) std::sort(both->begin(), both->end());
            CHECK(is_touched == touched);

            for (value_id v : what->defs) {
                bool const there = is_given(p.class_role(p.root(v))) || first_write[p.root(v)] < at;
                CHECK(tape.is_view(v, at) == (v != p.root(v) && there));
                views += tape.is_view(v, at);
            }
        }
    }
    CHECK(pairs > rounds(300));
    CHECK(early > rounds(300));
    CHECK(views > rounds(300));
}

} // namespace this_test
