// SPDX-License-Identifier: BSL-1.0
// Defects of earlier planners, each with the program that showed it. A program is a list of operations
// `reads -> writes` on names; `h`, `k` and `z` are inputs. Every planner's result is proved valid under every
// schedule, and each test checks in addition what the defect broke.
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/analysis/internal/storage_order.hpp>
#include <sublet/analysis/versions.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_rewrite.hpp>
#include <sublet/placement/internal/stack_slots.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/sharing/detail/chains.hpp>
#include <sublet/sharing/detail/tokens.hpp>
#include <sublet/sharing/share_slots.hpp>

#include "../concurrent_lives.hpp"
#include "../concurrent_oracle.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../task_families.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// Operations on names: "h->a; a,h->b" and so on. Names are numbered as they appear.
struct op_names {
    std::vector<std::string> names;
    std::vector<std::vector<value_id>> reads, writes;
    std::vector<std::pair<std::size_t, std::size_t>> in_place; ///< operation, operand: over its first result

    explicit op_names(std::string const& text)
    {
        std::istringstream all(text);
        for (std::string op; std::getline(all, op, ';');) {
            std::size_t const arrow = op.find("->");
            reads.push_back(list(op.substr(0, arrow)));
            writes.push_back(list(op.substr(arrow + 2)));
        }
    }
    value_id id(std::string const& name)
    {
        for (std::size_t i = 0; i != names.size(); ++i)
            if (names[i] == name) return static_cast<value_id>(i);
        names.push_back(name);
        return static_cast<value_id>(names.size() - 1);
    }
    std::vector<value_id> list(std::string const& text)
    {
        std::vector<value_id> ids;
        std::istringstream in(text);
        for (std::string name; std::getline(in, name, ',');) {
            std::erase(name, ' ');
            if (!name.empty()) ids.push_back(id(name));
        }
        return ids;
    }
    snapshot program() const
    {
        return sequence(reads.size(), names.size(), [this](step_id s, effect_sink& sink) {
            for (auto v : reads[s]) sink.use(v);
            for (auto v : writes[s]) sink.def(v);
            for (auto [op, operand] : in_place)
                if (op == s) sink.may_overwrite(reads[s][operand], writes[s][0]);
        });
    }
    /// Inputs are the caller's; all names have 8 bytes.
    plan_options options() const
    {
        std::vector<value_role> role;
        for (std::string const& name : names)
            role.push_back(name == "h" || name == "k" || name == "z" ? value_role::state
                                                                     : value_role::intermediate);
        return {.bytes = 8, .role = role};
    }
};

/// A program of versions, planned by every planner.
struct plan_methods {
    snapshot program;
    plan_options options{.bytes = 0};
    planned_concurrently offsets, slots;
    planned_with_handoffs waiting;
    slot_id fewest = 0;
    std::vector<token_plan> tokens; ///< by choice
};

/// The waits of names that keep their storage, without those for data.
std::vector<handoff> order_of_storage(plan_methods const& of)
{
    auto const bytes = detail::find_ordered_bytes(of.program, detail::lifetimes_of(of.options));
    return detail::storage_order(of.program, bytes);
}

