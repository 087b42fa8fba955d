// SPDX-License-Identifier: BSL-1.0
// Random programs in every memory mode, at every check level, compute the same as with separate storage for
// every value. Of unsound plans the plan check finds each, and a checked run each that the order exercises.
#include <sublet/execution/cpu.hpp>
#include <sublet/testing/synthetic.hpp>

#include "../random_program.hpp"
#include "../random_source.hpp"

#include <sublet/checking/fits.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using kernel = std::function<void(cpu_call const&)>; // erased, so that one executor is compiled
using executor = cpu_executor<kernel>;
using bytes_of_class = std::map<value_id, std::vector<std::byte>>;

std::uint64_t noise_for(unsigned run, value_id root) { return 1000 * run + root; }
/// Bytes that the caller binds for a class of its own. No view of it is drawn with more than 48.
std::size_t room(random_program const& p, value_id root)
{
    return p.bytes[root] == no_size ? 48 : p.bytes[root];
}

/// The result of a run: what each step wrote, and the final values.
struct outcome {
    std::vector<std::uint64_t> written, final_digests;
    friend bool operator==(outcome const&, outcome const&) = default;
};

/// The synthetic kernel by definition, each class in storage of its own.
outcome by_definition(random_program const& p, bytes_of_class& of, unsigned run)
{
    outcome result;
    auto shown = [&](value_id v) {
        auto& all = of[p.root(v)];
        return std::span(all).first(static_cast<std::size_t>(std::min<byte_count>(p.bytes[v], all.size())));
    };
    for (value_id v = 0; v != p.values(); ++v) {
        auto const role = p.class_role(p.root(v));
        if (p.root(v) != v) continue;
        bool const is_first = of.count(v) == 0;
        of[v].resize(room(p, v));
        if (has_role(role, value_role::external) ? is_first : has_role(role, value_role::input))
            fill_noise(std::span(of[v]), noise_for(run, v));
    }
    std::set<value_id> there; // roots that are defined
    for (auto const& turn : p.turns()) {
        std::uint64_t sum = fold_digest(run, turn.id), written = 0;
        for (value_id v : turn.what->uses) sum = fold_digest(sum, digest(shown(v)));
        for (value_id v : turn.what->early) sum = fold_digest(sum, digest(shown(v)));
        for (std::size_t j = 0; j != turn.what->defs.size(); ++j) {
            value_id const v = turn.what->defs[j], root = p.root(v);
            bool const is_view = v != root && (there.count(root) != 0 || is_given(p.class_role(root)));
            if (!is_view) fill_noise(shown(v), fold_digest(sum, j));
        }
        for (value_id v : turn.what->defs) {
            written = fold_digest(written, digest(shown(v)));
            there.insert(p.root(v));
        }
        result.written.push_back(written);
    }
    for (value_id v = 0; v != p.values(); ++v)
        if (has_role(p.role[v], value_role::output) ||
            has_role(p.class_role(p.root(v)), value_role::external))
            result.final_digests.push_back(digest(shown(v)));
    return result;
}

/// A program with all that is needed to run it.
struct bench {
    struct alignas(64) block {
        std::byte bytes[64] = {};
    };
    random_program const& p;
    std::map<value_id, block> bound;
    std::vector<std::uint64_t> written;
    synthetic_kernel compute;

    executor make(auto const& mode, executor_options const& how, bool in_place)
    {
        kernel const traced = [this](cpu_call const& call) {
            compute(call);
            std::uint64_t sum = 0;
            for (std::size_t j = 0; j != call.defs().size(); ++j) sum = fold_digest(sum, digest(call.out(j)));
            written.push_back(sum);
        };
        return executor(p.program(), p.options(in_place), mode, traced, how);
    }
    std::span<std::byte> bound_to(value_id root) { return std::span(bound[root].bytes).first(room(p, root)); }

