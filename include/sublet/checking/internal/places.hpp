// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_INTERNAL_PLACES_HPP
#define SUBLET_CHECKING_INTERNAL_PLACES_HPP

/// Constraints on the place of each class that do not depend on the order of the steps, and overlap of
/// places; and rank_set, an ordered set of small integers.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/internal/plan_requirements.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// --- rank set --------------------------------------------------------------------------------------------

/// An ordered set of numbers below n with predecessor and successor queries: a 64-ary bitmap tree.
///
///     is any of these 64 words nonzero?   ... 1 0 1            one bit for each word
///     is this number in the set?          ... 0000 0010  0000 0000  1001 0000
///
/// A bit for each number, a bit for each nonzero word of these, and so on up to one word. The next member
/// below or above is found by ascending until a word has a bit on that side, then descending.
///
/// Complexity: every operation O(log n) to the base of 64; n bits and 1/63 more of memory.

namespace sublet::detail {

class rank_set {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    explicit rank_set(std::size_t n);

    [[nodiscard]] bool contains(std::uint32_t r) const { return (words_[r / 64] >> r % 64 & 1) != 0; }

    void insert(std::uint32_t r);
    void erase(std::uint32_t r);

    /// The closest member below or above r, or `none`.
    [[nodiscard]] std::uint32_t below(std::uint32_t r) const;
    [[nodiscard]] std::uint32_t above(std::uint32_t r) const;

private:
    static std::uint64_t bit(std::uint32_t r);
    static std::uint32_t highest(std::uint64_t w);
    static std::uint32_t lowest(std::uint64_t w);
    std::uint64_t& word(unsigned level, std::uint32_t index) { return words_[begin_[level] + index]; }

    std::vector<std::uint64_t> words_; // level by level
    std::size_t begin_[6] = {};        // 64^6 exceeds 2^32
    unsigned levels_ = 0;
};

// --- check places ----------------------------------------------------------------------------------------

/// The constraints of a plan that hold in every order of the steps.
///
///     offset 96 |        [== a ==)       a: in its pool, at a multiple of its alignment, at its pin
///            64 |  [== b ==)             c is a view of b and lies where b lies
///               |  [== c ==)             the arena holds them and respects the capacity of its pool
///             0 +-----------------
///
/// Overlaps between classes depend on the reading of the program (check_plan.hpp and those beside it).

struct pool_place {
    pool_id pool;
    byte_count offset;
    friend bool operator==(pool_place const&, pool_place const&) = default;
};

/// The place of v in the plan: that of its first byte.  Requires: it has a buffer.
inline pool_place place_of(memory_plan const& plan, value_id v)
{
    return {plan.buffers[plan.buffer_of[v]].pool, plan.offset_of(v)};
}

struct common_bytes {
    byte_count begin = 0;
    byte_count end = 0; ///< `begin` or less: none
};

/// Requires: both have a place that check_places has passed.
inline common_bytes overlap(plan_requirements const& required, memory_plan const& plan, value_id a,
                            value_id b)
{
    pool_place const at = place_of(plan, a), other = place_of(plan, b);
    if (at.pool != other.pool) return {};
    return {larger(at.offset, other.offset),
            smaller(at.offset + required.bytes[a], other.offset + required.bytes[b])};
}

/// Whether the plan has an entry for each value, each with a valid buffer or none.
bool is_complete(memory_plan const& plan, std::size_t values);

std::optional<counterexample> misplaced(plan_requirements const& required, memory_plan const& plan,
                                        plan_options const& options);

/// Requires:   the plan has an entry for each value, each with a valid buffer or none.
/// Ensures:    the first fault in this order: by value, a view that is too large; by value, storage that is
///             missing or needless; by value, a misplaced view, a wrong pool, a bad alignment, a missed pin,
///             the end of the arena; by value, a reserved range; by pool, its capacity; by pool, its blocks.
/// Complexity: O(values + pools), and of each value the reserved ranges of its pool.
[[nodiscard]] std::optional<counterexample>
check_places(plan_requirements const& required, memory_plan const& plan, plan_options const& options);

/// What rounds require: two values that are carried, one into the other, may have one place; all others that
/// are carried lie at the places of their group in turn, and no other value lies there in any round. These
/// become given and kept in `required`, and live for all of its `positions`.
///
/// Requires:   check_places() has passed.
/// Ensures:    a place that is not a multiple of the alignments of all that lie there is a fault.
/// Complexity: O(values + values of groups x their places).
/// Throws:     precondition_error for what plan_options::carried does not allow.
[[nodiscard]] std::optional<counterexample> hold_carried(plan_requirements& required, memory_plan const& plan,
                                                         plan_options const& options, position_id positions);

// --- check neighbours ------------------------------------------------------------------------------------

/// Throws: precondition_error for a pool with pages, or pages of 0 bytes if `checker` is null.
void expect_pages(plan_options const& options, char const* checker = nullptr);

/// The first two classes of different kinds that live together in one order and have bytes in one page: all
/// pairs of those in pools with pages.
[[nodiscard]] std::optional<counterexample> shared_page(plan_requirements const& required,
                                                        memory_plan const& plan, plan_options const& options);

/// The first pair that is kept apart, of classes that live together and have bytes in one bank: the listed
/// pairs only.
/// Throws: precondition_error for values of one class, carried ones, and ones that no plan has storage for.
[[nodiscard]] std::optional<counterexample> shared_bank(plan_requirements const& required,
                                                        memory_plan const& plan, plan_options const& options);

/// Whether a pool of these has a guard.
[[nodiscard]] bool has_guard(plan_options const& options);

/// The same requirements, with the guard of its pool behind each planned class.
[[nodiscard]] plan_requirements with_guards(plan_requirements required, memory_plan const& plan,
                                            plan_options const& options);

/// A fault of classes with guards as one of the classes themselves: they are too close.
[[nodiscard]] counterexample too_close(counterexample fact, plan_requirements const& required,
                                       memory_plan const& plan);

/// Of a plan in which no classes clash, whether none are closer than a guard: `clash` compares them again,
/// with requirements in which their guards lie behind them. What a step may overwrite in place may lie there
/// then, too.
template <class Clash>
std::optional<counterexample> check_guards(plan_requirements const& required, memory_plan const& plan,
                                           plan_options const& options, Clash clash)
{
    if (!has_guard(options)) return std::nullopt;
    std::optional<counterexample> fact = clash(with_guards(required, plan, options));
    if (!fact) return fact;
    return too_close(*fact, required, plan);
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/places.ipp>
#endif

#endif
