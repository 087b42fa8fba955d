// SPDX-License-Identifier: BSL-1.0
// aliases() against a painter: it runs steps in any order that the plan allows, and each byte has an owner.
// Bytes change hands at the listed barriers only, so one that is missing, too early or too late is found.
#include <sublet/analysis/aliases.hpp>
#include <sublet/analysis/dependences.hpp>

#include "../position_closure.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../rounds.hpp"

#include <sublet/listing.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

using steps = std::vector<step_id>;

/// A plan by hand: buffers of the values 0, 1 ... in one pool.
memory_plan placed(std::vector<memory_plan::placed_buffer> buffers, byte_count arena)
{
    memory_plan plan;
    for (auto& b : buffers) {
        b.root = value_id(plan.buffers.size());
        plan.buffer_of.push_back(buffer_id(plan.buffers.size()));
        plan.buffers.push_back(b);
    }
    plan.arena_bytes.push_back(arena);
    return plan;
}

/// What a buffer of such a plan takes over.
alias from(buffer_id before, buffer_id after, byte_count first, byte_count last, steps ends, steps begins)
{
    return {.before = before,
            .after = after,
            .before_root = +before,
            .after_root = +after,
            .first = first,
            .last = last,
            .ends = std::move(ends),
            .begins = std::move(begins)};
}

/// Runs the steps of a plan twice, in the given order of positions, and discards what aliases say.
class painter {
public:
    painter(random_tasks const& drawn, snapshot const& p, memory_plan const& plan, dependence_graph const& g,
            std::vector<alias> const& listed)
        : drawn_(drawn), p_(p), plan_(plan), g_(g), listed_(listed),
          size_(within_roots(drawn.bytes, drawn.alias_of))
    {
        for (byte_count bytes : plan.arena_bytes) bytes_.emplace_back(bytes);
        before_.resize(p.steps());
        for (std::size_t i = 0; i != listed.size(); ++i) {
            for (step_id s : listed[i].begins) before_[s].push_back(i);
            if (listed[i].begins.empty()) at_begin_.push_back(i);
        }
    }

    /// Whether each access finds the bytes of its value.
    bool run(std::vector<position_id> const& order)
    {
        for (int round = 0; round != 2 && is_right_; ++round) {
            begun_.assign(plan_.buffers.size(), 0);
            done_.assign(p_.steps(), 0);
            applied_.assign(listed_.size(), 0);
            apply(no_step, round, false);
            for (buffer_id b = 0; b != plan_.buffers.size(); ++b)
                if (is_given(b)) begin(b, round);
            for (position_id at : order) run(at, round);
            for (value_id v = 0; v != drawn_.values(); ++v)
                if (has_role(drawn_.role[v], value_role::output) && is_touched(v)) read(v);
        }
        return is_right_;
    }

private:
    struct byte {
        buffer_id owner = no_buffer, free_for = no_buffer;
    };

    bool is_given(buffer_id b) const
    {
        return has_role(drawn_.role[plan_.buffers[b].root], value_role::input);
    }
    bool is_touched(value_id v) const
    {
        for (auto const& t : drawn_.tasks)
            for (auto const* list : {&t.uses, &t.early, &t.defs})
                if (std::count(list->begin(), list->end(), v) != 0) return true;
        return false;
    }
    void expect(bool is_so) { is_right_ = is_right_ && is_so; }

