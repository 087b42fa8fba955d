// SPDX-License-Identifier: BSL-1.0

/// wait_finder: one walk over the positions. For each range of bytes it keeps the last writer, and the
/// readers since that no later one waits for; an access adds one wait for each. Views of which no part is
/// updated share one range. Pairs are sorted, the strongest reason of each is kept, and a transitive
/// reduction drops implied ones.

#include <sublet/analysis/versions.hpp>
#include <sublet/execution/detail/wait_finder.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/structures/internal/transitive_reduction.hpp>

#include <algorithm>
#include <utility>

namespace sublet::detail {

SUBLET_DECL wait_finder::wait_finder(snapshot const& program, plan_options const& options,
                                     lowered_program const& lowered)
    : program_(program), lowered_(lowered), position_of_(lowered.step_at.size()),
      made_at_(program.values(), no_position), last_waiter_(lowered.step_at.size(), no_position)
{
    for (value_role role : options.role.tabulate(program.values(), "role"))
        is_given_.push_back(is_given(role));
    for (position_id at = 0; at != lowered.positions(); ++at) position_of_[lowered.step_at[at]] = at;
    for (edge_use u : program.edge_uses())
        end_uses_.push_back({position_of_[program.steps_of(u.pred).last - 1], 0, u.value});
    sort_by_key(end_uses_);

    auto const buffers = static_cast<std::uint32_t>(lowered.table.buffers.size());
    ordered_bytes const parts =
        program.has_writes() ? find_ordered_bytes(program, lifetimes_of(options)) : ordered_bytes{};
    for (value_id v = 0; v != program.values(); ++v) {
        buffer_id const b = lowered.table.buffer_of[v];
        buffer const& its = lowered.table.buffers[b];
        bool const is_cut = lowered.is_updated[b] != 0 && parts.segments != 0 &&
                            parts.of[its.root].first < parts.of[its.root].last;
        if (is_cut) ranges_.push_back({buffers + parts.of[v].first, buffers + parts.of[v].last});
        else if (v != its.root && lowered.bytes[v] == 0 && its.size != 0) ranges_.push_back({});
        else ranges_.push_back({b, b + 1});
    }
    names_ = buffers + parts.segments;
    users_.resize(names_ + (program.has_views() ? program.values() : 0));
}

SUBLET_DECL void wait_finder::follow_touches(arena_occupants* arenas)
{
    std::size_t next_end_use = 0; // index of the next entry of end_uses_
    table<buffer_id, unsigned char> occupies(lowered_.table.buffers.size(), 0);
    for (position_id at = 0; at != lowered_.positions(); ++at) {
        auto const touches = program_.touches(lowered_.step_at[at]); // reads come first
        for (touch t : touches) {
            value_id const root = lowered_.table.buffers[lowered_.table.buffer_of[t.value]].root;
            bool const is_by_bytes = t.kind == touch::access::write_view && lowered_.bytes[t.value] != 0;
            if (t.makes_view() && !is_by_bytes && !is_given_[root])
                add(made_at_[root], at, step_waits::kind::data);
            if (t.value != root && program_.has_views())
                access(names_ + t.value, at, !t.defines(), t.makes_view());
            if (t.kind != touch::access::view) access_bytes(t.value, at, !t.defines(), t.writes());
        }
        for (; next_end_use != end_uses_.size() && end_uses_[next_end_use].key == at; ++next_end_use) {
            value_id const v = end_uses_[next_end_use].id;
            if (lowered_.table.buffers[lowered_.table.buffer_of[v]].root != v && program_.has_views())
                access(names_ + v, at, true, false);
            access_bytes(v, at, true, false);
        }
        for (touch t : touches)
            if (t.defines()) made_at_[t.value] = smaller(made_at_[t.value], at);
        if (arenas != nullptr && !first_pieces_.empty())
            for (touch t : touches)
                if (t.kind == touch::access::write_view) begin_piece(t.value, at);
        for (std::uint32_t range : touched_) wait(range, at);
        if (arenas != nullptr)
            for (touch t : touches) {
                buffer_id const b = lowered_.table.buffer_of[t.value];
                bool const is_empty_piece = t.kind == touch::access::write_view &&
                                            lowered_.bytes[t.value] == 0 &&
                                            lowered_.table.buffers[b].size != 0;
                if (!t.writes() || is_empty_piece || std::exchange(occupies[b], 1)) continue;
                std::size_t const before = found_.size();
                bool const is_user = occupy(b, at, *arenas);
                if (t.kind != touch::access::write_view || (found_.size() == before && !is_user)) continue;
                first_pieces_.resize(lowered_.table.buffers.size());
                first_pieces_[b] = {before, found_.size(), is_user ? at : no_position};
            }
        for (std::uint32_t range : touched_) {
            users& its = users_[range];
            if (its.written_at == at) continue;
            while (!its.readers.empty() && last_waiter_[its.readers.back()] == at) its.readers.pop_back();
            its.readers.push_back(at);
        }
        touched_.clear();
    }
}

SUBLET_DECL void wait_finder::follow_edges()
{
    for (node_id n = 0; n != program_.nodes(); ++n) {
        step_range const range = program_.steps_of(n);
        for (step_id s = range.first + 1; s != range.last; ++s)
            add_steps(s - 1, s, step_waits::kind::control);
        for (node_id next : program_.successors(n))
            add_steps(range.last - 1, program_.steps_of(next).first, step_waits::kind::control);
    }
}

SUBLET_DECL void wait_finder::follow(std::vector<handoff> const& handoffs)
{
    for (handoff h : handoffs) add_steps(h.from, h.to, step_waits::kind::handoff);
}

SUBLET_DECL step_waits wait_finder::reduced()
{
    sort_by_key(found_);
    auto const is_same_pair = [](sort_key const& a, sort_key const& b) { return a.key == b.key; };
    found_.erase(std::unique(found_.begin(), found_.end(), is_same_pair), found_.end());
    std::size_t const positions = lowered_.step_at.size();
    auto pairs_of = [](auto const& list) {
        return [&list](auto add_pair) {
            for (auto const& wait : list) add_pair(+as_wait(wait).to, +as_wait(wait).from);
        };
    };
    auto const by_node = csr_rows<node_id, node_id>::gathered(positions, pairs_of(found_)); // a position
    auto const is_implied = has_indirect_path(by_node, found_.size(), [&](std::uint32_t i) {
        return csr_graph::edge{+as_wait(found_[i]).from, +as_wait(found_[i]).to};
    });
    step_waits result;
    for (std::size_t i = 0; i != found_.size(); ++i)
        if (!is_implied[i]) result.list.push_back(as_wait(found_[i]));
    result.before = csr_rows<position_id, position_id>::gathered(positions, pairs_of(result.list));
    result.after = result.before.transposed(positions);
    return result;
}

SUBLET_DECL void wait_finder::add(position_id from, position_id to, step_waits::kind why)
{
    if (from == to || from == no_position) return;
    last_waiter_[from] = to;
    found_.push_back({std::uint64_t{to} << 32 | from, static_cast<std::uint64_t>(why), 0});
}

SUBLET_DECL void wait_finder::access_bytes(value_id v, position_id at, bool reads, bool writes)
{
    for (std::uint32_t range = ranges_[v].first; range < ranges_[v].last; ++range)
        access(range, at, reads, writes);
}

SUBLET_DECL void wait_finder::access(std::uint32_t range, position_id at, bool reads, bool writes)
{
    users& its = users_[range];
    if (its.touched_at != at) touched_.push_back(range);
    its.touched_at = at;
    if (reads) its.read_at = at;
    if (writes) its.written_at = at;
}

SUBLET_DECL void wait_finder::wait(std::uint32_t range, position_id at)
{
    users& its = users_[range];
    if (its.written_at != at || its.read_at == at) add(its.writer, at, step_waits::kind::data);
    if (its.written_at != at) return;
    for (position_id reader : its.readers) add(reader, at, step_waits::kind::anti);
    if (its.readers.empty()) add(its.writer, at, step_waits::kind::output);
    its.writer = at;
    its.readers.clear();
}

SUBLET_DECL void wait_finder::begin_piece(value_id v, position_id at)
{
    bool is_begun = true;
    for (std::uint32_t range = ranges_[v].first; range < ranges_[v].last; ++range)
        is_begun = is_begun && users_[range].writer != no_position;
    if (is_begun) return;
    first_piece const its = first_pieces_[lowered_.table.buffer_of[v]];
    for (std::size_t i = its.first; i != its.last; ++i)
        add(as_wait(found_[i]).from, at, step_waits::kind::handoff);
    add(its.user, at, step_waits::kind::handoff);
}

SUBLET_DECL bool wait_finder::occupy(buffer_id b, position_id at, arena_occupants& arenas)
{
    bool is_user = false;
    arenas.occupy(b, [&](buffer_id before) {
        byte_ranges const ranges = ranges_of(before);
        for (std::uint32_t range = ranges.first; range < ranges.last; ++range) {
            users const& its = users_[range];
            is_user = is_user || its.touched_at == at;
            for (position_id reader : its.readers) add(reader, at, step_waits::kind::handoff);
            if (its.readers.empty()) add(its.writer, at, step_waits::kind::handoff);
        }
    });
    return is_user;
}

} // namespace sublet::detail
