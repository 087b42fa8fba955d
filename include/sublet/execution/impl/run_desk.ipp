// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_IMPL_RUN_DESK_IPP
#define SUBLET_EXECUTION_IMPL_RUN_DESK_IPP

#include <sublet/execution/run_desk.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL void run_desk::expect_idle()
{
    SUBLET_EXPECTS(!std::atomic_ref(is_running_).load(), is_used_twice);
}

} // namespace sublet

#endif
