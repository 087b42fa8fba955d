// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_INTERFERENCE_GRAPHS_HPP
#define SUBLET_TEST_INTERFERENCE_GRAPHS_HPP

#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>

#include "random_source.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

/// Interference as a table; every query reads all of it.
class interferences {
public:
    explicit interferences(std::size_t values,
                           std::initializer_list<std::pair<std::size_t, std::size_t>> pairs = {})
        : table_(values, std::vector<char>(values, 0))
    {
        for (auto [v, w] : pairs) add(v, w);
    }

    std::size_t size() const { return table_.size(); }
    bool operator()(std::size_t v, std::size_t w) const { return table_[v][w] != 0; }
    void add(std::size_t v, std::size_t w) { table_[v][w] = table_[w][v] = v != w; }

    std::vector<sublet::value_id> neighbors(std::size_t v) const
    {
        std::vector<sublet::value_id> list;
        for (std::size_t w = 0; w != size(); ++w)
            if (table_[v][w] != 0) list.push_back(w);
        return list;
    }
    sublet::csr_graph graph() const
    {
        sublet::csr_graph all;
        for (std::size_t v = 0; v != size(); ++v) {
            for (sublet::value_id w : neighbors(v)) all.append(+w);
            all.close_row();
        }
        return all;
    }
    bool is_clique(std::vector<sublet::value_id> const& values) const
    {
        for (auto v : values)
            for (auto w : values)
                if (v < w && !(*this)(v, w)) return false;
        return true;
    }
    /// No two interfering values have the same slot.
    bool allows(std::vector<sublet::slot_id> const& slot_of) const
    {
        for (std::size_t v = 0; v != size(); ++v)
            for (std::size_t w = 0; w != v; ++w)
                if ((*this)(v, w) && slot_of[v] == slot_of[w] && slot_of[v] != sublet::no_slot) return false;
        return true;
    }

private:
    std::vector<std::vector<char>> table_;
};

/// Each value interferes with all others.
inline interferences all_together(std::size_t values)
{
    interferences all(values);
    for (std::size_t v = 0; v != values; ++v)
        for (std::size_t w = 0; w != v; ++w) all.add(v, w);
    return all;
}

/// Each pair with the same probability.
inline interferences any_interferences(random_source& pick, std::size_t values, std::uint32_t percent)
{
    interferences all(values);
    for (std::size_t v = 0; v != values; ++v)
        for (std::size_t w = 0; w != v; ++w)
            if (pick.below(100) < percent) all.add(v, w);
    return all;
}

/// Every value, when inserted, interferes with a clique of earlier ones. The numbers are permuted, so that
/// they do not show the order of insertion.
inline interferences chordal_interferences(random_source& pick, std::size_t values)
{
    std::vector<std::size_t> number(values);
    for (std::size_t i = 0; i != values; ++i) {
        number[i] = i;
        std::swap(number[i], number[pick.below(static_cast<std::uint32_t>(i + 1))]);
    }
    interferences all(values);
    std::vector<std::vector<std::size_t>> cliques;
    for (std::size_t i = 0; i != values; ++i) {
        std::vector<std::size_t> clique;
        if (i != 0)
            for (std::size_t w : cliques[pick.below(static_cast<std::uint32_t>(i))])
                if (pick.below(4) != 0) clique.push_back(w);
        for (std::size_t w : clique) all.add(number[i], number[w]);
        clique.push_back(i);
        cliques.push_back(clique);
    }
    return all;
}

/// The minimum of all slot plans, by enumeration.
struct optimal_slots {
    std::size_t slots = ~std::size_t{0};
    sublet::byte_count bytes = sublet::no_size;

    optimal_slots(interferences const& all, std::vector<sublet::byte_count> const& sizes)
    {
        std::vector<std::vector<sublet::value_id>> occupants;
        fill(all, sizes, occupants, 0);
    }

private:
    void fill(interferences const& all, std::vector<sublet::byte_count> const& sizes,
              std::vector<std::vector<sublet::value_id>>& occupants, sublet::value_id v)
    {
        if (v == all.size()) {
            sublet::byte_count total = 0;
            for (auto const& slot : occupants) {
                sublet::byte_count largest = 0;
                for (auto w : slot) largest = std::max(largest, sizes[w]);
                total += largest;
            }
            slots = std::min(slots, occupants.size());
            bytes = std::min(bytes, total);
            return;
        }
        if (sizes[v] == 0) return fill(all, sizes, occupants, v + 1);
        for (std::size_t s = 0; s != occupants.size(); ++s) {
            bool free = true;
            for (auto w : occupants[s]) free = free && !all(v, w);
            if (!free) continue;
            occupants[s].push_back(v);
            fill(all, sizes, occupants, v + 1);
            occupants[s].pop_back();
        }
        occupants.push_back({v});
        fill(all, sizes, occupants, v + 1);
        occupants.pop_back();
    }
};

#endif
