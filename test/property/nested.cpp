// SPDX-License-Identifier: BSL-1.0
// Random nested programs, run twice: once with separate storage for every value of every activation of a
// body, once in the arena of the plan, where copies are made in sequence and the values of an ended
// activation are overwritten. The interpreter reads the tree as it was drawn, not as it was flattened: from
// the plan it takes offsets and the copies that remain.
// SUBLET_ROUNDS multiplies the number of draws.
#include <sublet/analysis/flatten.hpp>
#include <sublet/plan_nested.hpp>

#include "../printed.hpp"
#include "../random_source.hpp"
#include "../random_tree.hpp"
#include "../tree_memory.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using namespace tree_memory;

namespace {

/// Bytes at the plan's offsets. Values without an offset have storage of their own, shared by all
/// activations.
struct planned {
    random_tree const& t;
    planned_nested const& plan;
    std::vector<bytes_of> arenas = {};
    std::vector<std::vector<std::size_t>> owner = {}; // by pool and byte: the cell written last
    std::map<random_tree::place, bytes_of> beside = {};
    std::map<value_id, bytes_of> spares = {};
    std::size_t cells = 0;
    static constexpr std::size_t no_owner = ~std::size_t{0};

    void prepare()
    {
        for (byte_count size : plan.plan.arena_bytes) {
            arenas.emplace_back(size, 0xDD);
            owner.emplace_back(size, no_owner);
        }
    }
    void open(activation& a)
    {
        for (value_id v = 0; v != t.programs[a.program].bytes.size(); ++v)
            if (t.root(a.program, v) == random_tree::place{a.program, v}) a.own[v] = cells++;
    }
    unsigned char* at(random_tree::place r)
    {
        byte_count const offset = plan.offset_of(r.program, r.value);
        if (offset != no_offset) return arenas[t.programs[r.program].pool[r.value]].data() + offset;
        bytes_of& own = beside[r];
        own.resize(t.size(r));
        return own.data();
    }
    void own(activation const& a, value_id v)
    {
        auto const r = t.root(a.program, v);
        byte_count const offset = plan.offset_of(r.program, r.value);
        if (offset == no_offset) return;
        auto& owners = owner[t.programs[r.program].pool[r.value]];
        for (byte_count i = 0; i != t.size(r); ++i) owners[offset + i] = a.cell(t, v);
    }
    std::uint64_t read(activation const& a, value_id v)
    {
        auto const r = t.root(a.program, v);
        return digest_of(at(r), t.size(r));
    }
    void write(activation const& a, value_id v, std::uint64_t seed)
    {
        auto const r = t.root(a.program, v);
        fill(at(r), t.size(r), seed);
        own(a, v);
    }
    /// A flat value is a value of the tree or a spare.
    std::pair<unsigned char*, std::size_t> flat(value_id v)
    {
        auto const [program, value] = plan.flat.value_of[v];
        auto const r = t.root(program, value);
        if (v < plan.flat.first_spare) return {at(r), t.size(r)};
        byte_count const offset = plan.plan.offset_of(v);
        if (offset != no_offset) {
            unsigned char* const there = arenas[t.programs[r.program].pool[r.value]].data() + offset;
            return {there, t.size(r)};
        }
        spares[v].resize(t.size(r));
        return {spares[v].data(), t.size(r)};
    }
    void copy(activation const& a, flat_tree::move_time when)
    {
        for (flat_tree::move const& m : plan.copies) {
            if (m.body != a.program || m.when != when) continue;
            auto const [from, size] = flat(m.from);
            auto const [to, room] = flat(m.to);
            REQUIRE(size == room);
            for (std::size_t i = 0; i != size; ++i) to[i] = from[i];
        }
        for (program_body::binding const& b : t.programs[a.program].how.bindings) {
            if (when == flat_tree::move_time::enter && b.initial != no_value) own(a, b.inner);
            if (when == flat_tree::move_time::again && b.next != no_value) own(a, b.inner);
            if (when == flat_tree::move_time::leave && b.result != no_value) own(*a.outer, b.result);
        }
    }
    /// Overwrites the values of this activation; if it begins again, not those passed to it.
    void forget(activation const& a, bool begins_again)
    {
        std::set<std::size_t> gone;
        for (auto const& [v, c] : a.own) gone.insert(c);
        if (begins_again)
            for (program_body::binding const& b : t.programs[a.program].how.bindings)
                gone.erase(a.cell(t, b.inner));
        for (std::size_t pool = 0; pool != arenas.size(); ++pool)
            for (std::size_t i = 0; i != arenas[pool].size(); ++i)
                if (gone.count(owner[pool][i]) != 0) {
                    arenas[pool][i] = 0xDD;
                    owner[pool][i] = no_owner;
                }
    }
};

/// Runs a tree as it was drawn. The generator decides: equal seeds make equal decisions.
template <class Memory>
struct runner {
    random_tree const& t;
    Memory& memory;
    random_source pick;
    std::vector<std::uint64_t> seen = {}; // values read, in order
    std::uint64_t writes = 0;

