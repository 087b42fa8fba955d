// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_RECORDED_CALL_HPP
#define SUBLET_EXECUTION_RECORDED_CALL_HPP

/// What a recorded function sees: its operands, by the handles with which it was recorded.
///
///     recorded:   reads {x, w}, writes {y}
///     runs:       call.read(x)    the bytes of x, as objects of its type, to be read
///                 call.write(y)   room for y
///                 call.read(z)    throws: that was not declared, so nobody waited for it
///
/// A function cannot take one operand for another, as it could by their positions, and cannot touch what it
/// did not declare, unless it goes around its call; that shows in a run that is watched.

#include <sublet/contract.hpp>
#include <sublet/execution/cpu_call.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

/// The handle of a value: its id, and what its bytes are.
template <class T = std::byte>
struct recorded_value {
    value_id id = no_value;
    constexpr operator value_id() const noexcept { return id; }

    /// The same bytes as objects of another type.
    template <class Other>
    [[nodiscard]] constexpr recorded_value<Other> as() const noexcept
    {
        return {id};
    }
};

/// `Call` is what the executor calls a kernel with: cpu_call, or that of a device. Spans are valid as long as
/// its are.
template <class Call>
class recorded_call {
public:
    recorded_call(Call const& step, std::span<value_id const> reads, std::span<value_id const> writes)
        : step_(&step), reads_(reads), writes_(writes)
    {
    }

    /// Throws: precondition_error if the call was not recorded to read v.
    template <class T>
    [[nodiscard]] std::span<T const> read(recorded_value<T> v) const
    {
        std::size_t const i = place_of(v, reads_);
        SUBLET_EXPECTS(i != reads_.size(),
                       "sublet: a recorded function reads what it has not declared to read");
        return sublet::as<T>(step_->in(i));
    }

    /// Of a value that the call reads as well, the bytes that it reads; of any other, bytes that have no
    /// meaning yet, all of which it has to write.
    ///
    /// Throws: precondition_error if the call was not recorded to write v.
    template <class T>
    [[nodiscard]] std::span<T> write(recorded_value<T> v) const
    {
        std::size_t const i = place_of(v, reads_), j = place_of(v, writes_);
        SUBLET_EXPECTS(j != writes_.size(),
                       "sublet: a recorded function writes what it has not declared to write");
        SUBLET_EXPECTS(i == reads_.size() || step_->in(i).data() == step_->out(j).data(),
                       "sublet: a value that is updated has two storages: its versions are to keep one");
        return sublet::as<T>(step_->out(j));
    }

    /// What the executor knows besides: the number of the step, a stream ...
    [[nodiscard]] Call const& step() const { return *step_; }

private:
    static std::size_t place_of(value_id v, std::span<value_id const> list)
    {
        std::size_t i = 0;
        while (i != list.size() && list[i] != v) ++i;
        return i;
    }

    Call const* step_;
    std::span<value_id const> reads_, writes_;
};

namespace detail {

/// Any function of a call, kept by value.
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

} // namespace detail

/// The kernel of a recording: at each step its function. It has copies of all functions, so that executors of
/// one recording share nothing, and it need not outlive them.
template <class Call>
class recorded_kernel {
public:
    recorded_kernel(csr_rows reads, csr_rows writes, std::vector<detail::recorded_function<Call>> functions)
        : reads_(std::move(reads)), writes_(std::move(writes)), functions_(std::move(functions))
    {
    }

    /// Throws: precondition_error if the program is not the recording, nor that of its versions; whatever the
    ///         function throws.
    void operator()(Call const& call)
    {
        bool const is_recorded = call.step < functions_.size() &&
                                 call.uses().size() == reads_[call.step].size() &&
                                 call.defs().size() == writes_[call.step].size();
        SUBLET_EXPECTS(is_recorded,
                       "sublet: a recorded kernel is called for a step that was not recorded so");
        functions_[call.step](recorded_call<Call>(call, reads_[call.step], writes_[call.step]));
    }

private:
    csr_rows reads_, writes_; // by step
    std::vector<detail::recorded_function<Call>> functions_;
};

} // namespace sublet

#endif
