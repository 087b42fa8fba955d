// SPDX-License-Identifier: BSL-1.0
// Random listings with every option, by every planner, on every executor with checks off, against a run of
// the words themselves: each value has storage of its own, and a view is a window of it. What each step reads
// is compared, and what is left. A listing that fails is made smaller and printed.
// SUBLET_ROUNDS multiplies the listings (weekly: 20), SUBLET_SEED is the first seed.
#include <sublet/execution/cpu.hpp>
#include <sublet/execution/growing_arena.hpp>
#include <sublet/execution/streams.hpp>
#include <sublet/execution/threads.hpp>

#include "../printed.hpp"
#include "../random_listing.hpp"
#include "../random_source.hpp"

#include <sublet/advise_memory.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_symbolic.hpp>
#include <sublet/testing/simulated_device.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using number = random_listing::number;
using verb = random_listing::verb;

// --- the words, run --------------------------------------------------------------------------------------

/// A step, from its words.
struct painted_step {
    std::vector<number> reads;   // all operands
    std::vector<number> held;    // of them, those that stay to the end of the step
    std::vector<number> changed; // written, and there before: read first
    std::vector<number> written; // in the order of the words: changes first, then results
};

/// Storage that no step makes is written through several views, or through one of no bytes.
bool has_pieces(random_listing const& words)
{
    std::vector<bool> is_made(words.values.size()), is_begun = is_made;
    for (auto const& step : words.steps)
        for (auto const& w : step)
            if (w.what == verb::make || w.what == verb::allocate) is_made[w.value] = true;
    for (auto const& step : words.steps)
        for (auto const& w : step) {
            if (w.what != verb::write) continue;
            number const root = words.root(w.value);
            bool const is_piece = root != w.value && !is_made[root];
            if (is_piece && (is_begun[root] || words.values[w.value].bytes == 0)) return true;
            is_begun[root] = is_begun[root] || root != w.value;
        }
    return false;
}

/// None if a word finds no value, or not all bytes.
struct painted_program {
    random_listing words;
    std::vector<painted_step> steps;
    bytes_there left;
    std::vector<value_role> role; // by value, of all of its storage
    std::vector<bool> is_planned, is_touched;

    bool is_output(number v) const
    {
        return is_planned[v] && is_touched[v] && has_role(role[v], value_role::output);
    }
};

std::optional<painted_program> fit_to_run(random_listing const& l, bool may_rewrite)
{
    bytes_there there(l);
    std::vector<painted_step> steps;
    std::vector<bool> has_begun(l.values.size());
    for (number v = 0; v != l.values.size(); ++v) {
        auto const& d = l.values[v];
        if (d.of != random_listing::none && l.values[l.root(v)].bytes != no_size &&
            (d.bytes == no_size || l.begin(v) + d.bytes > l.values[l.root(v)].bytes))
            return {};
    }
    for (number s = 0; s != l.steps.size(); ++s) {
        painted_step now;
        std::vector<number> made, viewed, changes;
        for (auto w : l.steps[s]) {
            if (w.what == verb::wait_for && w.value >= s) return {};
            if (w.what == verb::read_at_end_of) return {};
            if (w.what > verb::write) continue;
            bool const is_view = l.values[w.value].of != random_listing::none;
            bool const is_new = w.what == verb::make || w.what == verb::allocate;
            if (is_new) made.push_back(w.value);
            if (w.what == verb::view) viewed.push_back(w.value);
            if (w.what == verb::write) changes.push_back(w.value);
            if ((is_new && is_view) || (w.what == verb::view && !is_view)) return {};
            if (w.what == verb::read || w.what == verb::read_early) now.reads.push_back(w.value);
        }
        if (l.forgets_a_write(l.steps[s])) return {};
        for (auto w : l.steps[s])
            if (w.what == verb::may_overwrite &&
                (std::count(made.begin(), made.end(), w.other) == 0 ||
                 std::count(now.reads.begin(), now.reads.end(), w.value) == 0))
                return {};
        for (number v : now.reads) { // of a view that the step makes: the bytes of its root
            bool const is_own_view = std::count(viewed.begin(), viewed.end(), v) != 0;
            if (is_own_view && std::count(made.begin(), made.end(), l.root(v)) != 0) return {};
            if (!there.is_there[is_own_view ? l.root(v) : v] || !there.all_written(l, v)) return {};
        }
        for (auto const* all : {&made, &viewed})
            for (number v : *all) {
                bool const is_again =
                    has_begun[v] || std::count(all->begin(), all->end(), v) != 1 || there.is_there[v];
                if (is_again && (!may_rewrite || std::count(all->begin(), all->end(), v) != 1)) return {};
            }
        auto is_in = [](auto const& all, number v) { return std::count(all.begin(), all.end(), v) != 0; };
        for (number v : changes) {
            if (is_in(made, v)) return {};
            bool const is_viewed = is_in(viewed, v);
            if (!is_viewed && (!there.is_there[v] || !there.all_written(l, v))) return {};
            if (std::count(changes.begin(), changes.end(), v) != 1) return {};
            if (there.all_written(l, v)) now.changed.push_back(v);
        }
        for (number v : viewed) {
            number const of = l.values[v].of;
            if (l.values[of].of != random_listing::none && !there.is_there[of]) return {};
            if (!there.is_there[l.root(v)] && !is_in(changes, v)) return {};
        }
        for (number v : changes)
            if (!is_in(viewed, v)) now.written.push_back(v);
        for (auto w : l.steps[s]) {
            bool const is_result = w.what == verb::make || (w.what == verb::view && is_in(changes, w.value));
            if (is_result) now.written.push_back(w.value);
        }
        // An operand is held unless it is read early only, written over, or declared to be.
        for (auto w : l.steps[s]) {
            if (w.what != verb::read) continue;
            bool is_held = true;
            for (number v : now.written) is_held = is_held && l.root(v) != l.root(w.value);
            for (auto o : l.steps[s])
                if (o.what == verb::may_overwrite && is_in(made, o.other))
                    is_held = is_held && l.root(o.value) != l.root(w.value);
            if (is_held) now.held.push_back(w.value);
        }
        for (number v : made) has_begun[v] = there.is_there[v] = true;
        for (number v : viewed) has_begun[v] = there.is_there[v] = true;
        for (number v : now.written) there.write(l, v);
        steps.push_back(now);
    }
    auto const role = l.class_roles();
    std::vector<bool> is_planned(l.values.size(), true), is_touched(l.values.size());
    for (auto const& s : l.steps)
        for (auto w : s)
            if (w.what <= verb::write) is_touched[l.root(w.value)] = true;
    for (number v = 0; v != l.values.size(); ++v) {
        if (!l.values[v].is_eligible) is_planned[l.root(v)] = false;
        is_touched[v] = is_touched[l.root(v)];
    }
    for (number v = 0; v != l.values.size(); ++v) {
        byte_count const bytes = l.values[l.root(v)].bytes;
        is_planned[v] = is_planned[l.root(v)] && bytes != 0 && bytes != no_size &&
                        !has_role(role[v], value_role::external);
        // An output is whole, and a view of it is made.
        bool const is_output = has_role(role[v], value_role::output);
        if (is_output && l.root(v) == v && !there.all_written(l, v)) return {};
        if (has_role(l.values[v].role, value_role::output) && !there.is_there[v] && l.root(v) == v) return {};
    }
    return painted_program{l, steps, there, role, is_planned, is_touched};
}

