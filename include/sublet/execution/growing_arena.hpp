// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_GROWING_ARENA_HPP
#define SUBLET_EXECUTION_GROWING_ARENA_HPP

/// Arenas for every batch: addresses are reserved once, for the largest; memory follows the batch that runs.
///
///     auto planned = sublet::plan_symbolic(program, any_batch); // for batches of up to 64
///     sublet::growing_arena memory(planned);
///     sublet::cpu_executor one{program, any_batch.at(1), memory.at(1), kernel};
///     sublet::cpu_executor many{program, any_batch.at(64), memory.at(64), kernel};
///
///     address   0 ........................................... most      reserved
///     one       [ memory )                                              while `one` is used
///     many      [ memory ....................................... )      while `many` is used
///     one       [ memory )                                              and again
///
/// Each executor takes offsets and sizes of its batch, so make one for each batch that comes often, or one
/// for each request: using another one costs a few system calls and page faults, making one O(program). With
/// a plan that was checked, executor_options::prove may be false. No address moves, and nothing is copied: no
/// value lives from one run to the next in an arena (those with value_role::state are the caller's).

#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/storage.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace sublet {

namespace detail {

/// Reserved addresses of the host; the first bytes have pages, the others cannot be touched. If the machine
/// reserves nothing, it is one block of all the bytes.
class host_pages {
public:
    /// Requires: most >= 1; the alignment is a power of two.
    /// Throws:   std::bad_alloc.
    host_pages(byte_count most, byte_count alignment, bool reserves = true);
    host_pages(host_pages&& other) noexcept
        : first_(std::exchange(other.first_, nullptr)), begin_(other.begin_), most_(other.most_),
          alignment_(other.alignment_), bytes_(other.bytes_), mapped_(other.mapped_), page_(other.page_)
    {
    }
    host_pages& operator=(host_pages&&) = delete;
    ~host_pages();

    [[nodiscard]] std::byte* first() const noexcept { return first_; }
    /// Bytes with pages.
    [[nodiscard]] byte_count bytes() const noexcept { return bytes_; }
    [[nodiscard]] bool is_reserved() const noexcept { return mapped_ != 0; }

    /// Requires: it was made for at least so many.
    /// Ensures:  the first `bytes` can be used, of undefined contents; pages after them are given back.
    /// Throws:   std::bad_alloc; then it has the pages that it had.
    void resize(byte_count bytes);

private:
    std::byte* first_ = nullptr;
    std::byte* begin_ = nullptr; // of the mapping: the first aligned address in it is first_
    byte_count most_, alignment_;
    byte_count bytes_ = 0;
    byte_count mapped_ = 0; // 0: one block
    byte_count page_ = 1;
};

/// One range of addresses for each pool of a plan for every batch.
template <class Pages>
class growing_blocks : public arena_blocks {
public:
    /// The arena for one batch, for an executor with the options of this batch.
    ///
    /// Requires:   this outlives the executor; one thread at a time uses it and its executors, and no kernel
    ///             uses another of them. What input() and output() return is valid until another one is used;
    ///             a run without an input that was lost so throws unusable_value.
    /// Complexity: O(values). The first input() or run() after another executor was used takes O(pools), and
    ///             the pages that are added or given back.
    /// Throws:     precondition_error if the batch is not in 1 ... max_batch.
    template <integer Batch>
    [[nodiscard]] arena at(Batch batch)
    {
        arena made(plan_.at(batch));
        made.blocks = this;
        return made;
    }

    /// Bytes of memory that it holds now: those of the batch that was run last, in whole pages.
    [[nodiscard]] byte_count bytes() const noexcept
    {
        byte_count sum = 0;
        for (Pages const& its : pages_) sum += its.bytes();
        return sum;
    }
    /// Memory follows the batch; false: this machine reserves no addresses, and the memory is that of the
    /// largest batch throughout.
    [[nodiscard]] bool is_growing() const noexcept
    {
        for (Pages const& its : pages_)
            if (!its.is_reserved()) return false;
        return true;
    }

protected:
    /// `reserve(bytes, alignment)` returns the pages.
    template <class Reserve>
    growing_blocks(symbolic_plan plan, Reserve reserve)
        : arena_blocks([](arena_blocks& self, pool_id pool, byte_count bytes) {
              static_cast<growing_blocks&>(self).resize(pool, bytes);
          }),
          plan_(std::move(plan))
    {
        most_ = plan_.at(plan_.max_batch).arena_bytes;
        table<pool_id, byte_count> alignment(most_.size(), 1);
        for (symbolic_plan::buffer const& b : plan_.buffers) {
            SUBLET_EXPECTS((b.alignment & (b.alignment - 1)) == 0,
                           "sublet: value % has the alignment %, but an executor takes only powers of two",
                           b.root, b.alignment);
            alignment[b.pool] = larger(alignment[b.pool], b.alignment);
        }
        addresses_.assign(most_.size(), nullptr);
        bytes_.assign(most_.size(), 0);
        pages_.reserve(most_.size());
        for (pool_id pool = 0; pool != most_.size(); ++pool) {
            pages_of_.push_back(pages_.size());
            if (most_[pool] == 0) continue;
            pages_.push_back(reserve(most_[pool], alignment[pool]));
            addresses_[pool] = pages_.back().first();
        }
    }
    ~growing_blocks() = default;

    template <class Planned>
    static symbolic_plan const& plan_of(Planned const& planned)
    {
        if (!planned) throw unsound_plan(planned.error());
        return planned.plan;
    }

private:
    void resize(pool_id pool, byte_count bytes)
    {
        pages_[pages_of_[pool]].resize(bytes);
        bytes_[pool] = bytes;
    }

    symbolic_plan plan_;
    std::vector<Pages> pages_;             // of the pools that have bytes
    table<pool_id, std::size_t> pages_of_; // the index of its pages
};

} // namespace detail

/// Arenas in host memory for every batch of one plan, for cpu_executor and thread_executor. Its pages are not
/// counted against `executor_options::limit`, and come from the system, not from `upstream`; where addresses
/// cannot be reserved, from the free store.
class growing_arena : public detail::growing_blocks<detail::host_pages> {
public:
    /// Reserves the addresses of the largest batch, without memory.
    ///
    /// Requires:   alignments are powers of two.
    /// Complexity: O(buffers), and one system call for each pool.
    /// Throws:     std::bad_alloc if neither addresses nor memory can be had; precondition_error where a
    ///             requirement is broken.
    explicit growing_arena(symbolic_plan const& plan);
    /// The same for a planner's result.
    /// Throws: also unsound_plan with its error, if there is no plan.
    template <class Planned>
        requires requires(Planned const& planned) {
            symbolic_plan(planned.plan);
            unsound_plan(planned.error());
        }
    explicit growing_arena(Planned const& planned) : growing_arena(plan_of(planned))
    {
    }
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/growing_arena.ipp>
#endif

#endif
