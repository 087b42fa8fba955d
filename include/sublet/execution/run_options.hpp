// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_RUN_OPTIONS_HPP
#define SUBLET_EXECUTION_RUN_OPTIONS_HPP

/// What an executor is given and what it may throw: options, memory, devices, errors.

#include <sublet/checking/witness.hpp>
#include <sublet/detail/text.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

// --- sentence --------------------------------------------------------------------------------------------

/// What an exception has to say, in a place of its own.
///
///     text_ << "value " << v << " is an input";        what() returns text_.text()
///
/// No allocation when it is written or copied: exceptions are thrown where memory has run out.

namespace sublet::detail {

/// Of bounded length: what does not fit is left out.
class bounded_text {
public:
    char const* text() const noexcept { return text_; }

    bounded_text& operator<<(int) = delete; // it would become a character
    bounded_text& operator<<(char one) noexcept
    {
        if (length_ + 1 < sizeof text_) text_[length_++] = one;
        return *this;
    }
    bounded_text& operator<<(char const* more) noexcept;
    template <integer N>
        requires std::unsigned_integral<N>
    bounded_text& operator<<(N number) noexcept
    {
        plain_text<bounded_text>{*this} << number;
        return *this;
    }

private:
    char text_[320] = {};
    std::size_t length_ = 0;
};

} // namespace sublet::detail

// --- errors ----------------------------------------------------------------------------------------------

/// What can go wrong when a plan is run, each with the ids that tell where.
///
///     before a run   unsound_plan       the plan, or the order, does not hold: here is a witness
///                    unusable_value     storage that the caller owes for a value is not there
///     in a run       run_error          a kernel threw: at which step, and what
///                    allocation_error   a run_error: how many bytes could not be had
///                    clobbered_value    a run_error: whose bytes changed, who found out, who lies over them
///
/// The first two are broken preconditions, and nothing has run.

namespace sublet {
namespace detail {

/// The words of an exception, if it has any.
void write_cause(bounded_text& out, std::exception_ptr const& cause);

} // namespace detail

/// Something that no executor can run: the witness says what is wrong with the plan or the order.
class unsound_plan : public precondition_error {
public:
    explicit unsound_plan(witness const& why) : precondition_error("sublet: a plan is not sound"), why_(why)
    {
        bool const is_order = why.what == fault::used_undefined || why.what == fault::write_moved;
        text_ << (is_order                            ? "sublet: a program cannot run in this order"
                  : why.what == fault::oversized_view ? "sublet: a program cannot run"
                                                      : precondition_error::what())
              << ": " << why;
    }
    char const* what() const noexcept override { return text_.text(); }
    [[nodiscard]] witness const& why() const noexcept { return why_; }

private:
    witness why_;
    detail::bounded_text text_;
};

/// The caller owes storage for a value, or its contents.
class unusable_value : public precondition_error {
public:
    unusable_value(value_id v, char const* what_is_wrong) : precondition_error(what_is_wrong), value_(v)
    {
        text_ << "sublet: value " << v << ' ' << what_is_wrong;
    }
    char const* what() const noexcept override { return text_.text(); }
    [[nodiscard]] value_id value() const noexcept { return value_; }

private:
    value_id value_;
    detail::bounded_text text_;
};

/// A run ended at a step. All storage of the run has been given back, and the executor may run again; what
/// state values hold may be half updated.
class run_error : public std::exception {
public:
    run_error(step_id at, std::exception_ptr cause)
        : run_error(at, cause, detail::bounded_text() << "a kernel threw")
    {
    }
    char const* what() const noexcept override { return text_.text(); }

    /// The program's step; `no_step`: before the first, for an arena or an input.
    [[nodiscard]] step_id step() const noexcept { return step_; }
    /// What was thrown; null where nothing was.
    [[nodiscard]] std::exception_ptr cause() const noexcept { return cause_; }
    /// So many steps that ran at the same time have failed too.
    [[nodiscard]] std::size_t later_failures() const noexcept { return later_failures_; }
    void add_later_failures(std::size_t count) noexcept
    {
        later_failures_ += count;
        if (count != 0) text_ << "; and after it " << count << " more that ran at the same time";
    }

protected:
    run_error(step_id at, std::exception_ptr cause, detail::bounded_text const& what_happened);
    detail::bounded_text text_;

private:
    step_id step_;
    std::exception_ptr cause_;
    std::size_t later_failures_ = 0;
};

class allocation_error : public run_error {
public:
    allocation_error(step_id at, byte_count bytes, std::exception_ptr cause)
        : run_error(at, cause, detail::bounded_text() << bytes << " bytes could not be had"), bytes_(bytes)
    {
    }
    /// That were asked for.
    [[nodiscard]] byte_count bytes() const noexcept { return bytes_; }

private:
    byte_count bytes_;
};

class clobbered_value : public run_error {
public:
    /// The bytes of a value are not what its producer left there.
    struct finding {
        value_id value = no_value;
        step_id producer = no_step; ///< `no_step`: it was given
        step_id reader = no_step;   ///< the first to touch it since; `no_step`: found at the end
        value_id culprit =
            no_value; ///< lies over those bytes; `no_value`: nothing does, a kernel wrote too far
        step_id culprit_step = no_step; ///< that writes it, or during which it happened
        friend bool operator==(clobbered_value::finding const&, clobbered_value::finding const&) = default;
    };

