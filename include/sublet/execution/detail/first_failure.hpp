// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_FIRST_FAILURE_HPP
#define SUBLET_EXECUTION_DETAIL_FIRST_FAILURE_HPP

/// What several workers throw in one run: the first failure is kept under a lock, later ones are counted, and
/// the first is thrown again with their number when all workers have returned.

#include <sublet/execution/detail/adaptive_mutex.hpp>
#include <sublet/execution/errors.hpp>

#include <cstddef>
#include <exception>
#include <utility>

namespace sublet::detail {

/// Keeps the first failure of a run, and the number of later ones.
template <class Error = run_error>
class first_failure {
public:
    void keep(std::exception_ptr what) noexcept
    {
        scoped_lock const guard(&lock_);
        if (failures_++ == 0) first_ = std::move(what);
    }
    void rethrow_if_any()
    {
        if (failures_ == 0) return;
        try {
            std::rethrow_exception(first_);
        } catch (Error& error) {
            error.add_later_failures(failures_ - 1);
            throw;
        }
    }

private:
    adaptive_mutex lock_;
    std::exception_ptr first_;
    std::size_t failures_ = 0;
};

} // namespace sublet::detail

#endif