    std::uint64_t read(activation const& a, value_id v)
    {
        seen.push_back(memory.read(a, v));
        return seen.back();
    }

    void run()
    {
        activation root;
        memory.open(root);
        auto const& p = t.programs[0];
        for (value_id v = 0; v != p.bytes.size(); ++v)
            if (is_given(p.role[v]) && p.alias_of[v] == no_value) memory.write(root, v, v + 1000);
        nodes(root);
        for (value_id v = 0; v != p.bytes.size(); ++v)
            if (has_role(p.role[v], value_role::output)) read(root, v);
    }

    void nodes(activation const& a)
    {
        auto const& p = t.programs[a.program];
        node_id n = 0;
        std::uint64_t brought = 0;
        for (std::size_t walked = 0; n != p.nodes.size(); ++walked) {
            for (auto const& s : p.nodes[n].steps) {
                step(a, s, brought);
                brought = 0;
            }
            if (p.is_list) {
                ++n;
                continue;
            }
            auto const& to = p.nodes[n].successors;
            if (to.empty()) return;
            // After a while only forward: the first successor.
            node_id const next =
                to[walked > 8 || seen.size() > 3000 ? 0 : pick.below(static_cast<std::uint32_t>(to.size()))];
            for (auto o : p.nodes[next].operands)
                if (o.pred == n) brought = mixed(brought + read(a, o.value));
            n = next;
        }
    }

    void step(activation const& a, random_tree::step const& s, std::uint64_t brought)
    {
        auto const& p = t.programs[a.program];
        std::uint64_t sum = mixed(brought + 7 * s.uses.size() + ++writes);
        for (value_id v : s.uses) sum = mixed(sum + read(a, v));
        for (value_id v : s.early) sum = mixed(sum + read(a, v));
        auto is_in = [](auto const& list, auto member, value_id v) {
            for (auto const& one : list)
                if (one.*member == v) return true;
            return false;
        };
        std::set<value_id> begun, given;
        for (program_id b : s.bodies)
            for (value_id v : s.defs) {
                if (is_in(t.programs[b].how.captures, &program_body::capture::outer, v)) begun.insert(v);
                if (is_in(t.programs[b].how.bindings, &program_body::binding::result, v)) given.insert(v);
            }
        for (value_id v : begun)
            if (given.count(v) == 0) memory.write(a, v, mixed(sum + v));
        for (std::size_t b = 0; b != s.bodies.size();) {
            std::size_t end = b + 1;
            auto kind_of = [&](std::size_t i) { return t.programs[s.bodies[i]].how.kind; };
            while (kind_of(b) == program_body::run_kind::branch && end != s.bodies.size() &&
                   kind_of(end) == program_body::run_kind::branch)
                ++end;
            body(a, s.bodies[b + pick.below(static_cast<std::uint32_t>(end - b))]);
            b = end;
        }
        if (!s.bodies.empty()) // a use lasts to the end of its step
            for (value_id v : s.uses) sum = mixed(sum + read(a, v));
        std::set<random_tree::place> written;
        for (value_id v : s.defs) {
            if (begun.count(v) != 0 || given.count(v) != 0) continue;
            bool is_view = false; // defined here, from a value read here
            for (value_id u : s.uses) is_view |= p.alias_of[v] == u;
            written.insert(t.root(a.program, v));
            if (!is_view) memory.write(a, v, mixed(sum + v));
        }
        for (value_id v : s.uses) { // no other value was written there
            bool may_change = written.count(t.root(a.program, v)) != 0;
            for (auto [in, out] : s.pairs) may_change |= t.root(a.program, in) == t.root(a.program, v);
            if (!may_change) read(a, v);
        }
    }

