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
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet::detail {

class stream_digests {
public:
    explicit stream_digests(run_tape const& tape);

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
    [[nodiscard]] std::optional<clobbering> first_change(memory_plan const* plan) const;

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
    void find_culprit(clobbering& found, buffer_id b, step_id made, memory_plan const& plan) const;

    run_tape const& tape_;
    std::vector<taking> notes_;
    std::vector<std::size_t> end_of_; // rows of notes: of the start, {before, behind} each step, of the end
    std::vector<std::uint64_t> digest_;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/stream/impl/digests.ipp>
#endif

#endif
