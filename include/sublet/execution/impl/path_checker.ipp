// SPDX-License-Identifier: BSL-1.0

/// path_checker: for each buffer its digest and its producer, for each byte of an arena the buffer that was
/// placed there last. A buffer that is read owns all of its bytes, and they have the digest of its last
/// write.

#include <sublet/analysis/liveness.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/execution/detail/path_checker.hpp>
#include <sublet/execution/detail/poison.hpp>
#include <sublet/execution/digest.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL path_liveness live_buffers(snapshot const& p, lowered_program const& lowered)
{
    auto buffer_of = [&](value_id v) { return lowered.table.buffer_of[v]; };
    std::size_t const buffers = lowered.table.buffers.size();
    snapshot const of_buffers = with_effects(p, buffers, [&](node_id n, effect_sink& sink) {
        step_range const steps = p.steps_of(n);
        for (step_id s = steps.first; s != steps.last; ++s) {
            if (s != steps.first) sink.next_step();
            for (touch t : p.touches(s)) // a view needs its root
                sink.add(t.makes() ? touch::access::def : touch::access::use,
                         value_id::of(+buffer_of(t.value)));
        }
        for (edge_use u : p.edge_uses(n)) sink.use_at_end_of(u.pred, value_id::of(+buffer_of(u.value)));
    });
    path_liveness result{liveness(of_buffers), {}};
    table<step_id, std::vector<buffer_id>> ends(p.steps());
    table<buffer_id, unsigned char> is_live(buffers, 0);
    for (node_id n = 0; n != p.nodes(); ++n) {
        result.live.for_each_live_out(n, [&](value_id b) { is_live[+b] = 1; });
        step_range const steps = p.steps_of(n);
        for (step_id s = steps.last; s-- != steps.first;) {
            for (touch t : p.touches(s))
                if (buffer_id const b = buffer_of(t.value); !is_live[b]) {
                    ends[s].push_back(b);
                    is_live[b] = 1; // once
                }
            for (buffer_id b : ends[s]) is_live[b] = 0;
            for (touch t : p.touches(s))
                if (t.makes()) is_live[buffer_of(t.value)] = 0;
            for (touch t : p.touches(s))
                if (!t.makes()) is_live[buffer_of(t.value)] = 1;
        }
        result.live.for_each_live_in(n, [&](value_id b) { is_live[+b] = 0; });
        result.live.for_each_live_out(n, [&](value_id b) { is_live[+b] = 0; });
    }
    for (auto const& row : ends) {
        for (buffer_id b : row) result.ends.append(b);
        result.ends.close_row();
    }
    return result;
}

SUBLET_DECL path_checker::path_checker(snapshot const& p, lowered_program const& lowered,
                                       path_liveness const& live, value_storage const& values,
                                       bool takes_digests)
    : program_(p), lowered_(lowered), live_(live), values_(values), takes_digests_(takes_digests)
{
    std::size_t const buffers = lowered.table.buffers.size();
    digest_.assign(buffers, 0);
    producer_.assign(buffers, no_step);
    is_tracked_.assign(buffers, 0);
    table<pool_id, std::vector<sort_key>> borders(values.arenas().size());
    for (buffer_id b = 0; b != buffers; ++b) {
        if (!is_in_arena(b)) continue;
        borders[its(b).pool].push_back({offset(b), 0, b});
        borders[its(b).pool].push_back({offset(b) + its(b).size, 0, b});
    }
    for (pool_id pool = 0; pool != borders.size(); ++pool)
        owners_.emplace_back(std::move(borders[pool]), values.arenas()[pool].size);
    for (buffer_id b = 0; b != buffers; ++b) {
        if (!is_given(its(b).role)) continue;
        claim(b);
        track(b, no_step);
    }
    for (pool_id pool = 0; pool != owners_.size(); ++pool) {
        std::byte* const arena = values.arenas()[pool].bytes;
        owners_[pool].each(0, values.arenas()[pool].size,
                           [&](byte_count first, byte_count last, buffer_id owner) {
                               if (owner == no_buffer)
                                   poison_bytes(std::span(arena + first, to_size(last - first)));
                           });
    }
}

SUBLET_DECL void path_checker::before(step_id s)
{
    auto const touches = program_.touches(s);
    for (touch t : touches)
        if (reads(t)) compare(buffer_of(t.value), s);
    // Of two results that share bytes the one that is needed later must be found clobbered: others claim
    // last.
    auto const ends = live_.ends[s];
    auto ends_here = [ends](buffer_id b) {
        for (buffer_id one : ends)
            if (one == b) return true;
        return false;
    };
    for (bool const last : {false, true})
        for (touch t : touches)
            if (t.writes() && !reads(t) && ends_here(buffer_of(t.value)) == last) claim(buffer_of(t.value));
}

