// SPDX-License-Identifier: BSL-1.0
// Random nested programs with real bytes: what nested_executor computes in the arena of the plan is, bit for
// bit, what it computes without a plan, and what an interpreter of the tree as it was drawn computes. Faults
// that are planted in the flat tree, the plan or the kernel are found, and nothing is found in a sound run.
// SUBLET_ROUNDS multiplies the number of draws; SUBLET_ROUNDS=20 draws 100000 programs.
#include <sublet/execution.hpp>
#include <sublet/plan_nested.hpp>

#include "../dead_bytes.hpp"
#include "../random_source.hpp"
#include "../random_tree.hpp"
#include "../tree_runs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using checks = executor_options::checks;

/// The answers of an interpreter with the same seed.
struct chooser {
    tree_runs::decisions decide;
    std::size_t operator()(nested_choice const& choice)
    {
        flat_tree::step const at{flat_tree::part::nothing, choice.program, choice.step};
        bool const is_successor = choice.body == 0;
        bool const is_loop = !is_successor && loops->at(choice.body);
        return decide(at.program, at.step, choice.alternatives, is_loop, is_successor);
    }
    std::vector<bool> const* loops = nullptr; // by program
};

/// A random tree with its plan.
struct planned_tree {
    explicit planned_tree(unsigned seed, std::uint32_t depth = 3)
    {
        random_source pick{std::mt19937{seed}};
        drawn = draw_tree(pick, depth);
        tree_runs::round_alignments(drawn);
        tree = drawn.tree();
        for (program_id i = 0; i != tree.size(); ++i) {
            options.push_back(drawn.options(i));
            loops.push_back(i != 0 && tree.body(i).kind == program_body::run_kind::loop);
        }
        planned = plan_nested(tree, options);
    }
    random_tree drawn;
    program_tree tree;
    table<program_id, plan_options> options;
    std::vector<bool> loops;
    planned_nested planned;
};

using outputs = std::map<value_id, std::vector<std::byte>>;

/// Storage for the values of any program that are the caller's.
struct bound {
    std::map<value_id, std::vector<std::uint64_t>> of; // by flat value
};

/// Binds what is the caller's and gives each input, through an interface of flat ids.
template <class Executor>
void supply(planned_tree const& t, flat_tree const& flat, Executor* give, bound& mine)
{
    for (program_id i = 0; i != t.tree.size(); ++i) {
        auto const& p = t.drawn.programs[i];
        for (value_id v = 0; v != p.bytes.size(); ++v) {
            value_id const f = flat.flat_of[i][v];
            if (flat.value_of[f] != tree_value{i, v} || p.alias_of[v] != no_value) continue;
            bool const is_planned = p.eligible[v] && !has_role(p.role[v], value_role::external) &&
                                    !has_role(p.role[v], value_role::state);
            std::span<std::byte> bytes;
            if (!is_planned) {
                auto& own = mine.of[f];
                own.assign((p.bytes[v] + 7) / 8 + 1, 0);
                bytes = std::as_writable_bytes(std::span(own)).first(p.bytes[v]);
                give->bind(f, bytes);
            } else if (has_role(p.role[v], value_role::input)) {
                bytes = give->input(f).first(p.bytes[v]);
            }
            if (i == 0 && is_given(p.role[v])) tree_runs::interpreter::give(v, bytes);
        }
    }
}

/// The public executor, by flat ids.
template <class Executor>
struct by_flat {
    Executor& of;
    flat_tree const& flat;
    void bind(value_id v, std::span<std::byte> bytes) { of.bind(flat.value_of[v], bytes); }
    std::span<std::byte> input(value_id v) { return of.input(v); }
};

template <class Output>
outputs outputs_of(planned_tree const& t, Output output)
{
    outputs all;
    auto const& p = t.drawn.programs[0];
    for (value_id v = 0; v != p.bytes.size(); ++v)
        if (has_role(p.role[v], value_role::output)) {
            auto const bytes = output(v);
            all[v].assign(bytes.begin(), bytes.end());
        }
    return all;
}

template <class Mode>
outputs outputs_in(planned_tree const& t, Mode const& mode, std::uint64_t seed, checks level,
                   run_report& report)
{
    nested_executor execute{t.tree,          t.options, mode, tree_runs::kernel{}, chooser{{seed}, &t.loops},
                            {.check = level}};
    bound mine;
    by_flat<decltype(execute)> give{execute, execute.flat()};
    supply(t, execute.flat(), &give, mine);
    report = execute.run();
    return outputs_of(t, [&](value_id v) { return execute.output(v); });
}

} // namespace