    explicit clobbered_value(clobbered_value::finding const& what);
    [[nodiscard]] clobbered_value::finding const& details() const noexcept { return what_; }

private:
    clobbered_value::finding what_;
};

} // namespace sublet

// --- short lock ------------------------------------------------------------------------------------------

/// A lock that is held for a few instructions, and that is open when nobody else is there.
///
///     0 open ──lock──► 1 taken ──somebody waits──► 2 taken, wake one when it is given back
///                         ▲                                             │
///                         └──────────── looked again for a while ◄──────┘
///
/// Who comes while it is taken looks again for a while, because it will be open soon, and then sleeps.
/// std::mutex would do as well, but its header brings text and clocks to everybody who includes this one.
///
/// Source: Drepper, "Futexes are tricky", 2005 (the second of its mutexes).

namespace sublet::detail {

/// Tell the processor that this thread waits for another.
inline void pause_briefly() noexcept
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

class adaptive_mutex {
public:
    adaptive_mutex() = default;
    // A lock belongs to what it guards: a copy of that has one of its own, and it is open.
    adaptive_mutex(adaptive_mutex const&) noexcept {}
    adaptive_mutex& operator=(adaptive_mutex const&) noexcept { return *this; }

    void lock() noexcept
    {
        for (int spins = 0; spins != 100; ++spins) {
            std::uint32_t open = 0;
            if (state_.load(std::memory_order_relaxed) == 0 &&
                state_.compare_exchange_strong(open, 1, std::memory_order_acquire, std::memory_order_relaxed))
                return;
            pause_briefly();
        }
        while (state_.exchange(2, std::memory_order_acquire) != 0) state_.wait(2, std::memory_order_relaxed);
    }
    void unlock() noexcept
    {
        if (state_.exchange(0, std::memory_order_release) == 2) state_.notify_one();
    }

private:
    std::atomic<std::uint32_t> state_{0};
};

/// Holds a lock as long as it exists; a null pointer is no lock.
template <class Lock>
class scoped_lock {
public:
    explicit scoped_lock(Lock* lock) noexcept : lock_(lock)
    {
        if (lock_ != nullptr) lock_->lock();
    }
    scoped_lock(scoped_lock const&) = delete;
    scoped_lock& operator=(scoped_lock const&) = delete;
    ~scoped_lock()
    {
        if (lock_ != nullptr) lock_->unlock();
    }

private:
    Lock* lock_;
};

} // namespace sublet::detail

// --- memory ----------------------------------------------------------------------------------------------

/// Where storage comes from, how much of it there may be, and what was taken.
///
///     your memory resource ──► counted_memory ──► storage of values
///     new and delete               │
///                                  └─ refuses what would exceed the limit; live, peak, total
///
/// Any `std::pmr::memory_resource` will do, and so will every type with its two members: <memory_resource>
/// is therefore not included here.

namespace sublet {
namespace detail {

/// Semantics:       as of std::pmr::memory_resource; alignments are powers of two.
/// Ordinary models: every std::pmr::memory_resource.
template <class R>
concept memory_resource_like = requires(R& resource, void* block, std::size_t count) {
                                   {
                                       resource.allocate(count, count)
                                       } -> std::convertible_to<void*>;
                                   resource.deallocate(block, count, count);
                               };

/// Refers to a memory resource of any type; without one it is the free store.
class memory_source {
public:
    constexpr memory_source() noexcept = default;

