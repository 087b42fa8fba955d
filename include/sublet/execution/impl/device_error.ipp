// SPDX-License-Identifier: BSL-1.0

/// The sentence of device_error, and the choice between it and run_error, by throwing the cause once more.

#include <sublet/execution/detail/bounded_text.hpp>
#include <sublet/execution/detail/device_error.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL device_error::device_error(std::exception_ptr cause, step_id reached)
    : run_error(no_step, cause, {})
{
    text_ = {};
    text_ << "sublet: in a run on streams, the device failed at ";
    if (reached == no_step) text_ << "a step that it does not name";
    else text_ << "step " << reached << " or before it";
    write_cause(text_, cause);
}

SUBLET_DECL void throw_run_error(std::exception_ptr why, issue_progress reached, bool is_lost)
{
    try {
        std::rethrow_exception(why);
    } catch (run_error const&) { // has its step already
        throw;
    } catch (...) {
        if (!reached.is_launching || is_lost) throw device_error(why, reached.step);
        throw run_error(reached.step, why);
    }
}

} // namespace sublet::detail
