// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_GROWING_ARENA_HPP
#define SUBLET_EXECUTION_GROWING_ARENA_HPP

/// Arenas for every batch: addresses are reserved once, for the largest; memory follows the batch that runs.
///
///     auto planned = sublet::plan_symbolic(program, any_batch); // for batches of up to 64
///     sublet::growing_arena memory(planned);
///     sublet::cpu_executor one{program, any_batch.at(1), memory.at(1), kernel};
///     sublet::cpu_executor many{program, any_batch.at(64), memory.at(64), kernel};
///
///     address   0 ........................................... most      reserved
///     one       [ memory )                                              while `one` is used
///     many      [ memory ....................................... )      while `many` is used
///     one       [ memory )                                              and again
///
/// Each executor takes offsets and sizes of its batch, so make one for each batch that comes often, or one
/// for each request: using another one costs a few system calls and page faults, making one O(program). With
/// a plan that was checked, executor_options::prove may be false. No address moves, and nothing is copied: no
/// value lives from one run to the next in an arena (those with value_role::state are the caller's).

#include <sublet/core/symbolic_plan.hpp>
#include <sublet/execution/detail/growing_blocks.hpp>
#include <sublet/execution/detail/host_pages.hpp>
#include <sublet/execution/errors.hpp>

namespace sublet {

/// Arenas in host memory for every batch of one plan, for cpu_executor and thread_executor. Its pages are not
/// counted against `executor_options::limit`, and come from the system, not from `upstream`; where addresses
/// cannot be reserved, from the free store.
class growing_arena : public detail::growing_blocks<detail::host_pages> {
public:
    /// Reserves the addresses of the largest batch, without memory.
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
    explicit growing_arena(Planned const& planned) : growing_arena(plan_of(planned))
    {
    }
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/growing_arena.ipp>
#endif

#endif