    void body(activation const& outer, program_id i)
    {
        activation a{i, &outer, {}};
        memory.open(a);
        memory.copy(a, flat_tree::move_time::enter);
        std::uint32_t times = 1;
        if (t.programs[i].how.kind == program_body::run_kind::loop)
            times = seen.size() > 3000 ? 0 : pick.below(4);
        for (; times != 0; --times) {
            nodes(a);
            if (t.programs[i].how.kind != program_body::run_kind::loop) break;
            memory.copy(a, flat_tree::move_time::again);
            memory.forget(a, true);
        }
        memory.copy(a, flat_tree::move_time::leave);
        memory.forget(a, false);
    }
};

template <class Memory>
std::vector<std::uint64_t> seen_by(random_tree const& t, Memory& memory, unsigned decision_seed)
{
    runner<Memory> run{t, memory, {std::mt19937{decision_seed}}};
    run.run();
    return run.seen;
}

} // namespace

TEST_CASE("for any nesting, a run in the planned arena reads the same values as a run without a plan")
{
    std::size_t programs = 0, eliminated_copies = 0, left = 0, spares = 0, reads = 0, deep = 0, saved = 0;
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        random_tree const t = draw_tree(pick);
        program_tree const tree = t.tree();
        auto const planned_all = plan_nested(tree, [&](program_id i) { return t.options(i); });
        INFO(failure_of(planned_all));
        REQUIRE(planned_all);
        CHECK(planned_all.report().is_checked);
        programs += tree.size();
        eliminated_copies += planned_all.flat.moves.size() - planned_all.copies.size();
        left += planned_all.copies.size();
        spares += planned_all.flat.value_of.size() - planned_all.flat.first_spare;
        saved += planned_all.report().arena_bytes < planned_all.report().naive_bytes;
        for (program_id i = 1, depth = 0; i != tree.size(); ++i, depth = 0) {
            for (program_id at = i; at != 0; at = tree.body(at).parent) ++depth;
            deep += depth == 4;
        }
        for (unsigned decision_seed = 0; decision_seed != 4; ++decision_seed) {
            CAPTURE(decision_seed);
            apart own{t};
            planned shared{t, planned_all};
            shared.prepare();
            auto const expected = seen_by(t, own, decision_seed);
            CHECK(seen_by(t, shared, decision_seed) == expected);
            reads += expected.size();
        }
    }
    MESSAGE(programs << " programs, " << deep << " of them nested four deep; " << eliminated_copies
                     << " copies vanished, " << left << " are left, " << spares << " spares; " << reads
                     << " reads; fewer bytes in " << saved);
    if (fuzzed.is_on) return;
    CHECK(programs > rounds(1000));
    CHECK(deep > rounds(10));
    CHECK(eliminated_copies > rounds(100));
    CHECK(left > rounds(100));
    CHECK(spares > rounds(10));
    CHECK(saved > rounds(200));
}

} // namespace this_test