    /// The barriers before a step, or those within it; of `no_step` those where a round begins.
    void apply(step_id s, int round, bool within)
    {
        for (std::size_t i : s == no_step ? at_begin_ : before_[s]) {
            alias const& a = listed_[i];
            if (applied_[i] != 0 || a.is_within_step() != within ||
                a.next_round != (round == 1 && a.next_round))
                continue;
            applied_[i] = 1;
            if (!a.next_round)
                for (step_id end : a.ends) expect(done_[end] != 0 || within);
            for (byte_count at = a.first; at != a.last; ++at) {
                byte& it = bytes_[a.pool][at];
                expect(it.owner == a.before);
                it = {.owner = no_buffer, .free_for = a.after};
            }
        }
    }
    void begin(buffer_id b, int round)
    {
        if (std::exchange(begun_[b], 1) != 0) return;
        auto const& its = plan_.buffers[b];
        for (byte_count at = its.offset; at != its.offset + its.size; ++at) {
            byte& it = bytes_[its.pool][at];
            bool const is_new = it.owner == no_buffer && it.free_for == no_buffer && round == 0;
            bool const is_kept = it.owner == b && round == 1;
            expect(is_new || is_kept || (it.owner == no_buffer && it.free_for == b));
            it = {.owner = b, .free_for = no_buffer};
        }
    }
    void read(value_id v)
    {
        buffer_id const b = plan_.buffer_of[v];
        if (b == no_buffer) return;
        byte_count const first = plan_.offset_of(v);
        for (byte_count at = first; at != first + size_[v]; ++at)
            expect(bytes_[plan_.buffers[b].pool][at].owner == b);
    }
    void run(position_id at, int round)
    {
        step_id const s = g_.step_at[at];
        bool const is_early = g_.position_of[s] != at;
        for (touch t : p_.touches(s))
            if (is_early && t.kind == touch::access::use_early) read(t.value);
        if (is_early) return;
        apply(s, round, false);
        for (touch t : p_.touches(s))
            if (t.kind == touch::access::use) read(t.value);
        apply(s, round, true);
        for (touch t : p_.touches(s))
            if (t.writes() && plan_.buffer_of[t.value] != no_buffer) begin(plan_.buffer_of[t.value], round);
        for (touch t : p_.touches(s))
            if (t.writes()) read(t.value);
        done_[s] = 1;
    }

    random_tasks const& drawn_;
    snapshot const& p_;
    memory_plan const& plan_;
    dependence_graph const& g_;
    std::vector<alias> const& listed_;
    std::vector<byte_count> size_; // of each value
    std::vector<std::vector<byte>> bytes_;
    table<step_id, std::vector<std::size_t>> before_; // of these, those that begin with the step
    std::vector<std::size_t> at_begin_;
    std::vector<unsigned char> begun_, done_, applied_;
    bool is_right_ = true;
};

/// Positions in any order in which each follows those before it; for a plan for one order that order.
std::vector<position_id> draw_order(random_source& pick, dependence_graph const& g, memory_plan const& plan)
{
    std::vector<position_id> order;
    if (plan.valid_for == program_reading::sequential) {
        for (step_id s = 0; s != g.position_of.size(); ++s)
            for (position_id at = g.start_of(s); at <= g.position_of[s]; ++at)
                if (g.step_at[at] == s) order.push_back(at);
        return order;
    }
    std::vector<std::size_t> open(g.positions());
    std::vector<position_id> ready;
    for (position_id at = 0; at != g.positions(); ++at)
        if ((open[at] = g.before[at].size()) == 0) ready.push_back(at);
    while (!ready.empty()) {
        std::size_t const i = pick.below(unsigned(ready.size()));
        position_id const at = ready[i];
        ready.erase(ready.begin() + std::ptrdiff_t(i));
        order.push_back(at);
        for (position_id next : g.after[at])
            if (--open[next] == 0) ready.push_back(next);
    }
    return order;
}

/// The touches of a buffer that no other one follows, or precedes: pair by pair.
steps outer_steps(snapshot const& p, memory_plan const& plan, dependence_graph const& g,
                  position_closure const& closure, buffer_id b, bool are_last)
{
    steps all, outer;
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (plan.buffer_of[t.value] == b && (all.empty() || all.back() != s)) all.push_back(s);
    if (plan.valid_for == program_reading::sequential && !all.empty())
        return {are_last ? all.back() : all.front()};
    for (step_id s : all) {
        bool is_outer = true;
        for (step_id other : all)
            if (other != s)
                is_outer = is_outer && !(are_last ? closure.before(g.position_of[s], g.position_of[other])
                                                  : closure.before(g.start_of(other), g.start_of(s)));
        if (is_outer) outer.push_back(s);
    }
    return outer;
}

} // namespace

