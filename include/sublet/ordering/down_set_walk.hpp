// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DOWN_SET_WALK_HPP
#define SUBLET_ORDERING_DOWN_SET_WALK_HPP

/// Go from one set of nodes that have run to any other, and see what running one more does to memory.
///
///     {}  ──►  {0}  ──►  {0 1}         behind a set as many bytes are alive whatever order it ran in,
///               └────►  {0 2}          so a set is all that has to be known of a beginning
///
/// What has run is a down-set: whoever is in it waits for none outside. Counts of the touches that remain
/// change by the nodes in which two sets differ, whichever way.

#include <sublet/analysis/bit_rows.hpp>
#include <sublet/analysis/overwrite_matching.hpp>
#include <sublet/ordering/order_window.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// What running a node does.
struct node_effect {
    byte_count most;   ///< bytes alive while it runs
    byte_count behind; ///< alive when it has run
};

/// The numbers are those of peak_walk, in the same window; but a walk here jumps.
///
/// Requires:   the window outlives the walk; a node runs that has not, and the bytes alive are told where a
///             step back or a jump leads.
/// Complexity: linear in the touches of the nodes that run or no longer have.
class down_set_walk {
public:
    using word = bit_rows::word;

    explicit down_set_walk(order_window const& w);

    [[nodiscard]] byte_count live() const { return live_; }
    [[nodiscard]] std::size_t ran() const { return ran_; }
    [[nodiscard]] std::vector<word> const& done() const { return done_; } ///< the set, a bit a node
    [[nodiscard]] bool has_run(node_id n) const
    {
        return (done_[n / bit_rows::word_bits] >> n % bit_rows::word_bits & 1) != 0;
    }

    node_effect run(node_id n);

    /// As if a node had not run, with as many bytes alive as were before.
    void take_back(node_id n, byte_count live_before);

    /// To another set, behind which `live_there` bytes are alive. Calls left(n) and entered(n) for the nodes
    /// in which it differs.
    template <class Left, class Entered>
    void move_to(word const* set, byte_count live_there, Left left, Entered entered)
    {
        for (std::size_t i = 0; i != done_.size(); ++i)
            for (word rest = done_[i] ^ set[i]; rest != 0; rest &= rest - 1) {
                auto const n = static_cast<node_id>(i * bit_rows::word_bits +
                                                    static_cast<std::size_t>(std::countr_zero(rest)));
                bool const leaves = has_run(n);
                std::uint32_t const by = leaves ? 1 : ~std::uint32_t{0};
                for (step_id s = w_.graph.steps[n].first; s != w_.graph.steps[n].last; ++s) count(s, by);
                flip(n);
                ran_ += leaves ? ~std::size_t{0} : 1;
                if (leaves) left(n);
                else entered(n);
            }
        live_ = live_there;
    }

private:
    void flip(node_id n) { done_[n / bit_rows::word_bits] ^= word{1} << n % bit_rows::word_bits; }
    void count(step_id s, std::uint32_t by); // one more or one less remains
    [[nodiscard]] bool dies(buffer_id b) const { return remaining_[b] == 1 && !w_.graph.is_kept[b]; }

    node_effect look_at(step_id s, bool is_first);

    byte_count saved(step_id s, bool is_first);

    order_window const& w_;
    std::vector<std::uint32_t> remaining_; // by buffer: steps of the window
    std::vector<word> done_;
    std::vector<overwrite_pair> candidates_;
    byte_count live_;
    std::size_t ran_ = 0;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/down_set_walk.ipp>
#endif

#endif
