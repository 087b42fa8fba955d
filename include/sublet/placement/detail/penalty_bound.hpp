// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_PENALTY_BOUND_HPP
#define SUBLET_PLACEMENT_DETAIL_PENALTY_BOUND_HPP

/// A proved bound on what has to be paid, by implicit hitting sets.
///
///     capacity 2       a core is a set of soft pairs of which at least one is paid: else three items, of
///     a - b   sizes 1  which none shares a byte with another, would need 3 bytes. Here the pairs of
///     | X |            {a, b, c}, of {a, b, d}, of {a, c, d} and of {b, c, d} are cores. The cheapest set of
///     c - d            pairs that meets all cores found, such as {a, b} with {c, d}, is a bound
///
///     repeat: the cheapest hitting set H of the cores ─► no pair but H is paid: is there a clique above the
///             capacity, or no stacking within it? ─► a core that H does not meet
///             there is a stacking ─► it pays no more than H: both are proved
///
/// Source: Moreno-Centeno and Karp, "The implicit hitting set approach to solve combinatorial optimization
/// problems with an application to multigenome alignment", Operations Research 61, 2013.

#include <sublet/core/units.hpp>
#include <sublet/placement/detail/penalty_search.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// What no packing within the capacity can be paid less than.
class penalty_prover {
public:
    /// Refers to the graph. `nodes` of all its searches, of up to 1024 items each.
    penalty_prover(penalty_graph const& graph, std::uint64_t nodes, search_control& control);

    /// The bound; `best` is replaced by a packing that pays no more than it, if that is found.
    /// Ensures:    0 if nothing fits, which it need not find out.
    /// Complexity: O(nodes * items^2 / 64) time, O(items^2 + cores) memory.
    [[nodiscard]] byte_count prove(penalty_packing& best);

    [[nodiscard]] std::uint64_t nodes() const { return used_; }

private:
    struct pair {
        std::uint32_t a, b; // a < b
        byte_count cost;
    };
    enum class answer : std::uint8_t { yes, no, unknown };
    static constexpr std::uint32_t is_open = 0, is_paid = 1; // larger: not paid, by the choice of that depth

    bool is_over();
    void allow(std::vector<unsigned char> const& paid);
    bool add_clique_cores(std::vector<unsigned char>& paid);
    bool find_clique(std::vector<std::uint32_t>& clique);
    void color(std::size_t level);
    void make_minimal(std::vector<std::uint32_t>& clique);
    std::vector<std::uint32_t> pairs_within(std::vector<std::uint32_t> const& clique) const;
    void order_cores();
    bool hit(std::vector<unsigned char>& paid, byte_count& bound);
    byte_count dual_bound(std::vector<std::uint32_t> const& state) const;
    std::vector<std::uint32_t> exhausted_core(std::vector<unsigned char> const& paid);
    answer stack(std::vector<byte_count>& offset);

    penalty_graph const& graph_;
    search_control& control_;
    std::uint64_t left_, work_, used_ = 0; // nodes, and pairs of cores looked at
    std::vector<byte_count> weight_;       // sizes, in multiples of an alignment that all have
    byte_count room_ = 0;                  // the capacity, rounded up likewise
    std::vector<penalty_prover::pair> pairs_;
    std::vector<std::vector<std::uint32_t>> cores_; // of pairs
    bit_rows near_;                                 // items that share no byte
    struct level {
        std::vector<bit_rows::word> candidates;
        std::vector<std::uint32_t> order;
        std::vector<byte_count> bound;
    };
    std::vector<penalty_prover::level> levels_;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/penalty_bound.ipp>
#endif

#endif
