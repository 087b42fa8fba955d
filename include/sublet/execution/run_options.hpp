// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_RUN_OPTIONS_HPP
#define SUBLET_EXECUTION_RUN_OPTIONS_HPP

/// What all executors share: options and report of a run, errors with step and values, a counted memory
/// source with an exact limit, a futex lock after Drepper, "Futexes are tricky", 2005, and the concepts of a
/// device with streams, events and graphs. Exceptions allocate nothing.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

// --- bounded text ----------------------------------------------------------------------------------------

/// The message of an exception, without allocations, since exceptions report failed ones.
///
///     text_ << "value " << v << " is an input";        what() returns text_.text()

namespace sublet::detail {

/// Characters that do not fit are dropped.
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
    template <kind K>
    bounded_text& operator<<(id<K> number) noexcept
    {
        return *this << +number;
    }

private:
    char text_[320] = {};
    std::size_t length_ = 0;
};

} // namespace sublet::detail

// --- errors ----------------------------------------------------------------------------------------------

/// The errors of a run, with the ids of the step and the values.
///
///     before a run   unsound_plan       the plan or the order is invalid, with a counterexample
///                    unusable_value     the caller has not supplied storage or contents of a value
///     in a run       run_error          a kernel threw: the step and the exception
///                    allocation_error   a run_error: an allocation failed, with its bytes
///                    clobbered_value    a run_error: a value changed: its reader and the culprit
///
/// The first two are broken preconditions, and no step has run.

namespace sublet {
namespace detail {

void write_cause(bounded_text& out, std::exception_ptr const& cause);

} // namespace detail

/// The plan is not valid, or the program cannot run in its order; no step has run.
class unsound_plan : public precondition_error {
public:
    /// Copies the counterexample.
    explicit unsound_plan(counterexample const& why)
        : precondition_error("sublet: a plan is not sound"), why_(std::make_shared<counterexample const>(why))
    {
        bool const is_order = why.what == fault::used_undefined || why.what == fault::write_moved;
        text_ << (is_order                            ? "sublet: a program cannot run in this order"
                  : why.what == fault::oversized_view ? "sublet: a program cannot run"
                                                      : precondition_error::what())
              << ": " << why;
    }
    char const* what() const noexcept override { return text_.text(); }
    /// The counterexample; it lives as long as the exception or a copy.
    [[nodiscard]] counterexample const& why() const noexcept { return *why_; }

private:
    std::shared_ptr<counterexample const> why_; // so that copies of the exception do not throw
    detail::bounded_text text_;
};

/// The caller has not supplied a value, or not as the program requires; no step has run.
class unusable_value : public precondition_error {
public:
    /// `what_is_wrong` completes the sentence.
    unusable_value(value_id v, char const* what_is_wrong) : precondition_error(what_is_wrong), value_(v)
    {
        text_ << "sublet: value " << v << ' ' << what_is_wrong;
    }
    char const* what() const noexcept override { return text_.text(); }
    /// The value that is meant.
    [[nodiscard]] value_id value() const noexcept { return value_; }

private:
    value_id value_;
    detail::bounded_text text_;
};

/// A run ended at a step. All storage of the run is released, and the executor may run again; state values
/// may be partly updated.
class run_error : public std::exception {
public:
    /// A kernel threw at a step.
    run_error(step_id at, std::exception_ptr cause)
        : run_error(at, cause, detail::bounded_text() << "a kernel threw")
    {
    }
    char const* what() const noexcept override { return text_.text(); }

    /// A step of the program; `no_step`: before the first, for an arena or an input.
    [[nodiscard]] step_id step() const noexcept { return step_; }
    /// The exception that was thrown, or null.
    [[nodiscard]] std::exception_ptr cause() const noexcept { return cause_; }
    /// How many steps that ran at the same time failed too.
    [[nodiscard]] std::size_t later_failures() const noexcept { return later_failures_; }
    /// Counts failures of steps that ran at the same time.
    void add_later_failures(std::size_t count) noexcept
    {
        later_failures_ += count;
        if (count != 0) text_ << "; of the steps that ran at the same time, " << count << " more failed";
    }

protected:
    run_error(step_id at, std::exception_ptr cause, detail::bounded_text const& what_happened);
    detail::bounded_text text_;

private:
    step_id step_;
    std::exception_ptr cause_;
    std::size_t later_failures_ = 0;
};

/// An allocation failed, at construction or in a run.
class allocation_error : public run_error {
public:
    /// `cause` is what the source of memory threw, or null.
    allocation_error(step_id at, byte_count bytes, std::exception_ptr cause)
        : run_error(at, cause, detail::bounded_text() << bytes << " bytes could not be allocated"),
          bytes_(bytes)
    {
    }
    /// How many bytes were asked for.
    [[nodiscard]] byte_count bytes() const noexcept { return bytes_; }

private:
    byte_count bytes_;
};

/// A value changed between the step that wrote it and a step that reads it.
class clobbered_value : public run_error {
public:
    /// The bytes of a value have changed since its producer wrote them.
    struct finding {
        value_id value = no_value;      ///< the value that has changed
        step_id producer = no_step;     ///< `no_step`: the value was given
        step_id reader = no_step;       ///< the first to touch it since; `no_step`: found at the end
        value_id culprit = no_value;    ///< overlaps those bytes; `no_value`: none, a kernel wrote too far
        step_id culprit_step = no_step; ///< writes the culprit, or ran when the bytes changed
        friend bool operator==(clobbered_value::finding const&, clobbered_value::finding const&) = default;
    };

