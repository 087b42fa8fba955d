// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_TREE_HPP
#define SUBLET_TEST_RANDOM_TREE_HPP

/// Random programs with nested programs, stored as lists: an oracle runs these lists, and not the library's
/// copy. On no path is a value read before it is written.

#include "operations.hpp"
#include "random_source.hpp"
#include "view_sizes.hpp"
#include <sublet/analysis/flatten.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

struct random_tree {
    using ids = std::vector<sublet::value_id>;
    struct step {
        ids uses, early, defs;
        std::vector<std::pair<sublet::value_id, sublet::value_id>> pairs; // in, out
        std::vector<sublet::program_id> bodies;
    };
    struct operand { // used where a predecessor ends
        sublet::node_id pred;
        sublet::value_id value;
    };
    struct node {
        std::vector<step> steps = {};
        std::vector<sublet::node_id> successors = {};
        std::vector<operand> operands = {};
    };
    struct program {
        std::vector<node> nodes;
        bool is_list = true; // then no node has successors
        std::vector<sublet::byte_count> bytes, alignment;
        ids alias_of;
        std::vector<sublet::value_role> role;
        std::vector<sublet::pool_id> pool;
        std::vector<bool> eligible;
        sublet::program_body how; // of a body; tree() sets its step
        std::size_t steps() const
        {
            std::size_t count = 0;
            for (node const& n : nodes) count += n.steps.size();
            return count;
        }
        sublet::snapshot flat() const
        {
            auto effects = [this](std::uint32_t n, sublet::effect_sink& s) {
                list_steps(s, nodes[n].steps, alias_of);
                for (operand o : nodes[n].operands) s.use_at_end_of(o.pred, o.value);
            };
            if (is_list) return sublet::sequence(nodes.size(), bytes.size(), effects);
            return sublet::flow(
                nodes.size(), bytes.size(), [this](sublet::node_id n) { return nodes[n].successors; },
                effects);
        }
    };
    std::vector<program> programs;
    bool in_place = true;

    sublet::program_tree tree() const
    {
        sublet::program_tree t(programs[0].flat());
        for (sublet::program_id i = 1; i != programs.size(); ++i) {
            auto const& how = programs[i].how;
            t.add_body(how.parent, how.step, how.kind, programs[i].flat(), how.captures, how.bindings);
        }
        return t;
    }
    sublet::plan_options options(sublet::program_id i) const
    {
        program p = programs[i];
        for (std::size_t v = 0; v != p.bytes.size(); ++v) // a view is all of its root
            if (p.alias_of[v] != sublet::no_value) p.bytes[v] = sublet::no_size;
        for (auto const& c : p.how.captures) { // the outer value has its facts
            p.bytes[c.inner] = sublet::no_size;
            p.alignment[c.inner] = 1;
            p.role[c.inner] = sublet::value_role::intermediate;
            p.pool[c.inner] = 0;
            p.eligible[c.inner] = true;
        }
        return {.bytes = p.bytes,
                .alignment = p.alignment,
                .role = p.role,
                .alias_of = p.alias_of,
                .pool = of_roots(p.pool, p.alias_of),
                .eligible = of_roots(p.eligible, p.alias_of),
                .in_place = in_place};
    }

    /// The value that owns the bytes: captures and views are resolved to it.
    struct place {
        sublet::program_id program;
        sublet::value_id value;
        friend bool operator==(place, place) = default;
        friend auto operator<=>(place, place) = default;
    };
    place root(sublet::program_id i, sublet::value_id v) const
    {
        for (;;) {
            bool is_captured = false;
            for (auto c : programs[i].how.captures)
                if (i != 0 && c.inner == v && !is_captured) {
                    v = c.outer;
                    is_captured = true;
                }
            if (is_captured) i = programs[i].how.parent;
            else if (programs[i].alias_of[v] != sublet::no_value) v = programs[i].alias_of[v];
            else return {i, v};
        }
    }
    /// It is a view where it is defined: v, or the value that v captures.
    bool is_view(sublet::program_id i, sublet::value_id v) const
    {
        for (;;) {
            auto const& captures = programs[i].how.captures;
            auto const captured =
                std::find_if(captures.begin(), captures.end(), [v](auto c) { return c.inner == v; });
            if (i == 0 || captured == captures.end()) return programs[i].alias_of[v] != sublet::no_value;
            v = captured->outer;
            i = programs[i].how.parent;
        }
    }
    sublet::byte_count size(place p) const { return programs[p.program].bytes[p.value]; }
};