TEST_CASE("a buffer takes over its bytes from those that had them last")
{
    //   bytes   steps 0       1       2       3
    //   128     ┌───────────────┐
    //    96     │       b       ├───────────────┐
    //    64     ├───────────────┤       c       │        d from step 3 on
    //           │       a       │               │
    //     0     └───────────────┴───────────────┘
    snapshot const p = sequence(4, 4, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(0), sink.def(1);
        if (s == 1) sink.use(0), sink.use(1);
        if (s == 2) sink.def(2);
        if (s == 3) sink.use(2), sink.def(3);
    });
    memory_plan const plan = placed({{.life = {0, 2}, .size = 64, .offset = 0},
                                     {.life = {0, 2}, .size = 64, .offset = 64},
                                     {.life = {2, 4}, .size = 96, .offset = 0},
                                     {.life = {3, 4}, .size = 32, .offset = 96}},
                                    128);
    plan_options const options{.bytes = [&](value_id v) { return plan.buffers[buffer_id(+v)].size; }};
    std::vector<alias> const within{from(0, 2, 0, 64, {1}, {2}), from(1, 2, 64, 96, {1}, {2}),
                                    from(1, 3, 96, 128, {1}, {3})};
    CHECK(aliases(p, plan, options) == within);
    std::vector<alias> all = within;
    for (alias next :
         {from(2, 0, 0, 64, {3}, {0}), from(2, 1, 64, 96, {3}, {0}), from(3, 1, 96, 128, {3}, {0})}) {
        next.next_round = true;
        all.push_back(next);
    }
    CHECK(aliases(p, plan, options, {.repeats = true}) == all);

    SUBCASE("inputs are there when a round begins, and outputs to its end")
    {
        plan_options given = options;
        given.role = [](value_id v) {
            return v == 0 ? value_role::input : v == 2 ? value_role::output : value_role{};
        };
        std::vector<alias> const found = aliases(p, plan, given, {.repeats = true});
        REQUIRE(found.size() == 6);
        CHECK(found[0].ends == steps{1});
        CHECK(found[3].before == 2);
        CHECK(found[3].ends.empty());
        CHECK(found[3].begins.empty());
        CHECK(found[4].ends.empty());
        CHECK(found[4].begins == steps{0});
    }
    SUBCASE("what is between two ranges of one pair divides them")
    {
        memory_plan cut = plan;
        cut.buffers[1] = {.root = 1, .life = {1, 2}, .size = 16, .offset = 16};
        cut.buffers[0].life = {0, 1};
        snapshot const q = sequence(4, 4, [](step_id s, effect_sink& sink) { sink.def(s == 3 ? 3 : +s); });
        std::vector<alias> const found = aliases(q, cut, options);
        REQUIRE(found.size() == 4);
        CHECK(found[1] == from(0, 2, 0, 16, {0}, {2}));
        CHECK(found[2] == from(1, 2, 16, 32, {1}, {2}));
        CHECK(found[3] == from(0, 2, 32, 64, {0}, {2}));
    }
}

TEST_CASE("contents that pass in one step are not to be discarded")
{
    // b, of 32 bytes, is written over a, of 64; c has the rest of a.
    listing<int> list;
    list.step("make").make(0, {.bytes = 64});
    list.step("shrink").read(0).make(1, {.bytes = 32}).may_overwrite(0, 1);
    list.step("use").read(1).make(2, {.bytes = 32});
    list.step("end").read(1).read(2);
    auto const planned = plan_memory(list);
    REQUIRE(planned);
    REQUIRE(planned.plan.arena_bytes[0] == 64);
    std::vector<alias> const found = aliases(list, planned.plan);
    REQUIRE(found.size() == 2);
    CHECK(found[0].is_within_step());
    CHECK(found[0].ends == steps{1});
    CHECK_FALSE(found[1].is_within_step());
    CHECK(found[1].ends == steps{1});
    CHECK(found[1].begins == steps{2});
}

