// SPDX-License-Identifier: BSL-1.0

/// clobber_checker: for each buffer its digest, its producer and the touches to come; for each byte of an
/// arena its owner. Before a step its operands are compared and its results claim their bytes; after it, what
/// it did not write is compared again, and what it touched last is painted. At the end, outputs and bound
/// storage are compared, without bytes that are bound twice.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/execution/detail/clobber_checker.hpp>
#include <sublet/execution/detail/poison.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL clobber_checker::clobber_checker(lowered_program const& lowered, storage const& values,
                                             bool takes_digests, bool is_shared)
    : lowered_(lowered), values_(values), takes_digests_(takes_digests), is_shared_(is_shared)
{
    remaining_ = lowered.ref_counts;
    if (is_shared) { // steps that access no byte of a buffer may come after it is dead
        for (position_id at = 0; at != lowered.positions(); ++at)
            for (buffer_id b : lowered.touched[at]) --remaining_[b];
        for (position_id at = 0; at != lowered.positions(); ++at)
            for (buffer_id b : lowered.accessed[at]) ++remaining_[b];
    }
    digest_.assign(remaining_.size(), 0);
    producer_.assign(remaining_.size(), no_step);
    placed_by_.assign(remaining_.size(), no_step);
    is_tracked_.assign(remaining_.size(), 0);
    list_written();
    table<pool_id, std::vector<sort_key>> borders(values.arenas().size());
    for (buffer_id b = 0; values.has_arena() && b != remaining_.size(); ++b) {
        if (!is_planned(b)) continue;
        borders[its(b).pool].push_back({offset(b), 0, b});
        borders[its(b).pool].push_back({offset(b) + its(b).size, 0, b});
    }
    for (pool_id pool = 0; pool != borders.size(); ++pool)
        owners_.emplace_back(std::move(borders[pool]), values.arenas()[pool].size);
    for (buffer_id b = 0; b != remaining_.size(); ++b) {
        if (!is_given(its(b).role)) continue;
        if (is_planned(b)) claim(b, no_step);
        track(b, no_step);
    }
    if (is_shared) { // the first result may reuse these bytes: no step reads them
        for (buffer_id b : lowered.unused_inputs) is_tracked_[b] = 0;
        for (buffer_id b = 0; b != lowered.is_updated.size(); ++b)
            if (lowered.is_updated[b]) is_tracked_[b] = 0; // a part may change while another is read
    }
    for (pool_id pool = 0; pool != owners_.size(); ++pool)
        discard_unowned(pool, 0, values.arenas()[pool].size, no_buffer);
}

SUBLET_DECL void clobber_checker::before(position_id at)
{
    step_id const step = lowered_.step_at[at];
    for (buffer_id b : compared(at)) compare(b, step, [](buffer_id) { return true; });
    scoped_lock const guard(lock());
    for (buffer_id b : lowered_.touched[at]) {
        if (lowered_.first_write[b] != at || is_given(its(b).role)) continue;
        if (!is_planned(b)) continue;
        if (values_.has_arena()) claim(b, step);
        else if (!is_in_place(b, at)) paint(values_.bytes_of(b));
    }
    // If two results share bytes, the one that is needed later must be found clobbered: claim others last.
    for (auto const* rows : {&lowered_.defs, &lowered_.scratch})
        for (value_id v : (*rows)[at]) {
            buffer_id const b = lowered_.table.buffer_of[v];
            if (remaining_[b] == 1 && is_planned(b) && !lowered_.is_view(v, at)) claim(b, step);
        }
}

SUBLET_DECL void clobber_checker::after(position_id at)
{
    auto const written = written_[at];
    auto is_written = [written](buffer_id b) {
        return std::binary_search(written.begin(), written.end(), b);
    };
    for (buffer_id b : compared(at))
        if (!is_written(b)) compare_read(b, at);
    for (buffer_id b : written) track(b, lowered_.step_at[at]);
    scoped_lock const guard(lock());
    for (buffer_id b : compared(at))
        if (--remaining_[b] == 0 && is_planned(b)) discard(b, at);
}