/// Maps a step's touch of a name to its version, for one storage per name.
plan_methods plan_by_all_methods(snapshot const& names, plan_options const& by_name)
{
    plan_methods all;
    auto const versioned = versions(names, by_name);
    REQUIRE(versioned);
    all.program = versioned.program;
    all.options = with_versions(by_name, versioned);

    concurrent_options how;
    all.offsets = plan_concurrent(all.program, all.options, how);
    REQUIRE(all.offsets);
    all.waiting = plan_with_handoffs(all.program, all.options);
    REQUIRE(all.waiting);
    how.strategy = concurrent_options::strategy_kind::slots;
    all.slots = plan_concurrent(all.program, all.options, how);
    REQUIRE(all.slots);
    REQUIRE(all.offsets.report().is_checked);
    REQUIRE(all.slots.report().arena_bytes <= all.slots.report().naive_bytes);
    REQUIRE(all.offsets.report().arena_bytes <= all.slots.report().arena_bytes);
    REQUIRE(all.offsets.report().arena_bytes >= all.offsets.report().lower_bound_bytes);

    // Token sharing is checked as a plan of its own.
    memory_plan plan = all.offsets.plan;
    auto const role = all.options.role.tabulate(all.program.values());
    auto const g = dependences(all.program, detail::dependences_of(all.options, {}));
    auto const lives = concurrent_lifetimes(all.program, g, plan.buffers.size(), plan.buffer_of, role);
    placement_problem problem;
    for (memory_plan::placed_buffer const& b : plan.buffers)
        problem.buffers.push_back({b.life, b.size, b.alignment, b.pool, no_offset});
    auto const cover = fewest_slots(lives, find_conflict_ranges(g, lives),
                                    {.pool = [&](buffer_id b) { return plan.buffers[b].pool; }});
    REQUIRE(cover.is_optimal());
    all.fewest = cover.plan.slots;
    for (slot_choice choice :
         {slot_choice::most_shared, slot_choice::best_fit, slot_choice::smallest_sufficient,
          slot_choice::grow_largest, slot_choice::caffe2_sized}) {
        all.tokens.push_back(
            share_by_tokens(g, lives, [&](buffer_id b) { return plan.buffers[b].size; },
                            {.choice = choice, .pool = [&](buffer_id b) { return plan.buffers[b].pool; }}));
        token_plan const& shared = all.tokens.back();
        placement const placed = stack_slots(problem, shared);
        plan.arena_bytes.clear();
        detail::set_offsets(placed, plan);
        REQUIRE(check_concurrent_plan(all.program, plan, all.options));
        REQUIRE(shared.slots >= all.fewest);
        REQUIRE(shared.undecided == 0);
    }
    return all;
}
plan_methods plan_by_all_methods(op_names const& ops)
{
    return plan_by_all_methods(ops.program(), ops.options());
}

/// Whether the bytes of two values overlap.
bool meet(memory_plan const& plan, value_id a, value_id b)
{
    if (plan.buffer_of[a] == no_buffer || plan.buffer_of[b] == no_buffer) return false;
    memory_plan::placed_buffer const &x = plan.buffers[plan.buffer_of[a]],
                                     &y = plan.buffers[plan.buffer_of[b]];
    return x.pool == y.pool && x.offset < y.offset + y.size && y.offset < x.offset + x.size;
}

/// The value that a step defines, and the one that it reads as its i-th operand.
value_id made(snapshot const& p, step_id s)
{
    for (touch t : p.touches(s))
        if (t.kind == touch::access::def) return t.value;
    return no_value;
}
value_id read(snapshot const& p, step_id s, std::size_t place) { return p.touches(s)[place].value; }

} // namespace

// --- memonger.cc ----------------------------------------------------------------------------------------

TEST_CASE("memonger.cc 1: a name is written twice, and the first version is never read")
{
    op_names const ops("h->b0; h->b1; b0,h->b2; b2->b1; b1->b3");
    plan_methods const all = plan_by_all_methods(ops);
    // The dead version may be written at any time: no value that may be alive then shares its bytes.
    value_id const dead = made(all.program, 1);
    CHECK(dead != made(all.program, 3));
    for (step_id s : {0u, 2u, 3u}) CHECK(!meet(all.offsets.plan, dead, made(all.program, s)));
}

TEST_CASE("memonger.cc 2: repeated in-place results, and an operation is ready only after its own producer")
{
    plan_methods const all =
        plan_by_all_methods(op_names("h->b0; h->b1; b0,h,b1->b1; b0->b2; b2,b0->b0; b1,b0->b3"));
    CHECK(read(all.program, 5, 0) == made(all.program, 2));
    CHECK(read(all.program, 5, 1) == made(all.program, 4));
    CHECK(!meet(all.offsets.plan, made(all.program, 2), made(all.program, 3)));
}

