// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CUDA_GROWING_ARENA_HPP
#define SUBLET_EXECUTION_CUDA_GROWING_ARENA_HPP

/// growing_arena in the memory of a CUDA device: no address moves.
///
///     sublet::cuda_device device(0);
///     auto planned = sublet::plan_symbolic(program, any_shape); // batches to 64, lengths to 2048
///     sublet::cuda_growing_arena memory(device, planned);
///     sublet::stream_executor run{device, program, any_shape, memory.at({1, 32}), kernel};
///     auto graph = run.capture();
///     graph.launch();
///     run.set_shape({64, 512});
///     graph.launch();                                           // captured again: other sizes and addresses
///
/// For shapes that come often, an executor for each of them (`any_shape.at({1, 32})`) keeps its graph valid:
/// all graphs together take the memory of the one that runs.
///
/// Source: CUDA's virtual memory management, in the driver since CUDA 10.2. The driver is not linked: its
/// functions come from the runtime, so the program also starts where there is none.

#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/cuda.hpp>
#include <sublet/execution/detail/cuda_mapping.hpp>
#include <sublet/execution/detail/cuda_pages.hpp>
#include <sublet/execution/detail/growing_blocks.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/storage.hpp>

#include <cstddef>

namespace sublet {

/// Arenas in device memory for every shape of one plan, for stream_executor on a cuda_device. An executor
/// that is used after another one waits for the device. Memory is counted in units of the device's
/// granularity, 2 MiB on most. On a device that cannot map memory it is one block of the largest bytes.
class cuda_growing_arena {
public:
    /// Reserves the addresses of the largest bytes of each pool, without memory.
    ///
    /// Requires:   the device outlives it; alignments are powers of two.
    /// Complexity: O(buffers), and one call of the driver for each pool.
    /// Throws:     cuda_error; precondition_error where a requirement is broken.
    cuda_growing_arena(cuda_device& device, symbolic_plan const& plan)
        : blocks_(plan, [&device, how = detail::cuda_mapping_of(device.calls())](byte_count most,
                                                                                 byte_count alignment) {
              return detail::cuda_pages(device, how, most, alignment);
          })
    {
    }
    /// The same for a planner's result.
    /// Throws: also unsound_plan with its error, if there is no plan.
    template <class Planned>
        requires requires(Planned const& planned) {
            symbolic_plan(planned.plan);
            unsound_plan(planned.error());
        }
    cuda_growing_arena(cuda_device& device, Planned const& planned)
        : cuda_growing_arena(device, decltype(blocks_)::plan_of(planned))
    {
    }

    /// The arena for one shape: as growing_arena::at().
    [[nodiscard]] arena at(shape_view one) { return blocks_.at(one); }
    /// Bytes of memory that it holds now: those of the shape that was run last, in whole pages.
    [[nodiscard]] byte_count bytes() const noexcept { return blocks_.bytes(); }
    /// Memory follows the shape; false: this device reserves no addresses, and the memory is the largest
    /// throughout.
    [[nodiscard]] bool is_growing() const noexcept { return blocks_.is_growing(); }
    /// The first address of each pool's block; null for one without bytes.
    [[nodiscard]] table<pool_id, std::byte*> const& addresses() const { return blocks_.addresses(); }

private:
    detail::growing_blocks<detail::cuda_pages> blocks_;
};

} // namespace sublet

#endif
