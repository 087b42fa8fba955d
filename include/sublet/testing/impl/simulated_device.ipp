// SPDX-License-Identifier: BSL-1.0
#include <sublet/core/internal/vectors.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/testing/simulated_device.hpp>

#include <algorithm>
#include <cstring>

// --- queues ----------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL queued_work::queued_work(queued_work&& other) noexcept
    : work_(std::exchange(other.work_, nullptr)), run_(other.run_), drop_(other.drop_)
{
}

SUBLET_DECL queued_work& queued_work::operator=(queued_work&& other) noexcept
{
    std::swap(work_, other.work_);
    std::swap(run_, other.run_);
    std::swap(drop_, other.drop_);
    return *this;
}

} // namespace sublet::detail

namespace sublet {

namespace detail {

SUBLET_DECL std::uint32_t stream_queues::add_stream()
{
    runnable_.reserve(streams_.size() + 1); // to run queued work takes no memory
    streams_.emplace_back();
    return static_cast<std::uint32_t>(streams_.size() - 1);
}

SUBLET_DECL std::uint32_t stream_queues::add_event()
{
    events_.emplace_back();
    return static_cast<std::uint32_t>(events_.size() - 1);
}

SUBLET_DECL void stream_queues::wait(std::uint32_t stream, std::uint32_t event)
{
    event_state const& past = events_[event];
    if (past.clock.empty()) return; // never recorded
    for (std::uint32_t s = 0; s != past.clock.size(); ++s)
        advance(streams_[stream].clock, {s, past.clock[s]});
    append(stream, {.is_wait = true, .waits_for = past.at});
}

SUBLET_DECL bool stream_queues::comes_after(std::uint32_t stream, stream_point point) const
{
    auto const& clock = streams_[stream].clock;
    return stream == point.stream || is_reached(point) ||
           (point.stream < clock.size() && clock[point.stream] >= point.done);
}

SUBLET_DECL bool stream_queues::is_reached(stream_point point) const
{
    return streams_[point.stream].done >= point.done;
}

SUBLET_DECL void stream_queues::drain(std::uint32_t stream)
{
    for (retire_waits(); streams_[stream].queued() != 0; retire_waits()) run_one();
}

SUBLET_DECL void stream_queues::drain()
{
    for (std::uint32_t s = 0; s != streams_.size(); ++s) drain(s);
}

SUBLET_DECL void stream_queues::drop() noexcept
{
    for (stream_queue& its : streams_) {
        its.queue.clear();
        its.next = 0;
        its.done = its.issued;
    }
}

SUBLET_DECL void stream_queues::advance(std::vector<std::uint64_t>& clock, stream_point to)
{
    if (clock.size() <= to.stream) clock.resize(to.stream + std::size_t{1});
    if (clock[to.stream] < to.done) clock[to.stream] = to.done;
}

SUBLET_DECL void stream_queues::append(std::uint32_t stream, command what)
{
    if (failure_) return;
    what.number = pushed_++;
    streams_[stream].queue.push_back(std::move(what));
    ++streams_[stream].issued;
    if (options_.order == simulated_options::order_kind::eager) drain(stream);
}

SUBLET_DECL void stream_queues::retire_waits()
{
    for (bool is_done = false; !is_done;) {
        is_done = true;
        for (std::uint32_t s = 0; s != streams_.size(); ++s)
            while (is_runnable(s) && streams_[s].front().is_wait) {
                streams_[s].take();
                ++streams_[s].done;
                is_done = false;
            }
    }
}

SUBLET_DECL std::uint32_t stream_queues::next_stream()
{
    auto const count = static_cast<std::uint32_t>(streams_.size());
    std::vector<std::uint32_t>& runnable = runnable_;
    runnable.clear();
    for (bool deferred : {false, true}) {
        for (std::uint32_t i = 1; i <= count && runnable.size() != count; ++i) {
            std::uint32_t const s = (last_ + i) % count;
            if (is_runnable(s) && is_deferred(s) == deferred) runnable.push_back(s);
        }
        if (!runnable.empty()) break;
    }
    if (options_.order == simulated_options::order_kind::random)
        return runnable[random_below(runnable.size())];
    std::uint32_t chosen = runnable.front();
    for (std::uint32_t s : runnable) {
        bool const is_later = streams_[s].front().number > streams_[chosen].front().number;
        if (options_.order == simulated_options::order_kind::latest_first && is_later) chosen = s;
        if (options_.order == simulated_options::order_kind::favour && s == options_.which) chosen = s;
    }
    return chosen;
}

SUBLET_DECL void stream_queues::run_one()
{
    last_ = next_stream();
    stream_queue& its = streams_[last_];
    command what = its.take();
    try {
        what.work();
        ++its.done;
    } catch (...) {
        failure_ = std::current_exception();
        failed_step_ = what.step;
        drop();
    }
}

SUBLET_DECL std::size_t stream_queues::random_below(std::size_t count)
{
    random_state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = random_state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return to_size((z ^ z >> 31) % count);
}

// --- pool ------------------------------------------------------------------------------------------------

SUBLET_DECL stream_pool::~stream_pool()
{
    for (chunk const& c : chunks_) source_.deallocate(c.begin, c.size, c.alignment);
}

SUBLET_DECL std::byte* stream_pool::allocate(byte_count bytes, byte_count alignment, std::uint32_t stream,
                                             stream_queues& queues)
{
    if (bytes == 0) return nullptr;
    std::size_t found = best_fit(bytes, alignment, stream, queues);
    if (found == blocks_.size()) found = add_chunk(bytes, alignment, queues);
    if (found == blocks_.size()) found = best_fit(bytes, alignment, stream, queues); // all work is done now
    return take(found, bytes, alignment);
}

SUBLET_DECL void stream_pool::expect_taken(std::byte const* data, byte_count bytes) const
{
    std::size_t const at = position_of(data);
    bool const is_there = at != blocks_.size() && blocks_[at].begin == data && !blocks_[at].is_free;
    SUBLET_EXPECTS(is_there || bytes == 0, "sublet: deallocated bytes are not allocated");
    SUBLET_EXPECTS(bytes == 0 || blocks_[at].size == bytes,
                   "sublet: deallocated bytes have another size than was allocated");
}

SUBLET_DECL void stream_pool::deallocate(std::byte* data, byte_count bytes, std::uint32_t stream,
                                         stream_queues const& queues)
{
    expect_taken(data, bytes);
    if (bytes == 0) return;
    std::size_t const at = position_of(data);
    blocks_[at].is_free = true;
    blocks_[at].was_used = true;
    blocks_[at].freed_at = queues.now(stream);
    blocks_[at].number = ++free_count_;
    use_.used -= bytes;
    --use_.blocks;
    if (at + 1 != blocks_.size()) coalesce(at, queues);
    if (at != 0) coalesce(at - 1, queues);
}

SUBLET_DECL void stream_pool::trim(stream_queues const& queues)
{
    for (std::size_t at = blocks_.size(); at-- > 1;) coalesce(at - 1, queues);
    for (std::size_t i = chunks_.size(); i-- != 0;) {
        chunk const c = chunks_[i];
        std::size_t const at = position_of(c.begin);
        block const& b = blocks_[at];
        if (!b.is_free || b.size != c.size || !queues.is_reached(b.freed_at)) continue;
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(at));
        chunks_.erase(chunks_.begin() + static_cast<std::ptrdiff_t>(i));
        source_.deallocate(c.begin, c.size, c.alignment);
    }
    use_.reserved = source_.use().bytes.live;
}

SUBLET_DECL byte_count stream_pool::address(std::byte const* data)
{
    return reinterpret_cast<std::uintptr_t>(data);
}

SUBLET_DECL std::size_t stream_pool::position_of(std::byte const* data) const
{
    auto const is_below = [](block const& b, byte_count at) { return address(b.begin) < at; };
    auto const found = std::lower_bound(blocks_.begin(), blocks_.end(), address(data), is_below);
    return static_cast<std::size_t>(found - blocks_.begin());
}

SUBLET_DECL std::size_t stream_pool::best_fit(byte_count bytes, byte_count alignment, std::uint32_t stream,
                                              stream_queues const& queues) const
{
    std::size_t best = blocks_.size();
    for (std::size_t i = 0; i != blocks_.size(); ++i) {
        block const& b = blocks_[i];
        if (!b.is_free || b.size < bytes || gap_before(b, alignment) > b.size - bytes) continue;
        if (!queues.comes_after(stream, b.freed_at)) continue;
        bool const is_better = best == blocks_.size() || b.size < blocks_[best].size ||
                               (b.size == blocks_[best].size && b.number > blocks_[best].number);
        if (is_better) best = i;
    }
    return best;
}

SUBLET_DECL std::size_t stream_pool::add_chunk(byte_count bytes, byte_count alignment, stream_queues& queues)
{
    blocks_.reserve(blocks_.size() + 3); // room for two splits: nothing below may throw
    chunks_.reserve(chunks_.size() + 1);
    alignment = std::max<byte_count>(alignment, alignof(std::max_align_t));
    void* fresh = nullptr;
    try {
        fresh = source_.allocate(bytes, alignment);
    } catch (...) {
        queues.drain();
        for (std::size_t at = blocks_.size(); at-- > 1;) coalesce(at - 1, queues);
        if (best_fit(bytes, alignment, 0, queues) != blocks_.size()) return blocks_.size();
        trim(queues);
        fresh = source_.allocate(bytes, alignment);
    }
    auto* const begin = static_cast<std::byte*>(fresh);
    chunks_.push_back({begin, bytes, alignment});
    use_.reserved = source_.use().bytes.live;
    use_.reserved_high = std::max(use_.reserved_high, use_.reserved);
    std::size_t const at = position_of(begin);
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(at),
                   block{.begin = begin, .size = bytes, .chunk = begin});
    return at;
}