TEST_CASE("memonger.cc 3: in place with another reader of the previous version")
{
    plan_methods const all = plan_by_all_methods(op_names("h->b0,b1; b1->b2; b2,b0->b3; b0,b2->b0"));
    value_id const before = read(all.program, 2, 1), after = made(all.program, 3);
    CHECK(before != after);
    CHECK(!meet(all.offsets.plan, before, after)); // the writer does not wait for the other reader
    CHECK(!meet(all.offsets.plan, made(all.program, 2), read(all.program, 3, 1)));
}

TEST_CASE("memonger.cc 4: a value that is written again and never read still overwrites its bytes")
{
    plan_methods const all = plan_by_all_methods(op_names("h->a; a->b; b->c; c->d; c,h->a; c,d->o"));
    CHECK(!meet(all.offsets.plan, made(all.program, 4), made(all.program, 2)));
    CHECK(!meet(all.offsets.plan, made(all.program, 4), made(all.program, 3)));
}

TEST_CASE("memonger.cc 5: two sources and a name that both write")
{
    plan_methods const all =
        plan_by_all_methods(op_names("h->a; a->c; c->e; e->f; k->p; p->q; q,p->a; a->d"));
    CHECK(read(all.program, 1, 0) == made(all.program, 0));
    CHECK(read(all.program, 7, 0) == made(all.program, 6));
    CHECK(!meet(all.offsets.plan, made(all.program, 1), made(all.program, 4)));
}

TEST_CASE("memonger.cc 6: an operation that depends on two sources, in either order")
{
    for (char const* text : {"h->a; k,a->x; x->y", "k->a; h,a->x; x->y", "h->a; k->b; b,a->x; x->y"})
        CHECK(plan_by_all_methods(op_names(text)).offsets.report().arena_bytes >= 16);
    random_source pick{std::mt19937(6)};
    for (unsigned round = 0; round != rounds(100);
         ++round) { // memonger rejected a third of the random programs with several sources
        random_tasks const tasks = draw_tasks(pick, {.tasks = 12, .early = 0, .given = 3});
        (void)plan_by_all_methods(tasks.program(), tasks.options());
    }
}

TEST_CASE("memonger.cc 7: an ineligible value has a slot of its own")
{
    op_names ops("h->a; a->b; b->D; D->e; e->g");
    plan_options options = ops.options();
    value_id const kept = ops.id("D");
    options.eligible = [kept](value_id v) { return v != kept; };
    plan_methods const all = plan_by_all_methods(ops.program(), options);
    CHECK(all.offsets.plan.offset_of(kept) == no_offset);
    CHECK(all.waiting.plan.offset_of(kept) == no_offset);
}

TEST_CASE("memonger.cc 8: a value of the caller is updated in place, and its storage is not reused")
{
    plan_methods const all = plan_by_all_methods(op_names("z->a; z,a->z; z->b"));
    CHECK(order_of_storage(all) ==
          std::vector<handoff>{}); // the previous reader produces the writer's operand
    CHECK(all.offsets.plan.buffers.size() == 2);
    plan_methods const late = plan_by_all_methods(op_names("z->a; h->z; z,a->b"));
    CHECK(order_of_storage(late) == std::vector<handoff>{{0, 1}}); // write after read, in one storage
}