/// Draws a random tree.
class tree_generator {
public:
    tree_generator(random_source& pick, std::uint32_t depth)
        : pick_(pick), depth_(depth), has_pools_(pick.below(4) == 0)
    {
    }

    random_tree draw()
    {
        using sublet::value_role;
        all_.in_place = pick_.below(5) != 0;
        all_.programs.emplace_back();
        ids defined;
        value_role const given[] = {value_role::input, value_role::input, value_role::external,
                                    value_role::state};
        for (std::uint32_t i = 0, n = 1 + pick_.below(3); i != n; ++i) {
            defined.push_back(value(0));
            all_.programs[0].role[defined.back()] = given[pick_.below(4)];
        }
        draw_nodes(0, defined, 0);
        for (value_id v : defined)
            if (pick_.below(8) == 0) {
                auto& role = all_.programs[0].role[v];
                role = role | value_role::output;
            }
        return all_;
    }

private:
    using ids = random_tree::ids;
    using value_id = sublet::value_id;
    using program_id = sublet::program_id;

    value_id value(program_id i, sublet::byte_count size = 0, sublet::pool_id pool = 0)
    {
        random_tree::program& p = all_.programs[i];
        sublet::byte_count const sizes[] = {8, 8, 8, 8, 16, 24, 5, 1 + pick_.below(40)};
        if (size == 0) {
            size = sizes[pick_.below(8)];
            if (pick_.below(40) == 0) size = 0;
            if (has_pools_) pool = pick_.below(2);
        }
        p.bytes.push_back(size);
        p.alignment.push_back(pick_.below(8) == 0 ? 1 + pick_.below(6) : 1);
        p.alias_of.push_back(sublet::no_value);
        p.role.push_back(sublet::value_role::intermediate);
        p.pool.push_back(pool);
        p.eligible.push_back(pick_.below(30) != 0);
        return p.bytes.size() - 1;
    }
    /// A new value with the size and pool of another program's value.
    value_id value_like(program_id i, program_id of, value_id v)
    {
        auto const r = all_.root(of, v);
        random_tree::program const& p = all_.programs[r.program];
        auto const size = p.bytes[r.value];
        value_id const made = value(i, size, p.pool[r.value]);
        all_.programs[i].bytes[made] = size; // even if it is 0
        all_.programs[i].pool[made] = p.pool[r.value];
        return made;
    }
    value_id any(ids const& of) { return pick_.one_of(of); }
    /// A value that is no view, by a few trials.
    value_id any_root(program_id i, ids const& of)
    {
        for (int k = 0; k != 4; ++k)
            if (value_id const v = any(of); !all_.is_view(i, v)) return v;
        return sublet::no_value;
    }

    void draw_nodes(program_id i, ids& defined, std::uint32_t depth)
    {
        bool const is_list = pick_.below(4) != 0;
        all_.programs[i].is_list = is_list;
        std::uint32_t const count = is_list ? 1 + pick_.below(depth == 0 ? 5 : 3) : 2 + pick_.below(3);
        for (std::uint32_t n = 0; n != count; ++n) {
            all_.programs[i].nodes.emplace_back();
            ids here = defined; // values defined outside node 0 of a graph are used within their node only
            draw_steps(i, n, n == 0 || is_list ? defined : here, depth);
        }
        if (is_list) return;
        auto& nodes = all_.programs[i].nodes;
        for (std::uint32_t n = 0; n != count; ++n) { // each leads to the next, the last is the exit
            if (n + 1 != count) nodes[n].successors.push_back(n + 1);
            if (n + 2 < count && pick_.below(3) == 0) nodes[n].successors.push_back(n + 2);
            if (n + 1 != count && pick_.below(2) == 0) nodes[n].successors.push_back(pick_.below(n + 1));
        }
        for (std::uint32_t n = 0; n != count; ++n)
            for (auto s : nodes[n].successors)
                if (!defined.empty() && pick_.below(4) == 0) nodes[s].operands.push_back({n, any(defined)});
    }