TEST_CASE(
    "a run in the arena computes bit for bit what one without a plan computes, and what an interpreter of "
    "the tree computes, for any nesting")
{
    std::size_t steps = 0, copies = 0, all_copies = 0, bytes = 0, checked = 0, outputs_seen = 0;
    unsigned const count = rounds(5000);
    for (unsigned seed = first_seed(); seed != first_seed() + count; ++seed) {
        CAPTURE(seed);
        planned_tree const t(seed, seed % 4);
        REQUIRE(t.planned);
        tree_runs::interpreter apart(t.drawn, seed);
        apart.run();
        outputs const expected = outputs_of(t, [&](value_id v) { return apart.output(v); });
        run_report in_arena, in_none;
        outputs const found = outputs_in(t, arena{t.planned}, seed, checks::off, in_arena);
        CHECK(found == expected);
        CHECK(outputs_in(t, no_plan{}, seed, checks::off, in_none) == expected);
        CHECK(in_arena.steps == apart.steps());
        CHECK(in_none.steps == apart.steps());
        CHECK(in_arena.copies <= in_none.copies);
        CHECK(in_arena.reserved == t.planned.report().arena_bytes);
        steps += in_arena.steps;
        copies += in_arena.copies;
        all_copies += in_none.copies;
        outputs_seen += expected.size();
        bytes += in_arena.reserved < in_none.run.bytes.peak;
        if (seed % 8 != 0) continue;
        run_report report;
        for (checks level : {checks::plan, checks::paint, checks::digest}) {
            CHECK(outputs_in(t, arena{t.planned}, seed, level, report) == expected);
            CHECK(outputs_in(t, no_plan{}, seed, level, report) == expected);
            ++checked;
        }
    }
    MESSAGE(steps << " steps, " << outputs_seen << " outputs; " << copies << " copies of " << all_copies
                  << " without a plan; " << checked << " runs with checks; fewer bytes in " << bytes);
    if (fuzzed.is_on) return;
    CHECK(steps > count);
    CHECK(copies > count / 20);
    CHECK(all_copies > copies);
    CHECK(outputs_seen > count / 2);
}

// --- planted faults --------------------------------------------------------------------------------------

namespace {

/// How a faulty run ends.
enum class outcome { same, other_outputs, clobbered };

/// Runs a flat tree, a plan or a kernel with a fault, by the parts of nested_executor, with digests.
template <class Kernel>
outcome outcome_of(planned_tree const& t, flat_tree_with_options const& flattened, memory_plan const& plan,
                   Kernel kernel, std::uint64_t seed, outputs const& expected)
{
    executor_options const settings{.check = checks::digest, .prove = false};
    nested_runner run(proved_nested(t.tree, flattened, &plan, settings), arena{plan}, settings);
    bound mine;
    supply(t, flattened.flat, &run.values(), mine);
    chooser choose{{seed}, &t.loops};
    try {
        run.run(kernel, choose);
    } catch (clobbered_value const&) {
        return outcome::clobbered;
    }
    outputs const found = outputs_of(t, [&](value_id v) { return run.values().output(v); });
    return found == expected ? outcome::same : outcome::other_outputs;
}

/// Writes a byte behind its first result, where the arena goes on.
struct writes_too_far {
    std::byte const* end; // of the arena
    template <class Call>
    void operator()(Call const& call) const
    {
        tree_runs::kernel{}(call);
        if (call.defs().empty() || call.is_view(0) || call.out(0).empty()) return;
        std::byte* const behind = call.out(0).data() + call.out(0).size();
        if (begin() <= behind && behind < end) *behind ^= std::byte{0x5A};
    }
    std::byte const* first = nullptr;
    std::byte const* begin() const { return first; }
};

} // namespace

