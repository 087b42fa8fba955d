// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_TOKENS_HPP
#define SUBLET_SHARING_TOKENS_HPP

/// Let buffers take each other's slots, whatever order the steps run in, by handing tokens on.
///
///         ┌──► 1: use a, def b ──► 2: use b, def d ──┐       a, b, c are free behind 1 and 3, 2, 4
///     0 ──┤                                          ├──► 5: def f
///         └──► 3: use a, def c ──► 4: use c, def e ──┘       d can take nothing: 3 may not have run
///                                                            f takes the slot of a, b or c
///
/// A slot is free for a buffer if all who touch its last tenant come before the step that defines the buffer:
/// if that step holds a token of each of them. So there is one set of slots for all branches and all that the
/// program begins with, and what falls free in one is taken in another as soon as they have met.
///
/// A slot that is not free for the one who asks sleeps for a token that was missing, and wakes with the step
/// that receives it; slots of branches that never meet again are not looked at again.
///
/// Source: Caffe2's memonger (`memonger.cc`, Facebook 2016). Here buffers are free when they are touched
/// for the last time, and not when they are read; nothing depends on the order of what the program begins
/// with; edges without data count; nothing is recursive.

#include <sublet/analysis/concurrent_lifetimes.hpp>
#include <sublet/analysis/dependences.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan.hpp>
#include <sublet/sharing/sleepers.hpp>
#include <sublet/sharing/slot_choice.hpp>
#include <sublet/sharing/token_sets.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

struct token_options {
    slot_choice choice = slot_choice::grow_largest;
    per_value<pool_id> pool = pool_id{0}; ///< by buffer: only buffers of one pool share
    per_value<bool> eligible = true;      ///< by buffer: false keeps a slot of its own
    std::size_t most_ranges = no_limit;   ///< of tokens, that a step passes on; older ones are forgotten
};

struct token_plan : sized_slot_plan {
    /// How often it was left open whether a slot is free: ranges of tokens that were forgotten, and slots
    /// that, from then on, were given up after many tests. 0: nobody was kept from a slot that was free.
    std::uint64_t undecided = 0;
};

/// Give every buffer a slot, in the order in which they begin; `sizes` are by buffer.
///
/// Requires:   `g` has no violation, and `lives` are of it.
/// Ensures:    of the buffers of a slot each gives to the next in every execution; a slot is as large as its
///             largest buffer. An input gives and takes nothing; nor does a buffer of several begins take
///             anything. 0 bytes have `no_slot`. Of those that begin at one position the lower index is
///             first.
/// Complexity: O(positions + edges + sum over edges of the ranges of their ends) for the tokens, and
///             O(log slots + ends x log ranges) for each test of a slot. Few tests fail where branches are
///             numbered one after the other.
/// Throws:     precondition_error for a size that is negative or `no_size`, a pool id that is none, or if all
///             slots together exceed 64 bits.
template <size_function Sizes>
[[nodiscard]] token_plan share_by_tokens(dependence_graph const& g, concurrent_lives const& lives,
                                         Sizes sizes, token_options const& options = {})
{
    SUBLET_EXPECTS(g.positions() == lives.positions, "sublet: these are lives of another graph");
    std::size_t const buffers = lives.buffers();
    auto const pool_of = options.pool.tabulate(buffers);
    auto const eligible = options.eligible.tabulate(buffers);
    csr_rows const beginning = csr_rows::gathered(std::size_t{lives.positions} + 1, [&](auto add) {
        for (buffer_id b = 0; b != buffers; ++b) add(lives.first(b), b);
    });

    token_sets tokens(g, options.most_ranges);
    slot_chooser slots(buffers, options.choice);
    detail::sleepers sleeping(g.positions(), buffers);
    auto sleep = [&](buffer_id u, step_id end) { sleeping.sleep(u, tokens.token_of(end)); };
    auto wake = [&](std::uint32_t first, std::uint32_t last) {
        sleeping.wake(first, last, [&slots](buffer_id u) { slots.wake(u); });
    };
    std::vector<unsigned char> patience(buffers, 64); // failed tests left, where tokens are forgotten
    token_plan plan;
    for (step_id at = 0; at != beginning.rows(); ++at) {
        if (beginning[at].empty()) continue;
        if (at != lives.positions) {
            tokens.advance_to(at);
            // Not who waits for the token of this very position: those who are awake have ended before it.
            std::uint32_t const own = tokens.token_of(at);
            for (token_range r : tokens.tokens()) {
                bool const has_own = r.first <= own && own < r.last;
                wake(r.first, has_own ? own : r.last);
                if (has_own) wake(own + 1, r.last);
            }
        }
        auto may_follow = [&](buffer_id u) {
            for (step_id end : lives.ends[u]) {
                if (tokens.before(end, at)) continue;
                if (tokens.forgotten() == 0 || patience[u]-- != 0) sleep(u, end);
                else ++plan.undecided;
                return no_step;
            }
            return at;
        };
        for (buffer_id b : beginning[at]) {
            auto const ends = lives.ends[b];
            bool const gives = eligible[b] && !lives.is_kept(b);
            slot_request const request{.who = b,
                                       .size = to_byte_count(detail::ask(sizes, b)),
                                       .pool = pool_of[b],
                                       .begins = at,
                                       .over = gives && ends.empty() ? at : no_step,
                                       .follows = eligible[b] && lives.begins[b].size() == 1};
            if (slots.take(request, may_follow) != no_slot && gives && !ends.empty()) sleep(b, ends.back());
        }
    }
    static_cast<sized_slot_plan&>(plan) = std::move(slots).finish();
    plan.undecided += tokens.forgotten();
    return plan;
}

} // namespace sublet

#endif