    void draw_steps(program_id i, std::uint32_t n, ids& defined, std::uint32_t depth)
    {
        for (std::uint32_t k = 1 + pick_.below(3); k != 0; --k) {
            random_tree::step s;
            if (!defined.empty())
                for (std::uint32_t u = pick_.below(4); u != 0; --u)
                    (pick_.below(5) == 0 ? s.early : s.uses).push_back(any(defined));
            sublet::step_id const number = all_.programs[i].steps();
            ids made;
            if (depth != depth_ && all_.programs.size() < 24 && pick_.below(3) == 0)
                draw_bodies(i, number, s, defined, made, depth);
            bool may_rewrite = true;
            for (std::uint32_t d = pick_.below(3); d != 0; --d) {
                if (may_rewrite && !defined.empty() && pick_.below(5) == 0) {
                    value_id const again = any_root(i, defined);
                    if (again != sublet::no_value && s.bodies.empty()) s.defs.push_back(again);
                    may_rewrite = false;
                    continue;
                }
                value_id const out = value(i);
                if (may_rewrite && s.bodies.empty() && !s.uses.empty() && pick_.below(4) == 0) {
                    all_.programs[i].alias_of[out] = s.uses[0];
                    may_rewrite = false; // a view, or overwrites, not both
                } else {
                    for (value_id in : s.uses) {
                        if (pick_.below(2) == 0) continue;
                        s.pairs.push_back({in, out});
                        auto const r = all_.root(i, in);
                        all_.programs[i].bytes[out] = all_.size(r);
                        all_.programs[i].pool[out] = all_.programs[r.program].pool[r.value];
                    }
                }
                s.defs.push_back(out);
                made.push_back(out);
            }
            defined.insert(defined.end(), made.begin(), made.end());
            all_.programs[i].nodes[n].steps.push_back(s);
        }
    }

    /// Groups of bodies for a step; `made`: their results.
    void draw_bodies(program_id i, sublet::step_id step, random_tree::step& s, ids const& defined, ids& made,
                     std::uint32_t depth)
    {
        using enum sublet::program_body::run_kind;
        ids outer = defined; // what the bodies may capture
        if (pick_.below(4) == 0) {
            value_id const filled = value(i);
            s.defs.push_back(filled); // bodies fill it
            filled_ = filled;
            outer.push_back(filled);
            made.push_back(filled);
        } else {
            filled_ = sublet::no_value;
        }
        sublet::program_body::run_kind last = once;
        for (std::uint32_t g = 1 + pick_.below(2); g != 0; --g) {
            sublet::program_body::run_kind kind = pick_.below(3) == 0   ? once
                                                  : pick_.below(2) == 0 ? branch
                                                                        : loop;
            if (kind == branch && last == branch) kind = once; // they would form one choice
            last = kind;
            std::vector<std::pair<value_id, value_id>> carried; // result, initial (or none)
            std::uint32_t const results = pick_.below(3);
            for (std::uint32_t r = 0; r != results; ++r) {
                value_id const initial = outer.empty() ? sublet::no_value : any(outer);
                if (kind == loop && initial == sublet::no_value) continue;
                value_id target = sublet::no_value;
                if (!defined.empty() && pick_.below(5) == 0) target = any_root(i, defined); // written again
                for (auto [other, from] : carried)
                    if (target != sublet::no_value && all_.root(i, other) == all_.root(i, target))
                        target = sublet::no_value;
                bool const is_fresh = target == sublet::no_value;
                value_id from = initial;
                if (is_fresh && initial != sublet::no_value) target = value_like(i, i, initial);
                else if (is_fresh) target = value(i);
                else if (all_.size(all_.root(i, target)) != all_.size(all_.root(i, initial))) from = target;
                carried.push_back({target, from});
                if (is_fresh) made.push_back(target);
                if (pick_.below(3) == 0) s.defs.push_back(target); // the step defines it as the bodies do
            }
            std::uint32_t const arms = kind == branch ? 1 + pick_.below(3) : 1;
            for (std::uint32_t a = 0; a != arms; ++a)
                s.bodies.push_back(draw_body(i, step, kind, outer, carried, depth + 1));
            for (auto [target, from] : carried) outer.push_back(target);
        }
        if (filled_ != sublet::no_value) {
            bool is_captured = false;
            for (program_id b : s.bodies)
                for (auto c : all_.programs[b].how.captures) is_captured |= c.outer == filled_;
            if (!is_captured) { // it is defined at the end, after all reads
                for (program_id b : s.bodies)
                    for (auto& c : all_.programs[b].how.bindings)
                        if (c.initial == filled_ && !std::exchange(is_captured, true))
                            all_.programs[b].how.captures.push_back(capture(i, b, filled_));
            }
        }
    }
    sublet::program_body::capture capture(program_id outer, program_id body, value_id v)
    {
        return {value_like(body, outer, v), v};
    }

