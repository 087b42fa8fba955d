// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_EXECUTOR_STATE_HPP
#define SUBLET_EXECUTION_DETAIL_EXECUTOR_STATE_HPP

/// The state of an executor, on the host or on a device: whether work is queued, and whether outputs can be
/// read. enter() refuses transitions that are not drawn here; set() makes those that are drawn from every state
/// in which they are asked for.
///
///                             no outputs                              outputs
///
///                                     ◄───── drop_outputs() ───────
///     nothing is queued        empty                                done
///                               │ ▲                                  │ ▲
///                       queue() │ │ settle()                 queue() │ │ settle()
///                               ▼ │                                  ▼ │
///     work is queued          loading ────── make_outputs() ───────► queued
///                                     ◄───── drop_outputs() ───────
///
///     each of them ── start() ──► running ── finish(to) ──► back; a run on the host: empty or done
///     empty ── lose() ──► lost                the device is lost; only start() and finish(lost) follow
///
/// `running`: kernels may run within this call, so every other call is refused. A copy, an allocation or a
/// run on streams is work that is queued. What values the caller has supplied is no state of the executor,
/// but a fact of each value: binding_state. Which addresses stay between runs is fixed at construction.

#include <sublet/core/units.hpp>

#include <atomic>
#include <cstdint>

namespace sublet::detail {

enum class run_state : std::uint8_t {
    empty,   ///< nothing is queued, and there are no outputs
    loading, ///< work is queued, and there are no outputs
    queued,  ///< work is queued; outputs can be read when it is done
    done,    ///< nothing is queued, and outputs can be read
    running, ///< kernels may run
    lost     ///< the device is lost
};

/// Two threads, or a kernel and its caller, may ask at the same time whether it is running. A copy has a
/// state of its own.
class executor_state {
public:
    [[nodiscard]] run_state now() const noexcept
    {
        return std::atomic_ref(now_).load(std::memory_order_acquire);
    }
    [[nodiscard]] bool is_running() const noexcept { return now() == run_state::running; }
    [[nodiscard]] bool is_lost() const noexcept { return now() == run_state::lost; }
    [[nodiscard]] bool has_work() const noexcept
    {
        return now() == run_state::loading || now() == run_state::queued;
    }
    [[nodiscard]] bool has_outputs() const noexcept
    {
        return now() == run_state::queued || now() == run_state::done;
    }

    /// Work is queued on a device.
    void queue() { enter(has_outputs() ? run_state::queued : run_state::loading); }
    /// All queued work is done, or the device is lost.
    void settle() noexcept
    {
        if (has_work()) set(has_outputs() ? run_state::done : run_state::empty);
    }
    /// A run is queued: its outputs can be read when nothing is.
    void make_outputs() { enter(run_state::queued); }
    /// Inputs, the next run or a failure may have written over them.
    void drop_outputs() noexcept
    {
        if (has_outputs()) set(has_work() ? run_state::loading : run_state::empty);
    }
    /// Kernels may run from now on, unless they do already. Returns the state before.
    [[nodiscard]] run_state start() noexcept
    {
        return std::atomic_ref(now_).exchange(run_state::running, std::memory_order_acq_rel);
    }
    /// No kernel runs any more.
    void finish(run_state to) noexcept { set(to); }
    void lose() { enter(run_state::lost); }

private:
    void set(run_state to) noexcept { std::atomic_ref(now_).store(to, std::memory_order_release); }
    /// By queue(), make_outputs() or lose().
    /// Throws: precondition_error for a transition that is not drawn.
    void enter(run_state to)
    {
        run_state const from = now();
        SUBLET_EXPECTS(may_follow(from, to), "sublet: an executor may not go from state % to state %",
                       static_cast<unsigned>(from), static_cast<unsigned>(to));
        set(to);
    }
    static constexpr bool may_follow(run_state from, run_state to) noexcept
    {
        using enum run_state;
        switch (from) {
        case empty: return to == loading || to == lost;
        case loading: return to == loading || to == queued;
        case queued:
        case done: return to == queued;
        case running: return false;
        case lost: return to == lost;
        }
        return false;
    }

    mutable run_state now_ = run_state::empty;
};

/// The state is `running` while this exists, then what it was before.
class kernels_running {
public:
    explicit kernels_running(executor_state& state) noexcept : state_(state), before_(state.start()) {}
    kernels_running(kernels_running const&) = delete;
    kernels_running& operator=(kernels_running const&) = delete;
    ~kernels_running() { state_.finish(before_); }

private:
    executor_state& state_;
    run_state before_;
};

} // namespace sublet::detail

#endif
