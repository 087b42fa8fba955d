// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_RECORDED_KERNEL_HPP
#define SUBLET_EXECUTION_DETAIL_RECORDED_KERNEL_HPP

/// The kernel of a recording: it owns a copy of each recorded function, without its type, and calls the one
/// of a step with the values that it has declared.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

namespace sublet {
template <class Call>
class recorded_call;
}

namespace sublet::detail {

/// Type erasure for a recorded function, kept by value.
template <class Call>
class recorded_function {
public:
    template <class F>
        requires(!std::same_as<F, recorded_function>)
    explicit recorded_function(F function) : held_(new F(std::move(function))), actions_(&actions_of<F>)
    {
    }
    recorded_function(recorded_function const& other)
        : held_(other.actions_->copy(other.held_)), actions_(other.actions_)
    {
    }
    recorded_function(recorded_function&& other) noexcept
        : held_(std::exchange(other.held_, nullptr)), actions_(other.actions_)
    {
    }
    recorded_function& operator=(recorded_function other) noexcept
    {
        std::swap(held_, other.held_);
        std::swap(actions_, other.actions_);
        return *this;
    }
    ~recorded_function() { actions_->destroy(held_); }

    void operator()(recorded_call<Call> const& call) { actions_->call(held_, call); }

private:
    struct actions {
        void (*call)(void*, recorded_call<Call> const&);
        void* (*copy)(void const*);
        void (*destroy)(void*);
    };
    template <class F>
    static constexpr actions actions_of{
        [](void* f, recorded_call<Call> const& call) { (*static_cast<F*>(f))(call); },
        [](void const* f) -> void* { return new F(*static_cast<F const*>(f)); },
        [](void* f) { delete static_cast<F*>(f); }};

    void* held_;
    actions const* actions_;
};

/// Calls the function of each step. It copies all functions, so executors of one recording share no state,
/// and the recording need not outlive it.
template <class Call>
class recorded_kernel {
public:
    recorded_kernel(csr_rows<step_id, value_id> reads, csr_rows<step_id, value_id> writes,
                    table<step_id, recorded_function<Call>> functions)
        : reads_(std::move(reads)), writes_(std::move(writes)), functions_(std::move(functions))
    {
    }

    /// Throws: precondition_error if the program is neither the recording nor its versions; whatever the
    ///         function throws.
    void operator()(Call const& call)
    {
        bool const is_recorded = call.step < functions_.size() &&
                                 call.uses().size() == reads_[call.step].size() &&
                                 call.defs().size() == writes_[call.step].size();
        SUBLET_EXPECTS(is_recorded, "sublet: a recorded kernel is called for a step of another program");
        functions_[call.step](recorded_call<Call>(call, reads_[call.step], writes_[call.step]));
    }

private:
    csr_rows<step_id, value_id> reads_, writes_;
    table<step_id, recorded_function<Call>> functions_;
};

} // namespace sublet::detail

#endif