    void give(executor& run, unsigned number)
    {
        written.clear();
        compute.seed = number;
        auto const lives = live_ranges_of(p);
        for (value_id v = 0; v != p.values(); ++v) {
            if (p.root(v) != v) continue;
            auto const role = p.class_role(v);
            if (lives.count(v) != 0) {
                if (has_role(role, value_role::input)) fill_noise(run.input(v), noise_for(number, v));
            } else if (p.bytes[v] != 0 && number == 1) {
                if (has_role(role, value_role::external) || has_role(role, value_role::input))
                    fill_noise(bound_to(v), noise_for(number, v));
                run.bind(v, bound_to(v));
            } else if (p.bytes[v] != 0 && has_role(role, value_role::input) &&
                       !has_role(role, value_role::external)) {
                fill_noise(bound_to(v), noise_for(number, v));
            }
        }
    }
    outcome result(executor const& run)
    {
        outcome of_run{written, {}};
        for (value_id v = 0; v != p.values(); ++v) {
            bool const is_external = has_role(p.class_role(p.root(v)), value_role::external);
            if (has_role(p.role[v], value_role::output))
                of_run.final_digests.push_back(digest(run.output(v)));
            else if (is_external)
                of_run.final_digests.push_back(digest(bound_to(p.root(v)).first(
                    static_cast<std::size_t>(std::min<byte_count>(p.bytes[v], room(p, p.root(v)))))));
        }
        return of_run;
    }
};

/// Counts allocated blocks and records sizes and alignments.
struct checked_resource {
    std::map<void*, std::pair<std::size_t, std::size_t>> live_blocks;
    void* allocate(std::size_t bytes, std::size_t alignment)
    {
        void* const block = ::operator new(bytes, std::align_val_t{alignment});
        live_blocks[block] = {bytes, alignment};
        return block;
    }
    void deallocate(void* block, std::size_t bytes, std::size_t alignment)
    {
        if (live_blocks.at(block) != std::pair{bytes, alignment}) FAIL_CHECK("freed with another size");
        live_blocks.erase(block);
        ::operator delete(block, std::align_val_t{alignment});
    }
};

} // namespace

TEST_CASE(
    "random programs compute the same in every mode, at every check level, in place or not, run after run")
{
    std::size_t exact = 0, shrinking = 0;
    for (unsigned seed = 0; seed != rounds(250); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program p = draw_program(pick, 8);
        if (seed % 2 == 0) shrink_results(p, pick);
        bytes_of_class own;
        outcome const expected[] = {by_definition(p, own, 1), by_definition(p, own, 2)};
        for (bool const in_place : {false, true}) {
            CAPTURE(in_place);
            auto const planned = plan_memory(p.program(), p.options(in_place));
            REQUIRE(planned);
            for (memory_plan::placed_buffer const& b : planned.plan.buffers) shrinking += b.over != no_buffer;
            auto run_all = [&](auto const& mode, executor_options::checks level) {
                checked_resource source;
                {
                    bench around{.p = p, .bound = {}, .written = {}, .compute = {}};
                    executor run = around.make(mode, {.check = level, .upstream = &source}, in_place);
                    for (unsigned number : {1u, 2u}) {
                        CAPTURE(number);
                        around.give(run, number);
                        run_report const report = run.run();
                        CHECK(around.result(run) == expected[number - 1]);
                        CHECK(report.steps == p.turns().size());
                        CHECK(report.lower_bound <=
                              planned.report().lower_bound_bytes); // alignment may need more
                        if constexpr (std::same_as<std::remove_cvref_t<decltype(mode)>, arena>) {
                            CHECK(report.plan_bytes == planned.report().arena_bytes);
                            CHECK(report.reserved == planned.report().arena_bytes);
                            CHECK(report.run.bytes ==
                                  run_report::counter{report.reserved, report.reserved, 0});
                        } else if (planned.plan.arena_bytes.size() <= 1) {
                            CHECK(report.run.bytes.peak >= report.lower_bound);
                            exact += report.run.bytes.peak == report.lower_bound;
                        }
                    }
                }
                CHECK(source.live_blocks.empty());
            };
            for (auto level : {executor_options::checks::off, executor_options::checks::plan,
                               executor_options::checks::paint, executor_options::checks::digest}) {
                CAPTURE(static_cast<int>(level));
                run_all(no_plan{}, level);
                run_all(recycle{}, level);
                run_all(arena{planned}, level);
            }
        }
    }
    if (fuzzed.is_on) return;
    CHECK(exact > rounds(1000));
    CHECK(shrinking > rounds(5)); // results within larger operands, where the other bytes are soon reused
}