/// Reads all operands, then writes all results; returns what was read.
template <class BytesOf, class Pause>
std::uint64_t paint_step(painted_step const& s, std::uint64_t seed, BytesOf bytes_of, Pause pause)
{
    std::uint64_t sum = seed;
    auto shown = [&](number v) { return mix(digest(bytes_of(v)) + 31 * v + 1); };
    for (number v : s.reads) sum += shown(v);
    for (number v : s.changed) sum += 3 * shown(v);
    std::uint64_t before = 0, after = 0;
    for (number v : s.held) before += shown(v);
    pause();
    for (number v : s.written) fill_noise(bytes_of(v), fold_digest(sum, v));
    pause();
    for (number v : s.held) after += shown(v);
    return before == after ? sum : ~sum;
}

std::uint64_t seed_of(unsigned run, number step) { return fold_digest(run + 1, step); }
std::uint64_t noise_of(unsigned run, number value) { return fold_digest(1000 + run, value); }

/// By run: what each step read; then the outputs and the storage of the caller.
struct shown {
    std::vector<std::uint64_t> seen;
    std::vector<std::vector<std::byte>> left;
};
constexpr unsigned runs = 2;

/// The bytes of v that are there at the end.
std::vector<std::byte> kept(painted_program const& p, number v, std::span<std::byte const> bytes)
{
    std::vector<std::byte> all(bytes.begin(), bytes.end());
    auto const at = to_size(p.words.begin(v));
    for (std::size_t i = 0; i != all.size(); ++i)
        if (!p.left.written[p.words.root(v)][at + i]) all[i] = {};
    return all;
}
/// Runs steps in an order, with a place for each value.
template <class BytesOf>
shown paint_runs(painted_program const& p, std::vector<node_id> const& order, BytesOf bytes_of)
{
    random_listing const& l = p.words;
    shown all;
    for (unsigned run = 0; run != runs; ++run) {
        for (number v = 0; v != l.values.size(); ++v) {
            auto const role = p.role[v];
            if (l.root(v) != v) continue;
            bool const is_once = has_role(role, value_role::external) && !has_role(role, value_role::input);
            if (is_once ? run == 0 : has_role(role, value_role::input))
                fill_noise(bytes_of(v), noise_of(run, v));
        }
        std::size_t const first = all.seen.size();
        all.seen.resize(first + l.steps.size());
        for (node_id s : order)
            all.seen[first + s] = paint_step(p.steps[s], seed_of(run, s), bytes_of, [] {});
        for (number v = 0; v != l.values.size(); ++v)
            if ((p.is_output(v) && p.left.is_there[v]) ||
                (l.root(v) == v && has_role(p.role[v], value_role::external)))
                all.left.push_back(kept(p, v, bytes_of(v)));
    }
    return all;
}
std::vector<node_id> as_listed(painted_program const& p)
{
    std::vector<node_id> order(p.steps.size());
    for (node_id s = 0; s != order.size(); ++s) order[s] = s;
    return order;
}