    program_id draw_body(program_id parent, sublet::step_id step, sublet::program_body::run_kind kind,
                         ids const& outer, std::vector<std::pair<value_id, value_id>> const& carried,
                         std::uint32_t depth)
    {
        program_id const i = all_.programs.size();
        all_.programs.emplace_back();
        all_.programs[i].how = {parent, step, kind, {}, {}};
        ids defined, inners;
        if (!outer.empty())
            for (std::uint32_t c = pick_.below(4); c != 0; --c) {
                sublet::program_body::capture const held = capture(parent, i, any(outer));
                all_.programs[i].how.captures.push_back(held);
                defined.push_back(held.inner);
            }
        for (auto [target, initial] : carried) {
            value_id const inner = value_like(i, parent, target);
            sublet::program_body::binding b{inner, sublet::no_value, sublet::no_value, target};
            if (initial != sublet::no_value &&
                (kind == sublet::program_body::run_kind::loop || pick_.below(2) == 0)) {
                b.initial = initial;
                defined.push_back(inner);
            }
            all_.programs[i].how.bindings.push_back(b);
        }
        if (!outer.empty() && pick_.below(3) == 0) { // an input of the body only
            value_id const initial = any(outer), inner = value_like(i, parent, initial);
            all_.programs[i].how.bindings.push_back({inner, initial, sublet::no_value, sublet::no_value});
            defined.push_back(inner);
        }
        auto const bound = all_.programs[i].how.bindings; // a copy: the vector of programs may reallocate
        bool needs_steps = false;
        for (auto b : bound) needs_steps |= b.initial == sublet::no_value;
        if (needs_steps || pick_.below(8) != 0) {
            value_id const before = filled_;
            draw_nodes(i, defined, depth);
            filled_ = before;
            for (auto b : bound) // values without initial value are defined in the first step
                if (b.initial == sublet::no_value) {
                    all_.programs[i].nodes[0].steps[0].defs.push_back(b.inner);
                    defined.push_back(b.inner);
                }
        }
        if (kind == sublet::program_body::run_kind::loop)
            for (auto& b : all_.programs[i].how.bindings) {
                if (pick_.below(6) == 0) continue; // unchanged
                ids fitting;
                for (value_id v : defined)
                    if (all_.size(all_.root(i, v)) == all_.size(all_.root(i, b.inner))) fitting.push_back(v);
                if (!fitting.empty()) b.next = any(fitting);
                if (pick_.below(3) != 0) continue;
                for (auto& other : all_.programs[i].how.bindings) // exchange
                    if (&other != &b &&
                        all_.size(all_.root(i, other.inner)) == all_.size(all_.root(i, b.inner))) {
                        b.next = other.inner;
                        other.next = b.inner;
                        break;
                    }
            }
        return i;
    }

    random_source& pick_;
    std::uint32_t depth_;
    bool has_pools_;
    random_tree all_;
    value_id filled_ = sublet::no_value; // of the step of the bodies being drawn
};

inline random_tree draw_tree(random_source& pick, std::uint32_t depth = 4)
{
    return tree_generator(pick, depth).draw();
}

#endif