/// The first nodes of a program, with sizes scaled by `eighths`: in-place pairs keep their order of sizes.
random_program smaller(random_program p, std::size_t nodes, byte_count eighths)
{
    p.nodes.resize(nodes);
    p.nodes.back().uses_at_end.clear();
    p.order.erase(std::remove_if(p.order.begin(), p.order.end(), [nodes](node_id n) { return n >= nodes; }),
                  p.order.end());
    std::set<value_id> written;
    for (auto const& node : p.nodes)
        for (auto const& step : node.steps) written.insert(step.defs.begin(), step.defs.end());
    for (value_id v = 0; v != p.values(); ++v) {
        if (p.bytes[v] != no_size) p.bytes[v] = p.bytes[v] * eighths / 8;
        if (written.count(v) == 0 && !is_given(p.role[v])) p.role[v] = value_role::intermediate;
    }
    return p;
}

TEST_CASE("a plan for the largest shapes runs smaller shapes and fewer steps, as fits() says")
{
    std::size_t fewer = 0, grown = 0, refused = 0;
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program const whole = draw_program(pick, 8);
        auto const planned = plan_memory(whole.program(), whole.options());
        REQUIRE(planned);
        std::size_t const nodes = 1 + pick.below(static_cast<std::uint32_t>(whole.nodes.size()));
        random_program p = smaller(whole, nodes, pick.below(9));
        bool const is_changed = seed % 2 == 0;
        for (value_id v = 0; is_changed && v != p.values(); ++v)
            if (p.bytes[v] != no_size && pick.below(4) == 0) p.bytes[v] = 1 + pick.below(40);
        auto const fitted = fits(planned.plan, p.program(), p.options());
        refused += !fitted;
        if (!fitted) {
            // Either what it reads is written by a step that is gone, or the first steps are: an input that
            // the first step left reads early is live while that step writes.
            bool const is_program = bool(plan_memory(p.program(), p.options()));
            bool const keeps_first = std::equal(p.order.begin(), p.order.end(), whole.order.begin());
            if (!is_changed && keeps_first) CHECK(!is_program);
            continue;
        }
        (is_changed ? grown : fewer) += nodes != whole.nodes.size();
        for (value_id v = 0; v != p.values(); ++v)
            if (fitted.plan.buffer_of[v] != no_buffer)
                CHECK(fitted.plan.offset_of(v) == planned.plan.offset_of(v));
        bytes_of_class own;
        outcome const expected = by_definition(p, own, 1);
        for (bool const proves : {true, false}) {
            bench around{.p = p, .bound = {}, .written = {}, .compute = {}};
            executor run = around.make(arena{fitted.plan},
                                       {.check = executor_options::checks::digest, .prove = proves}, true);
            around.give(run, 1);
            CHECK(run.run().plan_bytes == planned.report().arena_bytes);
            CHECK(around.result(run) == expected);
        }
    }
    if (fuzzed.is_on) return;
    CHECK(fewer > rounds(100));
    CHECK(grown > rounds(20));
    CHECK(refused > rounds(100));
}