/// The truth: each value that is no view has storage of its own.
shown paint_apart(painted_program const& p)
{
    std::vector<std::vector<std::byte>> own;
    for (number v = 0; v != p.words.values.size(); ++v) own.emplace_back(bytes_there::room(p.words, v));
    return paint_runs(p, as_listed(p), [&](number v) {
        return std::span(own[p.words.root(v)])
            .subspan(to_size(p.words.begin(v)), bytes_there::room(p.words, v));
    });
}

/// In the arenas of a plan, in an order: no executor adds a wait.
template <class OffsetOf>
shown paint_in(painted_program const& p, std::vector<byte_count> const& arena_bytes, OffsetOf place_of,
               std::vector<node_id> const& order)
{
    std::vector<std::vector<std::byte>> own, arenas;
    for (number v = 0; v != p.words.values.size(); ++v) own.emplace_back(bytes_there::room(p.words, v));
    for (byte_count size : arena_bytes) arenas.emplace_back(size);
    return paint_runs(p, order, [&](number v) {
        auto const size = bytes_there::room(p.words, v);
        auto const [pool, offset] = place_of(v);
        if (offset != no_offset) return std::span(arenas[pool]).subspan(to_size(offset), size);
        return std::span(own[p.words.root(v)]).subspan(to_size(p.words.begin(v)), size);
    });
}

// --- on executors ----------------------------------------------------------------------------------------

/// A kernel that finds the values of a step by their handles.
struct paint_kernel {
    struct context {
        painted_program const* program = nullptr;
        std::vector<value_id> id;                        // by value
        std::vector<spilled_program::step> spilled = {}; // steps of a program with spills
        std::vector<value_id> origin = {};
        unsigned run = 0;
        unsigned delays = 0;
        std::vector<std::uint64_t> seen = {}; // by step
    };
    context* its = nullptr;

    template <class Call>
    void operator()(Call const& call) const
    {
        auto const find = [&](auto const& all, number v) {
            std::size_t at = 0;
            while (at != all.size() && origin_of(all[at]) != its->id[v]) ++at;
            return at;
        };
        step_id step = call.step;
        bool is_again = false;
        if (!its->spilled.empty()) {
            auto const one = its->spilled[step];
            if (one.kind == spilled_program::kind::copied_out ||
                one.kind == spilled_program::kind::copied_back) {
                auto const from = call.in(0);
                auto const to = call.out(0);
                if (from.size() != to.size()) throw precondition_error("painted: a copy of another size");
                std::copy(from.begin(), from.end(), to.begin());
                return;
            }
            is_again = one.kind == spilled_program::kind::rematerialize;
            step = one.step;
        }
        painted_step const& s = its->program->steps[step];
        auto bytes_of = [&](number v) -> std::span<std::byte> {
            if (std::size_t const j = find(call.defs(), v); j != call.defs().size()) return call.out(j);
            std::size_t const i = find(call.uses(), v);
            if (i == call.uses().size()) throw precondition_error("painted: an operand is missing");
            auto const in = call.in(i);
            return {const_cast<std::byte*>(in.data()), in.size()};
        };
        auto pause = [&] {
            if (its->delays == 0) return;
            std::uint64_t const turn = mix(its->delays + 7 * step + its->run) % 8;
            for (std::uint64_t i = 0; turn > 4 && i != turn - 4; ++i) std::this_thread::yield();
        };
        std::uint64_t const sum = paint_step(s, seed_of(its->run, step), bytes_of, pause);
        if (!is_again) its->seen[step] = sum;
    }

private:
    value_id origin_of(value_id v) const { return v < its->origin.size() ? its->origin[v] : v; }
};

struct alignas(64) line {
    std::byte bytes[64] = {};
};

/// Runs twice, with the caller's values; `now(v)` is the version of a value at the end of a run.
template <class Run, class Now>
shown run_twice(painted_program const& p, paint_kernel::context& its, Run& run, Now now)
{
    random_listing const& l = p.words;
    std::vector<std::vector<line>> bound(l.values.size());
    auto const bytes_of = [&](number v) {
        bound[v].resize(bytes_there::room(l, v) / sizeof(line) + 1);
        return std::span<std::byte>(bound[v][0].bytes, bytes_there::room(l, v));
    };
    shown all;
    for (its.run = 0; its.run != runs; ++its.run) {
        its.seen.assign(l.steps.size(), 0);
        for (number v = 0; v != l.values.size(); ++v) {
            if (l.root(v) != v || bytes_there::room(l, v) == 0) continue;
            auto const role = p.role[v];
            bool const is_input = has_role(role, value_role::input);
            if (p.is_planned[v]) {
                if (is_input) fill_noise(run.input(its.id[v]), noise_of(its.run, v));
            } else {
                bool const is_once = has_role(role, value_role::external) && !is_input;
                if (is_once ? its.run == 0 : is_input) fill_noise(bytes_of(v), noise_of(its.run, v));
                if (its.run == 0) run.bind(its.id[v], bytes_of(v));
            }
        }
        run.run();
        all.seen.insert(all.seen.end(), its.seen.begin(), its.seen.end());
        for (number v = 0; v != l.values.size(); ++v)
            if (p.is_output(v) && p.left.is_there[v]) {
                std::span<std::byte const> bytes = run.output(now(v));
                if (bytes.size() != bytes_there::room(l, v)) // those of its root
                    bytes = bytes.subspan(to_size(l.begin(v)), bytes_there::room(l, v));
                all.left.push_back(kept(p, v, bytes));
            } else if (l.root(v) == v && has_role(p.role[v], value_role::external))
                all.left.push_back(kept(p, v, bytes_of(v)));
    }
    return all;
}

