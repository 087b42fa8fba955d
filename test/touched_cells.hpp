// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_TOUCHED_CELLS_HPP
#define SUBLET_TEST_TOUCHED_CELLS_HPP

/// What the steps of a random program do to memory, byte by byte, from the lists as drawn: brute force for
/// tests of concurrent steps.

#include "random_program.hpp"

#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

struct touched_cells {
    using cell = std::pair<std::uint64_t, sublet::byte_count>; // memory, byte
    std::set<cell> read, written;

    bool clashes_with(touched_cells const& other) const
    {
        auto meet = [](std::set<cell> const& a, std::set<cell> const& b) {
            return std::any_of(a.begin(), a.end(), [&](cell c) { return b.count(c) != 0; });
        };
        return meet(written, other.written) || meet(written, other.read) || meet(read, other.written);
    }
};

/// By position, if the steps run in this order. A touch of a value touches its whole class.
inline std::vector<touched_cells> cells_touched(random_program const& p, sublet::memory_plan const* plan,
                                                std::vector<sublet::step_id> const& order)
{
    using namespace sublet;
    using namespace sublet::detail;
    auto const turns = p.turns();
    std::map<step_id, random_program::turn const*> step_by_id;
    std::vector<std::uint32_t> defs(p.values());
    for (auto const& turn : turns) {
        step_by_id[turn.id] = &turn;
        for (auto const* row : {&turn.what->defs, &turn.what->scratch})
            for (value_id v : *row) ++defs[v];
    }
    auto cells_of = [&](value_id root) {
        std::set<touched_cells::cell> cells;
        byte_count const offset = plan == nullptr ? no_offset : plan->offset_of(root);
        if (offset == no_offset) cells.insert({1000 + root, 0});
        else
            for (byte_count i = 0; i != p.bytes[root]; ++i) cells.insert({p.pool[root], offset + i});
        return cells;
    };
    std::set<value_id> there, made_as_view;
    std::vector<touched_cells> touched(order.size());
    for (step_id at = 0; at != order.size(); ++at) {
        random_program::step const& its = *step_by_id.at(order[at])->what;
        std::set<value_id> read;
        auto reads = [&](value_id v) {
            touched[at].read.merge(cells_of(p.root(v)));
            if (made_as_view.count(v) != 0) touched[at].read.insert({10'000 + v, 0});
        };
        for (auto const* row : {&its.uses, &its.early})
            for (value_id v : *row) reads(v), read.insert(p.root(v));
        for (auto const* row : {&its.defs, &its.scratch})
            for (value_id v : *row) {
                value_id const r = p.root(v);
                bool const was_there = there.count(r) != 0 || is_given(p.class_role(r));
                bool const is_new = defs[v] == 1 && !is_given(p.role[v]);
                if (v != r && was_there && read.count(r) != 0 && is_new) {
                    made_as_view.insert(v);
                    touched[at].read.merge(cells_of(r));
                    touched[at].written.insert({10'000 + v, 0});
                } else {
                    touched[at].written.merge(cells_of(r));
                }
            }
        for (auto const* row : {&its.defs, &its.scratch})
            for (value_id v : *row) there.insert(p.root(v));
        for (value_id v : step_by_id.at(order[at])->uses_at_end) reads(v);
    }
    return touched;
}

/// Pairs of positions that the program orders whatever they touch: consecutive steps of a node, and nodes
/// with an edge between them.
inline std::set<std::pair<sublet::step_id, sublet::step_id>>
required_pairs(random_program const& p, std::vector<sublet::step_id> const& order)
{
    using namespace sublet;
    using namespace sublet::detail;
    std::vector<step_id> position(order.size());
    for (step_id at = 0; at != order.size(); ++at) position[order[at]] = at;
    std::set<std::pair<step_id, step_id>> pairs;
    step_id next = 0;
    for (node_id n = 0; n != p.nodes.size(); ++n) {
        for (std::size_t k = 0; k != p.nodes[n].steps.size(); ++k, ++next)
            if (next != 0 && (k != 0 || p.has_next_edge(n - 1)))
                pairs.insert({position[next - 1], position[next]});
    }
    return pairs;
}

#endif
