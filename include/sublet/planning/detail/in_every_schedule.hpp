// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_IN_EVERY_SCHEDULE_HPP
#define SUBLET_PLANNING_DETAIL_IN_EVERY_SCHEDULE_HPP

/// Buffers without sizes that are stacked for every schedule: by pairs, each against those below it.
///
///     order from below: a b c     a and c conflict, b with both      pairs: a below b, b below c;
///                                                                    a below c follows from these

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/stacking.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/placement/internal/choose_stacking.hpp>
#include <sublet/placement/internal/stack_buffers.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

class in_every_schedule final : public stacked_reading {
public:
    static constexpr std::size_t few = 8192;

    /// Requires:   `g` is the graph of `p`, without an error; `buffer_of` and `role` have one entry per
    ///             value; `buffers` and `g` outlive this. The ranges of the buffers are ignored.
    /// Complexity: that of find_conflict_ranges(); the conflicts of up to `few` buffers are listed once, in
    ///             O(conflicts log), and kept in n^2 bits. Of more each is tested when it is asked for.
    in_every_schedule(snapshot const& p, dependence_graph const& g, unsized_buffers const& buffers,
                      table<value_id, buffer_id> const& buffer_of, table<value_id, value_role> const& role,
                      effort work);

    /// place_concurrently(), with the heaviest antichain of each pool as bound.
    placement place(std::vector<byte_count> const& size) override;
    /// Of the heaviest antichain among those of the shapes that were placed.
    byte_count least_bytes(pool_id pool, std::vector<byte_count> const& size) override;
    /// Of buffers of any pools. There are as many pairs as conflicts where two slots of many buffers each are
    /// on top of each other. O(n^2) with a factor of n / 64 for up to 64 pairs of each, n = buffers
    void stack(std::vector<buffer_id> const& order, stacking& result) override;
    [[nodiscard]] std::uint64_t work_of_stacking(std::size_t buffers) const override
    {
        return std::uint64_t{buffers} * (4 + buffers / 64);
    }
    [[nodiscard]] bool conflict(buffer_id a, buffer_id b) const override;
    /// Those that do not conflict with a larger one that is none of them.
    void list_strangers(std::vector<buffer_id> const& path, std::vector<byte_count> const& size,
                        std::vector<buffer_id>& result) const override;

private:
    [[nodiscard]] bool is_conflict(buffer_id a, buffer_id b) const;
    [[nodiscard]] std::uint64_t const* row(buffer_id b) const
    {
        return rows_.data() + std::size_t{b} * words_;
    }

    dependence_graph const& g_;
    unsized_buffers const& all_;
    effort const work_;
    concurrent_live_ranges const lives_;
    conflict_ranges const conflicts_;
    std::size_t words_ = 0;           // of a row; 0: there are too many buffers
    std::vector<std::uint64_t> rows_; // by buffer: a bit for each one in conflict
    std::vector<std::vector<buffer_id>> antichains_;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/in_every_schedule.ipp>
#endif

#endif
