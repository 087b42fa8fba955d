// SPDX-License-Identifier: BSL-1.0

/// stream_digests: rows of samples in the order in which a run takes them, each with the index of the
/// producer's sample; afterwards one pass compares the pairs. The culprit is sought only for a pair that
/// differs: the next buffer, cyclically from the producer, that the plan lays over those bytes.

#include <sublet/execution/detail/stream_digests.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL stream_digests::stream_digests(lowered_program const& lowered) : lowered_(lowered)
{
    table<buffer_id, std::uint32_t> producer(lowered.ref_counts.size(), none); // its digest
    auto add_reference = [&](buffer_id b, position_id at) {
        if (lowered.is_updated[b]) return; // a part may change while another is read
        producer[b] = static_cast<std::uint32_t>(digest_samples_.size());
        digest_samples_.push_back({b, at, none});
    };
    auto compare = [&](buffer_id b, position_id at) {
        if (producer[b] != none) digest_samples_.push_back({b, at, producer[b]});
    };
    for (buffer_id b = 0; b != producer.size(); ++b)
        if (is_given(lowered.table.buffers[b].role)) add_reference(b, no_position);
    for (buffer_id b : lowered.unused_inputs) producer[b] = none; // others may reuse these bytes at once
    end_row();
    for (position_id at = 0; at != lowered.positions(); ++at) {
        for (buffer_id b : lowered.accessed[at]) compare(b, at); // others may be written at the same time
        end_row();
        for (value_id v : lowered.defs[at]) {
            if (lowered.is_view(v, at)) continue;
            buffer_id const b = lowered.table.buffer_of[v];
            if (producer[b] == none || producer[b] < row_end_.back())
                add_reference(b, at); // once for views of one buffer
        }
        end_row();
    }
    for (buffer_id b = 0; b != producer.size(); ++b)
        if (has_role(lowered.table.buffers[b].role, value_role::output) ||
            !lowered.table.buffers[b].is_planned())
            compare(b, no_position);
    end_row();
    digest_.assign(digest_samples_.size(), 0);
}

SUBLET_DECL std::optional<clobbered_value::finding>
stream_digests::first_change(memory_plan const* plan) const
{
    for (std::size_t i = 0; i != digest_samples_.size(); ++i) {
        auto const [b, at, reference] = digest_samples_[i];
        if (reference == none || digest_[i] == digest_[reference]) continue;
        position_id const producer = digest_samples_[reference].at;
        clobbered_value::finding found{
            .value = its(b).root, .producer = step(producer), .reader = step(at), .culprit = no_value};
        if (plan != nullptr && its(b).is_planned()) find_culprit(found, b, producer, *plan);
        return found;
    }
    return std::nullopt;
}

SUBLET_DECL void stream_digests::find_culprit(clobbered_value::finding& found, buffer_id b,
                                              position_id producer,
                                              memory_plan const& plan) const
{
    byte_count const begin = plan.offset_of(its(b).root), end = begin + its(b).size;
    std::uint32_t const count = lowered_.positions(), first = producer == no_position ? 0u : +producer;
    for (std::uint32_t i = 0; i != count; ++i) {
        position_id const at = (first + i) % count;
        for (buffer_id other : lowered_.touched[at]) {
            buffer const& other_buffer = its(other);
            if (other == b || lowered_.first_write[other] != at || !other_buffer.is_planned()) continue;
            byte_count const offset = plan.offset_of(other_buffer.root);
            if (other_buffer.pool != its(b).pool || offset >= end || begin >= offset + other_buffer.size)
                continue;
            found.culprit = other_buffer.root;
            found.culprit_step = lowered_.step_at[at];
            return;
        }
    }
}

} // namespace sublet::detail
