// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_STREAM_DIGESTS_HPP
#define SUBLET_EXECUTION_DETAIL_STREAM_DIGESTS_HPP

/// Compares digests of values on the device with those that their producers left.
///
///     stream 0   launch 0   digest a → 0   record 0           the host compares at the end:
///     stream 1                       wait 0   digest a → 1   launch 1        0 with 1
///
/// A digest is taken after the step that writes a value, and before each step that accesses it, on the stream
/// of that step, so it needs no wait of its own. The pairs to compare are fixed at construction.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/internal/lowered_program.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet::detail {

class stream_digests {
public:
    explicit stream_digests(lowered_program const& lowered);

    /// Each calls `take(buffer, digest)` for every digest due at that point of the stream.
    template <class Take>
    void at_start(Take take)
    {
        each(0, take);
    }
    template <class Take>
    void before(position_id at, Take take)
    {
        each(1 + 2 * std::size_t{at}, take);
    }
    template <class Take>
    void after(position_id at, Take take)
    {
        each(2 + 2 * std::size_t{at}, take);
    }
    template <class Take>
    void at_end(Take take)
    {
        each(1 + 2 * lowered_.step_at.size(), take);
    }

    /// The first change in program order, after all digests are taken. `plan`: of the arenas, or null.
    [[nodiscard]] std::optional<clobbered_value::finding> first_change(memory_plan const* plan) const;

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    struct sample {
        buffer_id id;
        position_id at;
        std::uint32_t reference; ///< index of the producer's digest; `none`: this is one
    };

    buffer const& its(buffer_id b) const { return lowered_.table.buffers[b]; }
    step_id step(position_id at) const { return at == no_position ? no_step : lowered_.step_at[at]; }
    void end_row() { row_end_.push_back(digest_samples_.size()); }

    template <class Take>
    void each(std::size_t row, Take take)
    {
        for (std::size_t i = row == 0 ? 0 : row_end_[row - 1]; i != row_end_[row]; ++i)
            take(digest_samples_[i].id, &digest_[i]);
    }

    /// Finds the next buffer in program order that is written over those bytes, cyclically from the producer.
    void find_culprit(clobbered_value::finding& found, buffer_id b, position_id producer,
                      memory_plan const& plan) const;

    lowered_program const& lowered_;
    std::vector<sample> digest_samples_;
    std::vector<std::size_t> row_end_; // end of each row: start, {before, after} each step, end
    std::vector<std::uint64_t> digest_;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/stream_digests.ipp>
#endif

#endif