SUBLET_DECL std::byte* stream_pool::take(std::size_t at, byte_count bytes, byte_count alignment)
{
    blocks_.reserve(blocks_.size() + 2);
    if (byte_count const gap = gap_before(blocks_[at], alignment); gap != 0) split(at++, gap);
    if (blocks_[at].size != bytes) split(at, bytes);
    blocks_[at].is_free = false;
    use_.reused += blocks_[at].was_used;
    use_.used += bytes;
    use_.used_high = std::max(use_.used_high, use_.used);
    ++use_.blocks;
    return blocks_[at].begin;
}

SUBLET_DECL void stream_pool::split(std::size_t at, byte_count bytes)
{
    block rest = blocks_[at];
    rest.begin += bytes;
    rest.size -= bytes;
    blocks_[at].size = bytes;
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(at) + 1, rest);
}

SUBLET_DECL void stream_pool::coalesce(std::size_t at, stream_queues const& queues)
{
    block &a = blocks_[at], &b = blocks_[at + 1];
    if (!a.is_free || !b.is_free || a.chunk != b.chunk) return;
    bool const is_same = a.freed_at.stream == b.freed_at.stream;
    bool const a_is_later = is_same ? a.freed_at.done >= b.freed_at.done : queues.is_reached(b.freed_at);
    if (!a_is_later && !is_same && !queues.is_reached(a.freed_at)) return;
    if (!a_is_later) a.freed_at = b.freed_at;
    a.number = std::max(a.number, b.number);
    a.was_used = a.was_used || b.was_used;
    a.size += b.size;
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
}

} // namespace detail

