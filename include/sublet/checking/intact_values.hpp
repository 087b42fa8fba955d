// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_INTACT_VALUES_HPP
#define SUBLET_CHECKING_INTACT_VALUES_HPP

/// The values whose bytes in the arena are as they were written.
///
///     offset 0      64     128    192
///            [== a ==)[== c ==)              a and c are intact
///                 [=== b ===)                then b is written: it takes both away
///
/// Who is intact lies apart, but for values of one class. So there is one order by offset, and whoever a
/// write hits stands next to it there, in a row.

#include <sublet/checking/check_places.hpp>
#include <sublet/checking/demands.hpp>
#include <sublet/checking/rank_set.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet {

/// The classes that have a place, by pool and offset. Refers to what it is made of.
class placed_classes {
public:
    /// Requires: check_places has passed the plan.
    placed_classes(plan_demands const& asked, memory_plan const& plan);
    [[nodiscard]] std::size_t size() const { return root_.size(); }
    [[nodiscard]] bool is_placed(value_id v) const { return plan_->buffer_of[v] != no_buffer; }
    /// Where v's class stands among all.  Requires: v is placed.
    [[nodiscard]] std::uint32_t rank_of(value_id v) const { return rank_[asked_->root[v]]; }
    [[nodiscard]] value_id root_at(std::uint32_t rank) const { return root_[rank]; }
    [[nodiscard]] std::span<value_id const> values_at(std::uint32_t rank) const { return values_of_[rank]; }

    [[nodiscard]] detail::common_bytes overlap(value_id a, value_id b) const
    {
        return detail::overlap(*asked_, *plan_, asked_->root[a], asked_->root[b]);
    }
    [[nodiscard]] bool meet(value_id a, value_id b) const
    {
        auto const [begin, end] = overlap(a, b);
        return begin < end;
    }
    /// `value` is there where `other` is written.
    [[nodiscard]] witness clash(value_id value, value_id other, step_id position) const;
    /// Call `see(rank)` for those in `set` that v's class overlaps, itself left out; it may take them out.
    ///
    /// Requires:   those in `set` lie apart.
    /// Complexity: O(log n) for each call, and once more.
    template <class See>
    void each_hit(rank_set const& set, value_id v, See see) const
    {
        std::uint32_t const mine = rank_of(v), below = set.below(mine);
        if (below != rank_set::none && meet(root_[below], v)) see(below);
        for (std::uint32_t above = set.above(mine); above != rank_set::none && meet(root_[above], v);
             above = set.above(above))
            see(above);
    }

private:
    plan_demands const* asked_;
    memory_plan const* plan_;
    std::vector<std::uint32_t> rank_; // by root
    std::vector<value_id> root_;      // by rank
    csr_rows values_of_;              // by rank
};

/// A set of values that are intact together. All that are named have to be placed.
class intact_values {
public:
    explicit intact_values(placed_classes const& all, std::size_t values)
        : all_(&all), has_(values, 0), count_(all.size(), 0), classes_(all.size())
    {
    }
    [[nodiscard]] bool has(value_id v) const { return has_[v] != 0; }

    /// Requires: no other class in the set overlaps that of v.
    void add(value_id v);
    /// Adds v and takes away what that overlaps, values of its own class excepted.
    ///
    /// Complexity: O(log n) and as much for each class that goes, and O(1) for each of its values.
    void write(value_id v);
    /// All of them, ascending; none is left.
    ///
    /// Complexity: O(k), k = values added since this was called last, if they ascended; O(k + m log m) if the
    ///             last m of them are out of order.
    [[nodiscard]] std::vector<value_id> taken();

private:
    placed_classes const* all_;
    std::vector<unsigned char> has_;   // by value
    std::vector<std::uint32_t> count_; // by rank: of its values, how many are in
    rank_set classes_;
    std::vector<value_id> listed_; // all that are in, and some that no longer are, or twice
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/intact_values.ipp>
#endif

#endif