SUBLET_DECL void clobber_checker::finish()
{
    std::vector<sort_key> bound_ranges; // {where it begins, where it ends, buffer}
    for (buffer_id b = 0; b != remaining_.size(); ++b) {
        std::span<std::byte const> const bytes = values_.bytes_of(b);
        if (is_planned(b) ? !has_role(its(b).role, value_role::output) : bytes.empty()) continue;
        auto const begin = reinterpret_cast<std::uintptr_t>(bytes.data());
        if (is_planned(b)) compare(b, no_step, [](buffer_id) { return true; });
        else bound_ranges.push_back({begin, begin + bytes.size(), b});
    }
    sort_by_key(bound_ranges);
    std::uint64_t covered = 0;
    for (std::size_t i = 0; i != bound_ranges.size(); ++i) { // bytes that are bound twice may have changed
        bool const is_shared =
            bound_ranges[i].key < covered ||
            (i + 1 != bound_ranges.size() && bound_ranges[i + 1].key < bound_ranges[i].tie);
        covered = std::max(covered, bound_ranges[i].tie);
        if (!is_shared) compare(bound_ranges[i].id, no_step, [](buffer_id) { return true; });
    }
}

SUBLET_DECL bool clobber_checker::is_in_place(buffer_id b, position_id at) const
{
    auto const rows = lowered_.reuses_at(at);
    return std::any_of(rows.begin(), rows.end(), [&](operand_reuse y) {
        bool const is_pair = y.to != no_buffer && (y.from == b || y.to == b);
        return is_pair && values_.where(y.from) == values_.where(y.to);
    });
}

SUBLET_DECL void clobber_checker::claim(buffer_id b, step_id step)
{
    if (!values_.has_arena()) return;
    byte_count const begin = offset(b);
    owners_[its(b).pool].claim(begin, begin + its(b).size, b);
    placed_by_[b] = step;
    unpoison_bytes(values_.bytes_of(b));
}

SUBLET_DECL void clobber_checker::track(buffer_id b, step_id producer)
{
    if (is_shared_ && lowered_.is_updated[b]) return;
    std::uint64_t const now = takes_digests_ ? digest(values_.bytes_of(b)) : 0;
    scoped_lock const guard(lock());
    producer_[b] = producer;
    is_tracked_[b] = 1;
    digest_[b] = now;
}

SUBLET_DECL void clobber_checker::compare_read(buffer_id b, position_id at) const
{
    step_id const reader = lowered_.step_at[at];
    if (!is_last(b)) return compare(b, reader, [](buffer_id) { return true; });
    bool const has_block = !values_.has_arena() || !is_planned(b); // which an in-place result may have now
    auto const rows = lowered_.reuses_at(at);
    auto may_reuse = [b, rows](buffer_id occupant) {
        return std::any_of(rows.begin(), rows.end(),
                           [&](operand_reuse y) { return y.from == b && y.to == occupant; });
    };
    if (may_reuse(no_buffer) || (has_block && is_in_place(b, at))) return;
    if (is_reused_only_by(b, may_reuse)) return;
    compare(b, reader, [&](buffer_id occupant) { return !may_reuse(occupant); });
}

SUBLET_DECL void clobber_checker::discard(buffer_id b, position_id at)
{
    if (values_.has_arena()) {
        byte_count const begin = offset(b);
        discard_unowned(its(b).pool, begin, begin + its(b).size, b);
    } else if (!is_in_place(b, at)) {
        paint(values_.bytes_of(b));
    }
}

SUBLET_DECL void clobber_checker::discard_unowned(pool_id pool, byte_count begin, byte_count end,
                                                  buffer_id owner) const
{
    std::byte* const arena = values_.arenas()[pool].bytes;
    owners_[pool].each(begin, end, [&](byte_count first, byte_count last, buffer_id id) {
        if (id == owner) poison_bytes(std::span(arena + first, to_size(last - first)));
    });
}

SUBLET_DECL void clobber_checker::list_written()
{
    std::vector<buffer_id> all;
    for (position_id at = 0; at != lowered_.positions(); ++at) {
        all.clear();
        for (auto const* rows : {&lowered_.defs, &lowered_.scratch})
            for (value_id v : (*rows)[at])
                if (!is_shared_ || !lowered_.is_view(v, at)) all.push_back(lowered_.table.buffer_of[v]);
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        for (buffer_id b : all) written_.append(b);
        written_.close_row();
    }
}

} // namespace sublet::detail
