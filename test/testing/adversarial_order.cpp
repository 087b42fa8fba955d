// SPDX-License-Identifier: BSL-1.0
#include <sublet/testing/synthetic.hpp>

#include "../random_program.hpp"
#include "../random_source.hpp"

#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_streams.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/execution/detail/host_values.hpp>
#include <sublet/execution/threads.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/detail/conflict_orders.hpp>
#include <sublet/testing/detail/position_set.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using positions = std::vector<position_id>;

step_waits waits_of(std::size_t steps, std::vector<std::pair<position_id, position_id>> const& list)
{
    step_waits waits;
    for (auto const& [from, to] : list) waits.list.push_back({from, to, step_waits::kind::data});
    waits.before = csr_rows<position_id, position_id>::gathered(steps, [&](auto add) {
        for (step_waits::wait const& wait : waits.list) add(wait.to, wait.from);
    });
    waits.after = waits.before.transposed(steps);
    return waits;
}

bool keeps(step_waits const& waits, positions const& order)
{
    std::vector<std::size_t> when(order.size(), order.size());
    for (std::size_t i = 0; i != order.size(); ++i) when.at(order[i]) = i;
    for (step_waits::wait const& wait : waits.list)
        if (when[wait.from] >= when[wait.to]) return false;
    return order.size() == waits.before.rows() &&
           std::find(when.begin(), when.end(), order.size()) == when.end();
}

/// Runs the steps of a lowered program in a given order, with digests.
class any_order {
public:
    struct alignas(64) block {
        std::byte bytes[64] = {};
    };

    any_order(lowered_program lowered, memory_plan const& plan) : values_(std::move(lowered), arena{plan}, {})
    {
        for (buffer const& b : values_.lowered().table.buffers)
            if (!b.is_planned() && b.size != 0)
                values_.bind(b.root, std::span(bound_[b.root].bytes).first(b.size == no_size ? 40 : b.size));
    }

    /// The digest of the final contents; nothing if a value was clobbered.
    std::optional<std::uint64_t> run(positions const& order)
    {
        for (buffer const& b : values_.lowered().table.buffers) {
            if (has_role(b.role, value_role::input) && b.is_planned())
                fill_noise(values_.input(b.root), b.root);
            if (!b.is_planned() && b.size != 0) fill_noise(std::span(bound_[b.root].bytes), b.root);
        }
        try {
            values_.run_once([&] {
                detail::clobber_checker checker(values_.lowered(), values_.storage(), true, true);
                cpu_call call(values_.lowered(), values_.storage());
                synthetic_kernel kernel;
                auto before = [&](position_id at) { checker.before(at); };
                auto after = [&](position_id at) { checker.after(at); };
                for (position_id at : order) values_.run_step(at, kernel, call, before, after);
                checker.finish();
            });
        } catch (clobbered_value const&) {
            return std::nullopt;
        }
        std::uint64_t sum = 0;
        for (buffer const& b : values_.lowered().table.buffers)
            if (has_role(b.role, value_role::output)) sum = fold_digest(sum, digest(values_.output(b.root)));
        for (auto const& [root, its] : bound_) sum = fold_digest(sum, digest(std::span(its.bytes)));
        return sum;
    }

private:
    host_values values_;
    std::map<value_id, block> bound_;
};

template <class Id = position_id>
std::vector<Id> ascending(std::size_t n)
{
    std::vector<Id> all;
    for (Id id = 0; id != n; ++id) all.push_back(id);
    return all;
}

bool comes_before(step_waits const& waits, position_id a, position_id b)
{
    detail::position_set before(waits);
    before.add_with_ancestors(b);
    return before.has(a);
}

/// A buffer of a lowered program, and its touches.
struct planned_buffer {
    buffer_id id;
    position_id producer = no_position; // if it is not given
    positions touched;          // by steps that read or write it
    bool is_output;

