// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_CAPTURE_HPP
#define SUBLET_EXECUTION_STREAM_CAPTURE_HPP

/// A run that is issued once and kept by the device as a graph: to launch it takes one command.
///
///     auto captured = run.capture();
///     for (auto const& image : images) {
///         run.give(input, image);
///         captured.launch();
///     }
///
/// Addresses are part of a graph, so all that a run touches has to stay where it was at capture: in arenas,
/// or in blocks that are kept from run to run.

#include <sublet/execution/stream/device.hpp>

#include <cstddef>
#include <utility>

namespace sublet {

/// A device that notes what is issued between two calls and does it later, as often as it is told to.
///
/// Semantics: what `begin_capture(s)` begins takes in s, and every stream from when it waits for an event
///            that is recorded in it. `abandon_capture(s)` throws nothing.
template <class D>
concept captures_graphs = stream_device<D> && requires(D& device, typename D::stream_type s) {
                                                  device.begin_capture(s);
                                                  device.end_capture(s).launch(s);
                                                  device.abandon_capture(s);
                                              };

/// One run of an executor, as the device keeps it. The executor has to outlive it.
template <class Executor, class Graph>
class captured_run {
public:
    captured_run(Executor& executor, Graph graph, std::size_t moves)
        : executor_(&executor), graph_(std::move(graph)), moves_(moves)
    {
    }

    /// Queues the run, as run_async() does.
    ///
    /// Requires: no other storage has been bound since it was captured; and but for arenas, nothing of the
    ///           executor has failed since, as then what was there for inputs and outputs has been given
    ///           back.
    /// Throws:   precondition_error where a requirement is broken; as run_async().
    void launch() { executor_->launch(graph_, moves_); }

private:
    Executor* executor_;
    Graph graph_;
    std::size_t moves_; // of the executor's storage, when it was captured
};

} // namespace sublet

#endif
