// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_VALUE_SET_HPP
#define SUBLET_ANALYSIS_VALUE_SET_HPP

/// The values that are alive just now, while a walk goes from step to step: they come, go, and are listed.
///
///     list    c  a  f            each value is listed at a place that it knows; who goes leaves his place
///     place   a: 1  c: 0  f: 2   to the last of the list
///
/// Source: Briggs and Torczon, "An efficient representation for sparse sets", ACM LOPLAS 2, 1993; here it is
/// known of who is not listed, too, so that one look tells.

#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet::detail {

/// All takes O(1), but to make a set O(values), to clear it O(its size).
class value_set {
public:
    explicit value_set(std::size_t values) : place_(values, nowhere) {}

    [[nodiscard]] bool contains(value_id v) const { return place_[v] != nowhere; }
    void insert(value_id v);
    /// Whether v was there.
    bool erase(value_id v);
    void clear();

    /// In no particular order; good until the set changes.
    [[nodiscard]] std::span<value_id const> list() const { return {list_.data(), list_.size()}; }

private:
    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
    std::vector<value_id> list_;
    std::vector<std::uint32_t> place_; // by value: its index in the list
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/value_set.ipp>
#endif

#endif