    bool shares_with(planned_buffer const& other, lowered_program const& lowered,
                     memory_plan const& plan) const
    {
        buffer const &a = lowered.table.buffers[id], &b = lowered.table.buffers[other.id];
        byte_count const at = plan.offset_of(a.root), there = plan.offset_of(b.root);
        return a.pool == b.pool && at < there + b.size && there < at + a.size;
    }
};
std::vector<planned_buffer> planned_buffers_of(lowered_program const& lowered)
{
    std::vector<planned_buffer> all;
    for (buffer_id b = 0; b != lowered.table.buffers.size(); ++b) {
        buffer const& its = lowered.table.buffers[b];
        auto const& unused = lowered.unused_inputs;
        if (!its.is_planned() || std::count(unused.begin(), unused.end(), b) != 0) continue;
        planned_buffer one{b,
                           is_given(its.role) ? no_position : lowered.first_write[b],
                           {},
                           has_role(its.role, value_role::output)};
        for (position_id at = 0; at != lowered.positions(); ++at)
            for (buffer_id accessed : lowered.accessed[at])
                if (accessed == b) one.touched.push_back(at);
        all.push_back(one);
    }
    return all;
}

/// The plan with b moved to the offset of a, if it then is valid in the listed order but not concurrently,
/// and a lost value is read.
std::optional<memory_plan> made_unsound(random_program const& p, memory_plan const& plan,
                                        run_order const& order, planned_buffer const& a,
                                        planned_buffer const& b)
{
    buffer const &from = order.lowered.table.buffers[a.id], &to = order.lowered.table.buffers[b.id];
    if (a.id == b.id || b.producer == no_position || from.pool != to.pool || a.is_output) return std::nullopt;
    if (a.touched.empty() || a.touched.back() >= b.producer) return std::nullopt;
    byte_count const offset = plan.offset_of(from.root);
    if (offset % to.alignment != 0) return std::nullopt;
    bool is_lost = false;
    for (position_id at : a.touched) {
        if (comes_before(order.waits, at, b.producer)) continue;
        is_lost = is_lost || at != a.producer || b.is_output || b.touched.size() > 1;
    }
    if (!is_lost) return std::nullopt;
    memory_plan moved = plan;
    moved.buffers[moved.buffer_of[to.root]].offset = offset;
    moved.arena_bytes[to.pool] = std::max(moved.arena_bytes[to.pool], offset + to.size);
    memory_plan sequential_plan = moved;
    sequential_plan.valid_for = program_reading::sequential;
    if (!check_plan(p.program(), sequential_plan, p.options(false))) return std::nullopt;
    return moved;
}

} // namespace

TEST_CASE("producers come as early and readers as late as the waits allow")
{
    step_waits const waits = waits_of(6, {{0, 1}, {2, 3}, {1, 5}});
    CHECK(adversarial_order(waits, {0, 2}, {1}) == positions{0, 2, 3, 4, 1, 5});
    CHECK(adversarial_order(waits, {3}, {4}) == positions{2, 3, 0, 1, 5, 4});
    CHECK(adversarial_order(waits, {5}, {1}) == positions{0, 1, 5, 2, 3, 4}); // 5 waits for 0 and 1
    CHECK(adversarial_order(waits, {}, {}) == ascending(6));
    CHECK(adversarial_order(waits_of(0, {}), {}, {}).empty());
    CHECK_THROWS_AS((void)adversarial_order(waits, {6}, {}), precondition_error);
    CHECK_THROWS_AS((void)adversarial_order(waits, {}, {6}), precondition_error);
}

TEST_CASE("whatever comes first and last, the order keeps the waits")
{
    for (unsigned seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::uint32_t const n = 1 + pick.below(12);
        std::vector<std::pair<position_id, position_id>> list;
        for (std::uint32_t i = pick.below(2 * n); i != 0 && n > 1; --i) {
            position_id const to = 1 + pick.below(n - 1);
            list.push_back({pick.below(to), to});
        }
        step_waits const waits = waits_of(n, list);
        positions const first{pick.below(n), pick.below(n)}, last{pick.below(n), pick.below(n)};
        positions const order = adversarial_order(waits, first, last);
        REQUIRE(keeps(waits, order));
        std::size_t ancestors = 0;
        for (position_id at = 0; at != n; ++at) ancestors += comes_before(waits, at, first[0]);
        CHECK(order[ancestors - 1] == first[0]); // the ancestors of the first, and no others, come before it
    }
}