TEST_CASE("in a plan for every schedule each end of a buffer is listed, with what orders it")
{
    //        ┌─► 1 ─┐
    //   0: a ┤      ├─► 3: b, which has the bytes of a ─► 4
    //        └─► 2 ─┘
    snapshot const p = tasks(
        5, 4,
        [](node_id n) {
            return n == 1 || n == 2 ? std::vector<node_id>{3}
                   : n == 3         ? std::vector<node_id>{4}
                                    : std::vector<node_id>{};
        },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.def(0);
            if (n == 1) s.use(0);
            if (n == 2) s.use(0);
            if (n == 3) s.def(1);
            if (n == 4) s.use(1);
        });
    plan_options const options{.bytes = 8};
    auto const planned = plan_concurrent(p, options);
    REQUIRE(planned);
    std::vector<alias> const found = aliases(p, planned.plan, options, {.paths = true});
    REQUIRE(found.size() == 1);
    CHECK(found[0].ends == steps{1, 2});
    CHECK(found[0].begins == steps{3});
    CHECK(found[0].paths == std::vector<steps>{{1, 3}, {2, 3}});
}

TEST_CASE("plans for control flow, of other programs and beyond their arenas are refused")
{
    snapshot const p = sequence(2, 2, [](step_id s, effect_sink& sink) { sink.def(+s); });
    memory_plan const plan =
        placed({{.life = {0, 1}, .size = 8, .offset = 0}, {.life = {1, 2}, .size = 8, .offset = 0}}, 8);
    plan_options const options{.bytes = 8};
    CHECK(aliases(p, plan, options).size() == 1);
    memory_plan other = plan;
    other.valid_for = program_reading::control_flow;
    CHECK_THROWS_AS((void)aliases(p, other, options), precondition_error);
    other = plan;
    other.buffers[1].offset = 4;
    CHECK_THROWS_AS((void)aliases(p, other, options), precondition_error);
    other = plan;
    other.buffers[1].offset = no_offset;
    CHECK_THROWS_AS((void)aliases(p, other, options), precondition_error);
    other = plan;
    other.buffer_of.pop_back();
    CHECK_THROWS_AS((void)aliases(p, other, options), precondition_error);
    snapshot const none = sequence(0, 0, [](step_id, effect_sink&) {});
    CHECK(aliases(none, plan_memory(none, options).plan, options, {.repeats = true, .paths = true}).empty());
}