    /// Requires: the resource outlives everything that was allocated from it.
    /// Throws:   precondition_error for a null pointer.
    template <class R>
        requires(!std::same_as<R, memory_source>)
    memory_source(R const& pointer)
    {
        using resource = std::remove_pointer_t<R>;
        constexpr bool is_pointer_to_resource =
            std::is_pointer_v<R> && detail::memory_resource_like<resource>;
        // No compiler names the wrong member of a braced options object: this sentence does.
        static_assert(
            is_pointer_to_resource,
            "sublet: storage comes from a pointer to a std::pmr::memory_resource, or to a type with "
            "its allocate and deallocate");
        if constexpr (is_pointer_to_resource) {
            SUBLET_EXPECTS(pointer != nullptr, "sublet: a memory resource is a null pointer");
            resource_ = pointer;
            actions_ = &actions_of<resource>;
        }
    }

    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) const
    {
        return actions_->allocate(resource_, bytes, alignment);
    }
    void deallocate(void* block, std::size_t bytes, std::size_t alignment) const
    {
        actions_->deallocate(resource_, block, bytes, alignment);
    }

private:
    struct actions {
        void* (*allocate)(void*, std::size_t, std::size_t);
        void (*deallocate)(void*, void*, std::size_t, std::size_t);
    };
    template <class R>
    static constexpr actions actions_of{[](void* r, std::size_t bytes, std::size_t alignment) -> void* {
                                            return static_cast<R*>(r)->allocate(bytes, alignment);
                                        },
                                        [](void* r, void* block, std::size_t bytes, std::size_t alignment) {
                                            static_cast<R*>(r)->deallocate(block, bytes, alignment);
                                        }};
    // An alignment that every block has anyway is not asked for: that way is longer.
    static void* allocate_free(void*, std::size_t bytes, std::size_t alignment);
    static void deallocate_free(void*, void* block, std::size_t, std::size_t alignment);
    static constexpr actions free_store{allocate_free, deallocate_free};

    void* resource_ = nullptr;
    actions const* actions_ = &free_store;
};

/// What was refused because it would have exceeded the limit; nothing was asked of the resource.
class memory_limit_exceeded : public std::bad_alloc {
public:
    memory_limit_exceeded(byte_count requested, byte_count live, byte_count limit) noexcept
        : requested_(requested), live_(live), limit_(limit)
    {
        text_ << "sublet: " << requested << " bytes more than the " << live
              << " that are allocated would exceed the limit of " << limit;
    }
    char const* what() const noexcept override { return text_.text(); }
    [[nodiscard]] byte_count requested() const noexcept { return requested_; }
    [[nodiscard]] byte_count live() const noexcept { return live_; }
    [[nodiscard]] byte_count limit() const noexcept { return limit_; }

private:
    byte_count requested_, live_, limit_;
    detail::bounded_text text_;
};

struct counter {
    std::uint64_t live = 0;  ///< now
    std::uint64_t peak = 0;  ///< most at any time
    std::uint64_t total = 0; ///< all that ever came
    friend bool operator==(counter const&, counter const&) = default;

    constexpr void add(std::uint64_t amount) noexcept
    {
        live += amount;
        total += amount;
        peak = std::max(peak, live);
    }
    constexpr void remove(std::uint64_t amount) noexcept { live -= amount; }
};

struct memory_use {
    detail::counter bytes;
    detail::counter allocations;
    friend bool operator==(memory_use const&, memory_use const&) = default;
};

/// Allocates from a source, within a limit, and counts.
///
/// Threads may share it when it has been told so: one at a time then asks the source, which has to be safe
/// for threads only if others use it too. So the limit and the peaks are as exact as they are for one thread.
class counted_memory {
public:
    explicit counted_memory(memory_source source = {}, byte_count limit = no_limit)
        : source_(source), limit_(limit)
    {
    }

    /// From now on several threads may use it at once.
    void share() noexcept;

    /// Requires: a power of two as alignment.
    /// Throws:   out_of_budget if more than the limit would be live; whatever the source throws. Then nothing
    ///           has changed.
    [[nodiscard]] void* allocate(byte_count bytes, byte_count alignment);
    void deallocate(void* block, byte_count bytes, byte_count alignment);

    /// Since it was made.
    [[nodiscard]] memory_use use() const noexcept
    {
        detail::scoped_lock const guard(lock());
        return use_;
    }
    /// Since the last mark; what was live then counts for the peaks.
    [[nodiscard]] memory_use use_since_mark() const noexcept
    {
        detail::scoped_lock const guard(lock());
        return since_mark_;
    }
    void mark() noexcept;

private:
    detail::adaptive_mutex* lock() const noexcept { return is_shared_ ? &lock_ : nullptr; }

    memory_source source_;
    byte_count limit_;
    memory_use use_, since_mark_;
    bool is_shared_ = false;
    mutable detail::adaptive_mutex lock_;
};

} // namespace detail

// --- device ----------------------------------------------------------------------------------------------

/// What we ask of a machine that takes commands on streams and carries them out when it comes to it.
///
///     stream 0   launch a ── record e ────────── launch c        of one stream, one after the other;
///     stream 1               wait e ── launch b                  of two, in no order but that of events
///
/// A CUDA device is one, and so is a simulation in host memory that takes every liberty which streams allow.

