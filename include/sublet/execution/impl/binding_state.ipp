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

} // namespace sublet::detail
