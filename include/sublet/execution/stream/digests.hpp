// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_DIGESTS_HPP
#define SUBLET_EXECUTION_STREAM_DIGESTS_HPP

/// Is every value still what its producer left? Asked on the streams, answered when the run is over.
///
///     stream 0   launch 0   digest a → 0   record 0           the host compares, in the end:
///     stream 1                       wait 0   digest a → 1   launch 1        0 with 1
///
/// A digest is taken behind the step that wrote a value and before each step that touches it, on the stream
/// of that step, so it needs no wait of its own. Which is compared with which is known before anything runs.

#include <sublet/analysis/buffers.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/tape.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet::detail {

class stream_digests {
public:
    explicit stream_digests(run_tape const& tape) : tape_(tape)
    {
        std::vector<std::uint32_t> made(tape.holds.size(), none); // by buffer: its digest
        auto note = [&](buffer_id b, step_id at) {
            made[b] = static_cast<std::uint32_t>(notes_.size());
            notes_.push_back({b, at, none});
        };
        auto compare = [&](buffer_id b, step_id at) {
            if (made[b] != none) notes_.push_back({b, at, made[b]});
        };
        for (std::size_t b = 0; b != made.size(); ++b)
            if (is_given(tape.table.buffers[b].role)) note(static_cast<buffer_id>(b), no_step);
        for (buffer_id b : tape.given_up) made[b] = none; // others may lie there at once
        border();
        for (step_id at = 0; at != tape.positions(); ++at) {
            for (buffer_id b : tape.touched[at]) compare(b, at);
            border();
            for (value_id v : tape.defs[at]) {
                buffer_id const b = tape.table.buffer_of[v];
                if (made[b] == none || made[b] < end_of_.back()) note(b, at); // once for views of one buffer
            }
            border();
        }
        for (std::size_t b = 0; b != made.size(); ++b)
            if (has_role(tape.table.buffers[b].role, value_role::output) ||
                !tape.table.buffers[b].is_planned())
                compare(static_cast<buffer_id>(b), no_step);
        border();
        digest_.assign(notes_.size(), 0);
    }

    /// Each calls `take(buffer, digest)` for what is to be taken at that point of the stream.
    template <class Take>
    void at_start(Take take)
    {
        each(0, take);
    }
    template <class Take>
    void before(step_id at, Take take)
    {
        each(1 + 2 * std::size_t{at}, take);
    }
    template <class Take>
    void after(step_id at, Take take)
    {
        each(2 + 2 * std::size_t{at}, take);
    }
    template <class Take>
    void at_end(Take take)
    {
        each(1 + 2 * tape_.step_at.size(), take);
    }

    /// The first difference, in the order of the tape, when all have been taken. `plan`: of the arenas, or a
    /// null pointer.
    [[nodiscard]] std::optional<clobbering> first_change(memory_plan const* plan) const
    {
        for (std::size_t i = 0; i != notes_.size(); ++i) {
            auto const [b, at, with] = notes_[i];
            if (with == none || digest_[i] == digest_[with]) continue;
            step_id const made = notes_[with].at;
            clobbering found{
                .value = its(b).root, .producer = step(made), .reader = step(at), .culprit = no_value};
            if (plan != nullptr && its(b).is_planned()) find_culprit(found, b, made, *plan);
            return found;
        }
        return std::nullopt;
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    struct taking {
        buffer_id who;
        step_id at;
        std::uint32_t with; ///< the digest of the producer; `none`: this is it
    };

    buffer const& its(buffer_id b) const { return tape_.table.buffers[b]; }
    step_id step(step_id at) const { return at == no_step ? no_step : tape_.step_at[at]; }
    void border() { end_of_.push_back(notes_.size()); }

    template <class Take>
    void each(std::size_t row, Take take)
    {
        for (std::size_t i = row == 0 ? 0 : end_of_[row - 1]; i != end_of_[row]; ++i)
            take(notes_[i].who, &digest_[i]);
    }

    /// Who is written over those bytes next, as the steps are listed; if nobody, who was before.
    void find_culprit(clobbering& found, buffer_id b, step_id made, memory_plan const& plan) const
    {
        byte_count const begin = plan.offset_of(its(b).root), end = begin + its(b).size;
        step_id const count = tape_.positions(), first = made == no_step ? 0 : made;
        for (step_id i = 0; i != count; ++i) {
            step_id const at = (first + i) % count;
            for (buffer_id other : tape_.touched[at]) {
                buffer const& rival = its(other);
                if (other == b || tape_.first_write[other] != at || !rival.is_planned()) continue;
                byte_count const offset = plan.offset_of(rival.root);
                if (rival.pool != its(b).pool || offset >= end || begin >= offset + rival.size) continue;
                found.culprit = rival.root;
                found.culprit_step = tape_.step_at[at];
                return;
            }
        }
    }

    run_tape const& tape_;
    std::vector<taking> notes_;
    std::vector<std::size_t> end_of_; // rows of notes: of the start, {before, behind} each step, of the end
    std::vector<std::uint64_t> digest_;
};

} // namespace sublet::detail

#endif
