// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_DEVICE_ERROR_HPP
#define SUBLET_EXECUTION_DETAIL_DEVICE_ERROR_HPP

/// What a run on a device throws when a command fails: the step that was being launched if the kernel failed
/// there, otherwise the last step that the failure can belong to.

#include <sublet/core/units.hpp>
#include <sublet/execution/errors.hpp>

#include <exception>

namespace sublet::detail {

/// How far the commands of a run have been issued.
struct issue_progress {
    step_id step = no_step; ///< the last that was launched, or is being launched
    bool is_launching = false;
};

/// A command failed on the device, now or earlier.
class device_error : public run_error {
public:
    /// `reached`: the last step that was launched, or `no_step` after the run.
    explicit device_error(std::exception_ptr cause, step_id reached = no_step);
};

/// Throws `why` if that is a run_error, which has its step; otherwise a run_error with the step that was
/// being launched, or a device_error. `is_lost`: the device, so that it is not the kernel's error.
[[noreturn]] void throw_run_error(std::exception_ptr why, issue_progress reached, bool is_lost);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/device_error.ipp>
#endif

#endif
