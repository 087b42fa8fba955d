// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_SIMULATED_DEVICE_HPP
#define SUBLET_EXECUTION_STREAM_SIMULATED_DEVICE_HPP

/// A device with streams in host memory that takes every liberty it has, and fails where it is told to.
///
///     simulated_device device({.order = stream_order::latest_first});
///     stream_executor run(device, program, ...);     the same program as on a device of metal, but later,
///                                                    in the order that is least expected, and repeatable
///
/// What is queued waits until somebody asks for the end of it. Bytes are another's as soon as the order of
/// streams allows it; what they held is painted over when they are taken and when they are given back, each
/// when the stream comes to it. A kernel that throws ends all that is queued, as a device in error does.

#include <sublet/contract.hpp>
#include <sublet/execution/digest.hpp>
#include <sublet/execution/memory.hpp>
#include <sublet/execution/stream/device.hpp>
#include <sublet/execution/stream/pool.hpp>
#include <sublet/execution/stream/queues.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet {

/// The device refused a call: it was told to.
class device_failure : public std::exception {
public:
    char const* what() const noexcept override { return "sublet: a simulated device failed, as it was told"; }
};

/// Nothing can be asked of the device any more.
class device_lost : public device_failure {
public:
    char const* what() const noexcept override { return "sublet: a simulated device was lost"; }
};

struct simulated_options {
    stream_order order = stream_order::in_turn;
    std::uint64_t seed = 0;      ///< of random
    std::uint32_t which = 0;     ///< the stream that is favoured or starved, in the order they were made
    step_id postponed = no_step; ///< is launched only when nothing else can go on
    bool paint = true;           ///< bytes that are taken, and that are given back
    memory_source upstream = {};
    byte_count limit = no_limit; ///< of what is taken from it
};

/// Calls that can fail are all but the two that destroy and `deallocate`; those do nothing for a device that
/// is lost. Memory goes back upstream with the device.
class simulated_device {
public:
    struct stream_type {
        std::uint32_t number = ~std::uint32_t{0};
        friend bool operator==(stream_type, stream_type) = default;
    };
    struct event_type {
        std::uint32_t number = ~std::uint32_t{0};
        friend bool operator==(event_type, event_type) = default;
    };

    explicit simulated_device(simulated_options const& options = {})
        : queues_({.order = options.order,
                   .seed = options.seed,
                   .which = options.which,
                   .postponed = options.postponed}),
          pool_(options.upstream, options.limit), is_painting_(options.paint)
    {
    }

    // --- to be told, and asked ----------------------------------------------------------------------------

    static constexpr std::uint64_t never = ~std::uint64_t{0};
    /// The call after so many that can fail throws device_failure; once.
    void fail_after(std::uint64_t calls) { fails_at_ = calls == never ? never : calls_ + calls; }
    /// The call after so many that can fail, and every one from then on, throws device_lost.
    void lose_after(std::uint64_t calls) { lost_at_ = calls == never ? never : calls_ + calls; }
    /// How many were made that can fail.
    [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }
    [[nodiscard]] std::size_t live_streams() const noexcept { return count(is_stream_); }
    [[nodiscard]] std::size_t live_events() const noexcept { return count(is_event_); }
    [[nodiscard]] std::size_t queued(stream_type s) const { return queues_.queued(s.number); }
    [[nodiscard]] stream_pool_use const& memory() const noexcept { return pool_.use(); }
    void trim() { pool_.trim(queues_); }

    // --- a stream_device ----------------------------------------------------------------------------------

    [[nodiscard]] bool is_lost() const noexcept { return is_lost_; }

    [[nodiscard]] stream_type make_stream();
    /// What is queued in it is done as if it were there.
    void destroy_stream(stream_type s)
    {
        if (is_lost_) return;
        expect(s);
        is_stream_[s.number] = false;
    }
    [[nodiscard]] event_type make_event();
    /// Who waits for it waits on.
    void destroy_event(event_type e)
    {
        if (is_lost_) return;
        expect(e);
        is_event_[e.number] = false;
    }
    void record(event_type e, stream_type s)
    {
        call(s);
        expect(e);
        queues_.record(e.number, s.number);
    }
    void wait(stream_type s, event_type e)
    {
        call(s);
        expect(e);
        queues_.wait(s.number, e.number);
    }

    /// Throws: out_of_budget, and what the upstream throws.
    [[nodiscard]] std::byte* allocate(byte_count bytes, byte_count alignment, stream_type s);
    void deallocate(std::byte* data, byte_count bytes, byte_count, stream_type s);

    void fill(std::byte* to, std::byte with, byte_count bytes, stream_type s);
    void copy_to_device(std::byte* to, std::span<std::byte const> from, stream_type s);
    void copy_from_device(std::span<std::byte> to, std::byte const* from, stream_type s);
    /// Requires: `digest` can be written when the stream comes to it.
    void digest(stream_type s, std::span<std::byte const> bytes, std::uint64_t* digest);

    /// Keeps a copy of the call. A kernel that is an lvalue has to be there when the stream comes to it.
    template <class Kernel, class Call>
        requires std::invocable<Kernel&, Call const&>
    void launch(stream_type s, Kernel&& kernel, Call const& what)
    {
        call(s);
        step_id step = no_step;
        if constexpr (requires { step_id{what.step}; }) step = what.step;
        if constexpr (std::is_lvalue_reference_v<Kernel>) {
            queues_.push(s.number, step, [its = &kernel, what] { (*its)(what); });
        } else {
            auto work = [its = std::move(kernel), what]() mutable { its(what); };
            queues_.push(s.number, step, std::move(work));
        }
    }

    /// Throws: run_error with the step of a kernel that threw, whichever stream it was in; then the device
    ///         is as good as before.
    void synchronize(stream_type s)
    {
        call(s);
        queues_.drain(s.number);
        report();
    }
    void synchronize()
    {
        call();
        queues_.drain();
        report();
    }

private:
    static std::size_t count(std::vector<bool> const& flags);

    void call();
    void call(stream_type s)
    {
        expect(s);
        call();
    }
    void expect(stream_type s) const
    {
        bool const is_there = s.number < is_stream_.size() && is_stream_[s.number];
        SUBLET_EXPECTS(is_there, "sublet: a device is asked for a stream that it does not have");
    }
    void expect(event_type e) const
    {
        bool const is_there = e.number < is_event_.size() && is_event_[e.number];
        SUBLET_EXPECTS(is_there, "sublet: a device is asked for an event that it does not have");
    }

    /// With ones, the NaN of every floating type.
    void paint(std::byte* data, byte_count bytes, stream_type s);

    void report();

    stream_queues queues_;
    stream_pool pool_;
    bool is_painting_;
    bool is_lost_ = false;
    std::vector<bool> is_stream_{}, is_event_{};
    std::uint64_t calls_ = 0, fails_at_ = never, lost_at_ = never;
};

static_assert(stream_device<simulated_device>);
static_assert(takes_digests<simulated_device>);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/stream/impl/simulated_device.ipp>
#endif

#endif