TEST_CASE("a single worker runs the given order, and the error names the clobbered value")
{
    enum { a, x, c, y };
    std::vector<std::vector<int>> const uses = {{}, {a}, {}, {c}}, defs = {{a}, {x}, {c}, {y}};
    snapshot const program = sequence(
        4, 4, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
    using enum value_role;
    plan_options const options{.bytes = 8, .role = {intermediate, output, intermediate, output}};
    memory_plan plan = plan_memory(program, options).plan;
    REQUIRE(plan.offset_of(c) == plan.offset_of(a));
    plan.valid_for = program_reading::concurrent; // not true: c lies where a lay
    std::vector<positions> orders;
    each_adversarial_order(run_order_of(program, options, arena{plan}), plan,
                           [&](value_id first, value_id second, positions const& order) {
                               if (first == a && second == c) orders.push_back(order);
                           });
    REQUIRE(orders.size() == 1);
    CHECK(orders[0] == positions{0, 2, 3, 1});
    thread_executor executor(program, options, arena{plan}, synthetic_kernel{},
                             {.workers = 1, .policy = queue_policy::given, .order = orders[0]},
                             {.check = executor_options::checks::digest, .prove = false});
    std::optional<clobbered_value::finding> seen;
    try {
        executor.run();
    } catch (clobbered_value const& e) {
        seen = e.details();
    }
    REQUIRE(seen.has_value());
    CHECK(seen->value == a);
    CHECK(seen->culprit == c);
    CHECK(seen->reader == 1);
}

TEST_CASE(
    "300 plans with a pair that is sound as listed but not concurrently: every method finds each of them")
{
    std::size_t plans = 0, by_plan = 0, by_waits = 0, by_order = 0, by_listed_order = 0, orders = 0,
                alarms = 0;
    for (unsigned seed = 0; plans != std::min(rounds(300), 300u); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program p = draw_program(pick, 30);
        p.order.clear();
        p.drops_free_edges = true;
        write_once(p);
        snapshot const program = p.program();
        plan_options const options = p.options(false);
        memory_plan const plan = plan_concurrent(program, options).plan;
        run_order const order = run_order_of(program, options, arena{plan});
        REQUIRE(order.lowered.step_at == ascending<step_id>(program.steps()));

        auto const buffers = planned_buffers_of(order.lowered);
        std::vector<std::pair<std::size_t, std::size_t>> pairs;
        for (std::size_t a = 0; a != buffers.size(); ++a)
            for (std::size_t b = 0; b != buffers.size(); ++b) pairs.emplace_back(a, b);
        std::shuffle(pairs.begin(), pairs.end(), pick.random);
        std::optional<memory_plan> unsound;
        for (std::size_t i = 0; i != pairs.size() && !unsound; ++i)
            unsound = made_unsound(p, plan, order, buffers[pairs[i].first], buffers[pairs[i].second]);
        if (!unsound) continue;
        ++plans;

        any_order sound(order.lowered, plan);
        auto const expected = sound.run(ascending(program.steps()));
        REQUIRE(expected.has_value());
        each_adversarial_order(order, plan, [&](value_id, value_id, positions const& by_waits_only) {
            CHECK(keeps(order.waits, by_waits_only));
            alarms += sound.run(by_waits_only) != expected;
            ++orders;
        });

        by_plan += !check_concurrent_plan(program, *unsound, options);
        run_order const broken = run_order_of(program, options, arena{*unsound});
        by_waits += !check_waits(program, options, &*unsound, broken.lowered.step_at, broken.waits.after);
        any_order run(broken.lowered, *unsound);
        by_listed_order += run.run(ascending(program.steps())) != expected;
        bool is_found = false;
        each_adversarial_order(broken, *unsound, [&](value_id, value_id, positions const& one) {
            CHECK(keeps(broken.waits, one));
            is_found = is_found || run.run(one) == std::nullopt;
        });
        by_order += is_found;
    }
    CHECK(by_plan == std::min(rounds(300), 300u));
    CHECK(by_waits == std::min(rounds(300), 300u));
    CHECK(by_order == std::min(rounds(300), 300u));
    CHECK(by_listed_order == 0);
    CHECK(alarms == 0);
    CHECK(orders > 300);
    MESSAGE("of " << plans << " unsound plans the plan check finds " << by_plan << ", the check of waits "
                  << by_waits << ", adversarial orders " << by_order << ", the listed order "
                  << by_listed_order << "; of " << orders << " orders of sound plans " << alarms
                  << " false alarms");
}

TEST_CASE("300 plans for one order with a hand-off removed: the check of waits and a run find each of them")
{
    std::size_t plans = 0, by_waits = 0, by_order = 0, by_listed_order = 0, alarms = 0;
    for (unsigned seed = 0; plans != std::min(rounds(300), 300u); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program p = draw_program(pick, 20);
        p.drops_free_edges = true;
        snapshot const program = p.program();
        memory_plan const plan = plan_memory(program, p.options()).plan;
        run_order order = run_order_of(program, p.options(), arena{plan});
        auto check = [&] {
            return bool(check_waits(program, p.options(), &plan, order.lowered.step_at, order.waits.after));
        };
        auto const buffers = planned_buffers_of(order.lowered);
        auto is_missed = [&](step_waits::wait wait) { // bytes are reused, and a lost value is read
            for (planned_buffer const& a : buffers)
                for (planned_buffer const& b : buffers) {
                    bool const is_last = std::count(a.touched.begin(), a.touched.end(), wait.from) != 0;
                    if (a.id == b.id || !is_last || b.producer != wait.to ||
                        !a.shares_with(b, order.lowered, plan))
                        continue;
                    if (a.producer != wait.from || b.is_output || b.touched.size() > 1) return true;
                }
            return false;
        };
        std::vector<std::size_t> candidates;
        for (std::size_t i = 0; i != order.waits.list.size(); ++i)
            if (order.waits.list[i].why == step_waits::kind::handoff && is_missed(order.waits.list[i]))
                candidates.push_back(i);
        if (candidates.empty()) continue;
        ++plans;

        any_order run(order.lowered, plan);
        auto const expected = run.run(ascending(program.steps()));
        REQUIRE(expected.has_value());
        CHECK(check());
        each_adversarial_order(order, plan, [&](value_id, value_id, positions const& one) {
            alarms += run.run(one) != expected;
        });
        // Keep all waits that are implied, except for this pair.
        step_waits::wait const dropped = order.waits.list[pick.one_of(candidates)];
        std::vector<std::pair<position_id, position_id>> fewer;
        for (position_id to = 0; to != program.steps(); ++to) {
            detail::position_set before(order.waits);
            before.add_with_ancestors(to);
            for (position_id from = 0; from != to; ++from)
                if (before.has(from) && (from != dropped.from || to != dropped.to))
                    fewer.emplace_back(from, to);
        }
        order.waits = waits_of(program.steps(), fewer);
        by_waits += !check();
        by_listed_order += run.run(ascending(program.steps())) != expected;
        bool is_found = false;
        each_adversarial_order(order, plan, [&](value_id, value_id, positions const& one) {
            CHECK(keeps(order.waits, one));
            is_found = is_found || run.run(one) == std::nullopt;
        });
        by_order += is_found;
    }
    CHECK(by_waits == std::min(rounds(300), 300u));
    CHECK(by_order == std::min(rounds(300), 300u));
    CHECK(by_listed_order == 0);
    CHECK(alarms == 0);
    MESSAGE("of " << plans << " plans without a hand-off the check of waits finds " << by_waits
                  << ", adversarial orders " << by_order << ", the listed order " << by_listed_order << "; "
                  << alarms << " false alarms");
}

} // namespace this_test