    /// Made by a run with executor_options::checks::digest.
    explicit clobbered_value(clobbered_value::finding const& what);
    /// What is known of it.
    [[nodiscard]] clobbered_value::finding const& details() const noexcept { return what_; }

private:
    clobbered_value::finding what_;
};

} // namespace sublet

// --- adaptive mutex --------------------------------------------------------------------------------------

/// A lock for a few instructions: a waiting thread spins for a while, then sleeps.
///
///     0 open ──lock──► 1 taken ──a thread waits──► 2 taken, wake one at unlock
///                         ▲                                     │
///                         └────────── spins for a while ◄───────┘
///
/// Replaces std::mutex because <mutex> includes strings and clocks.

namespace sublet::detail {

inline void pause_briefly() noexcept
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

class adaptive_mutex {
public:
    adaptive_mutex() = default;
    // A copy of a guarded object has a lock of its own, which is open.
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

/// Holds a lock while it exists; with a null pointer it holds none.
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

/// The source of storage, its limit, and counts of what was allocated.
///
///     your memory resource ──► counted_memory ──► storage of values
///     new and delete               │
///                                  └─ throws if the limit would be exceeded; live, peak, total
///
/// Takes any `std::pmr::memory_resource` and any type with its two members, without <memory_resource>.

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

/// Refers to a memory resource of any type; by default the free store.
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
        // Compilers do not name the wrong member of a braced options object; this message does.
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
    // Alignments up to the default use plain new, which is faster.
    static void* allocate_free(void*, std::size_t bytes, std::size_t alignment);
    static void deallocate_free(void*, void* block, std::size_t, std::size_t alignment);
    static constexpr actions free_store{allocate_free, deallocate_free};

    void* resource_ = nullptr;
    actions const* actions_ = &free_store;
};

/// An allocation would have exceeded the limit; the resource was not called.
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
    std::uint64_t live = 0;  ///< current
    std::uint64_t peak = 0;  ///< maximum
    std::uint64_t total = 0; ///< sum of all additions
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

/// Allocates from a source within a limit, and counts. After share(), threads may use it concurrently: a lock
/// serialises the calls of the source, which must be thread-safe only if others use it too. Limit and peaks
/// are exact.
class counted_memory {
public:
    explicit counted_memory(memory_source source = {}, byte_count limit = no_limit)
        : source_(source), limit_(limit)
    {
    }

    void share() noexcept;

    /// Requires: the alignment is a power of two.
    /// Throws:   memory_limit_exceeded if more than the limit would be live; whatever the source throws. Then
    ///           nothing has changed.
    [[nodiscard]] void* allocate(byte_count bytes, byte_count alignment);
    void deallocate(void* block, byte_count bytes, byte_count alignment);

