// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/sorting.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>

// --- watch -----------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL run_watch::run_watch(run_tape const& tape, storage const& values, bool takes_digests,
                                 bool is_shared)
    : tape_(tape), values_(values), takes_digests_(takes_digests), is_shared_(is_shared)
{
    left_ = tape.holds;
    digest_.assign(left_.size(), 0);
    producer_.assign(left_.size(), no_step);
    claimed_by_.assign(left_.size(), no_step);
    is_known_.assign(left_.size(), 0);
    list_written();
    std::vector<std::vector<sort_key>> borders(values.arenas().size());
    for (std::size_t i = 0; values.has_arena() && i != left_.size(); ++i) {
        auto const b = static_cast<buffer_id>(i);
        if (!is_ours(b)) continue;
        borders[its(b).pool].push_back({offset(b), 0, b});
        borders[its(b).pool].push_back({offset(b) + its(b).size, 0, b});
    }
    for (std::size_t pool = 0; pool != borders.size(); ++pool)
        owners_.emplace_back(std::move(borders[pool]), values.arenas()[pool].size);
    for (std::size_t i = 0; i != left_.size(); ++i) {
        auto const b = static_cast<buffer_id>(i);
        if (!is_given(its(b).role)) continue;
        if (is_ours(b)) claim(b, no_step);
        know(b, no_step);
    }
    if (is_shared) // whoever comes first may lie where those were: the first step does not read them
        for (buffer_id b : tape.given_up) is_known_[b] = 0;
    for (std::size_t pool = 0; pool != owners_.size(); ++pool)
        discard_unowned(pool, 0, values.arenas()[pool].size, no_buffer);
}

SUBLET_DECL void run_watch::before(step_id at)
{
    step_id const step = tape_.step_at[at];
    for (buffer_id b : tape_.touched[at]) compare(b, step, [](buffer_id) { return true; });
    holding const only(lock());
    for (buffer_id b : tape_.touched[at]) {
        if (tape_.first_write[b] != at || is_given(its(b).role)) continue;
        if (!is_ours(b)) continue;
        if (values_.has_arena()) claim(b, step);
        else if (!is_in_place(b, at)) paint(values_.bytes_of(b));
    }
    // If two that it writes share bytes, whoever is needed later will be missed: it has to be the one
    // beneath.
    for (csr_rows const* rows : {&tape_.defs, &tape_.scratch})
        for (value_id v : (*rows)[at]) {
            buffer_id const b = tape_.table.buffer_of[v];
            if (left_[b] == 1 && is_ours(b)) claim(b, step);
        }
}

SUBLET_DECL void run_watch::after(step_id at)
{
    auto const written = written_[at];
    auto is_written = [written](buffer_id b) {
        return std::binary_search(written.begin(), written.end(), b);
    };
    for (buffer_id b : tape_.touched[at])
        if (!is_written(b)) compare_read(b, at);
    for (buffer_id b : written) know(b, tape_.step_at[at]);
    holding const only(lock());
    for (buffer_id b : tape_.touched[at])
        if (--left_[b] == 0 && is_ours(b)) discard(b, at);
}

SUBLET_DECL void run_watch::finish()
{
    std::vector<sort_key> lent; // {where it begins, where it ends, buffer}
    for (buffer_id b = 0; b != left_.size(); ++b) {
        std::span<std::byte const> const bytes = values_.bytes_of(b);
        if (is_ours(b) ? !has_role(its(b).role, value_role::output) : bytes.empty()) continue;
        auto const begin = reinterpret_cast<std::uintptr_t>(bytes.data());
        if (is_ours(b)) compare(b, no_step, [](buffer_id) { return true; });
        else lent.push_back({begin, begin + bytes.size(), b});
    }
    sort_by_key(lent);
    std::uint64_t covered = 0;
    for (std::size_t i = 0; i != lent.size(); ++i) { // bytes that are bound twice may well have changed
        bool const is_shared =
            lent[i].key < covered || (i + 1 != lent.size() && lent[i + 1].key < lent[i].tie);
        covered = std::max(covered, lent[i].tie);
        if (!is_shared) compare(lent[i].id, no_step, [](buffer_id) { return true; });
    }
}

SUBLET_DECL bool run_watch::is_in_place(buffer_id b, step_id at) const
{
    auto const rows = tape_.yields_at(at);
    return std::any_of(rows.begin(), rows.end(), [&](yielded y) {
        bool const is_pair = y.to != no_buffer && (y.from == b || y.to == b);
        return is_pair && values_.where(y.from) == values_.where(y.to);
    });
}

SUBLET_DECL void run_watch::claim(buffer_id b, step_id step)
{
    if (!values_.has_arena()) return;
    byte_count const begin = offset(b);
    owners_[its(b).pool].claim(begin, begin + its(b).size, b);
    claimed_by_[b] = step;
    make_usable(values_.bytes_of(b));
}

SUBLET_DECL void run_watch::know(buffer_id b, step_id producer)
{
    std::uint64_t const now = takes_digests_ ? digest(values_.bytes_of(b)) : 0;
    holding const only(lock());
    producer_[b] = producer;
    is_known_[b] = 1;
    digest_[b] = now;
}

SUBLET_DECL void run_watch::compare_read(buffer_id b, step_id at) const
{
    step_id const reader = tape_.step_at[at];
    if (!is_last(b)) return compare(b, reader, [](buffer_id) { return true; });
    bool const has_block = !values_.has_arena() || !is_ours(b); // which its heir may have now
    auto const rows = tape_.yields_at(at);
    auto yields_to = [b, rows](buffer_id heir) {
        return std::any_of(rows.begin(), rows.end(), [&](yielded y) { return y.from == b && y.to == heir; });
    };
    if (yields_to(no_buffer) || (has_block && is_in_place(b, at))) return;
    if (is_lain_over(b, yields_to)) return;
    compare(b, reader, [&](buffer_id heir) { return !yields_to(heir); });
}

SUBLET_DECL void run_watch::discard(buffer_id b, step_id at)
{
    if (values_.has_arena()) {
        byte_count const begin = offset(b);
        discard_unowned(its(b).pool, begin, begin + its(b).size, b);
    } else if (!is_in_place(b, at)) {
        paint(values_.bytes_of(b));
    }
}

SUBLET_DECL void run_watch::discard_unowned(std::size_t pool, byte_count begin, byte_count end,
                                            buffer_id owner) const
{
    std::byte* const arena = values_.arenas()[pool].bytes;
    owners_[pool].each(begin, end, [&](byte_count first, byte_count last, buffer_id id) {
        if (id == owner) make_dead(std::span(arena + first, static_cast<std::size_t>(last - first)));
    });
}

SUBLET_DECL void run_watch::list_written()
{
    std::vector<buffer_id> all;
    for (step_id at = 0; at != tape_.positions(); ++at) {
        all.clear();
        for (csr_rows const* rows : {&tape_.defs, &tape_.scratch})
            for (value_id v : (*rows)[at]) all.push_back(tape_.table.buffer_of[v]);
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        for (buffer_id b : all) written_.append(b);
        written_.close_row();
    }
}

} // namespace sublet::detail

// --- cpu call --------------------------------------------------------------------------------------------

namespace sublet {

SUBLET_DECL bool cpu_call::stop_requested() const noexcept
{
    return is_stopping_ != nullptr && is_stopping_->load(std::memory_order_relaxed);
}

} // namespace sublet
