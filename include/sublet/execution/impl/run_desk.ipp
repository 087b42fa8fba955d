// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/overwrite_matching.hpp>
#include <sublet/execution/detail/run_desk.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <cstdint>

// --- live peak -------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL byte_count live_peak(run_tape const& tape)
{
    std::vector<byte_count> live(tape.pools, 0), peak(tape.pools, 0);
    std::vector<unsigned char> is_there(tape.holds.size(), 0);
    std::vector<std::uint32_t> left = tape.holds;
    auto enter = [&](buffer_id b) {
        buffer const& its = tape.table.buffers[b];
        if (is_there[b] || !its.is_planned()) return;
        is_there[b] = 1;
        live[its.pool] = checked_add(live[its.pool], its.size);
    };
    auto leave = [&](buffer_id b) {
        if (!is_there[b]) return;
        is_there[b] = 0;
        live[tape.table.buffers[b].pool] -= tape.table.buffers[b].size;
    };
    for (std::size_t b = 0; b != left.size(); ++b)
        if (has_role(tape.table.buffers[b].role, value_role::input)) enter(static_cast<buffer_id>(b));
    peak = live;
    if (tape.is_any_schedule)
        for (buffer_id b : tape.given_up) leave(b);
    std::vector<overwrite_pair> pairs;
    for (step_id at = 0; at != tape.positions(); ++at) {
        for (yielded y : tape.yields_at(at))
            if (y.to == no_buffer && left[y.from] == 1) leave(y.from);
        for (yielded y : tape.yields_at(at)) {
            if (y.to == no_buffer || left[y.from] != 1 || !is_there[y.from] || is_there[y.to]) continue;
            buffer const &from = tape.table.buffers[y.from], &to = tape.table.buffers[y.to];
            if (to.is_planned() && from.pool == to.pool && from.size >= to.size)
                pairs.push_back({y.from, y.to, to.size});
        }
        std::vector<std::uint32_t> const taken = match_overwrites(pairs);
        for (std::uint32_t i : taken) is_there[pairs[i].out] = 1; // within the operand, beside nobody
        for (buffer_id b : tape.touched[at])
            if (tape.first_write[b] == at) enter(b);
        for (buffer_id b : tape.touched[at]) { // only their pools can have risen
            if (!is_there[b]) continue;
            pool_id const pool = tape.table.buffers[b].pool;
            peak[pool] = std::max(peak[pool], live[pool]);
        }
        for (std::uint32_t i : taken) is_there[pairs[i].out] = 0;
        for (buffer_id b : tape.touched[at])
            if (--left[b] == 0) leave(b);
        for (std::uint32_t i : taken)
            if (left[pairs[i].out] != 0) enter(pairs[i].out); // what is left of the operand's bytes
        pairs.clear();
    }
    byte_count sum = 0;
    for (byte_count p : peak) sum = checked_add(sum, p);
    return sum;
}

// --- caller duties ---------------------------------------------------------------------------------------

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

// --- run desk --------------------------------------------------------------------------------------------

SUBLET_DECL void run_desk::expect_idle()
{
    SUBLET_EXPECTS(!std::atomic_ref(is_running_).load(), is_used_twice);
}

} // namespace sublet::detail