TEST_CASE("any unproved plan is rejected or runs within its arenas")
{
    std::size_t refused = 0, ran = 0;
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program const p = draw_program(pick);
        memory_plan plan = plan_memory(p.program(), p.options()).plan;
        auto corrupt = [&](auto& numbers, std::uint64_t most) {
            if (numbers.empty()) return;
            using number = std::remove_cvref_t<decltype(numbers[0])>;
            auto& one = pick.one_of(numbers);
            one = pick.below(8) == 0 ? static_cast<number>(~number{0} - pick.below(3))
                                     : static_cast<number>(pick.below(static_cast<std::uint32_t>(most)));
        };
        std::vector<byte_count> offsets;
        for (memory_plan::placed_buffer const& b : plan.buffers) offsets.push_back(b.offset);
        for (std::uint32_t i = 0, n = 1 + pick.below(3); i != n; ++i) {
            if (pick.below(2) == 0) corrupt(offsets, 80);
            if (pick.below(4) == 0) corrupt(plan.buffer_of, plan.buffers.size() + 1);
            if (pick.below(8) == 0) plan.arena_bytes.resize(pick.below(4), 40);
        }
        for (std::size_t b = 0; b != offsets.size(); ++b) plan.buffers[b].offset = offsets[b];
        checked_resource source;
        bench around{.p = p, .bound = {}, .written = {}, .compute = {}};
        auto is_within = [&](std::span<std::byte const> bytes) {
            if (bytes.empty()) return true;
            auto holds = [&](std::byte const* begin, std::size_t size) {
                return begin <= bytes.data() && bytes.data() + bytes.size() <= begin + size;
            };
            for (auto const& [block, its] : source.live_blocks)
                if (holds(static_cast<std::byte const*>(block), its.first)) return true;
            for (auto const& [root, block] : around.bound)
                if (holds(block.bytes, sizeof block.bytes)) return true;
            return false;
        };
        kernel const look = [&](cpu_call const& call) {
            for (std::size_t i = 0; i != call.uses().size(); ++i) CHECK(is_within(call.in(i)));
            for (std::size_t j = 0; j != call.defs().size(); ++j) CHECK(is_within(call.out(j)));
            for (std::size_t k = 0; k != call.scratch_count(); ++k) CHECK(is_within(call.scratch(k)));
        };
        for (executor_options::checks const level :
             {executor_options::checks::off, executor_options::checks::digest}) {
            try {
                executor run(p.program(), p.options(), arena{plan}, look,
                             {.check = level, .prove = false, .upstream = &source});
                around.give(run, 1);
                run.run();
                ++ran;
            } catch (unsound_plan const&) {
                ++refused;
            } catch (clobbered_value const&) {
                CHECK(level == executor_options::checks::digest);
            }
        }
    }
    if (fuzzed.is_on) return;
    CHECK(refused > rounds(500));
    CHECK(ran > rounds(500));
}

