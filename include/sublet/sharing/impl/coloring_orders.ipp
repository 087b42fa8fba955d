// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_COLORING_ORDERS_IPP
#define SUBLET_SHARING_IMPL_COLORING_ORDERS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/sharing/coloring_orders.hpp>

#include <cstddef>
#include <utility>

namespace sublet::detail {

/// Vertices by a number that falls by one at a time: a list for each number, so nothing is sorted.
class falling_queue {
public:
    /// Complexity: O(vertices + the largest number), and O(1) for every operation, amortised.
    explicit falling_queue(std::vector<std::uint32_t> numbers)
        : number_(std::move(numbers)), next_(number_.size()), previous_(number_.size())
    {
        for (std::uint32_t n : number_) lowest_ = larger<std::size_t>(lowest_, n);
        first_ = std::vector<value_id>(lowest_ + 1, no_value);
        for (std::size_t v = number_.size(); v-- != 0;)
            link(static_cast<value_id>(v)); // the lowest id in front
    }

    [[nodiscard]] bool contains(value_id v) const { return number_[v] != taken; }

    struct entry {
        value_id vertex;
        std::uint32_t number;
    };
    /// Of those with the lowest number the one that fell last, else the lowest id.
    [[nodiscard]] entry take_lowest()
    {
        while (first_[lowest_] == no_value) ++lowest_; // once for each number, and once more for each fall
        entry const result{first_[lowest_], static_cast<std::uint32_t>(lowest_)};
        unlink(result.vertex);
        number_[result.vertex] = taken;
        return result;
    }
    void lower(value_id v)
    {
        unlink(v);
        --number_[v];
        link(v);
    }

private:
    static constexpr std::uint32_t taken = ~std::uint32_t{0};

    void link(value_id v)
    {
        value_id& first = first_[number_[v]];
        if (first != no_value) previous_[first] = v;
        next_[v] = first;
        previous_[v] = no_value;
        first = v;
        lowest_ = smaller<std::size_t>(lowest_, number_[v]);
    }
    void unlink(value_id v)
    {
        (previous_[v] == no_value ? first_[number_[v]] : next_[previous_[v]]) = next_[v];
        if (next_[v] != no_value) previous_[next_[v]] = previous_[v];
    }

    std::vector<std::uint32_t> number_;
    std::vector<value_id> next_, previous_; // in the list of its number
    std::vector<value_id> first_;           // by number
    std::size_t lowest_ = 0;                // no number is lower
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL smallest_last_order smallest_last(csr_graph const& g)
{
    std::vector<std::uint32_t> degrees;
    for (std::size_t v = 0; v != g.rows(); ++v) degrees.push_back(static_cast<std::uint32_t>(g[v].size()));
    detail::falling_queue queue(std::move(degrees));
    smallest_last_order result;
    result.order.resize(g.rows());
    for (std::size_t i = g.rows(); i-- != 0;) {
        auto const [v, degree] = queue.take_lowest();
        result.order[i] = v;
        result.degeneracy = larger(result.degeneracy, degree);
        for (value_id w : g[v])
            if (queue.contains(w)) queue.lower(w);
    }
    return result;
}

SUBLET_DECL std::vector<value_id> largest_cardinality_first(csr_graph const& g)
{
    std::uint32_t most = 0; // neighbours, hence the number for: none of them has come
    for (std::size_t v = 0; v != g.rows(); ++v) most = larger(most, static_cast<std::uint32_t>(g[v].size()));
    detail::falling_queue queue(std::vector<std::uint32_t>(g.rows(), most));
    std::vector<value_id> order;
    order.reserve(g.rows());
    while (order.size() != g.rows()) {
        order.push_back(queue.take_lowest().vertex);
        for (value_id w : g[order.back()])
            if (queue.contains(w)) queue.lower(w);
    }
    return order;
}

} // namespace sublet

#endif