TEST_CASE("memonger.cc 9: the smallest free slot that is large enough is taken, in any order of freeing")
{
    for (bool large_first : {false, true}) {
        // two values of 100 and 10 bytes are dead before a value of 8 is defined
        snapshot const p = sequence(
            4, 4,
            [](step_id s) {
                return s == 2   ? std::vector<value_id>{0, 1}
                       : s == 3 ? std::vector<value_id>{2}
                                : std::vector<value_id>{};
            },
            [](step_id s) { return std::vector<value_id>{+s}; });
        std::vector<byte_count> const bytes{large_first ? 100u : 10u, large_first ? 10u : 100u, 4, 8};
        auto const g = dependences(p);
        auto const lives = lives_of_each(p, g);
        for (slot_choice choice :
             {slot_choice::best_fit, slot_choice::smallest_sufficient, slot_choice::grow_largest}) {
            auto const plan =
                share_by_tokens(g, lives, [&](buffer_id b) { return bytes[b]; }, {.choice = choice});
            CHECK(plan.slot_of[3] == plan.slot_of[large_first ? 1 : 0]);
            byte_count total = 0;
            for (byte_count b : plan.slot_bytes) total += b;
            CHECK(plan.total_bytes == total);
            CHECK(total == 114);
        }
    }
    // a slot of 4 bytes grows to 8, and its new size counts
    snapshot const two = sequence(
        3, 3, [](step_id s) { return s == 0 ? std::vector<value_id>{} : std::vector<value_id>{s - 1}; },
        [](step_id s) { return std::vector<value_id>{+s}; });
    auto const g = dependences(two);
    auto const lives = lives_of_each(two, g);
    std::vector<byte_count> const sizes{4, 1, 8};
    auto const grown = share_by_tokens(g, lives, [&](buffer_id b) { return sizes[b]; });
    CHECK(grown.slot_of[2] == grown.slot_of[0]);
    CHECK(grown.slot_bytes[grown.slot_of[0]] == 8);
    CHECK(grown.total_bytes == 9);
    // sizes over 32 bits share like others
    byte_count const large = byte_count{1} << 33;
    CHECK(share_by_tokens(g, lives, [](buffer_id) { return large; }).total_bytes == 2 * large);
}

TEST_CASE("memonger.cc 10: a free slot is taken once, from any place in the free list")
{
    random_source pick{std::mt19937(10)};
    for (unsigned round = 0; round != rounds(100); ++round) {
        random_tasks const tasks = draw_tasks(pick, {.tasks = 25, .outputs = 4, .early = 0, .sizes = 4});
        (void)plan_by_all_methods(tasks.program(), tasks.options());
    }
}

TEST_CASE("memonger.cc 11: planning a planned program again gives the same slots")
{
    op_names const ops("h->a; a->b; b->c; c->d; a,d->e");
    plan_methods const first = plan_by_all_methods(ops);
    std::vector<value_id> slot_of; // names of slots, as a rewriter would write them into the program
    for (value_id v = 0; v != first.program.values(); ++v) {
        buffer_id const b = first.slots.plan.buffer_of[v];
        slot_of.push_back(b == no_buffer ? +v : 100 + first.slots.slots.slot_of[b]);
    }
    snapshot const renamed = sequence(ops.reads.size(), 200, [&](step_id s, effect_sink& sink) {
        for (touch t : first.program.touches(s))
            if (t.kind == touch::access::def) sink.def(slot_of[t.value]);
            else sink.use(slot_of[t.value]);
    });
    CHECK(check_rewrite(first.program, renamed, {.role = first.options.role}));
    std::vector<value_role> role(200);
    role[0] = value_role::state;
    plan_methods const again = plan_by_all_methods(renamed, {.bytes = 8, .role = role});
    CHECK(again.slots.report().arena_bytes == first.slots.report().arena_bytes);
    CHECK(again.fewest == first.fewest);
}

