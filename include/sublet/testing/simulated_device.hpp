// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TESTING_SIMULATED_DEVICE_HPP
#define SUBLET_TESTING_SIMULATED_DEVICE_HPP

/// A device with streams in host memory, for tests: executes queued work in any order that streams and events
/// allow, given by the options; reuses bytes as early as they allow; fails on request.

#include <sublet/core/units.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/storage.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

// --- queues ----------------------------------------------------------------------------------------------

/// Queues of deferred work, executed one command at a time in an order that exposes missing waits.
///
///     stream 0   a   b  (e)  c          in turn        a d b | e is reached: f  c
///     stream 1   d  <e>  f              latest first   d a b f c
///                                       starve 1       a b c d f
///
/// A program that is correct only by the timing of a machine fails in one of these orders, reproducibly.
///
/// An event is a point of a stream: the number of commands queued there when it was recorded. A wait blocks
/// until so many are done. Vector clocks give the order without execution: for each stream, how many commands
/// of every other stream happen before its next one.

namespace sublet {

/// The order in which queued work is executed, and the memory that there is.
struct simulated_options {
    /// Which runnable stream executes its next command.
    enum class order_kind : std::uint8_t {
        eager,        ///< all work is executed when it is queued
        in_turn,      ///< one command of each, cyclically
        random,       ///< random, by the seed
        latest_first, ///< the one with the most recently queued next command
        favour,       ///< stream `which` while it is runnable, otherwise the others in turn
        starve        ///< stream `which` only when no other is runnable, otherwise in turn
    };

    /// Which stream executes its next command.
    simulated_options::order_kind order = simulated_options::order_kind::in_turn;
    std::uint64_t seed = 0;      ///< of random
    std::uint32_t which = 0;     ///< the stream to favour or starve, by order of creation
    step_id postponed = no_step; ///< executed only when no other command can be
    bool paint = true;           ///< bytes at allocation and at deallocation
    detail::memory_source upstream = {}; ///< where its memory comes from
    byte_count limit = no_limit; ///< of bytes allocated from upstream
};

namespace detail {

/// Move-only type erasure for work; std::function needs copies, and its header.
class queued_work {
public:
    queued_work() = default;
    template <class Work>
        requires(!std::same_as<Work, queued_work>)
    explicit queued_work(Work work)
        : work_(new Work(std::move(work))), run_([](void* w) { (*static_cast<Work*>(w))(); }),
          drop_([](void* w) noexcept { delete static_cast<Work*>(w); })
    {
    }
    queued_work(queued_work&& other) noexcept;
    queued_work& operator=(queued_work&& other) noexcept;
    ~queued_work()
    {
        if (work_ != nullptr) drop_(work_);
    }
    void operator()()
    {
        if (work_ != nullptr) run_(work_);
    }

private:
    void* work_ = nullptr;
    void (*run_)(void*) = nullptr;
    void (*drop_)(void*) noexcept = nullptr;
};

/// A point of a stream: `done` of its commands are done.
struct stream_point {
    std::uint32_t stream = 0;
    std::uint64_t done = 0;
};

/// Streams and events by number; numbers of destroyed ones are not reused. Work that throws drops all that is
/// queued, and everything queued until `forget_failure()`.
class stream_queues {
public:
    explicit stream_queues(simulated_options const& options) : options_(options), random_state_(options.seed)
    {
    }

    std::uint32_t add_stream();
    std::uint32_t add_event();
    [[nodiscard]] std::size_t streams() const { return streams_.size(); }
    [[nodiscard]] std::size_t events() const { return events_.size(); }
    [[nodiscard]] std::size_t queued(std::uint32_t stream) const { return streams_[stream].queued(); }

    /// Queues work for a step (or `no_step`).
    template <class Work>
    void push(std::uint32_t stream, step_id step, Work work)
    {
        append(stream, {.step = step, .work = detail::queued_work(std::move(work))});
    }

    void record(std::uint32_t event, std::uint32_t stream)
    {
        events_[event] = {.at = now(stream), .clock = streams_[stream].clock};
        advance(events_[event].clock, events_[event].at);
    }
    void wait(std::uint32_t stream, std::uint32_t event);

    /// The point at which all that is queued in a stream now is done.
    [[nodiscard]] stream_point now(std::uint32_t stream) const { return {stream, streams_[stream].issued}; }

    /// Whether the next command queued in the stream happens after the point, or the point is reached.
    [[nodiscard]] bool comes_after(std::uint32_t stream, stream_point point) const;
    [[nodiscard]] bool is_reached(stream_point point) const;

    /// Executes until a stream is empty; other streams make progress by the order.
    void drain(std::uint32_t stream);
    void drain();
    void drop() noexcept;

    [[nodiscard]] std::exception_ptr failure() const { return failure_; }
    [[nodiscard]] step_id failed_step() const { return failed_step_; }
    void forget_failure() { failure_ = nullptr; }

private:
    struct command {
        std::uint64_t number = 0; // in the order of queueing, over all streams
        step_id step = no_step;
        bool is_wait = false;
        stream_point waits_for{};
        detail::queued_work work{};
    };
    struct stream_queue {
        std::vector<command> queue{}; // from `next` on
        std::size_t next = 0;
        std::uint64_t issued = 0, done = 0;
        std::vector<std::uint64_t> clock{}; // by stream: commands that happen before the next one queued

