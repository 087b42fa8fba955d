// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_PREFIX_CLIQUES_IPP
#define SUBLET_SHARING_IMPL_PREFIX_CLIQUES_IPP

#include <sublet/impl/config.hpp>
#include <sublet/sharing/prefix_cliques.hpp>
#include <sublet/units.hpp>

#include <bit>

namespace sublet::detail {

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

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL prefix_cliques find_prefix_cliques(bit_rows const& interferes, std::size_t vertices,
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