/// Why a run differs; empty if it does not.
std::string difference(shown const& expected, shown const& found)
{
    std::size_t const steps = expected.seen.size() / runs;
    for (std::size_t i = 0; i != expected.seen.size(); ++i)
        if (expected.seen[i] != found.seen[i])
            return "step " + std::to_string(i % steps) + " of run " + std::to_string(i / steps) +
                   (found.seen[i] == ~expected.seen[i] ? " loses an operand that it holds"
                                                       : " reads other bytes");
    return expected.left == found.left ? "" : "an output or the caller's storage differs";
}

/// A program to run, in words or by ids, and its truth.
struct subject {
    painted_program const& p;
    painted_list const& list;
    plan_options const& options;
    snapshot const& program;
    shown const& truth;

    paint_kernel::context context() const
    {
        paint_kernel::context its;
        its.program = &p;
        for (number v = 0; v != p.words.values.size(); ++v) its.id.push_back(list.id(v));
        return its;
    }

    template <class Mode>
    std::string on_host(Mode const& mode, executor_options const& how) const
    {
        return said_by([&] {
            paint_kernel::context its = context();
            cpu_executor run(program, options, mode, paint_kernel{&its}, how);
            return difference(truth, run_twice(p, its, run, [&](number v) { return its.id[v]; }));
        });
    }
    template <class Mode>
    std::string on_threads(Mode const& mode, random_source& pick) const
    {
        std::size_t const workers = 1 + pick.below(3);
        queue_policy const policies[] = {queue_policy::plan_order, queue_policy::fifo, queue_policy::lifo,
                                         queue_policy::random, queue_policy::random};
        thread_options const how{.workers = workers, .policy = policies[pick.below(5)], .seed = pick.wide()};
        // Digests of storage that begins with no bytes are compared too early.
        bool const takes_digests = pick.below(4) == 0 && !has_pieces(p.words);
        unsigned const delays = workers == 1 ? 0 : pick.below(1000);
        return said_by([&] {
            paint_kernel::context its = context();
            its.delays = delays;
            thread_executor run(
                program, options, mode, paint_kernel{&its}, how,
                {.check = takes_digests ? executor_options::checks::digest : executor_options::checks::off});
            return difference(truth, run_twice(p, its, run, [&](number v) { return its.id[v]; }));
        });
    }
    template <class Mode>
    std::string on_streams(Mode const& mode, random_source& pick) const
    {
        if (has_pieces(p.words)) return {}; // a schedule of streams keeps no order of them, and is refused
        simulated_options how{.order = static_cast<simulated_options::order_kind>(pick.below(6)),
                              .seed = pick.below(1000)};
        how.which = pick.below(4);
        stream_options streams{.streams = 1 + pick.below(5)};
        streams.keeps_io_addresses = pick.below(4) == 0;
        if (pick.below(3) == 0)
            for (step_id s = 0; s != program.steps(); ++s)
                streams.stream_of.push_back(pick.below(static_cast<std::uint32_t>(streams.streams)));
        auto const level = static_cast<executor_options::checks>(pick.below(3) == 0 ? pick.below(4) : 0);
        return said_by([&] {
            paint_kernel::context its = context();
            simulated_device device(how);
            stream_executor run(device, program, options, mode, paint_kernel{&its}, streams,
                                {.check = level});
            return difference(truth, run_twice(p, its, run, [&](number v) { return its.id[v]; }));
        });
    }
    template <class Mode>
    std::string everywhere(Mode const& mode, random_source& pick) const
    {
        executor_options how{.check = static_cast<executor_options::checks>(pick.below(4) == 0 ? 3 : 0)};
        bool keeps_handoffs = true; // as the steps are listed
        if constexpr (std::same_as<Mode, arena>) {
            for (handoff h : mode.plan.handoffs) keeps_handoffs &= h.from < h.to;
            if (mode.plan.valid_for != program_reading::sequential) how.check = executor_options::checks::off;
        }
        if (auto why = keeps_handoffs ? on_host(mode, how) : std::string(); !why.empty())
            return "on the host: " + why;
        if (auto why = on_threads(mode, pick); !why.empty()) return "on threads: " + why;
        if (auto why = on_streams(mode, pick); !why.empty()) return "on streams: " + why;
        return {};
    }
    /// In the arenas alone, in orders that the words and the hand-offs allow.
    std::string in_any_order(memory_plan const& plan, random_source& pick) const
    {
        auto const before = order_of_words(p.words);
        for (int i = 0; i != 3; ++i) {
            auto const order = draw_order_of(before, plan.handoffs, pick);
            if (order.size() != p.steps.size()) return "its hand-offs contradict the words";
            if (auto why = in_order(plan, order); !why.empty()) return "in an order of its own: " + why;
        }
        return {};
    }
    std::string in_order(memory_plan const& plan, std::vector<node_id> const& order) const
    {
        return difference(truth, paint_in(
                                     p, plan.arena_bytes,
                                     [&](number v) {
                                         value_id const id = list.id(v);
                                         buffer_id const b = plan.buffer_of[id];
                                         if (b == no_buffer) return std::pair{pool_id{0}, no_offset};
                                         return std::pair{plan.buffers[b].pool, plan.offset_of(id)};
                                     },
                                     order));
    }
    /// Whether each value lies where the words allow it.
    std::string misplaced(memory_plan const& plan) const
    {
        random_listing const& l = p.words;
        for (number v = 0; v != l.values.size(); ++v) {
            std::string const name = "value " + std::to_string(v);
            if (list.id(v) == no_value) continue; // a view that no step makes
            byte_count const at = plan.offset_of(list.id(v)), size = bytes_there::room(l, v);
            if (!p.is_planned[v] || !p.is_touched[v]) {
                bool const has_no_bytes = l.values[l.root(v)].bytes == 0; // it has a place
                if (at != no_offset && !p.is_planned[v] && !has_no_bytes) return name + " has an offset";
                continue;
            }
            if (at == no_offset) return name + " has no offset";
            auto const& d = l.values[l.root(v)];
            pool_id const pool = plan.buffers[plan.buffer_of[list.id(v)]].pool;
            bool is_in_pool = pool == d.pool && d.choices.empty();
            for (auto choice : d.choices) is_in_pool |= choice.first == pool;
            if (!is_in_pool) return name + " is in another pool";
            pool_limits const limits = pool < l.pools.size() ? pool_limits(l.pools[pool]) : pool_limits{};
            if (at + size > plan.arena_bytes[pool]) return name + " is outside of its arena";
            if (plan.arena_bytes[pool] > limits.capacity) return "an arena exceeds its capacity";
            byte_count const begin = plan.offset_of(list.id(l.root(v)));
            if (at != begin + l.begin(v)) return name + " is not where its root is";
            if (begin % d.alignment != 0 || begin % limits.alignment != 0) return name + " is misaligned";
            if (d.pinned != no_offset && begin != d.pinned) return name + " is not at its pin";
            if (l.root(v) != v || limits.largest_block >= plan.arena_bytes[pool]) continue;
            bool is_in_block = false;
            for (auto const& b : plan.blocks)
                is_in_block |= b.pool == pool && b.begin <= at && at + size <= b.begin + b.size &&
                               b.size <= limits.largest_block;
            if (!is_in_block) return name + " is in no block";
        }
        return {};
    }
};

