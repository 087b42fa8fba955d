// SPDX-License-Identifier: BSL-1.0
/// One pass over the stacking. Ends of paths are compared at the samples first: most are refuted there, and
/// need no proof.

#include <sublet/core/internal/formula_bounds.hpp>
#include <sublet/core/internal/formula_terms.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/top_formula.hpp>

#include <cstddef>
#include <utility>

namespace sublet::detail {

/// The largest of a few formulas.
class path_ends {
public:
    /// A formula with its numbers at the samples.
    struct end {
        formula bytes;
        std::vector<byte_count> at;
    };

    path_ends(symbolic_plan const& plan, std::vector<shape> const& samples) : plan_(plan), samples_(samples)
    {
    }

    [[nodiscard]] bool has_failed() const { return has_failed_; }

    /// Adds one, unless it is below another one; those that are below it go.
    void add(std::vector<end>& all, formula const& bytes)
    {
        polynomial_view const parts = formula_parts::of(bytes);
        if (parts.terms.size() > 1024 || depth_of(parts.terms) > 16)
            has_failed_ = true; // far from the limits
        if (has_failed_) return;
        end one{bytes, {}};
        for (shape const& s : samples_) one.at.push_back(bytes.at(s));
        for (end const& other : all)
            if (is_below(one, other)) return;
        std::size_t kept = 0;
        for (std::size_t i = 0; i != all.size(); ++i)
            if (!is_below(all[i], one)) {
                if (kept != i) all[kept] = std::move(all[i]);
                ++kept;
            }
        while (all.size() != kept) all.pop_back();
        all.push_back(std::move(one));
        has_failed_ = has_failed_ || all.size() > most_;
    }

private:
    bool is_below(end const& a, end const& b)
    {
        for (std::size_t i = 0; i != a.at.size(); ++i)
            if (a.at[i] > b.at[i]) return false;
        if (a.bytes == b.bytes) return true;
        has_failed_ = has_failed_ || proofs_ == 0;
        return !has_failed_ && proofs_-- != 0 && never_above(a.bytes, b.bytes, plan_.dims);
    }

    static constexpr std::size_t most_ = 4;
    symbolic_plan const& plan_;
    std::vector<shape> const& samples_;
    std::size_t proofs_ = 20'000;
    bool has_failed_ = false;
};

SUBLET_DECL formula top_formula(symbolic_plan const& plan, std::vector<shape> const& samples)
{
    path_ends ends(plan, samples);
    table<buffer_id, std::vector<path_ends::end>> tops(plan.buffers.size());
    table<pool_id, std::vector<path_ends::end>> highest(plan.stack.pools);
    std::vector<stacking::layer> const& order = plan.stack.order;
    for (std::size_t i = 0; i != order.size() && !ends.has_failed(); ++i) {
        stacking::layer const& its = order[i];
        std::vector<path_ends::end> begin;
        if (its.pinned != no_offset) ends.add(begin, its.pinned);
        else
            for (buffer_id under : plan.stack.below_of(i))
                for (path_ends::end const& top : tops[under])
                    ends.add(begin, is_multiple_of(top.bytes, its.alignment, plan.dims)
                                        ? top.bytes
                                        : round_up(top.bytes, its.alignment));
        if (begin.empty()) ends.add(begin, formula{});
        formula const& size = plan.sizes[plan.buffers[its.buffer].size];
        for (path_ends::end const& one : begin) {
            formula top = one.bytes;
            if (!add_times(top, size, 1)) return formula::by_shape();
            ends.add(tops[its.buffer], top);
        }
        for (path_ends::end const& one : tops[its.buffer]) ends.add(highest[its.pool], one.bytes);
    }
    if (ends.has_failed()) return formula::by_shape();
    formula sum;
    for (std::vector<path_ends::end> const& pool : highest) {
        if (pool.empty()) continue;
        formula most = pool.front().bytes;
        for (path_ends::end const& one : pool) most = larger_of(most, one.bytes);
        if (!add_times(sum, most, 1)) return formula::by_shape();
    }
    return sum;
}

} // namespace sublet::detail