        std::size_t queued() const { return queue.size() - next; }
        command const& front() const { return queue[next]; }
        command take()
        {
            command taken = std::move(queue[next++]);
            if (next != queue.size()) return taken;
            queue.clear();
            next = 0;
            return taken;
        }
    };
    struct event_state {
        stream_point at{};
        std::vector<std::uint64_t> clock{}; // empty: never recorded
    };

    static void advance(std::vector<std::uint64_t>& clock, stream_point to);

    void append(std::uint32_t stream, command what);

    bool is_runnable(std::uint32_t stream) const
    {
        stream_queue const& its = streams_[stream];
        return its.queued() != 0 && is_reached(its.front().waits_for);
    }
    /// A stream that runs only when no other can.
    bool is_deferred(std::uint32_t stream) const
    {
        bool const is_starved =
            options_.order == simulated_options::order_kind::starve && stream == options_.which;
        step_id const step = streams_[stream].front().step;
        return is_starved || (step != no_step && step == options_.postponed);
    }

    /// Removes satisfied waits from the fronts of the queues.
    void retire_waits();

    /// One is always runnable: a wait is for work that was queued before it.
    std::uint32_t next_stream();

    void run_one();

    /// The next pseudorandom number (Steele, Lea and Flood, OOPSLA 2014).
    std::size_t random_below(std::size_t count);

    simulated_options options_;
    std::uint64_t random_state_;
    std::vector<stream_queue> streams_{};
    std::vector<event_state> events_{};
    std::vector<std::uint32_t> runnable_{};
    std::uint64_t pushed_ = 0;
    std::uint32_t last_ = ~std::uint32_t{0}; // so that stream 0 is the first
    std::exception_ptr failure_{};
    step_id failed_step_ = no_step;
};

// --- pool ------------------------------------------------------------------------------------------------

/// A stream-ordered memory pool: allocates and frees while the work that uses the bytes is still queued.
///
///     stream 0   p = allocate   work on p   deallocate p   record e
///     stream 1                                             wait e     q = allocate     q may be p
///     stream 2                                                        r = allocate     r may not
///
/// Bytes freed in stream a may be reused in a at once, and in b as soon as the next command of b happens
/// after the free, by an event of a or of a stream that waited for a. So each free block keeps the stream
/// point at which it was freed. Blocks are split from chunks of the source: best fit, ties to the block freed
/// last. Free neighbours coalesce when one point happens after the other. Chunks are kept until `trim()`.

struct stream_pool_use {
    byte_count used = 0, used_high = 0;         ///< by live blocks
    byte_count reserved = 0, reserved_high = 0; ///< allocated from the source
    std::size_t blocks = 0;                     ///< live blocks
    std::uint64_t reused = 0;                   ///< allocations from bytes that were used before
};

/// Requires: all calls get the same `stream_queues`.
class stream_pool {
public:
    explicit stream_pool(memory_source source = {}, byte_count limit = no_limit) : source_(source, limit) {}
    stream_pool(stream_pool const&) = delete;
    stream_pool& operator=(stream_pool const&) = delete;
    ~stream_pool();

    /// As stream_device requires it; from upstream, unless released bytes can be used in the stream.
    ///
    /// Complexity: O(blocks).
    /// Throws:     errors of the source, memory_limit_exceeded; executes all queued work before it does.
    [[nodiscard]] std::byte* allocate(byte_count bytes, byte_count alignment, std::uint32_t stream,
                                      stream_queues& queues);

    /// Throws: precondition_error for bytes that are not allocated, or not with this size.
    void expect_taken(std::byte const* data, byte_count bytes) const;

    /// Throws: as expect_taken().
    void deallocate(std::byte* data, byte_count bytes, std::uint32_t stream, stream_queues const& queues);

    /// Returns chunks without live or pending blocks to the source.
    void trim(stream_queues const& queues);

    [[nodiscard]] stream_pool_use const& use() const noexcept { return use_; }

private:
    struct block {
        std::byte* begin = nullptr;
        byte_count size = 0;
        std::byte* chunk = nullptr; // begin of its chunk
        bool is_free = true;
        bool was_used = false;
        stream_point freed_at{};
        std::uint64_t number = 0; // in the order of frees
    };
    struct chunk {
        std::byte* begin;
        byte_count size, alignment;
    };

    static byte_count address(std::byte const* data);
    static byte_count gap_before(block const& b, byte_count alignment)
    {
        return align_up(address(b.begin), alignment) - address(b.begin);
    }

    std::size_t position_of(std::byte const* data) const;

    std::size_t best_fit(byte_count bytes, byte_count alignment, std::uint32_t stream,
                         stream_queues const& queues) const;

    /// Adds a chunk when no block fits; none if executing queued work made one fit.
    std::size_t add_chunk(byte_count bytes, byte_count alignment, stream_queues& queues);

    std::byte* take(std::size_t at, byte_count bytes, byte_count alignment);

    /// Splits a block after its first bytes; both parts keep the point of its free.
    void split(std::size_t at, byte_count bytes);

    /// Merges a block with the next one, if both are free and one point happens after the other.
    void coalesce(std::size_t at, stream_queues const& queues);

    counted_memory source_;
    std::vector<block> blocks_{}; // by address
    std::vector<chunk> chunks_{};
    stream_pool_use use_{};
    std::uint64_t free_count_ = 0;
};

} // namespace detail

// --- simulated device ------------------------------------------------------------------------------------

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
    [[nodiscard]] detail::stream_pool_use const& memory() const noexcept { return pool_.use(); }
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