// --- planners --------------------------------------------------------------------------------------------

/// Whether a planner may find no plan for a listing that is fit to run.
bool may_not_fit(random_listing const& l, bool splits)
{
    byte_count least_block = no_limit, largest = 0;
    for (auto const& p : l.pools) {
        if (p.capacity != no_limit || (!splits && p.largest_block != no_limit)) return true;
        least_block = std::min(least_block, p.largest_block);
    }
    for (auto const& d : l.values) {
        if (d.pinned != no_offset) return true;
        if (d.of == random_listing::none && d.bytes != no_size) largest = std::max(largest, d.bytes);
    }
    return largest > least_block;
}

enum class planner { none, memory, concurrent, slots, handoffs };

/// What is done to a plan before it runs, to show that a fault is found.
enum class planted { nothing, moved_buffer, wrong_place_of_result, no_handoffs };

void plant(memory_plan& plan, snapshot const& program, planted fault)
{
    if (fault == planted::no_handoffs) plan.handoffs.clear();
    for (auto& b : plan.buffers)
        if (fault == planted::moved_buffer && b.offset >= b.size) b.offset -= b.size;
    for (overwrite o : program.overwrites()) { // whether the pair was taken or not
        buffer_id const in = plan.buffer_of[o.in], out = plan.buffer_of[o.out];
        if (fault != planted::wrong_place_of_result || in == no_buffer || out == no_buffer) continue;
        if (plan.buffers[in].pool == plan.buffers[out].pool &&
            plan.buffers[in].size >= plan.buffers[out].size)
            plan.buffers[out].offset = plan.buffers[in].offset;
    }
}

