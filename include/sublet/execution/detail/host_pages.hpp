// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_HOST_PAGES_HPP
#define SUBLET_EXECUTION_DETAIL_HOST_PAGES_HPP

/// Memory of the host at addresses that stay: reserved once, with pages for as many bytes as are used.
///
///     address   0 ............................. most       reserved
///     pages     [ bytes )                                  resize() adds and gives back

#include <sublet/core/units.hpp>

#include <cstddef>
#include <utility>

namespace sublet::detail {

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

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/host_pages.ipp>
#endif

#endif
