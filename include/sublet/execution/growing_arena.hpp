// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_GROWING_ARENA_HPP
#define SUBLET_EXECUTION_GROWING_ARENA_HPP

/// Arenas for every shape: addresses are reserved once, for the largest; memory follows the shape that runs.
///
///     auto planned = sublet::plan_symbolic(program, any_shape); // batches to 64, lengths to 2048
///     sublet::growing_arena memory(planned);
///     sublet::cpu_executor one{program, any_shape.at({1, 32}), memory.at({1, 32}), kernel};
///     sublet::cpu_executor many{program, any_shape.at({64, 512}), memory.at({64, 512}), kernel};
///
///     address   0 ........................................... most      reserved
///     one       [ memory )                                              while `one` is used
///     many      [ memory ....................................... )      while `many` is used
///     one       [ memory )                                              and again
///
/// Each executor takes offsets and sizes of its shape, so make one for each shape that comes often, or one
/// for each request: using another one costs a few system calls and page faults, making one O(program). With
/// a plan that was checked, executor_options::prove may be false. No address moves, and nothing is copied: no
/// value lives from one run to the next in an arena (those with value_role::state are the caller's).

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

    /// The arena for one shape, for an executor with the options of this shape.
    ///
    /// Requires:   this outlives the executor; one thread at a time uses it and its executors, and no kernel
    ///             uses another of them. What input() and output() return is valid until another one is used;
    ///             a run without an input that was lost so throws unusable_value.
    /// Complexity: O(values). The first input() or run() after another executor was used takes O(pools), and
    ///             the pages that are added or given back.
    /// Throws:     precondition_error if the shape is none of the ranges. Of sizes by shape, an executor
    ///             throws it if the arena is larger than those of the samples.
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