/// Why the plan of a planner fails for a listing; empty if it does not, or if the listing is not fit to run.
std::string failure_of(random_listing const& l, planner by, unsigned seed,
                       std::size_t* planned_ones = nullptr, planted fault = planted::nothing)
{
    auto const p = fit_to_run(l, by == planner::memory || by == planner::none);
    if (!p) return {};
    return said_by([&]() -> std::string {
        random_source pick{std::mt19937{seed}};
        painted_list const list = list_of(l);
        plan_options const options = options_of(l, list);
        snapshot const program = list.program();
        shown const truth = paint_apart(*p);
        subject const s{*p, list, options, program, truth};
        if (by == planner::none) {
            if (auto why = s.everywhere(no_plan{}, pick); !why.empty()) return "without a plan, " + why;
            if (auto why = s.everywhere(recycle{}, pick); !why.empty()) return "recycled, " + why;
            return {};
        }
        auto judge = [&](auto planned) -> std::string {
            if (!planned) {
                if (may_not_fit(l, by != planner::slots)) return {};
                return printed(planned.report());
            }
            if (planned_ones != nullptr) ++*planned_ones;
            plant(planned.plan, program, fault);
            if (fault == planted::nothing)
                if (auto why = s.misplaced(planned.plan); !why.empty()) return why;
            if (by == planner::memory) {
                auto const order = l.order.empty() ? as_listed(*p) : l.order;
                if (auto why = s.in_order(planned.plan, order); !why.empty()) return "in its order: " + why;
            } else if (auto why = s.in_any_order(planned.plan, pick); !why.empty()) {
                return why;
            }
            return s.everywhere(arena{planned.plan}, pick);
        };
        bool const in_words = !l.says_what_no_listing_can();
        if (by == planner::memory)
            return in_words ? judge(plan_memory(list)) : judge(plan_memory(program, options));
        if (by == planner::handoffs) {
            handoff_options how{.workers = pick.below(4)};
            how.few_waits = pick.below(3) != 0;
            how.minimum_gain = pick.below(2) == 0 ? 0 : 5;
            return in_words ? judge(plan_with_handoffs(list, how))
                            : judge(plan_with_handoffs(program, options, how));
        }
        concurrent_options how;
        if (by == planner::slots) how.strategy = concurrent_options::strategy_kind::slots;
        return in_words ? judge(plan_concurrent(list, how)) : judge(plan_concurrent(program, options, how));
    });
}

/// Executors that are made once, and take one shape after another.
class every_shape {
public:
    every_shape(painted_list const& list, symbolic_options options, planned_symbolic const& planned,
                random_source& pick)
        : program_(list.program()), options_(std::move(options)), memory_(planned), pick_(pick)
    {
    }

    std::string differ(subject const& of, shape const& one)
    {
        its_.program = &of.p;
        its_.id = of.context().id;
        auto run = [&](auto& executor) {
            executor.set_shape(one);
            return difference(of.truth,
                              run_twice(of.p, its_, executor, [&](number v) { return its_.id[v]; }));
        };
        bool const in_order = options_.valid_for == program_reading::sequential;
        std::string why = said_by([&] {
            auto const level = static_cast<executor_options::checks>(in_order ? pick_.below(4) : 0);
            if (!host_)
                host_.emplace(program_, options_, memory_.at(one), paint_kernel{&its_},
                              executor_options{.check = level});
            return run(*host_);
        });
        if (!why.empty()) return "on the host: " + why;
        if (in_order) return {};
        why = said_by([&] {
            if (!threads_) {
                thread_options const how{
                    .workers = 1 + pick_.below(3), .policy = queue_policy::random, .seed = pick_.wide()};
                threads_.emplace(program_, options_, memory_.at(one), paint_kernel{&its_}, how);
            }
            return run(*threads_);
        });
        if (!why.empty()) return "on threads: " + why;
        if (has_pieces(of.p.words)) return {}; // a schedule of streams keeps no order of them, and is refused
        why = said_by([&] {
            if (!streams_)
                streams_.emplace(device_, program_, options_, memory_.at(one), paint_kernel{&its_},
                                 stream_options{.streams = 1 + pick_.below(4)});
            return run(*streams_);
        });
        return why.empty() ? why : "on streams: " + why;
    }

private:
    snapshot program_;
    symbolic_options options_;
    growing_arena memory_;
    random_source& pick_;
    paint_kernel::context its_;
    simulated_device device_{
        {.order = static_cast<simulated_options::order_kind>(pick_.below(6)), .seed = pick_.below(1000)}};
    std::optional<cpu_executor<paint_kernel>> host_;
    std::optional<thread_executor<paint_kernel>> threads_;
    std::optional<stream_executor<simulated_device, paint_kernel>> streams_;
};