namespace {

/// A plan in which exactly one pair of classes overlaps.
struct injected_fault {
    memory_plan plan;
    value_id first, second; // in the order of their begins, then by id
};

/// The plan with an offset for each class, so that each can be moved alone; spread out: none shares.
memory_plan by_class(random_program const& p, memory_plan plan, bool is_spread)
{
    memory_plan result{.order = p.order, .arena_bytes = std::vector<byte_count>(plan.arena_bytes.size(), 0)};
    result.buffer_of.assign(p.values(), no_buffer);
    result.empty = plan.empty;
    for (auto const& [r, life] : live_ranges_of(p)) {
        memory_plan::placed_buffer placed{.root = r, .life = life, .size = p.bytes[r], .pool = p.pool[r]};
        byte_count& end = result.arena_bytes[p.pool[r]];
        placed.offset = is_spread ? align_up(end, 64) : plan.offset_of(r);
        end = std::max(end, placed.offset + placed.size);
        for (value_id v = 0; v != p.values(); ++v)
            if (p.root(v) == r) result.buffer_of[v] = static_cast<buffer_id>(result.buffers.size());
        result.buffers.push_back(placed);
    }
    return result;
}

/// Whether the step at this position is declared to write `to` over its last read, `from`.
bool is_pair_at(random_program const& p, class_history const& touches, value_id from, value_id to,
                position_id at)
{
    for (auto const& [in, out] : p.turns()[at].what->pairs)
        if (p.root(in) == from && p.root(out) == to && touches.at(from).count(at) != 0 &&
            touches.at(from).at(at).only_reads(in) && p.first_write(touches.at(to)) == at)
            return true;
    return false;
}

/// Pairs that are alive together and share bytes, by comparing all pairs.
std::vector<std::pair<value_id, value_id>> clashes(random_program const& p, memory_plan const& plan)
{
    auto const touches = access_history(p);
    auto const lives = live_ranges_of(p);
    auto at = [&](value_id r) { return plan.offset_of(r); };
    std::set<value_id> is_reused;
    std::set<std::pair<value_id, value_id>> handed_over;
    for (position_id position = 0; position != p.turns().size(); ++position)
        for (auto const& [in, out] : p.turns()[position].what->pairs) {
            value_id const from = p.root(in), to = p.root(out);
            if (lives.count(from) == 0 || lives.count(to) == 0 || is_reused.count(from) != 0) continue;
            bool const fits =
                p.pool[from] == p.pool[to] && at(from) == at(to) && p.bytes[from] >= p.bytes[to];
            // An early read may come after the end of its live range.
            bool const ends = touches.at(from).rbegin()->first == position &&
                              lives.at(from).last == position + 1 &&
                              !has_role(p.class_role(from), value_role::output);
            bool const begins =
                lives.at(to).first == position && !has_role(p.class_role(to), value_role::input);
            if (!fits || !ends || !begins || !is_pair_at(p, touches, from, to, position)) continue;
            is_reused.insert(from);
            handed_over.insert({from, to});
        }
    std::vector<std::pair<value_id, value_id>> found;
    for (auto const& [a, a_life] : lives)
        for (auto const& [b, b_life] : lives)
            if (a < b && overlaps(a_life, b_life) && p.pool[a] == p.pool[b] && at(a) < at(b) + p.bytes[b] &&
                at(b) < at(a) + p.bytes[a] && handed_over.count({a, b}) == 0 &&
                handed_over.count({b, a}) == 0)
                found.push_back({a, b});
    return found;
}

std::optional<injected_fault> inject(random_program const& p, random_source& pick)
{
    auto const lives = live_ranges_of(p);
    std::vector<value_id> roots;
    for (auto const& [r, life] : lives) roots.push_back(r);
    if (roots.size() < 2) return std::nullopt;
    auto any = [&] { return pick.one_of(roots); };
    auto const sound = plan_memory(p.program(), p.options());
    REQUIRE(sound);
    for (int attempt = 0; attempt != 60; ++attempt) {
        memory_plan plan = by_class(p, sound.plan, pick.below(2) == 0);
        value_id const moved = any(), other = any();
        if (moved == other || !overlaps(lives.at(moved), lives.at(other))) continue;
        byte_count alignment = 1;
        for (value_id v = 0; v != p.values(); ++v)
            if (p.root(v) == moved) alignment = std::max(alignment, p.alignment[v]);
        byte_count& offset = plan.buffers[plan.buffer_of[moved]].offset;
        byte_count const there =
            plan.offset_of(other) + pick.below(static_cast<std::uint32_t>(p.bytes[other]));
        offset = there - there % alignment;
        byte_count& end = plan.arena_bytes[p.pool[moved]];
        end = std::max(end, offset + p.bytes[moved]);
        auto const found = clashes(p, plan);
        if (found.size() != 1) continue;
        auto [a, b] = found.front();
        auto birth = [&](value_id r) { // of an input: before any step
            return has_role(p.class_role(r), value_role::input) ? -1 : static_cast<int>(lives.at(r).first);
        };
        if (birth(b) < birth(a)) std::swap(a, b);
        return injected_fault{plan, a, b};
    }
    return std::nullopt;
}

/// The value that the pair clobbers, if any, when the program runs in its order.
///
/// The pair is exercised if a step writes over bytes that are still needed: the second is written while the
/// first is needed to the end of that step, by a later one, or by the caller. If one step writes both, the
/// one that is needed later is clobbered.
/// Not exercised are two values without uses written by one step, and an operand under a result that may be
/// written over it: there the plan check is stricter, as it wants the two to begin together.
std::vector<clobbered_value::finding> exercised(random_program const& p, injected_fault const& pair)
{
    auto const touches = access_history(p);
    auto const turns = p.turns();
    auto is_input = [&](value_id r) { return has_role(p.class_role(r), value_role::input); };
    auto is_output = [&](value_id r) { return has_role(p.class_role(r), value_role::output); };
    auto next_touch = [&](value_id r,
                          int after) -> std::optional<position_id> { // the number of positions: the end
        for (auto const& [at, how] : touches.at(r))
            if (static_cast<int>(at) > after) return at;
        if (is_output(r)) return static_cast<position_id>(turns.size());
        return std::nullopt;
    };
    auto last_write = [&](value_id r, position_id before) { // the step
        step_id step = no_step;
        for (auto const& [at, how] : touches.at(r))
            if (at < before && !how.written.empty()) step = turns[at].id;
        return step;
    };
    auto clobber_finding = [&](value_id overwritten, value_id clobber, position_id reader) {
        return clobbered_value::finding{.value = overwritten,
                                        .producer = last_write(overwritten, reader),
                                        .reader = reader == turns.size() ? no_step : turns[reader].id,
                                        .culprit = clobber,
                                        .culprit_step = last_write(clobber, reader)};
    };
    value_id const first = pair.first, second = pair.second;
    if (is_input(second)) { // both are defined before the run; the caller wrote the second over the first
        if (auto const reader = next_touch(first, -1)) return {clobber_finding(first, second, *reader)};
        return {};
    }
    position_id const at = p.first_write(touches.at(second));
    bool const is_touched = touches.at(first).count(at) != 0;
    bool const is_written = is_touched && !touches.at(first).at(at).written.empty();
    bool const is_last = !next_touch(first, static_cast<int>(at));
    if (is_touched && !is_written) {
        bool const early = touches.at(first).at(at).is_early() && !(at == 0 && is_input(first));
        if (is_last && (early || is_pair_at(p, touches, first, second, at))) return {};
        clobbered_value::finding found = clobber_finding(first, second, at);
        found.culprit_step = found.reader;
        return {found};
    }
    std::vector<clobbered_value::finding> found;
    if (auto const reader = next_touch(first, static_cast<int>(at)))
        found.push_back(clobber_finding(first, second, *reader));
    if (auto const reader = next_touch(second, static_cast<int>(at)); reader && is_written)
        found.push_back(clobber_finding(second, first, *reader));
    return found;
}

} // namespace

