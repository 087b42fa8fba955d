// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_CHAINS_BY_COLUMNS_HPP
#define SUBLET_SHARING_CHAINS_BY_COLUMNS_HPP

/// Slots that serve every schedule, by the exact rule and in bounded memory, whatever the graph looks like.
///
///     columns ready   512 ..... 1023         u is the last tenant of a slot and needed until e and f
///     row of e         ..1.1.....11
///     row of f         ....1....1.1
///     both             ....1......1          at these two somebody may follow u: until then its slot sleeps
///
/// Who comes in the order of the begins needs the closure in that order too, so 512 columns of it at a time
/// are enough, and they say for a whole block when a slot is worth a test. A slot that nobody in the block
/// may take waits in a list of one of the ends of its tenant. The next block looks only at the lists of those
/// ends that come before anybody in it; as most ends of a large graph that is barely ordered come before few,
/// most slots are not looked at.
///
/// The slots are those of share_in_chains() (chains.hpp) in the order of the begins, without the ranges of
/// analysis/later_conflicts.hpp, of which such a graph has too many.

#include <sublet/analysis/column_closure.hpp>
#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/sharing/slot_choice.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

struct column_options {
    slot_choice choice = slot_choice::grow_largest; ///< which of the slots that are free
    per_value<pool_id> pool = pool_id{0};           ///< by buffer: only buffers of one pool share
    per_value<bool> eligible = true;                ///< by buffer: false keeps a slot of its own
};

namespace detail {

/// Last tenants of slots that nobody in the block of columns may follow any more.
class waiting_tenants {
public:
    waiting_tenants(std::size_t positions, std::size_t buffers)
        : first_(positions, no_buffer), next_(buffers, no_buffer), is_waited_at_(positions / 64 + 1)
    {
    }

    /// Until somebody comes after `end`, one of the ends of u.
    void wait(buffer_id u, step_id end);

    /// Calls `stays(u)` for those whose end comes before somebody in the block; they wait if it says so.
    template <class Stays>
    void look_at(column_closure const& columns, Stays stays)
    {
        for (std::size_t w = 0; w != is_waited_at_.size(); ++w)
            for (std::uint64_t left = columns.with_row(w) & is_waited_at_[w]; left != 0; left &= left - 1) {
                auto const end = static_cast<step_id>(64 * w + static_cast<unsigned>(std::countr_zero(left)));
                is_waited_at_[w] &= ~(left & -left);
                buffer_id u = first_[end];
                first_[end] = no_buffer;
                for (buffer_id next; u != no_buffer; u = next) {
                    next = next_[u];
                    if (stays(u)) wait(u, end);
                }
            }
    }

private:
    std::vector<buffer_id> first_, next_;     // by end, and by buffer: of those that wait for one end, a list
    std::vector<std::uint64_t> is_waited_at_; // a bit an end
};

/// By buffer: the end that is the first to come before nobody who is still to begin, `no_step` if there is
/// one that never comes before anybody. With no end at all it does not matter which.
std::vector<step_id> least_promising_ends(dependence_graph const& g, concurrent_lives const& lives,
                                          csr_rows const& beginning);

} // namespace detail

/// Give every buffer a slot, in the order in which they begin; `sizes` are by buffer.
///
/// Requires:   `g` has no violation, and `lives` are of it.
/// Ensures:    of the buffers of a slot each gives to the next in every execution; a slot is as large as its
///             largest buffer. An input takes nothing, an output gives nothing, and a buffer of several
///             begins takes nothing either. 0 bytes have `no_slot`. Of those that begin at one position the
///             lower index is first.
/// Complexity: for each 512 positions a walk over the edges among those that come before one of them, 64
///             bytes each, and a look at each slot whose tenant may be followed there as far as one of its
///             ends says. 64 bytes a position, and what is linear in positions, edges and buffers.
/// Throws:     precondition_error for a size that is negative or `no_size`, a pool id that is none, or if all
///             slots together exceed 64 bits.
template <size_function Sizes>
[[nodiscard]] sized_slot_plan share_by_columns(dependence_graph const& g, concurrent_lives const& lives,
                                               Sizes sizes, column_options const& options = {})
{
    SUBLET_EXPECTS(g.positions() == lives.positions, "sublet: these are lives of another graph");
    std::size_t const buffers = lives.buffers();
    auto const pool_of = options.pool.tabulate(buffers);
    auto const eligible = options.eligible.tabulate(buffers);
    csr_rows const beginning = csr_rows::gathered(std::size_t{lives.positions} + 1, [&](auto add) {
        for (buffer_id b = 0; b != buffers; ++b) add(lives.first(b), b);
    });
    std::vector<step_id> const waits_at = detail::least_promising_ends(g, lives, beginning);

    constexpr step_id width = column_closure::width;
    column_closure columns(g.before);
    detail::waiting_tenants waiting(g.positions(), buffers);
    slot_chooser slots(buffers, options.choice);
    step_id block_end = 0;
    for (step_id at = 0; at != beginning.rows(); ++at) {
        if (beginning[at].empty()) continue;
        if (at >= block_end && at != lives.positions) {
            columns.load(std::size_t{at / width});
            block_end = at / width * width + width;
            waiting.look_at(columns, [&](buffer_id u) {
                step_id const next = columns.next_after(lives.ends[u], at);
                if (next != block_end) slots.wake(u, next);
                return next == block_end;
            });
        }
        auto may_follow = [&](buffer_id u) {
            step_id const next = columns.next_after(lives.ends[u], at);
            if (next != block_end) return next;
            waiting.wait(u, waits_at[u]);
            return no_step;
        };
        for (buffer_id b : beginning[at]) {
            slot_request const request{.who = b,
                                       .size = to_byte_count(detail::ask(sizes, b)),
                                       .pool = pool_of[b],
                                       .begins = at,
                                       .over =
                                           eligible[b] && waits_at[b] != no_step ? lives.last(b) : no_step,
                                       .follows = eligible[b] && lives.begins[b].size() == 1};
            slots.take(request, may_follow);
        }
    }
    return std::move(slots).finish();
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/chains_by_columns.ipp>
#endif

#endif
