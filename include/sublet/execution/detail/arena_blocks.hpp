// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_ARENA_BLOCKS_HPP
#define SUBLET_EXECUTION_DETAIL_ARENA_BLOCKS_HPP

/// What executors see of a growing arena: one block for each pool, at an address that stays. Its bytes belong
/// to the executor that used it last.

#include <sublet/core/plan.hpp>
#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>

#include <cstdint>
#include <span>
#include <utility>

namespace sublet::detail {

/// Blocks at fixed addresses, one for each pool, that several executors use one after another: see
/// growing_arena. Their bytes follow the executor that uses them; another one finds nothing of its own there.
class arena_blocks {
public:
    arena_blocks(arena_blocks const&) = delete; // executors refer to it
    arena_blocks& operator=(arena_blocks const&) = delete;

    /// The plan for every shape that they were made for.
    [[nodiscard]] symbolic_plan const& plan() const { return plan_; }
    /// The first address of each pool's block; null for one without bytes.
    [[nodiscard]] table<pool_id, std::byte*> const& addresses() const { return addresses_; }
    /// The first address of a pool, for an executor.
    /// Throws: precondition_error if its block has not so many bytes, or not the alignment.
    [[nodiscard]] std::byte* address_for(pool_id pool, byte_count bytes, byte_count alignment) const;

    /// A number for one more executor.
    [[nodiscard]] std::uint64_t add_user() noexcept { return ++users_; }
    [[nodiscard]] bool is_used_by(std::uint64_t user) const noexcept { return user == user_; }

    /// Gives each block the bytes that this user needs, which have no defined contents.
    /// Requires:   no run of another executor is in progress.
    /// Complexity: O(pools), and the pages that are added and given back.
    /// Throws:     allocation_error if there is no memory; then none uses the blocks.
    void use_for(std::uint64_t user, std::span<byte_count const> bytes);

protected:
    using resizer = void (*)(arena_blocks& self, pool_id pool, byte_count bytes);
    arena_blocks(symbolic_plan plan, resizer resize)
        : most_(plan.most_bytes), plan_(std::move(plan)), resize_(resize)
    {
        addresses_.assign(most_.size(), nullptr);
        bytes_.assign(most_.size(), 0);
    }
    ~arena_blocks() = default;

    table<pool_id, std::byte*> addresses_;
    table<pool_id, byte_count> most_;  ///< the bytes of its block
    table<pool_id, byte_count> bytes_; ///< what the last user needed

private:
    symbolic_plan plan_;
    resizer resize_;
    std::uint64_t users_ = 0, user_ = 0;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/arena_blocks.ipp>
#endif

#endif
