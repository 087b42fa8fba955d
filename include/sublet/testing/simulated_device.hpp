// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TESTING_SIMULATED_DEVICE_HPP
#define SUBLET_TESTING_SIMULATED_DEVICE_HPP

/// A device with streams in host memory, for tests: executes queued work in any order that streams and events
/// allow, given by the options; reuses bytes as early as they allow; fails on request.

#include <sublet/core/units.hpp>
#include <sublet/execution/device.hpp>
#include <sublet/execution/internal/device_features.hpp>
#include <sublet/testing/detail/stream_pool.hpp>
#include <sublet/testing/detail/stream_queues.hpp>
#include <sublet/testing/simulated_options.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet {

/// A stream_device in host memory for tests.
///
///     sublet::simulated_device device({.order = sublet::simulated_options::order_kind::latest_first});
///     sublet::stream_executor run{device, program, options, sublet::arena{plan}, kernel};
///     run.run();
///
/// Work is queued until a synchronisation. Bytes are painted at allocation and at deallocation, in stream
/// order. A kernel that throws drops all that is queued, like a device in an error state. All calls can fail
/// except `destroy_...` and `deallocate`, which do nothing on a lost device. Memory returns to the upstream
/// source with the destructor.
class simulated_device {
public:
    /// A call failed on request: see fail_after().
    class failure : public std::exception {
    public:
        char const* what() const noexcept override
        {
            return "sublet: a simulated device failed, as requested";
        }
    };

    /// The device is lost: see lose_after().
    class lost : public simulated_device::failure {
    public:
        char const* what() const noexcept override { return "sublet: a simulated device was lost"; }
    };

    /// A stream; the default names none.
    struct stream_type {
        std::uint32_t number = ~std::uint32_t{0}; ///< in the order of creation
        friend bool operator==(stream_type, stream_type) = default;
    };
    /// An event; the default names none.
    struct event_type {
        std::uint32_t number = ~std::uint32_t{0}; ///< in the order of creation
        friend bool operator==(event_type, event_type) = default;
    };

    /// A device without streams and memory.
    explicit simulated_device(simulated_options const& options = {})
        : queues_(options), pool_(options.upstream, options.limit), is_painting_(options.paint)
    {
    }

    // --- failures and counters ----------------------------------------------------------------------------

    /// For fail_after() and lose_after(): no call.
    static constexpr std::uint64_t never = ~std::uint64_t{0};
    /// The call after `calls` more calls that can fail throws simulated_device::failure, once.
    void fail_after(std::uint64_t calls) { fails_at_ = calls == never ? never : calls_ + calls; }
    /// That call and every later one throws simulated_device::lost.
    void lose_after(std::uint64_t calls) { lost_at_ = calls == never ? never : calls_ + calls; }
    /// Number of calls so far that can fail.
    [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }
    /// How many streams are not destroyed.
    [[nodiscard]] std::size_t live_streams() const noexcept { return count(is_stream_); }
    /// How many events are not destroyed.
    [[nodiscard]] std::size_t live_events() const noexcept { return count(is_event_); }
    /// How many commands of s wait to be executed.
    [[nodiscard]] std::size_t queued(stream_type s) const { return queues_.queued(s.number); }
    /// Bytes and allocations, in the order of the streams and from upstream.
    [[nodiscard]] auto const& memory() const noexcept { return pool_.use(); }
    /// Gives memory back to upstream that no queued work can use.
    void trim() { pool_.trim(queues_); }

    // --- a stream_device ----------------------------------------------------------------------------------

    [[nodiscard]] bool is_lost() const noexcept { return is_lost_; }

    [[nodiscard]] stream_type make_stream();
    /// Work that is queued in it is still executed.
    void destroy_stream(stream_type s)
    {
        if (is_lost_) return;
        expect(s);
        is_stream_[s.number] = false;
    }
    [[nodiscard]] event_type make_event();
    /// Queued waits for it remain.
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

    /// Throws: memory_limit_exceeded, and errors of the upstream source.
    [[nodiscard]] std::byte* allocate(byte_count bytes, byte_count alignment, stream_type s);
    void deallocate(std::byte* data, byte_count bytes, byte_count, stream_type s);

    void fill(std::byte* to, std::byte with, byte_count bytes, stream_type s);
    void copy_to_device(std::byte* to, std::span<std::byte const> from, stream_type s);
    void copy_from_device(std::span<std::byte> to, std::byte const* from, stream_type s);
    /// Queues the digest of bytes, to be written there.
    ///
    /// Requires: `digest` can be written when the stream reaches the command.
    void digest(stream_type s, std::span<std::byte const> bytes, std::uint64_t* digest);

    /// Keeps a copy of the call. A kernel that is an lvalue must live until the stream reaches the command.
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
            auto work = [its = std::forward<Kernel>(kernel), what]() mutable { its(what); };
            queues_.push(s.number, step, std::move(work));
        }
    }

    /// Executes all that is queued in s, and what it waits for.
    ///
    /// Throws: run_error with the step of a kernel that threw, in any stream; then the device can be used
    ///         again.
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
        SUBLET_EXPECTS(is_there, "sublet: a command names a stream that the device does not have");
    }
    void expect(event_type e) const
    {
        bool const is_there = e.number < is_event_.size() && is_event_[e.number];
        SUBLET_EXPECTS(is_there, "sublet: a command names an event that the device does not have");
    }

    /// Fills with ones, a NaN in every floating type.
    void paint(std::byte* data, byte_count bytes, stream_type s);

    void report();

    detail::stream_queues queues_;
    detail::stream_pool pool_;
    bool is_painting_;
    bool is_lost_ = false;
    std::vector<bool> is_stream_{}, is_event_{};
    std::uint64_t calls_ = 0, fails_at_ = never, lost_at_ = never;
};

static_assert(stream_device<simulated_device>);
static_assert(detail::takes_digests<simulated_device>);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/testing/impl/simulated_device.ipp>
#endif

#endif