TEST_CASE("bytes that change hands at the listed barriers only are right in every order, and no barrier is "
          "too many")
{
    unsigned const first = first_seed(), programs = rounds(600);
    std::size_t listed = 0, within = 0, next = 0, several = 0;
    for (unsigned seed = first; seed != first + programs; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const drawn = draw_tasks(pick, {.tasks = 3 + pick.below(20),
                                                     .early = pick.below(2) * 30,
                                                     .views = pick.below(2) * 20,
                                                     .pools = 1 + pick.below(2),
                                                     .alignments = 1 + pick.below(2) * 15,
                                                     .in_place = pick.below(2) * 60});
        snapshot const p = drawn.program();
        plan_options options = drawn.options();
        memory_plan plan;
        unsigned const kind = seed % 3;
        if (kind == 0) plan = plan_memory(p, options).plan;
        else if (kind == 1) plan = plan_concurrent(p, options).plan;
        else plan = plan_with_handoffs(p, options).plan;
        std::vector<alias> const found = aliases(p, plan, options, {.repeats = true, .paths = true});

        dependence_graph const g = dependences(p, detail::dependences_of(options, plan.handoffs));
        REQUIRE(g);
        position_closure const closure(g);
        for (alias const& a : found) {
            bool const is_output = [&] {
                for (value_id v = 0; v != drawn.values(); ++v)
                    if (plan.buffer_of[v] == a.before && has_role(drawn.role[v], value_role::output))
                        return true;
                return false;
            }();
            bool const is_input = has_role(drawn.role[plan.buffers[a.after].root], value_role::input);
            CHECK(a.ends == (is_output ? steps{} : outer_steps(p, plan, g, closure, a.before, true)));
            CHECK(a.begins == (is_input ? steps{} : outer_steps(p, plan, g, closure, a.after, false)));
            listed += 1, within += a.is_within_step(), next += a.next_round, several += a.ends.size() > 1;
            std::size_t const pairs = a.ends.size() * a.begins.size();
            CHECK(a.paths.size() == (kind == 0 || a.next_round ? 0 : pairs));
            for (std::size_t i = 0; i != a.paths.size(); ++i) {
                steps const& path = a.paths[i];
                CHECK(path.front() == a.ends[i % a.ends.size()]);
                CHECK(path.back() == a.begins[i / a.ends.size()]);
                for (std::size_t k = 1; k < path.size(); ++k) {
                    bool is_edge = false;
                    for (position_id from : {g.start_of(path[k - 1]), g.position_of[path[k - 1]]})
                        for (position_id to : g.after[from]) is_edge = is_edge || g.step_at[to] == path[k];
                    CHECK(is_edge);
                }
            }
        }
        for (int i = 0; i != 3; ++i) {
            auto const order = draw_order(pick, g, plan);
            CHECK(painter(drawn, p, plan, g, found).run(order));
            for (std::size_t left_out = 0; left_out != found.size(); ++left_out) {
                std::vector<alias> fewer = found;
                fewer.erase(fewer.begin() + std::ptrdiff_t(left_out));
                CHECK_FALSE(painter(drawn, p, plan, g, fewer).run(order));
            }
        }
    }
    CHECK(listed > programs * 4);
    CHECK(within > rounds(20));
    CHECK(next > programs);
    CHECK(several > rounds(20));
}

TEST_CASE("the same holds for frames of up to a thousand passes on up to three queues")
{
    unsigned const first = first_seed(), frames = rounds(60);
    std::size_t listed = 0, left_out = 0;
    for (unsigned seed = first; seed != first + frames; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        unsigned const passes = seed % 20 == 19 ? 300 + pick.below(701) : 10 + pick.below(90);
        random_tasks drawn = draw_tasks(pick, {.tasks = passes,
                                               .outputs = 3,
                                               .back = 4 + pick.below(20),
                                               .edges = 0,
                                               .early = 15,
                                               .given = 3,
                                               .views = pick.below(2) * 10,
                                               .pools = 3,
                                               .sizes = 1 + pick.below(12),
                                               .alignments = 1 + pick.below(2) * 15,
                                               .in_place = pick.below(2) * 25});
        unsigned const kind = seed % 3, queues = 1 + pick.below(3);
        std::vector<std::size_t> last(queues, passes); // pass on each queue
        for (std::size_t t = 0; t != passes && kind != 0; ++t) {
            std::size_t& before = last[pick.below(queues)];
            if (before != passes) drawn.tasks[before].next.push_back(t);
            before = t;
        }
        snapshot const p = drawn.program();
        plan_options options = drawn.options();
        memory_plan plan;
        if (kind == 0) plan = plan_memory(p, options).plan;
        else if (kind == 1) plan = plan_concurrent(p, options).plan;
        else plan = plan_with_handoffs(p, options).plan;
        std::vector<alias> const found = aliases(p, plan, options, {.repeats = true});
        listed += found.size();
        dependence_graph const g = dependences(p, detail::dependences_of(options, plan.handoffs));
        REQUIRE(g);
        auto const order = draw_order(pick, g, plan);
        CHECK(painter(drawn, p, plan, g, found).run(order));
        for (unsigned i = 0; i != 8 && !found.empty(); ++i) {
            std::vector<alias> fewer = found;
            fewer.erase(fewer.begin() + pick.below(unsigned(found.size())));
            CHECK_FALSE(painter(drawn, p, plan, g, fewer).run(order));
            ++left_out;
        }
    }
    CHECK(listed > frames * 30);
    CHECK(left_out > frames * 6);
}

} // namespace this_test