/// The same for a plan for every shape: each root, with its views, grows by a formula of its own.
std::string failure_for_shapes(random_listing const& given, program_reading reading, unsigned seed,
                               std::size_t* planned_ones = nullptr)
{
    random_listing in_one_block = given; // as a plan for every shape has it
    for (pool_limits& pool : in_one_block.pools) pool.largest_block = no_limit;
    random_listing const& l = in_one_block;
    bool const in_order = reading == program_reading::sequential;
    if (!fit_to_run(l, in_order) || l.says_what_no_listing_can()) return {};
    return said_by([&]() -> std::string {
        std::vector<dimension> const dims{{"n", 1, 5}, {"m", 1, 7, 2}};
        random_source pick{std::mt19937{seed}};
        unsigned const salt = pick.below(1000);
        formula const n = symbol(0), m = symbol(1);
        std::vector<formula> const factors{1, n, m, n * m, ceil_divide(n, 2), larger_of(n, m), n * n - n + 1};
        auto factor = [&](number v) {
            bool const is_fixed = l.values[l.root(v)].bytes == no_size;
            return is_fixed ? formula(1) : factors[mix(salt + l.root(v)) % factors.size()];
        };
        painted_list const list = list_of(l, false);
        auto const sizes = list.by_handle([&](number v) {
            byte_count const bytes = l.values[v].bytes;
            return bytes == no_size ? formula::unknown() : bytes * factor(v);
        });
        auto const offsets = list.by_handle([&](number v) { return l.values[v].offset * factor(v); });
        symbolic_options how{.bytes = sizes, .dims = dims};
        how.valid_for = reading;
        how.view_offset = offsets;
        if (pick.below(3) == 0) how.goal = symbolic_options::goal_kind::mean;
        if (!in_order && pick.below(2) == 0) {
            plan_options const largest = symbolic_options_of(list, how).at({5, 7});
            if (auto const ordered = plan_with_handoffs(list.program(), largest))
                how.handoffs = ordered.plan.handoffs;
        }
        auto const planned = plan_symbolic(list, how);
        // A view with an open place counts as all bytes: with an order a write of it, and with hand-offs of
        // one shape a wait.
        if (!planned && planned.error().what == fault::cycle && !how.handoffs.empty()) return {};
        if (!planned && planned.error().what == fault::write_moved && !l.order.empty()) return {};
        if (!planned) return may_not_fit(l, false) ? std::string() : printed(planned.report());
        if (planned_ones != nullptr) ++*planned_ones;
        every_shape executors(list, symbolic_options_of(list, how), planned, pick);
        for (unsigned round = 0; round != 3; ++round) {
            shape const one{1 + pick.below(5), 1 + 2 * pick.below(4)};
            random_listing at_shape = l;
            for (number v = 0; v != l.values.size(); ++v) {
                byte_count const times = factor(v).at(one);
                if (l.values[v].bytes != no_size) at_shape.values[v].bytes *= times;
                at_shape.values[v].offset *= times;
            }
            auto const p = fit_to_run(at_shape, in_order);
            if (!p) return "another shape is not fit to run";
            painted_list const scaled = list_of(at_shape);
            plan_options const options = scaled.options();
            snapshot const program = scaled.program();
            shown const truth = paint_apart(*p);
            subject const s{*p, scaled, options, program, truth};
            memory_plan const plan = planned.plan.at(one);
            std::string const name =
                "for shape " + std::to_string(one[0]) + ", " + std::to_string(one[1]) + ": ";
            if (auto why = s.misplaced(plan); !why.empty()) return name + why;
            std::string const why = in_order ? s.in_order(plan, l.order.empty() ? as_listed(*p) : l.order)
                                             : s.in_any_order(plan, pick);
            if (!why.empty()) return name + (in_order ? "in its order: " : "") + why;
            if (auto other = s.everywhere(arena{plan}, pick); !other.empty()) return name + other;
            if (auto other = executors.differ(s, one); !other.empty()) return name + "set, " + other;
        }
        return {};
    });
}

/// The same for a program with spills.
std::string failure_of_advice(random_listing const& given, unsigned seed, std::size_t* planned_ones = nullptr)
{
    random_source pick{std::mt19937{seed}};
    random_listing l = given;
    std::uint32_t const percent = 55 + pick.below(45);
    for (auto const& d : l.values) { // a list has every pool
        l.pools.resize(std::max<std::size_t>(l.pools.size(), d.pool + 1));
        for (auto const& [pool, cost] : d.choices)
            l.pools.resize(std::max<std::size_t>(l.pools.size(), pool + 1));
    }
    for (std::size_t i = 0; i != l.pools.size(); ++i) {
        byte_count naive = 0;
        for (auto const& d : l.values)
            if (d.of == random_listing::none && d.pool == i && d.bytes != no_size) naive += d.bytes;
        l.pools[i].capacity = std::max<byte_count>(8, naive * percent / 100);
    }
    auto const p = fit_to_run(l, true);
    if (!p) return {};
    return said_by([&]() -> std::string {
        painted_list const list = list_of(l);
        plan_options const options = options_of(l, list);
        advice_options how;
        how.copies = pick.below(4) != 0;
        how.remats = pick.below(4) != 0;
        memory_advice const advice = l.says_what_no_listing_can()
                                         ? advise_memory(list.program(), options, how)
                                         : memory_advice(advise_memory(list, how));
        if (!advice) return {};
        if (planned_ones != nullptr) *planned_ones += !advice.suggestions.empty();
        for (std::size_t i = 0; i != l.pools.size(); ++i)
            if (advice.bytes(static_cast<pool_id>(i)) > l.pools[i].capacity)
                return "an arena exceeds its capacity";
        paint_kernel::context its;
        its.program = &*p;
        for (number v = 0; v != l.values.size(); ++v) its.id.push_back(list.id(v));
        its.spilled = advice.spilled.steps;
        its.origin = advice.spilled.origin;
        executor_options const checks{.check = static_cast<executor_options::checks>(pick.below(4))};
        cpu_executor run(advice.spilled.program, advice.options, arena{advice.plan}, paint_kernel{&its},
                         checks);
        std::vector<std::vector<line>> homes;
        for (value_id home : advice.spilled.homes) {
            byte_count const bytes = advice.options.bytes[home];
            homes.emplace_back(to_size(bytes / sizeof(line) + 1));
            run.bind(home, std::span<std::byte>(homes.back()[0].bytes, to_size(bytes)));
        }
        // A view that no step needs later is not made again.
        shown truth = paint_apart(*p);
        auto const now = [&](number v) {
            return advice.spilled
                .final_version[its.id[has_role(l.values[v].role, value_role::output) ? v : l.root(v)]];
        };
        return difference(truth, run_twice(*p, its, run, now));
    });
}