TEST_CASE("memonger.cc 12: a path of a hundred thousand operations")
{
    task_family const chain = draw_family("chain", 100'000);
    auto const planned = plan_concurrent(chain.program(), {.bytes = chain.bytes});
    REQUIRE(planned);
    CHECK(planned.slots.slots <= 3);
}

TEST_CASE("memonger.cc 13: also in one order, a name lives until its last write")
{
    op_names const ops("h->a; a->b; b->c; h->a; c->out");
    auto const planned = plan_memory(ops.program(), ops.options());
    REQUIRE(planned);
    value_id const a = 1, c = 3;
    CHECK(ops.names[a] == "a");
    CHECK(ops.names[c] == "c");
    CHECK(!meet(planned.plan, a, c));
    (void)plan_by_all_methods(ops);
    // a value that is never read does not keep its slot
    auto const unread = plan_memory(op_names("h->a; h->b; h->c; h->d").program(),
                                    op_names("h->a; h->b; h->c; h->d").options());
    CHECK(unread.report().arena_bytes == 8);
}

// --- memonger.py ----------------------------------------------------------------------------------------

TEST_CASE("memonger.py c05c500a82: values of different pools and ineligible values never share")
{
    op_names ops("h->a; a->b; b->c; c->d");
    plan_options options = ops.options();
    options.pool = [](value_id v) { return v % 2; };
    plan_methods const all = plan_by_all_methods(ops.program(), options);
    for (memory_plan::placed_buffer const& x : all.offsets.plan.buffers) CHECK(x.pool == x.root % 2);
}

TEST_CASE("memonger.py 8079abbaf1: a name with several writers is defined only after the last of them")
{
    plan_methods const all = plan_by_all_methods(op_names("h->g; h->a; a->g; g,a->b; b->c"));
    CHECK(read(all.program, 3, 0) == made(all.program, 2));
}

TEST_CASE("memonger.py 192e0546bf: with edges between two chains, no slot is reused twice")
{
    plan_methods const all = plan_by_all_methods(
        op_names("h->a0; h->b0; a0,b0->a1; b0,a0->b1; a1,b1->a2; b1,a1->b2; a2,b2->a3; b2,a2->b3"));
    CHECK(all.fewest == 4);
}

TEST_CASE("memonger.py 21ba0ff560: an input feeds several operations")
{
    CHECK(plan_by_all_methods(op_names("h->a; h->b; h,a->c; h,b,c->d")).fewest == 3);
}

TEST_CASE("memonger.py 4d16578284: an operation does not write over its operands unless declared")
{
    op_names ops("h->a; a->b; b->c");
    plan_methods const apart = plan_by_all_methods(ops);
    CHECK(!meet(apart.offsets.plan, 1, 2));
    ops.in_place = {{1, 0}};
    plan_methods const over = plan_by_all_methods(ops);
    CHECK(over.offsets.plan.buffer_of[1] == over.offsets.plan.buffer_of[2]);
}

TEST_CASE("memonger.py 8464ec5c3a: in place twice in a row")
{
    op_names ops("h->b; b->b; b->b; b->c");
    plan_methods const all = plan_by_all_methods(ops);
    CHECK(all.offsets.plan.buffers.size() == 2); // one for b in all its versions, and c
    CHECK(all.offsets.report().arena_bytes == 16);
}

TEST_CASE("memonger.py da6b82b810, 6c511f64cc: one in-place pair beside other operands and results")
{
    op_names ops("h->a; h->b; a,b->c,d; c->e; d,b->f; e,f->g");
    ops.in_place = {{2, 0}};
    plan_methods const all = plan_by_all_methods(ops);
    value_id const a = 1, c = 3, d = 4;
    CHECK(all.offsets.plan.buffer_of[a] == all.offsets.plan.buffer_of[c]);
    CHECK(!meet(all.offsets.plan, c, d));
}

TEST_CASE("memonger.py 27e01744b2: parallel branches, with sizes and without")
{
    op_names const ops("h->a; a->b; a->c; b->d; c->e; d,e->f; f->g");
    plan_methods const all = plan_by_all_methods(ops);
    CHECK(!meet(all.offsets.plan, 2, 3));
    plan_options sized = ops.options();
    sized.bytes = [](value_id v) { return 8 + 8 * v; };
    (void)plan_by_all_methods(ops.program(), sized);
}

TEST_CASE("memonger.py 5084ff3b9b: residual blocks need only three slots")
{
    plan_methods const all =
        plan_by_all_methods(op_names("h->x; x->a; a->b; b,x->y; y->c; c->d; d,y->z; z->e; e->f; f,z->w"));
    CHECK(all.fewest == 3);
    for (token_plan const& t : all.tokens) CHECK(t.slots == 3);
    CHECK(all.slots.slots.slots == 3);
}

TEST_CASE(
    "memonger.py f82a510be6: never more bytes than without sharing, and branches reuse each other's slots")
{
    // forks in sequence: after each join all slots of the previous fork are free
    op_names const ops("h->x; x->a; x->b; a,b->y; y->c; y->d; c,d->z; z->e; z->f; e,f->w");
    plan_methods const all = plan_by_all_methods(ops);
    for (token_plan const& t : all.tokens) CHECK(t.slots == all.fewest);
    random_source pick{std::mt19937(82)};
    for (int round = 0; round != 50; ++round) {
        random_tasks const tasks = draw_tasks(pick, {.tasks = 30, .early = 0, .sizes = 64});
        plan_methods const random = plan_by_all_methods(tasks.program(), tasks.options());
        for (token_plan const& t : random.tokens) CHECK(t.total_bytes <= random.offsets.report().naive_bytes);
    }
}

TEST_CASE("memonger.py 3c9dfe4736, 95b3309a87: a plan for one order is invalid on threads, and the checker "
          "finds it")
{
    op_names const tree("h->a; a->b; h->c; c->d; b,d->e");
    auto claimed = plan_memory(tree.program(), tree.options());
    REQUIRE(claimed);
    claimed.plan.valid_for = program_reading::concurrent;
    auto versioned = versions(tree.program(), tree.options());
    auto const valid = check_concurrent_plan(versioned.program, claimed.plan, tree.options());
    REQUIRE(!valid);
    CHECK(valid.error().what == fault::overwritten);
    CHECK(valid.error().schedule.size() == 5);
    plan_methods const all = plan_by_all_methods(tree); // all offsets are known before the run
    for (memory_plan::placed_buffer const& b : all.offsets.plan.buffers) CHECK(b.offset != no_offset);
}

TEST_CASE("memonger.py 1ec0b89361, f222e226b4, 4862c0f47f: renamings that change the data flow are found")
{
    op_names const before("h->a; a->b; a,b->c; c->d");
    op_names const good("h->s; s->t; s,t->u; u->s");
    op_names const bad("h->s; s->t; s,t->u; s->s");
    op_names const worse("h->s; s->s; s,s->u; u->s");
    rewrite_options const given{.role = before.options().role};
    CHECK(check_rewrite(before.program(), good.program(), given));
    CHECK(!check_rewrite(before.program(), bad.program(), given));
    CHECK(!check_rewrite(before.program(), worse.program(), given));
}

TEST_CASE("memonger.py 87a12dd355: unknown sizes and no sizes")
{
    op_names const ops("h->a; a->b; b->c; c->d");
    plan_options options = ops.options();
    options.bytes = [](value_id v) { return v == 2 ? no_size : byte_count{v == 3 ? 0u : 8u}; };
    plan_methods const all = plan_by_all_methods(ops.program(), options);
    CHECK(all.offsets.plan.unsized == std::vector<value_id>{2});
    CHECK(all.offsets.plan.offset_of(2) == no_offset);
    CHECK(all.offsets.plan.offset_of(3) == 0); // a place, and no bytes
}

TEST_CASE("memonger.py 9775ffc6ae: an output is never overwritten")
{
    op_names ops("h->a; a->b; b->c; c->d; d->e");
    plan_options options = ops.options();
    auto role = options.role.tabulate(ops.names.size());
    role[ops.id("b")] = value_role::output;
    options.role = role;
    plan_methods const all = plan_by_all_methods(ops.program(), options);
    for (value_id v : {3u, 4u, 5u}) CHECK(!meet(all.offsets.plan, ops.id("b"), v));
    CHECK(all.fewest == 3);
}

TEST_CASE("memonger.py 5355634dac, 342de07231: equal programs have equal plans")
{
    task_family const family = draw_family("local", 200);
    plan_methods const one = plan_by_all_methods(family.program(), {.bytes = family.bytes});
    plan_methods const two = plan_by_all_methods(family.program(), {.bytes = family.bytes});
    CHECK(one.offsets.plan == two.offsets.plan);
    CHECK(one.waiting.plan == two.waiting.plan);
    CHECK(one.slots.plan == two.slots.plan);
    for (std::size_t i = 0; i != one.tokens.size(); ++i)
        CHECK(one.tokens[i].slot_of == two.tokens[i].slot_of);
}

// --- defects reported by users ---------------------------------------------------------------------------

TEST_CASE(
    "onnxruntime 7633, 7645: in parallel, an operand that other steps may still read is not overwritten")
{
    op_names ops("h->a; a->b; a->c; b,c->d");
    ops.in_place = {{1, 0}, {2, 0}}; // both are declared
    plan_methods const all = plan_by_all_methods(ops);
    CHECK(!meet(all.offsets.plan, 1, 2));
    CHECK(!meet(all.offsets.plan, 1, 3));
    auto const in_order = plan_memory(ops.program(), ops.options());
    CHECK(in_order.plan.buffer_of[1] == in_order.plan.buffer_of[3]); // in listed order the last one may
}

TEST_CASE("onnxruntime 28359: outputs do not share with inputs")
{
    op_names ops("x->a; a->y");
    plan_options options = ops.options();
    options.role = std::vector{value_role::input, value_role::intermediate, value_role::output};
    plan_methods const all = plan_by_all_methods(ops.program(), options);
    CHECK(all.offsets.plan.offset_of(0) != no_offset);
    options.role =
        std::vector{value_role::input | value_role::output, value_role::intermediate, value_role::output};
    plan_methods const kept = plan_by_all_methods(ops.program(), options);
    CHECK(!meet(kept.offsets.plan, 0, 2));
    CHECK(!meet(kept.offsets.plan, 0, 1));
}

TEST_CASE(
    "openxla 49176: an operand that the operation also reads through a view is not overwritten in place")
{
    snapshot const p = sequence(3, 4, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(0);
        if (s == 1) {
            sink.use(0);
            sink.use(1); // a view of the operand
            sink.def(2);
            sink.may_overwrite(0, 2);
        }
        if (s == 2) {
            sink.use(2);
            sink.def(3);
        }
        if (s == 0) sink.view(1);
    });
    plan_methods const all = plan_by_all_methods(
        p, {.bytes = 8, .alias_of = std::vector<value_id>{no_value, 0, no_value, no_value}});
    CHECK(!meet(all.offsets.plan, 0, 2));
}