    /// Since construction.
    [[nodiscard]] memory_use use() const noexcept
    {
        detail::scoped_lock const guard(lock());
        return use_;
    }
    /// Since the last mark(); the peaks include what was live then.
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

/// The requirements on a device that queues commands on streams.
///
///     stream 0   launch a ── record e ────────── launch c        in order within a stream
///     stream 1               wait e ── launch b                  between streams, ordered by events only

/// Commands return when they are queued. Handles are small regular values.
///
/// Semantics:    `wait(s, e)`: work queued in s after it runs after all work queued before the last
///               `record(e, ...)`; for an event that was never recorded it has no effect. Bytes allocated in
///               s may be used by work queued in s later, and by all work ordered after that; every use must
///               be ordered before their deallocation. The source of a copy to the device may be changed when
///               the call returns; a copy from the device is complete after `synchronize`. Errors of commands
///               may be reported by any later call.
/// Throws:       any error of the device; `destroy_...`, and `deallocate` of a lost device, nothing.
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

/// Also has `device.launch(s, kernel, call)`: calls kernel(call), at once if the kernel queues its work in s
/// itself, or when the stream reaches it.
template <class D, class Kernel, class Call>
concept launches = requires(D& device, typename D::stream_type s, Kernel& kernel, Call const& call) {
                       device.launch(s, kernel, call);
                   };

/// Also computes digests on a stream, and writes them to memory that the host can read after `synchronize`.
template <class D>
concept takes_digests = requires(D& device, typename D::stream_type s, std::span<std::byte const> bytes,
                                 std::uint64_t* digest) { device.digest(s, bytes, digest); };

// --- capture ---------------------------------------------------------------------------------------------

/// A run that is issued once and kept by the device as a graph, which one command launches.
///
///     sublet::stream_executor run{device, program, options, sublet::arena{plan}, kernel};
///     auto captured = run.capture();
///     for (auto const& image : images) {
///         run.give(input, image);
///         captured.launch();
///     }
///
/// A graph contains addresses, so all storage of a run must stay where it was at capture: in arenas, or in
/// blocks that are kept between runs.

/// Semantics: a capture that `begin_capture(s)` begins includes s, and every other stream from its first wait
///            for an event that is recorded in the capture. `abandon_capture(s)` throws nothing.
template <class D>
concept captures_graphs = stream_device<D> && requires(D& device, typename D::stream_type s) {
                                                  device.begin_capture(s);
                                                  device.end_capture(s).launch(s);
                                                  device.abandon_capture(s);
                                              };

/// Semantics: `end_capture(s, graph)` ends a capture that `graph`, of an earlier one, launches from then on.
///            If it throws, the graph is as before.
template <class D>
concept updates_graphs =
    captures_graphs<D> && requires(D& device, typename D::stream_type s,
                                   decltype(device.end_capture(s))& graph) { device.end_capture(s, graph); };

/// What makes several commands of a device cheaper while it exists; for most devices nothing.
template <class D>
auto batch_of(D& device)
{
    if constexpr (requires { device.batch(); }) return device.batch();
    else return true;
}

} // namespace detail

/// One run of an executor as a graph of the device. The executor must outlive it.
template <class Executor, class Graph>
class captured_run {
public:
    /// Made by stream_executor::capture().
    captured_run(Executor& executor, Graph graph, std::size_t rebinds, std::size_t number)
        : executor_(&executor), graph_(std::move(graph)), rebinds_(rebinds), number_(number)
    {
    }

    /// Queues the run, as run_async() does. If storage has moved since the last launch, because other storage
    /// was bound or, without arenas, because a run failed, it first waits for runs and captures again.
    /// Requires: storage has not moved, unless the device updates graphs, as cuda_device does.
    /// Throws:   precondition_error where a requirement is broken; as run_async() and
    ///           stream_executor::capture().
    void launch() { executor_->launch(graph_, rebinds_, number_); }

private:
    Executor* executor_;
    Graph graph_;
    std::size_t rebinds_; // of the executor, when it was captured
    std::size_t number_;  // of its operands
};

// --- run options -----------------------------------------------------------------------------------------

/// The options of a run, and its report.
///
///     {.check = executor_options::checks::digest, .limit = 64 << 20}   ──►   run   ──► report.run.bytes.peak

/// Which ready step runs next: the first in plan order, the one that is ready longest, the one that became
/// ready last, a random one, or the next of a given order.
enum class queue_policy : std::uint8_t { plan_order, fifo, lifo, random, given };

/// How a run is checked, and where its memory comes from.
struct executor_options {
    /// How much of a run is checked; each level includes those before it.
    enum class checks : std::uint8_t {
        off,   ///< no check
        plan,  ///< the plan is checked before it is run
        paint, ///< dead bytes are painted with ones, a NaN in every floating type (or poisoned)
        digest ///< a value that changes between two touches is reported, with the value that overlaps it
    };

    executor_options::checks check = executor_options::checks::plan; ///< how much is checked
    bool prove = true;                   ///< false: at every level, skip the check of the plan
    byte_count limit = no_limit;         ///< of bytes allocated at the same time
    detail::memory_source upstream = {}; ///< a pointer to any std::pmr::memory_resource
    per_value<bool> scratch = false;     ///< defined by one step and used by none
};

/// What a run took, and what its plan promised.
struct run_report {
    detail::memory_use run;     ///< during the run; peaks include what was allocated before
    byte_count reserved = 0;    ///< bytes of the arenas, which are kept between runs
    byte_count plan_bytes = 0;  ///< sum of the arenas of the plan; 0 without one
    byte_count lower_bound = 0; ///< of every plan for this order: the sum of the live peaks of the pools
    std::size_t steps = 0;      ///< that ran
    std::size_t workers = 1;  ///< threads, or streams
    std::size_t waits = 0;    ///< pairs of steps that are ordered by a wait; on streams: wait commands
    std::size_t handoffs = 0; ///< the pairs that are ordered because of memory only
    std::size_t events = 0;   ///< recorded and waited for between streams
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/run_options.ipp>
#endif

#endif