/// The begin of a failure, without numbers: a smaller listing fails in the same way.
std::string kind_of(std::string why)
{
    std::erase_if(why, [](char c) { return '0' <= c && c <= '9'; });
    return why.substr(0, 60);
}

/// Draws listings, and makes the first that fails smaller.
template <class Failure>
void expect_no_failure(unsigned count, listing_limits const& usual, Failure failure)
{
    for (unsigned seed = first_seed(); seed != first_seed() + count; ++seed) {
        random_source pick{std::mt19937{seed}};
        listing_limits limits = usual;
        limits.by_ids = pick.below(4) == 0;
        random_listing const l = draw_listing(pick, limits);
        std::string const why = failure(l, seed);
        if (why.empty()) continue;
        if (fuzzed.is_on) FAIL(why);
        random_listing const small = smallest_that(
            l, [](auto const& of, auto try_it) { each_smaller_part(of, try_it); },
            [&](random_listing const& other) {
                for (unsigned i = 0; i != 8; ++i) // schedules are drawn
                    if (kind_of(failure(other, seed + i)) == kind_of(why)) return true;
                return false;
            });
        FAIL_CHECK("seed " << seed << ": " << why << "\n" << text_of(small));
        return;
    }
}

void expect_plans(planner by, unsigned count, listing_limits const& limits = {.orders = false})
{
    std::size_t planned = 0;
    expect_no_failure(count, limits, [&](random_listing const& l, unsigned seed) {
        return failure_of(l, by, seed, &planned);
    });
    if (fuzzed.is_on || by == planner::none) return;
    CHECK(planned > count / 2);
}

void expect_shapes(unsigned count, program_reading reading)
{
    std::size_t planned = 0;
    bool const in_order = reading == program_reading::sequential;
    listing_limits const limits{.rewrites = in_order, .orders = in_order};
    expect_no_failure(count, limits, [&](random_listing const& l, unsigned seed) {
        return failure_for_shapes(l, reading, seed, &planned);
    });
    if (!fuzzed.is_on) CHECK(planned > count / 3);
}

void expect_advice(unsigned count)
{
    std::size_t spilled = 0;
    expect_no_failure(count, {.steps = 16, .rewrites = true}, [&](random_listing const& l, unsigned seed) {
        return failure_of_advice(l, seed, &spilled);
    });
    if (!fuzzed.is_on) CHECK(spilled > count / 30);
}

} // namespace

TEST_CASE("every executor without a plan computes what the words of a listing say")
{
    expect_plans(planner::none, rounds(1500), {.rewrites = true, .pieces = false});
}

TEST_CASE("a plan for one order computes what the words say, on every executor")
{
    expect_plans(planner::memory, rounds(2500), {.rewrites = true});
}

TEST_CASE("a plan for every schedule computes what the words say, in any order")
{
    expect_plans(planner::concurrent, rounds(2500));
}

TEST_CASE("a plan of slots computes what the words say, in any order")
{
    expect_plans(planner::slots, rounds(2500));
}

TEST_CASE("a plan with hand-offs computes what the words say, in any order that they allow")
{
    expect_plans(planner::handoffs, rounds(2500));
}

TEST_CASE("a plan for every shape computes what the words say, for each shape")
{
    expect_shapes(rounds(750), program_reading::sequential);
}

TEST_CASE("a plan for every shape and every schedule computes what the words say, in any order")
{
    expect_shapes(rounds(750), program_reading::concurrent);
}

TEST_CASE("a program with spills computes what the words say") { expect_advice(rounds(2500)); }

TEST_CASE(
    "a run shows a buffer that is moved, a result over an operand that is needed, and a hand-off left out")
{
    auto caught = [](planner by, planted fault) {
        std::size_t found = 0;
        for (unsigned seed = 0; seed != 400; ++seed) {
            random_source pick{std::mt19937{seed}};
            random_listing const l = draw_listing(pick, {.steps = 12,
                                                         .empty_writes = false,
                                                         .split_views = false,
                                                         .orders = false,
                                                         .no_steps = false,
                                                         .pieces = false});
            found += !failure_of(l, by, seed, nullptr, fault).empty();
        }
        return found;
    };
    CHECK(caught(planner::memory, planted::moved_buffer) > 50);
    CHECK(caught(planner::concurrent, planted::moved_buffer) > 50);
    CHECK(caught(planner::slots, planted::moved_buffer) > 50);
    CHECK(caught(planner::memory, planted::wrong_place_of_result) > 20);
    CHECK(caught(planner::handoffs, planted::no_handoffs) > 5);
}

} // namespace this_test
