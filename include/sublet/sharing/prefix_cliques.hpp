// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_PREFIX_CLIQUES_HPP
#define SUBLET_SHARING_PREFIX_CLIQUES_HPP

/// The largest clique among the first one, two, three ... vertices of a graph.
///
///     vertices    0   1   2   3   4        1 and 2 interfere with each other and both with 4
///     largest     1   1   2   2   3        {0}, then {1, 2}, then {1, 2, 4}
///
/// If vertices are values and the largest come first, these are the slots that are needed of at least each
/// size, and their sum over all sizes is what no plan goes below. A new vertex makes the largest clique grow
/// by one at most, and only if it is a member: so each asks one question, among its neighbours before it. If
/// those can be dealt out to few classes in which nobody interferes, there is no large clique among them; and
/// if some are left over, one of these is in every clique that is large enough.
///
/// Source: Östergård, "A fast algorithm for the maximum clique problem", Discrete Applied Mathematics 120,
/// 2002 (one vertex after the other); Tomita and Seki, "An efficient branch-and-bound algorithm for finding a
/// maximum clique", DMTCS 2003 (the classes); San Segundo, Rodríguez-Losada and Jiménez, "An exact
/// bit-parallel algorithm for the maximum clique problem", Computers and Operations Research 38, 2011.

#include <sublet/analysis/bit_rows.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

struct prefix_cliques {
    csr_rows cliques;                ///< row i: i + 1 vertices; the last is the first to close such a clique
    std::vector<std::uint32_t> size; ///< by vertex: of the largest clique found among it and those before it
    std::uint64_t nodes = 0;         ///< members tried
    bool is_exact = true;            ///< no search ran out of nodes: there are no larger cliques
};

namespace detail {

/// Looks for cliques of a given size among given candidates, without recursion.
class clique_search {
public:
    explicit clique_search(bit_rows const& interferes, std::size_t vertices)
        : interferes_(interferes), candidates_(1, vertices), branches_(1, vertices), fits_(1, vertices),
          vertices_(vertices)
    {
    }

    /// Whether `wanted` neighbours of v before it all interfere; `members` are they, the last first.
    bool find(value_id v, std::size_t wanted, std::uint64_t patience)
    {
        if (rows_ < wanted + 1) {
            rows_ = 2 * wanted + 1;
            candidates_ = bit_rows(rows_, vertices_);
            branches_ = bit_rows(rows_, vertices_);
        }
        members.clear();
        is_undecided = false;
        if (wanted == 0) return true;
        for (std::size_t w = 0; w != words(); ++w) {
            bool const is_before = w < v / 64, is_there = w == v / 64;
            auto const mask = is_before ? ~word{0} : is_there ? (word{1} << v % 64) - 1 : word{0};
            candidates_[0][w] = interferes_[v][w] & mask;
        }
        for (enter(wanted); true;) {
            std::size_t const depth = members.size();
            std::size_t w = words();
            while (w != 0 && branches_[depth][w - 1] == 0) --w;
            if (w == 0) {
                if (depth == 0) return false;
                members.pop_back();
                continue;
            }
            std::size_t const bit = 63 - static_cast<std::size_t>(std::countl_zero(branches_[depth][w - 1]));
            branches_[depth][w - 1] ^= word{1} << bit;
            candidates_[depth][w - 1] ^= word{1} << bit;
            if (patience-- == 0) {
                is_undecided = true;
                return false;
            }
            ++nodes;
            members.push_back(static_cast<value_id>((w - 1) * 64 + bit));
            if (members.size() == wanted) return true;
            for (std::size_t i = 0; i != words(); ++i)
                candidates_[depth + 1][i] = candidates_[depth][i] & interferes_[members.back()][i];
            enter(wanted);
        }
    }

    std::vector<value_id> members;
    std::uint64_t nodes = 0;
    bool is_undecided = false; // it did not have the patience

private:
    using word = bit_rows::word;
    std::size_t words() const { return candidates_.words(); }

    /// Of the candidates those are to be tried that are left over when there is one class less than members
    /// are wanted.
    void enter(std::size_t wanted)
    {
        std::size_t const depth = members.size();
        word* const open = branches_[depth];
        for (std::size_t w = 0; w != words(); ++w) open[w] = candidates_[depth][w];
        for (std::size_t classes = wanted - depth - 1; classes != 0; --classes) {
            for (std::size_t w = 0; w != words(); ++w) fits_[0][w] = open[w];
            for (std::size_t w = 0; w != words();) {
                if (fits_[0][w] == 0) {
                    ++w;
                    continue;
                }
                auto const bit = static_cast<std::size_t>(std::countr_zero(fits_[0][w]));
                open[w] ^= word{1} << bit;
                fits_[0][w] ^= word{1} << bit;
                word const* const others = interferes_[w * 64 + bit];
                for (std::size_t i = w; i != words(); ++i) fits_[0][i] &= ~others[i];
            }
        }
    }

    bit_rows const& interferes_;
    bit_rows candidates_, branches_; // by depth
    bit_rows fits_;                  // in the class that is being filled
    std::size_t vertices_, rows_ = 1;
};

} // namespace detail

/// Look for them all. `interferes` has a row for each vertex, and one for each pair in both rows.
///
/// Requires:   no vertex interferes with itself.
/// Ensures:    each row of `cliques` is one; if `is_exact`, none of those that `size` speaks of is larger.
/// Complexity: O(cliques * vertices / 64) time for each node, of which a vertex has `patience` at most;
///             O(largest clique * vertices / 64) memory.
[[nodiscard]] inline prefix_cliques find_prefix_cliques(bit_rows const& interferes, std::size_t vertices,
                                                        std::uint64_t patience)
{
    prefix_cliques result;
    detail::clique_search search(interferes, vertices);
    for (std::size_t v = 0; v != vertices; ++v) {
        if (search.find(static_cast<value_id>(v), result.cliques.rows(), patience)) {
            for (value_id w : search.members) result.cliques.append(w);
            result.cliques.append(static_cast<value_id>(v));
            result.cliques.close_row();
        }
        result.is_exact = result.is_exact && !search.is_undecided;
        result.size.push_back(static_cast<std::uint32_t>(result.cliques.rows()));
    }
    result.nodes = search.nodes;
    return result;
}

} // namespace sublet

#endif
