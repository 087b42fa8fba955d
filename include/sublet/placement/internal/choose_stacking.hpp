// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_INTERNAL_CHOOSE_STACKING_HPP
#define SUBLET_PLACEMENT_INTERNAL_CHOOSE_STACKING_HPP

/// Chooses a stacking that is low for several shapes.
///
///     placements of each sample alone ─► their orders from below ─► the best of them for all samples
///        and of mixtures of samples                                     │
///                                        turn pairs on the critical path of the worst sample ◄─┘
///
/// The critical path of a sample are the buffers on top of each other that make its height. Those of it that
/// are live together are no higher than the bound; what exceeds it are the others, its strangers:
///
///     path   c  [==)                    c lies on b and b on a, but c and a are not live together: c is a
///            b  [======)                stranger where a and b have most bytes
///            a     [============)       below b, it is off the path
///
/// So most moves take a stranger to a place where one of its neighbours on the path does not conflict with
/// it; others turn a pair of the path. Moves are drawn by a counter with a fixed seed, and kept if no sample
/// gets worse than the worst one was. No guaranteed factor.

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/stacking.hpp>
#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/internal/pack_options.hpp>
#include <sublet/placement/internal/stack_buffers.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet::detail {

/// a / b in parts of 2^20, rounded down; `no_limit` if that is not below 2^40.
[[nodiscard]] inline std::uint64_t parts_of(byte_count a, byte_count b)
{
    constexpr unsigned digits = 20;
    if (b == 0) return a == 0 ? std::uint64_t{1} << digits : no_limit;
    unsigned const bits = static_cast<unsigned>(std::bit_width(a));
    if (bits > 64 - digits) { // of both, so much that the product fits
        a >>= bits - (64 - digits);
        b >>= bits - (64 - digits);
        if (b == 0) return no_limit;
    }
    std::uint64_t const parts = (a << digits) / b;
    return parts < std::uint64_t{1} << 40 ? parts : no_limit;
}

/// The sizes of one shape, and what is found for it.
struct stacked_sample {
    std::vector<byte_count> size; ///< by buffer
    std::uint32_t weight = 1;     ///< in the mean
    placement own = {};           ///< of this shape alone: result
    stacking::offsets at = {};    ///< with the stacking: result
};

/// The buffers as they conflict in one reading of their program.
class stacked_reading {
public:
    virtual ~stacked_reading() = default;
    /// Offsets and bounds for the sizes of one shape, by buffer.
    virtual placement place(std::vector<byte_count> const& size) = 0;
    /// The bytes of buffers of a pool that all conflict with each other: a lower bound, found fast.
    virtual byte_count least_bytes(pool_id pool, std::vector<byte_count> const& size) = 0;
    /// The stacking of all buffers of one pool, from the lowest to the highest.
    virtual void stack(std::vector<buffer_id> const& order, stacking& result) = 0;
    /// As how much work stack() counts: buffers that are placed.
    [[nodiscard]] virtual std::uint64_t work_of_stacking(std::size_t buffers) const = 0;
    /// Whether they may not share bytes.
    [[nodiscard]] virtual bool conflict(buffer_id a, buffer_id b) const = 0;
    /// Lists those of a path that do not conflict with what has most of its bytes.
    virtual void list_strangers(std::vector<buffer_id> const& path, std::vector<byte_count> const& size,
                                std::vector<buffer_id>& result) const = 0;
};

/// Steps in one order: buffers with ranges in common conflict, and pack() places them.
class in_one_order final : public stacked_reading {
public:
    /// Requires: each buffer has one range that is not empty. `buffers` outlives this.
    in_one_order(unsized_buffers const& buffers, pack_options const& how) : all_(buffers), how_(how) {}

    placement place(std::vector<byte_count> const& size) override;
    /// The most live bytes.
    byte_count least_bytes(pool_id pool, std::vector<byte_count> const& size) override;
    /// The sweep of buffer_stacker.
    void stack(std::vector<buffer_id> const& order, stacking& result) override;
    [[nodiscard]] std::uint64_t work_of_stacking(std::size_t buffers) const override { return 4 * buffers; }
    [[nodiscard]] bool conflict(buffer_id a, buffer_id b) const override;
    /// Those that are not live where most bytes of the path are.
    void list_strangers(std::vector<buffer_id> const& path, std::vector<byte_count> const& size,
                        std::vector<buffer_id>& result) const override;

private:
    [[nodiscard]] live_range life(buffer_id b) const { return all_.ranges[all_.first_range[b]]; }

    unsized_buffers const& all_;
    pack_options const how_;
    pool_id pool_ = 0;                      // that of `stacker_`
    std::optional<buffer_stacker> stacker_; // made for the first order of a pool
    std::vector<byte_count> change_;        // by position
};

struct stacking_options {
    symbolic_options::goal_kind goal = symbolic_options::goal_kind::worst;
    std::uint64_t restacked = 0; ///< buffers that are placed in all moves of a pool, for all samples
};

/// Stacks the buffers, each in its own pool. `from` is one stacking that is tried, too: of fewer samples,
/// say.
///
/// Requires:   `reading` is one of these buffers; there is a sample; a sample with an `own` has that of its
///             sizes, which is not sought again; `from` is empty, or a result for the same buffers.
/// Ensures:    of two buffers of a pool that conflict, one is below the other. Same problem and options, same
///             stacking.
/// Complexity: place() of the reading for each sample without an `own` and a mixture of them; its stack() for
///             each order and each move; O(buffers) for each sample of these.
/// Throws:     precondition_error where sums of bytes exceed 64 bits.
[[nodiscard]] stacking choose_stacking(unsized_buffers const& buffers, stacked_reading& reading,
                                       std::vector<stacked_sample>& samples, stacking_options const& options,
                                       stacking const& from = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/choose_stacking.ipp>
#endif

#endif
