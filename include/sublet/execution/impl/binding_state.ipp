// SPDX-License-Identifier: BSL-1.0

/// binding_state: the list of buffers to supply is made once, from roles and storage, without those that no
/// step touches; each check before a run walks that list, and ends at the first that is missing.

#include <sublet/execution/detail/binding_state.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/impl/config.hpp>

#include <cstdint>

namespace sublet::detail {

SUBLET_DECL binding_state::binding_state(lowered_program const& lowered)
    : is_supplied_(lowered.ref_counts.size(), 0)
{
    for (buffer_id b = 0; b != lowered.ref_counts.size(); ++b) {
        buffer const& its = lowered.table.buffers[b];
        bool const is_callers = !its.is_planned() && !its.is_empty_storage();
        bool const is_required = is_callers || has_role(its.role, value_role::input);
        if (is_required && lowered.ref_counts[b] != 0) required_.push_back(b);
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

SUBLET_COLD_DECL void binding_state::refuse_output(lowered_program const& lowered, value_id v)
{
    for (std::vector<buffer_id> const& group : lowered.carried)
        for (std::size_t i = 1; i < group.size(); ++i)
            if (group[i - 1] == lowered.table.buffer_of[v])
                broken_precondition(
                    "sublet: value % is no output: call output() or take() for value %, which is carried "
                    "into it",
                    lowered.handles.quoted(v).data(),
                    lowered.handles.quoted(lowered.table.buffers[group[i]].root).data());
    broken_precondition("sublet: output() is called for value %, which is no output, or take() before bind()",
                        v);
}

SUBLET_DECL void binding_state::supply_carried(lowered_program const& lowered)
{
    for (std::vector<buffer_id> const& group : lowered.carried)
        for (std::size_t i = 0; i != group.size(); ++i)
            if (i + 1 != group.size() || i == 0) is_supplied_[group[i]] = 1; // all but the newest of several
}

SUBLET_DECL void binding_state::compare_bound(lowered_program const& lowered,
                                              table<buffer_id, byte_count> const& bound)
{
    for (buffer_id b = 0; b != is_supplied_.size(); ++b) {
        buffer const& its = lowered.table.buffers[b];
        bool const is_callers = !its.is_planned() && !its.is_empty_storage();
        if (!is_callers || is_supplied_[b] == 0) continue;
        is_supplied_[b] = its.size == no_size || its.size <= bound[b] ? 1 : too_small;
    }
    auto const& offsets = lowered.table.offset_in_root;
    for (value_id v = 0; v != lowered.bytes.size(); ++v) {
        buffer_id const b = lowered.table.buffer_of[v];
        if (lowered.table.buffers[b].size != no_size || lowered.bytes[v] == no_size) continue;
        byte_count const begin = offsets.empty() ? 0 : offsets[v];
        bool const fits = begin <= bound[b] && lowered.bytes[v] <= bound[b] - begin;
        if (is_supplied_[b] != 0 && !fits) is_supplied_[b] = too_small;
    }
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
    if (is_supplied(b) || its.size == 0) return;
    if (is_supplied_[b] == too_small)
        throw unusable_value(its.root, "is larger for this shape than the storage that is bound for it");
    throw unusable_value(its.root, its.is_planned()
                                       ? "is an input, and was not given since the last run"
                                       : "needs storage of the caller's, and none is bound: see bind()");
}

} // namespace sublet::detail