SUBLET_DECL void path_checker::after(step_id s)
{
    auto const touches = program_.touches(s);
    auto is_written = [&](buffer_id b) {
        for (touch t : touches)
            if (t.writes() && buffer_of(t.value) == b) return true;
        return false;
    };
    for (touch t : touches) {
        buffer_id const b = buffer_of(t.value);
        if (!takes_digests_ || !reads(t) || its(b).size == 0 || is_written(b)) continue;
        buffer_id const over = overlapping_owner(b, [](buffer_id) { return true; });
        if (over == no_buffer) {
            compare(b, s);
            continue;
        }
        buffer_id const culprit =
            overlapping_owner(b, [&](buffer_id owner) { return !may_lie_over(owner, b, s); });
        if (culprit != no_buffer) refuse(b, s, culprit);
    }
    for (touch t : touches)
        if (t.writes()) track(buffer_of(t.value), s);
}

SUBLET_DECL void path_checker::discard(step_id s)
{
    for (buffer_id b : live_.ends[s]) discard(b);
}

SUBLET_DECL void path_checker::follow(node_id from, node_id to)
{
    for (edge_use u : program_.edge_uses(to))
        if (u.pred == from) compare(buffer_of(u.value), program_.steps_of(from).last - 1);
    live_.live.for_each_change(from, to, [&](value_id b) { discard(buffer_id::of(+b)); }, [](value_id) {});
}

SUBLET_DECL void path_checker::finish() const
{
    for (buffer_id b = 0; b != is_tracked_.size(); ++b)
        if (has_role(its(b).role, value_role::output)) compare(b, no_step);
}

SUBLET_DECL void path_checker::claim(buffer_id b)
{
    if (!is_in_arena(b)) return;
    owners_[its(b).pool].claim(offset(b), offset(b) + its(b).size, b);
    unpoison_bytes(values_.bytes_of(b));
}

SUBLET_DECL void path_checker::discard(buffer_id b)
{
    if (!its(b).is_planned() || has_role(its(b).role, value_role::output) || !is_tracked_[b]) return;
    is_tracked_[b] = 0;
    if (!values_.has_arena()) {
        paint(values_.bytes_of(b));
        return;
    }
    std::byte* const arena = values_.arenas()[its(b).pool].bytes;
    owners_[its(b).pool].each(offset(b), offset(b) + its(b).size,
                              [&](byte_count first, byte_count last, buffer_id owner) {
                                  if (owner == b)
                                      poison_bytes(std::span(arena + first, to_size(last - first)));
                              });
}

SUBLET_DECL void path_checker::track(buffer_id b, step_id producer)
{
    producer_[b] = producer;
    is_tracked_[b] = 1;
    if (takes_digests_) digest_[b] = digest(values_.bytes_of(b));
}

template <class Predicate>
buffer_id path_checker::overlapping_owner(buffer_id b, Predicate matches) const
{
    buffer_id found = no_buffer;
    if (!is_in_arena(b)) return found;
    owners_[its(b).pool].each(offset(b), offset(b) + its(b).size,
                              [&](byte_count, byte_count, buffer_id owner) {
                                  if (found == no_buffer && owner != b && matches(owner)) found = owner;
                              });
    return found;
}

SUBLET_DECL bool path_checker::may_lie_over(buffer_id result, buffer_id operand, step_id s) const
{
    bool is_held = false;
    for (touch t : program_.touches(s))
        is_held = is_held || (buffer_of(t.value) == operand && t.kind != touch::access::use_early);
    if (!is_held) return true;
    for (overwrite pair : program_.overwrites(s))
        if (buffer_of(pair.in) == operand && result != no_buffer && buffer_of(pair.out) == result)
            return true;
    return false;
}

SUBLET_DECL void path_checker::compare(buffer_id b, step_id reader) const
{
    if (!takes_digests_ || its(b).size == 0) return;
    buffer_id const culprit = overlapping_owner(b, [](buffer_id) { return true; });
    if (!is_tracked_[b] || culprit != no_buffer || digest(values_.bytes_of(b)) != digest_[b])
        refuse(b, reader, culprit);
}

SUBLET_DECL void path_checker::refuse(buffer_id b, step_id reader, buffer_id culprit) const
{
    clobbered_value::finding what{.value = its(b).root, .producer = producer_[b], .reader = reader};
    if (culprit != no_buffer) {
        what.culprit = its(culprit).root;
        what.culprit_step = producer_[culprit];
    }
    throw clobbered_value(what);
}

} // namespace sublet::detail
