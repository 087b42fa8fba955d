// SPDX-License-Identifier: BSL-1.0
#include <sublet/core/internal/overwrite_pair.hpp>
#include <sublet/execution/detail/executor_base.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/structures/internal/overwrite_matching.hpp>

#include <algorithm>
#include <cstdint>

// --- live peak -------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL byte_count live_peak(lowered_program const& lowered)
{
    table<pool_id, byte_count> live(lowered.pools, 0), peak(lowered.pools, 0);
    table<buffer_id, unsigned char> is_live(lowered.ref_counts.size(), 0);
    table<buffer_id, std::uint32_t> remaining = lowered.ref_counts;
    auto enter = [&](buffer_id b) {
        buffer const& its = lowered.table.buffers[b];
        if (is_live[b] || !its.is_planned()) return;
        is_live[b] = 1;
        live[its.pool] = checked_add(live[its.pool], its.size);
    };
    auto leave = [&](buffer_id b) {
        if (!is_live[b]) return;
        is_live[b] = 0;
        live[lowered.table.buffers[b].pool] -= lowered.table.buffers[b].size;
    };
    for (buffer_id b = 0; b != remaining.size(); ++b)
        if (has_role(lowered.table.buffers[b].role, value_role::input)) enter(b);
    peak = live;
    if (lowered.is_any_schedule)
        for (buffer_id b : lowered.unused_inputs) leave(b);
    std::vector<overwrite_pair> pairs;
    for (position_id at = 0; at != lowered.positions(); ++at) {
        for (operand_reuse y : lowered.reuses_at(at))
            if (y.to == no_buffer && remaining[y.from] == 1) leave(y.from);
        for (operand_reuse y : lowered.reuses_at(at)) {
            if (y.to == no_buffer || remaining[y.from] != 1 || !is_live[y.from] || is_live[y.to]) continue;
            buffer const &from = lowered.table.buffers[y.from], &to = lowered.table.buffers[y.to];
            if (to.is_planned() && from.pool == to.pool && from.size >= to.size)
                pairs.push_back({y.from, y.to, to.size});
        }
        std::vector<std::uint32_t> const taken = match_overwrites(pairs);
        for (std::uint32_t i : taken) is_live[pairs[i].out] = 1; // inside the operand's bytes
        for (buffer_id b : lowered.touched[at])
            if (lowered.first_write[b] == at) enter(b);
        for (buffer_id b : lowered.touched[at]) { // only their pools can have grown
            if (!is_live[b]) continue;
            pool_id const pool = lowered.table.buffers[b].pool;
            peak[pool] = std::max(peak[pool], live[pool]);
        }
        for (std::uint32_t i : taken) is_live[pairs[i].out] = 0;
        for (buffer_id b : lowered.touched[at])
            if (--remaining[b] == 0) leave(b);
        for (std::uint32_t i : taken)
            if (remaining[pairs[i].out] != 0) enter(pairs[i].out); // now counted with its own bytes
        pairs.clear();
    }
    byte_count sum = 0;
    for (byte_count p : peak) sum = checked_add(sum, p);
    return sum;
}

// --- binding state ---------------------------------------------------------------------------------------

SUBLET_DECL binding_state::binding_state(lowered_program const& lowered)
    : is_supplied_(lowered.ref_counts.size(), 0)
{
    for (buffer_id b = 0; b != lowered.ref_counts.size(); ++b) {
        buffer const& its = lowered.table.buffers[b];
        bool const is_required = !its.is_planned() || has_role(its.role, value_role::input);
        if (is_required && lowered.ref_counts[b] != 0 && its.size != 0) required_.push_back(b);
    }
}

SUBLET_DECL void binding_state::expect_results(value_id v, bool has_results)
{
    if (!has_results)
        throw unusable_value(v, "is an output, which can be read after a run and before the next input()");
}

SUBLET_DECL void binding_state::expect_fit(lowered_program const& lowered, value_id v,
                                           std::span<std::byte const> bytes)
{
    buffer_id const b = lowered.table.buffer_of[v];
    buffer const& its = lowered.table.buffers[b];
    SUBLET_EXPECTS(!its.is_planned(), "sublet: storage is bound for value %, which is planned", v);
    if (its.size != no_size && bytes.size() < its.size)
        throw unusable_value(v, "is larger than the storage that is bound for it");
    auto const& offsets = lowered.table.offset_in_root;
    for (value_id view = 0; its.size == no_size && view != lowered.bytes.size(); ++view)
        if (byte_count const begin = offsets.empty() ? 0 : offsets[view];
            lowered.table.buffer_of[view] == b && lowered.bytes[view] != no_size &&
            (begin > bytes.size() || lowered.bytes[view] > bytes.size() - begin))
            throw unusable_value(view, "is larger than the storage that is bound for its root");
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % its.alignment != 0)
        throw unusable_value(v, "is bound to storage that does not have its alignment");
}

SUBLET_DECL void binding_state::consume_inputs(lowered_program const& lowered)
{
    for (buffer_id b : required_)
        if (lowered.table.buffers[b].is_planned()) is_supplied_[b] = 0;
}

SUBLET_DECL void binding_state::expect_all(lowered_program const& lowered) const
{
    for (buffer_id b : required_) expect_supplied(lowered.table.buffers[b], b);
}

SUBLET_DECL void binding_state::expect_bound(lowered_program const& lowered) const
{
    for (buffer_id b : required_)
        if (!lowered.table.buffers[b].is_planned()) expect_supplied(lowered.table.buffers[b], b);
}

SUBLET_DECL void binding_state::expect_supplied(buffer const& its, buffer_id b) const
{
    if (is_supplied_[b]) return;
    throw unusable_value(its.root, its.is_planned()
                                       ? "is an input, and was not given since the last run"
                                       : "needs storage of the caller's, and none is bound: see bind()");
}

// --- executor base ---------------------------------------------------------------------------------------

SUBLET_DECL void executor_base::expect_idle()
{
    SUBLET_EXPECTS(!std::atomic_ref(is_running_).load(), concurrent_use_message);
}

} // namespace sublet::detail
