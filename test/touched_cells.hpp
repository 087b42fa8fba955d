// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_TOUCHED_CELLS_HPP
#define SUBLET_TEST_TOUCHED_CELLS_HPP

/// What the steps of a random program do to memory, byte by byte, from the lists as drawn: brute force for
/// tests of concurrent steps.

#include "random_program.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

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

/// By position, if the steps run in this order. Bytes without a place count as one: every access of a value
/// touches it, unless the value is a view of no bytes.
inline std::vector<touched_cells> cells_touched(random_program const& p, sublet::memory_plan const* plan,
                                                std::vector<sublet::step_id> const& order)
{
    using namespace sublet;
    using namespace sublet::detail;
    auto const turns = p.turns();
    std::map<step_id, random_program::turn const*> step_by_id;
    for (auto const& turn : turns) step_by_id[turn.id] = &turn;
    auto cells_of = [&](value_id v) { // views begin where their roots do
        std::set<touched_cells::cell> cells;
        value_id const root = p.root(v);
        bool const has_place = plan != nullptr && p.bytes[root] != 0;
        byte_count const offset = has_place ? plan->offset_of(root) : no_offset;
        byte_count const size = std::min(p.bytes[v], p.bytes[root]);
        if (offset != no_offset)
            for (byte_count i = 0; i != size; ++i) cells.insert({p.pool[root], offset + i});
        else if (size != 0 || p.bytes[root] == 0) cells.insert({1000 + root, 0});
        return cells;
    };
    std::set<value_id> there; // roots that are given, or that a step has made
    for (value_id v = 0; v != p.values(); ++v)
        if (is_given(p.role[v])) there.insert(v);
    auto is_made_as_view = [&](value_id v) {
        for (auto const& turn : turns)
            if (std::count(turn.what->defs.begin(), turn.what->defs.end(), v) != 0) return v != p.root(v);
        return false;
    };
    std::vector<touched_cells> touched(order.size());
    for (position_id at = 0; at != order.size(); ++at) {
        random_program::step const& its = *step_by_id.at(order[at])->what;
        auto reads = [&](value_id v) {
            touched[at].read.merge(cells_of(v));
            if (is_made_as_view(v)) touched[at].read.insert({10'000 + v, 0});
        };
        for (auto const* row : {&its.uses, &its.early})
            for (value_id v : *row) reads(v);
        for (auto const* row : {&its.defs, &its.scratch})
            for (value_id v : *row) {
                value_id const r = p.root(v);
                if (v != r) { // names bytes of r, and accesses none
                    touched[at].written.insert({10'000 + v, 0});
                    touched[at].read.insert({20'000 + r, 0});
                } else {
                    touched[at].written.merge(cells_of(r));
                    if (there.insert(r).second) touched[at].written.insert({20'000 + r, 0});
                }
            }
        for (value_id v : step_by_id.at(order[at])->uses_at_end) reads(v);
    }
    return touched;
}

/// Pairs of positions that the program orders whatever they touch: consecutive steps of a node, and nodes
/// with an edge between them.
inline std::set<std::pair<sublet::position_id, sublet::position_id>>
required_pairs(random_program const& p, std::vector<sublet::step_id> const& order)
{
    using namespace sublet;
    using namespace sublet::detail;
    table<step_id, position_id> position(order.size());
    for (position_id at = 0; at != order.size(); ++at) position[order[at]] = at;
    std::set<std::pair<position_id, position_id>> pairs;
    step_id next = 0;
    for (node_id n = 0; n != p.nodes.size(); ++n) {
        for (std::size_t k = 0; k != p.nodes[n].steps.size(); ++k, ++next)
            if (next != 0 && (k != 0 || p.has_next_edge(n - 1)))
                pairs.insert({position[next - 1], position[next]});
    }
    return pairs;
}

#endif
