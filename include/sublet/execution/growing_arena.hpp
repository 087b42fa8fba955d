// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_GROWING_ARENA_HPP
#define SUBLET_EXECUTION_GROWING_ARENA_HPP

/// Arenas for every shape: addresses are reserved once, for the largest; memory follows the shape that runs.
///
///     auto planned = sublet::plan_symbolic(program, any_shape); // batches to 64, lengths to 2048
///     sublet::growing_arena memory(planned);
///     sublet::cpu_executor run{program, any_shape, memory.at({1, 32}), kernel};
///     run.set_shape({64, 512});
///
///     address   0 ........................................... most      reserved
///     {1, 32}   [ memory )                                              while it runs
///     {64, 512} [ memory ....................................... )      from the next run on
///     {1, 32}   [ memory )                                              and again
///
/// One executor takes every shape; its plan is proved once. Several executors share an arena,
/// too, one after another: of a prompt and of a step, or one for each shape with the options of that shape
/// (`any_shape.at({1, 32})`). Changing the executor or the shape costs a few system calls and page faults. No
/// address moves, and nothing is copied: no value lives from one run to the next in an arena (those with
/// value_role::state are the caller's).

#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/growing_blocks.hpp>
#include <sublet/execution/detail/host_pages.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/storage.hpp>

#include <cstddef>

namespace sublet {

/// Arenas in host memory for every shape of one plan, for cpu_executor and thread_executor. Its pages are not
/// counted against `executor_options::limit`, and come from the system, not from `upstream`; where addresses
/// cannot be reserved, from the free store.
class growing_arena {
public:
    /// Reserves the addresses of the largest bytes of each pool, without memory.
    ///
    /// Requires:   alignments are powers of two.
    /// Complexity: O(buffers), and one system call for each pool.
    /// Throws:     std::bad_alloc if neither addresses nor memory can be had; precondition_error where a
    ///             requirement is broken.
    explicit growing_arena(symbolic_plan const& plan);
    /// The same for a planner's result.
    /// Throws: also unsound_plan with its error, if there is no plan.
    template <class Planned>
        requires requires(Planned const& planned) {
            symbolic_plan(planned.plan);
            unsound_plan(planned.error());
        }
    explicit growing_arena(Planned const& planned) : growing_arena(decltype(blocks_)::plan_of(planned))
    {
    }

    /// The arena for one shape: for an executor with the options of this shape, or with those of every shape,
    /// which begins with it.
    ///
    /// Requires:   this outlives the executor; one thread at a time uses it and its executors, and no kernel
    ///             uses another of them. What input() and output() return is valid until another one is used;
    ///             a run without an input that was lost so throws unusable_value.
    /// Complexity: O(values). The first input() or run() after another executor was used takes O(pools), and
    ///             the pages that are added or given back.
    /// Throws:     as symbolic_plan::at(). Where sizes are by shape, an executor throws precondition_error if
    ///             the arena is larger than those of the plan's samples.
    [[nodiscard]] arena at(shape_view one) { return blocks_.at(one); }
    /// Bytes of memory that it holds now: those of the shape that was run last, in whole pages.
    [[nodiscard]] byte_count bytes() const noexcept { return blocks_.bytes(); }
    /// Memory follows the shape; false: this machine reserves no addresses, and the memory is the largest
    /// throughout.
    [[nodiscard]] bool is_growing() const noexcept { return blocks_.is_growing(); }
    /// The first address of each pool's block; null for one without bytes.
    [[nodiscard]] table<pool_id, std::byte*> const& addresses() const { return blocks_.addresses(); }

private:
    detail::growing_blocks<detail::host_pages> blocks_;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/growing_arena.ipp>
#endif

#endif