/// Commands return when they are queued. Handles are small regular values.
///
/// Semantics:    `wait(s, e)`: what is queued in s from now on comes after what was queued before the last
///               `record(e, ...)`; an event that was never recorded is waited for by nobody. Bytes that are
///               allocated in s may be used by what is queued there from now on, and by all that comes after
///               it; bytes given back in s must not be used by anything that need not come before that.
///               The source of a copy to the device may be changed when the call returns; what is copied from
///               it is there after `synchronize`. Errors of commands may come with any later call.
/// Throws:       whatever the device has to say; `destroy_...`, and `deallocate` of a lost device, nothing.
/// Ordinary models: simulated_device, recording_device, cuda_device.
template <class D>
concept stream_device = requires(D& device, typename D::stream_type s, typename D::event_type e, std::byte* p,
                                 std::span<std::byte const> from, std::span<std::byte> to, byte_count n) {
                            {
                                device.make_stream()
                                } -> std::same_as<typename D::stream_type>;
                            {
                                device.make_event()
                                } -> std::same_as<typename D::event_type>;
                            device.destroy_stream(s);
                            device.destroy_event(e);
                            device.record(e, s);
                            device.wait(s, e);
                            {
                                device.allocate(n, n, s)
                                } -> std::same_as<std::byte*>; // bytes, alignment
                            device.deallocate(p, n, n, s);
                            device.fill(p, std::byte{}, n, s);
                            device.copy_to_device(p, from, s);
                            device.copy_from_device(to, p, s);
                            device.synchronize(s);
                            device.synchronize();
                            {
                                device.is_lost()
                                } -> std::convertible_to<bool>;
                        };

namespace detail {

/// Besides, `device.launch(s, kernel, call)`: kernel(call), now if it queues its work in s itself, or when
/// the stream comes to it.
template <class D, class Kernel, class Call>
concept launches = requires(D& device, typename D::stream_type s, Kernel& kernel, Call const& call) {
                       device.launch(s, kernel, call);
                   };

/// Besides, if values are to be compared with what their producer left: the digest of bytes on the device is
/// written, on the stream, to a place that the host can read after `synchronize`.
template <class D>
concept takes_digests = requires(D& device, typename D::stream_type s, std::span<std::byte const> bytes,
                                 std::uint64_t* digest) { device.digest(s, bytes, digest); };

// --- capture ---------------------------------------------------------------------------------------------

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

} // namespace detail

/// One run of an executor, as the device keeps it. The executor has to outlive it.
template <class Executor, class Graph>
class captured_run {
public:
    captured_run(Executor& executor, Graph graph, std::size_t rebinds)
        : executor_(&executor), graph_(std::move(graph)), rebinds_(rebinds)
    {
    }

    /// Queues the run, as run_async() does.
    ///
    /// Requires: no other storage has been bound since it was captured; and but for arenas, nothing of the
    ///           executor has failed since, as then what was there for inputs and outputs has been given
    ///           back.
    /// Throws:   precondition_error where a requirement is broken; as run_async().
    void launch() { executor_->launch(graph_, rebinds_); }

private:
    Executor* executor_;
    Graph graph_;
    std::size_t rebinds_; // of the executor's storage, when it was captured
};

// --- run options -----------------------------------------------------------------------------------------

/// What is asked of a run, and what it reports.
///
///     {.check = executor_options::checks::digest, .limit = 64 << 20}   ──►   run   ──► report.run.bytes.peak
///
/// The same for every executor: on one thread, on several, on streams.

/// Which of the steps that are ready is next: the first in the plan, the one that is ready longest or
/// shortest, any, or as an order that is given has it.
enum class queue_policy : std::uint8_t { plan_order, fifo, lifo, random, given };

struct executor_options {
    /// How closely a run is watched; each level does what those before it do.
    enum class checks : std::uint8_t {
        off,   ///< the plan is trusted
        plan,  ///< the plan is proved before it is run
        paint, ///< dead bytes are painted with ones, the NaN of every floating type (or poisoned)
        digest ///< a value that changes between two touches is found, and who did it
    };

    executor_options::checks check = executor_options::checks::plan;
    bool prove = true;                   ///< false: at any level, run even what the plan check would refuse
    byte_count limit = no_limit;         ///< of what is allocated at once
    detail::memory_source upstream = {}; ///< a pointer to any std::pmr::memory_resource
    per_value<bool> scratch = false;     ///< defined by one step and used by none
};

struct run_report {
    detail::memory_use run;     ///< while running; peaks count what was there before as well
    byte_count reserved = 0;    ///< held from run to run: the arenas, as they were allocated
    byte_count plan_bytes = 0;  ///< what the plan asks for; 0 without one
    byte_count lower_bound = 0; ///< what no plan in this order goes below: the peaks of all pools
    std::size_t steps = 0;
    std::size_t workers = 1;  ///< threads, or streams
    std::size_t waits = 0;    ///< pairs of steps that are made to wait for each other; on streams: commands
    std::size_t handoffs = 0; ///< pairs that do so because of memory and nothing else
    std::size_t events = 0;   ///< by which streams wait for each other
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/run_options.ipp>
#endif

#endif
