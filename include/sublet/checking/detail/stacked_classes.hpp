// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_DETAIL_STACKED_CLASSES_HPP
#define SUBLET_CHECKING_DETAIL_STACKED_CLASSES_HPP

/// The classes of values of a stacking, whatever their sizes are, if steps run in any order: those of one
/// buffer are touched one after the other, and of two buffers one lies below the other or one is needed
/// before the other.
///
///     steps   0 ──► 1 ──► 3      64 begins of buffers at once are bits: of those at 3, steps 0, 1 and 2
///             └───► 2 ────┘      have the bits, by the edges; and what lies above or below has them, by pairs

#include <sublet/checking/detail/class_touches.hpp>
#include <sublet/checking/detail/step_order.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/stacking.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/internal/plan_requirements.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Two classes that some schedule needs at once, by their roots.
using clashing_classes = std::optional<std::pair<value_id, value_id>>;

class stacked_classes {
public:
    /// `order` has no fault, and is one for every shape. `placed` has values of one buffer at one place. All
    /// arguments outlive this.
    stacked_classes(snapshot const& program, plan_requirements const& required, step_order const& order,
                    memory_plan const& placed);

    /// Two of one buffer, neither of which ends before the other begins. `may_overwrite(step, u, v)`: if the
    /// step writes v over u in place, it may for every shape.
    ///
    /// Complexity: O(n log n), n = classes, and that of reachability_queries for as many queries.
    template <class MayOverwrite>
    [[nodiscard]] clashing_classes joined(MayOverwrite may_overwrite) const
    {
        reachability_queries queries(order_, touches_.ends());
        std::vector<std::pair<value_id, value_id>> pairs;
        std::vector<sort_key> ranked; // of one buffer
        for (buffer_id b = 0; b != classes_.rows(); ++b) {
            ranked.clear();
            for (value_id r : classes_[b]) ranked.push_back({rank_of(r), 0, r});
            sort_by_key(ranked);
            for (std::size_t i = 1; i < ranked.size(); ++i) {
                value_id const u{ranked[i - 1].id}, v{ranked[i].id};
                pairs.push_back({u, v});
                if (touches_.is_kept(u) || touches_.is_given(v)) return pairs.back();
                for (step_id d : touches_.begins()[v]) {
                    for (step_id t : touches_.ends()[u]) {
                        bool const is_past =
                            t != d ? order_.position[t] < order_.position[d]
                                   : is_early(t, u, v) || (touches_.can_overwrite(t, u, v, placed_, true) &&
                                                           may_overwrite(t, u, v));
                        if (!is_past) return pairs.back();
                    }
                    queries.add(u, d, pairs.size() - 1);
                }
            }
        }
        std::uint64_t const failed = queries.first_failed();
        if (failed == queries.none) return std::nullopt;
        return pairs[to_size(failed)];
    }

    /// Two of different buffers of one pool, none of which ends before the other begins or lies below it.
    ///
    /// Requires:   each buffer is once in the stacking, after what lies below it.
    /// Complexity: O(b / 64 (b + pairs + steps + edges + touches)) time, b = begins of buffers, and memory
    ///             without that factor.
    [[nodiscard]] clashing_classes apart(stacking const& stack) const;

private:
    /// A begin of a buffer.
    struct column {
        std::uint32_t member; // of the pool, by their ranks
        step_id step;         // no_step: before all
    };
    using bits = std::uint64_t; // a bit for each column

    /// 0: given; else one more than the position of its first def.
    [[nodiscard]] std::uint64_t rank_of(value_id root) const;
    /// Whether the step only reads u, before it writes.
    [[nodiscard]] bool is_early(step_id s, value_id u, value_id v) const
    {
        return touches_.can_overwrite(s, u, v, placed_, false);
    }
    /// By point: the columns that begin after it.
    void follow_steps(std::span<column const> columns, std::vector<bits>& begins,
                      std::vector<bits>& after) const;
    /// By buffer: the columns of those on a path upwards or downwards from it, itself included.
    static table<buffer_id, bits> on_a_path(stacking const& stack, table<buffer_id, bits> const& own);

    step_order const& order_;
    memory_plan const& placed_;
    class_touches touches_;
    csr_rows<buffer_id, value_id> classes_; // roots
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/stacked_classes.ipp>
#endif

#endif