TEST_CASE(
    "a copy that is left out, two that change places, a wrong source, an offset over a live value and a "
    "kernel that writes too far are found, and a sound run never is")
{
    enum : std::size_t { sound, left_out, swapped, wrong_source, moved, too_far, kinds };
    std::size_t tried[kinds] = {}, clobbered[kinds] = {}, other[kinds] = {};
    unsigned const count = rounds(600);
    for (unsigned seed = 0; seed != count; ++seed) {
        CAPTURE(seed);
        planned_tree const t(seed, seed % 4);
        tree_runs::interpreter apart(t.drawn, seed);
        apart.run();
        outputs const expected = outputs_of(t, [&](value_id v) { return apart.output(v); });
        flat_tree_with_options const flattened = flatten_with_options(t.tree, t.options);
        random_source pick{std::mt19937{seed}};
        auto run = [&](std::size_t kind, flat_tree_with_options const& with, memory_plan const& plan,
                       auto kernel) {
            if (under_asan && kind != sound)
                return; // the sanitizer ends a run that reads or writes dead bytes
            ++tried[kind];
            outcome const is = outcome_of(t, with, plan, kernel, seed, expected);
            clobbered[kind] += is == outcome::clobbered;
            other[kind] += is == outcome::other_outputs;
        };
        memory_plan const& plan = t.planned.plan;
        run(sound, flattened, plan, tree_runs::kernel{});
        auto is_copy = [&](flat_tree::move const& m) {
            return std::find(t.planned.copies.begin(), t.planned.copies.end(), m) != t.planned.copies.end();
        };
        auto const& moves = flattened.flat.moves;
        for (std::size_t m = 0; m != moves.size(); ++m) {
            if (!is_copy(moves[m])) continue;
            flat_tree_with_options with = flattened;
            with.flat.moves[m].from = moves[m].to;
            run(left_out, with, plan, tree_runs::kernel{});
            for (std::size_t other_one = 0; other_one != moves.size(); ++other_one) {
                if (moves[other_one].from == moves[m].from ||
                    flattened.all.bytes[moves[other_one].from] != flattened.all.bytes[moves[m].from])
                    continue;
                with.flat.moves[m].from = moves[other_one].from;
                run(wrong_source, with, plan, tree_runs::kernel{});
                break;
            }
            if (m + 1 == moves.size() || moves[m + 1].body != moves[m].body ||
                moves[m + 1].when != moves[m].when || !is_copy(moves[m + 1]))
                continue;
            with = flattened;
            std::swap(with.flat.moves[m], with.flat.moves[m + 1]);
            run(swapped, with, plan, tree_runs::kernel{});
        }
        if (plan.buffers.size() > 1) {
            memory_plan with = plan;
            auto const b = buffer_id::of(pick.below(static_cast<std::uint32_t>(plan.buffers.size())));
            auto const over = buffer_id::of(pick.below(static_cast<std::uint32_t>(plan.buffers.size())));
            if (with.buffers[b].pool == with.buffers[over].pool && with.buffers[over].offset % 4 == 0 &&
                with.buffers[over].offset + with.buffers[b].size <= with.arena_bytes[with.buffers[b].pool]) {
                with.buffers[b].offset = with.buffers[over].offset;
                run(moved, flattened, with, tree_runs::kernel{});
            }
        }
        if (!under_asan && !plan.arena_bytes.empty()) {
            executor_options const settings{.check = checks::digest};
            nested_runner far(proved_nested(t.tree, flattened, &plan, settings), arena{plan}, settings);
            bound mine;
            supply(t, flattened.flat, &far.values(), mine);
            auto const block = far.values().storage().arenas()[0];
            chooser choose{{seed}, &t.loops};
            writes_too_far kernel{block.bytes + block.size, block.bytes};
            ++tried[too_far];
            try {
                far.run(kernel, choose);
                other[too_far] +=
                    outputs_of(t, [&](value_id v) { return far.values().output(v); }) != expected;
            } catch (clobbered_value const&) {
                ++clobbered[too_far];
            }
        }
    }
    CHECK(clobbered[sound] == 0);
    CHECK(other[sound] == 0);
    std::string const names[] = {"sound", "left out", "swapped", "wrong source", "moved", "too far"};
    for (std::size_t kind = 0; kind != kinds; ++kind)
        MESSAGE(names[kind] << ": " << tried[kind] << " runs, " << clobbered[kind] << " clobbered values, "
                            << other[kind] << " other outputs");
    if (under_asan || fuzzed.is_on || count < 600) return;
    for (std::size_t kind : {swapped, moved, too_far}) CHECK(clobbered[kind] > 0);
    // These are other programs, and nothing is overwritten in them: the outputs show it.
    for (std::size_t kind : {left_out, wrong_source}) CHECK(other[kind] > 0);
}

} // namespace this_test