TEST_CASE("the plan check finds every unsound pair, and a checked run every one that its order exercises")
{
    std::size_t plans = 0, refused = 0, found = 0, unexercised = 0, in_scratch = 0;
    for (unsigned seed = 0; plans != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_program const p = draw_program(pick, 8);
        auto const pair = inject(p, pick);
        if (!pair) continue;
        ++plans;
        CAPTURE(pair->first);
        CAPTURE(pair->second);
        bench around{.p = p, .bound = {}, .written = {}, .compute = {}};
        try {
            around.make(arena{pair->plan}, {}, true);
        } catch (unsound_plan const& e) {
            CHECK(e.why().what == fault::clash);
            CHECK(e.why().value() == std::min(pair->first, pair->second));
            CHECK(e.why().other() == std::max(pair->first, pair->second));
            ++refused;
        }

        auto const touches = access_history(p);
        auto is_scratch_of_writer = [&](value_id room,
                                        value_id other) { // scratch of a step that writes other
            auto const its = touches.at(other).find(touches.at(room).begin()->first);
            return p.is_scratch[room] && its != touches.at(other).end() && !its->second.written.empty();
        };
        bool const meets_scratch = is_scratch_of_writer(pair->first, pair->second) ||
                                   is_scratch_of_writer(pair->second, pair->first);
        auto const expected = exercised(p, *pair);
        std::optional<clobbered_value::finding> seen;
        executor run =
            around.make(arena{pair->plan}, {.check = executor_options::checks::digest, .prove = false}, true);
        around.give(run, 1);
        try {
            run.run();
            CHECK(expected.empty());
            ++unexercised;
            continue;
        } catch (clobbered_value const& e) {
            seen = e.details();
        } catch (run_error const&) {
            CHECK(meets_scratch); // the kernel itself finds its results in its scratch
            ++in_scratch;
            continue;
        }
        CHECK(std::find(expected.begin(), expected.end(), *seen) != expected.end());
        ++found;
    }
    if (fuzzed.is_on) return;
    CHECK(refused == rounds(300));
    CHECK(found > rounds(200));
    CHECK(unexercised > rounds(0));
    MESSAGE("refused " << refused << " of " << plans << "; run: found " << found << ", by the kernel "
                       << in_scratch << ", not exercised " << unexercised);
}

} // namespace this_test
