// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TESTING_SIMULATED_DEVICE_HPP
#define SUBLET_TESTING_SIMULATED_DEVICE_HPP

/// A device with streams in host memory that takes every liberty it has, and fails where it is told to.

#include <sublet/execution/run_options.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

// --- queues ----------------------------------------------------------------------------------------------

/// Streams of work that is done later, one piece at a time, in an order chosen to do harm.
///
///     stream 0   a   b  (e)  c          in turn        a d b | e is past: f  c
///     stream 1   d  <e>  f              latest first   d a b f c
///                                       starve 1       a b c d f
///
/// What streams and events leave open is open: a program that is right only because the machine was quick, or
/// slow, is wrong in one of these orders. Each is a function of the options, so a fault is found again.
///
/// An event needs no command of its own. To record it is to note how much was queued in its stream by then,
/// and who waits for it waits until so much is done. The same notes say, without running anything, what comes
/// before what: each stream knows of each other how much of it comes before whatever is queued next.

namespace sublet {

struct simulated_options {
    /// Which of the streams that could go on goes on.
    enum class order_kind : std::uint8_t {
        eager,        ///< all work is done when it is queued
        in_turn,      ///< one piece of each, over and over
        random,       ///< any, by the seed
        latest_first, ///< the one whose next piece was queued last
        favour,       ///< stream `which` as far as it can go, the others in turn when it cannot
        starve        ///< the others in turn, stream `which` when none of them can go on
    };

    simulated_options::order_kind order = simulated_options::order_kind::in_turn;
    std::uint64_t seed = 0;      ///< of random
    std::uint32_t which = 0;     ///< the stream that is favoured or starved, in the order they were made
    step_id postponed = no_step; ///< is launched only when nothing else can go on
    bool paint = true;           ///< bytes that are taken, and that are given back
    detail::memory_source upstream = {};
    byte_count limit = no_limit; ///< of what is taken from it
};

namespace detail {

/// Something to be done, whatever its type: std::function would want to copy it, and to be included.
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

/// A moment of a stream: when `done` pieces of its work are done.
struct stream_point {
    std::uint32_t stream = 0;
    std::uint64_t done = 0;
};

/// Streams and events by number; numbers of what was destroyed are not used again.
///
/// Work that throws ends all that is queued, and what is queued until `forget_failure()` is dropped: as a
/// device that is in error does nothing more.
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

    /// Work for a step (or `no_step`).
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

    /// When all that is queued in a stream now is done.
    [[nodiscard]] stream_point now(std::uint32_t stream) const { return {stream, streams_[stream].issued}; }

    /// Whether what is queued next in the stream comes after that moment in any order, or it is past.
    [[nodiscard]] bool comes_after(std::uint32_t stream, stream_point point) const;
    [[nodiscard]] bool is_reached(stream_point point) const;

    /// Go on until a stream is empty: others go on as well, as the order has it.
    void drain(std::uint32_t stream);
    void drain();
    /// All that is queued is not done.
    void drop() noexcept;

    [[nodiscard]] std::exception_ptr failure() const { return failure_; }
    [[nodiscard]] step_id failed_step() const { return failed_step_; }
    void forget_failure() { failure_ = nullptr; }

private:
    struct command {
        std::uint64_t number = 0; // of all that were queued in any stream
        step_id step = no_step;
        bool is_wait = false;
        stream_point waits_for{};
        detail::queued_work work{};
    };
    struct stream_queue {
        std::vector<command> queue{}; // from `next` on
        std::size_t next = 0;
        std::uint64_t issued = 0, done = 0;
        std::vector<std::uint64_t> clock{}; // by stream: how much of it comes before what is queued next

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
    /// One that goes on only when no other can.
    bool is_deferred(std::uint32_t stream) const
    {
        bool const is_starved =
            options_.order == simulated_options::order_kind::starve && stream == options_.which;
        step_id const step = streams_[stream].front().step;
        return is_starved || (step != no_step && step == options_.postponed);
    }

    /// A wait that is over is no work: what stands behind it is what can be chosen.
    void retire_waits();

    /// There always is one that can: a wait is for work that was queued before it.
    std::uint32_t next_stream();

    void run_one();

    /// The next of a row of numbers that look like chance. (Steele, Lea and Flood, OOPSLA 2014.)
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

/// Memory that is taken and given back in the order of streams, while their work is still to be done.
///
///     stream 0   p = allocate   work on p   deallocate p   record e
///     stream 1                                             wait e     q = allocate     q may be p
///     stream 2                                                        r = allocate     r may not
///
/// Bytes that stream a gave back may go to a at once, and to b as soon as what b does next comes after it: by
/// an event of a, or of c that had waited for a. So each free block keeps the moment at which it was given
/// back, and not the stream that had it last: a block that goes through many hands asks each time for what
/// really has to be over.
///
/// Blocks are cut from chunks of the source, the smallest that will do, of those the one given back last;
/// neighbours grow together again when one moment covers both. Chunks stay until `trim()`.

struct stream_pool_use {
    byte_count used = 0, used_high = 0;         ///< by blocks that were not given back
    byte_count reserved = 0, reserved_high = 0; ///< taken from the source
    std::size_t blocks = 0;                     ///< that were not given back
    std::uint64_t reused = 0;                   ///< blocks that had been somebody's before
};

/// Requires: streams are those of one `stream_queues`, which is given to each call.
class stream_pool {
public:
    explicit stream_pool(memory_source source = {}, byte_count limit = no_limit) : source_(source, limit) {}
    stream_pool(stream_pool const&) = delete;
    stream_pool& operator=(stream_pool const&) = delete;
    ~stream_pool();

