// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_IMPL_CALLER_DUTIES_IPP
#define SUBLET_EXECUTION_IMPL_CALLER_DUTIES_IPP

#include <sublet/execution/caller_duties.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/impl/config.hpp>

#include <cstdint>

namespace sublet::detail {

SUBLET_DECL caller_duties::caller_duties(run_tape const& tape) : is_there_(tape.holds.size(), 0)
{
    for (std::size_t b = 0; b != tape.holds.size(); ++b) {
        buffer const& its = tape.table.buffers[b];
        bool const is_owed = !its.is_planned() || has_role(its.role, value_role::input);
        if (is_owed && tape.holds[b] != 0 && its.size != 0) owed_.push_back(static_cast<buffer_id>(b));
    }
}

SUBLET_DECL void caller_duties::expect_results(value_id v, bool has_results)
{
    if (!has_results)
        throw unusable_value(v, "is an output: it is there after a run, until the next input()");
}

SUBLET_DECL void caller_duties::expect_fit(run_tape const& tape, value_id v, std::span<std::byte const> bytes)
{
    buffer_id const b = tape.table.buffer_of[v];
    buffer const& its = tape.table.buffers[b];
    SUBLET_EXPECTS(!its.is_planned(), "sublet: storage is bound for a value that is planned");
    if (its.size != no_size && bytes.size() < its.size)
        throw unusable_value(v, "is larger than the storage that is bound for it");
    for (std::size_t view = 0; its.size == no_size && view != tape.bytes.size(); ++view)
        if (tape.table.buffer_of[view] == b && tape.bytes[view] != no_size && tape.bytes[view] > bytes.size())
            throw unusable_value(static_cast<value_id>(view),
                                 "is larger than the storage that is bound for what it is a view of");
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % its.alignment != 0)
        throw unusable_value(v, "has an alignment, and the storage that is bound for it does not keep it");
}

SUBLET_DECL void caller_duties::use_up_inputs(run_tape const& tape)
{
    for (buffer_id b : owed_)
        if (tape.table.buffers[b].is_planned()) is_there_[b] = 0;
}

SUBLET_DECL void caller_duties::expect_all(run_tape const& tape) const
{
    for (buffer_id b : owed_) expect_there(tape.table.buffers[b], b);
}

SUBLET_DECL void caller_duties::expect_bound(run_tape const& tape) const
{
    for (buffer_id b : owed_)
        if (!tape.table.buffers[b].is_planned()) expect_there(tape.table.buffers[b], b);
}

SUBLET_DECL void caller_duties::expect_there(buffer const& its, buffer_id b) const
{
    if (is_there_[b]) return;
    throw unusable_value(its.root, its.is_planned()
                                       ? "is an input, and was not given since the last run"
                                       : "has storage of the caller's, and none is bound: see bind()");
}

} // namespace sublet::detail

#endif