TEST_CASE("ggml 1501: values that the backward pass needs are not overwritten in the forward pass")
{
    plan_methods const all = plan_by_all_methods(
        op_names("h->a; a->b; b->c; c->gc; gc,b->gb; gb,a->ga; gc,c->wc; gb,b->wb; ga,a->wa"));
    value_id const a = 1, b = 2, c = 3;
    for (auto [x, y] : {std::pair{a, b}, {a, c}, {b, c}}) CHECK(!meet(all.offsets.plan, x, y));
}

TEST_CASE("llama.cpp 28448: an old plan is rejected when sizes or values have changed")
{
    op_names const ops("h->a; a->b; b->c; a,c->d");
    plan_methods const all = plan_by_all_methods(ops);
    plan_options grown = all.options;
    grown.bytes = [](value_id v) { return v == 3 ? 64u : 8u; };
    CHECK(!check_concurrent_plan(all.program, all.offsets.plan, grown));
    // b has another read now, by the step that writes d
    CHECK(meet(all.offsets.plan, 2, 4));
    CHECK(!check_concurrent_plan(op_names("h->a; a->b; b->c; a,b,c->d").program(), all.offsets.plan,
                                 all.options));
    CHECK(!check_concurrent_plan(op_names("h->a").program(), all.offsets.plan, {.bytes = 8}));
}

TEST_CASE("ggml 999: values shared by several graphs have no slot in any of them")
{
    op_names const one("z->a; a->b; b->c"), two("k,z->a; a->b");
    CHECK(plan_by_all_methods(one).offsets.plan.offset_of(0) == no_offset);
    CHECK(plan_by_all_methods(two).offsets.plan.offset_of(1) == no_offset);
}

TEST_CASE("openvino 34442: operands and results of one operation do not share")
{
    random_source pick{std::mt19937(21)};
    for (int round = 0; round != 50; ++round) {
        random_tasks const tasks = draw_tasks(pick, {.tasks = 15, .early = 0});
        plan_methods const all = plan_by_all_methods(tasks.program(), tasks.options());
        for (auto const& task : tasks.tasks)
            for (auto in : task.uses)
                for (auto out : task.defs) REQUIRE(!meet(all.offsets.plan, in, out));
    }
}

} // namespace this_test