// --- simulated device ------------------------------------------------------------------------------------

SUBLET_DECL simulated_device::stream_type simulated_device::make_stream()
{
    call();
    detail::reserve_more(is_stream_);
    std::uint32_t const number = queues_.add_stream();
    is_stream_.push_back(true);
    return {number};
}

SUBLET_DECL simulated_device::event_type simulated_device::make_event()
{
    call();
    detail::reserve_more(is_event_);
    std::uint32_t const number = queues_.add_event();
    is_event_.push_back(true);
    return {number};
}

SUBLET_DECL std::byte* simulated_device::allocate(byte_count bytes, byte_count alignment, stream_type s)
{
    call(s);
    std::byte* const data = pool_.allocate(bytes, alignment, s.number, queues_);
    paint(data, bytes, s);
    return data;
}

SUBLET_DECL void simulated_device::deallocate(std::byte* data, byte_count bytes, byte_count, stream_type s)
{
    if (is_lost_) return;
    expect(s);
    pool_.expect_taken(data, bytes);
    paint(data, bytes, s);
    pool_.deallocate(data, bytes, s.number, queues_);
}

SUBLET_DECL void simulated_device::fill(std::byte* to, std::byte with, byte_count bytes, stream_type s)
{
    call(s);
    if (bytes != 0)
        queues_.push(s.number, no_step,
                     [=] { std::memset(to, static_cast<int>(with), detail::to_size(bytes)); });
}

SUBLET_DECL void simulated_device::copy_to_device(std::byte* to, std::span<std::byte const> from,
                                                  stream_type s)
{
    call(s);
    if (from.empty()) return;
    std::vector<std::byte> taken(from.begin(), from.end());
    queues_.push(s.number, no_step,
                 [to, bytes = std::move(taken)] { std::memcpy(to, bytes.data(), bytes.size()); });
}

SUBLET_DECL void simulated_device::copy_from_device(std::span<std::byte> to, std::byte const* from,
                                                    stream_type s)
{
    call(s);
    if (!to.empty()) queues_.push(s.number, no_step, [=] { std::memcpy(to.data(), from, to.size()); });
}

SUBLET_DECL void simulated_device::digest(stream_type s, std::span<std::byte const> bytes,
                                          std::uint64_t* digest)
{
    call(s);
    queues_.push(s.number, no_step, [=] {
        std::uint64_t const its = sublet::digest(bytes);
        std::memcpy(digest, &its, sizeof its);
    });
}

SUBLET_DECL std::size_t simulated_device::count(std::vector<bool> const& flags)
{
    std::size_t found = 0;
    for (bool flag : flags) found += flag;
    return found;
}

SUBLET_DECL void simulated_device::call()
{
    std::uint64_t const number = calls_++;
    if (number >= lost_at_ && !is_lost_) {
        is_lost_ = true;
        queues_.drop();
    }
    if (is_lost_) throw simulated_device::lost();
    if (number == fails_at_) throw simulated_device::failure();
}

SUBLET_DECL void simulated_device::paint(std::byte* data, byte_count bytes, stream_type s)
{
    if (is_painting_ && bytes != 0)
        queues_.push(s.number, no_step, [=] { std::memset(data, 0xFF, detail::to_size(bytes)); });
}

SUBLET_DECL void simulated_device::report()
{
    std::exception_ptr const cause = queues_.failure();
    if (!cause) return;
    queues_.forget_failure();
    throw run_error(queues_.failed_step(), cause);
}

} // namespace sublet