    /// Complexity: O(blocks).
    /// Throws:     what the source throws, out_of_budget; after all that is queued was done to get room.
    [[nodiscard]] std::byte* allocate(byte_count bytes, byte_count alignment, std::uint32_t stream,
                                      stream_queues& queues);

    /// Throws: precondition_error for what is not taken, or not with this size.
    void expect_taken(std::byte const* data, byte_count bytes) const;

    /// Throws: as expect_taken().
    void deallocate(std::byte* data, byte_count bytes, std::uint32_t stream, stream_queues const& queues);

    /// Chunks of which nothing is taken or in use go back to the source.
    void trim(stream_queues const& queues);

    [[nodiscard]] stream_pool_use const& use() const noexcept { return use_; }

private:
    struct block {
        std::byte* begin = nullptr;
        byte_count size = 0;
        std::byte* chunk = nullptr; // where the chunk begins of which it is cut
        bool is_free = true;
        bool was_used = false;
        stream_point freed_at{};
        std::uint64_t number = 0; // of all that were given back
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

    /// The first block that does not begin below `data`.
    std::size_t position_of(std::byte const* data) const;

    std::size_t best_fit(byte_count bytes, byte_count alignment, std::uint32_t stream,
                         stream_queues const& queues) const;

    /// A new block at the end of the search; none if room was made among those that there are.
    std::size_t add_chunk(byte_count bytes, byte_count alignment, stream_queues& queues);

    std::byte* take(std::size_t at, byte_count bytes, byte_count alignment);

    /// The block keeps its first bytes; what is left is one of its own, given back when it was.
    void split(std::size_t at, byte_count bytes);

    /// With the one behind it, if both are free and one of the two moments says enough.
    void coalesce(std::size_t at, stream_queues const& queues);

    counted_memory source_;
    std::vector<block> blocks_{}; // by address
    std::vector<chunk> chunks_{};
    stream_pool_use use_{};
    std::uint64_t free_count_ = 0;
};

} // namespace detail

// --- simulated device ------------------------------------------------------------------------------------

/// A device with streams in host memory that takes every liberty it has, and fails where it is told to.
///
///     simulated_device device({.order = simulated_options::order_kind::latest_first});
///     stream_executor run(device, program, ...);     the same program as on a device of metal, but later,
///                                                    in the order that is least expected, and repeatable
///
/// What is queued waits until somebody asks for the end of it. Bytes are another's as soon as the order of
/// streams allows it; what they held is painted over when they are taken and when they are given back, each
/// when the stream comes to it. A kernel that throws ends all that is queued, as a device in error does.

/// Calls that can fail are all but the two that destroy and `deallocate`; those do nothing for a device that
/// is lost. Memory goes back upstream with the device.
class simulated_device {
public:
    /// The device refused a call: it was told to.
    class failure : public std::exception {
    public:
        char const* what() const noexcept override
        {
            return "sublet: a simulated device failed, as it was told";
        }
    };

    /// Nothing can be asked of the device any more.
    class lost : public simulated_device::failure {
    public:
        char const* what() const noexcept override { return "sublet: a simulated device was lost"; }
    };

    struct stream_type {
        std::uint32_t number = ~std::uint32_t{0};
        friend bool operator==(stream_type, stream_type) = default;
    };
    struct event_type {
        std::uint32_t number = ~std::uint32_t{0};
        friend bool operator==(event_type, event_type) = default;
    };

    explicit simulated_device(simulated_options const& options = {})
        : queues_(options), pool_(options.upstream, options.limit), is_painting_(options.paint)
    {
    }

    // --- to be told, and asked ----------------------------------------------------------------------------

    static constexpr std::uint64_t never = ~std::uint64_t{0};
    /// The call after so many that can fail throws simulated_device::failure; once.
    void fail_after(std::uint64_t calls) { fails_at_ = calls == never ? never : calls_ + calls; }
    /// The call after so many that can fail, and every one from then on, throws simulated_device::lost.
    void lose_after(std::uint64_t calls) { lost_at_ = calls == never ? never : calls_ + calls; }
    /// How many were made that can fail.
    [[nodiscard]] std::uint64_t calls() const noexcept { return calls_; }
    [[nodiscard]] std::size_t live_streams() const noexcept { return count(is_stream_); }
    [[nodiscard]] std::size_t live_events() const noexcept { return count(is_event_); }
    [[nodiscard]] std::size_t queued(stream_type s) const { return queues_.queued(s.number); }
    [[nodiscard]] detail::stream_pool_use const& memory() const noexcept { return pool_.use(); }
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
