// SPDX-License-Identifier: BSL-1.0

/// The sentences of run_error and clobbered_value, written when they are made: what() only returns them.

#include <sublet/execution/errors.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL run_error::run_error(step_id at, std::exception_ptr cause,
                                 detail::bounded_text const& what_happened)
    : step_(at), cause_(cause)
{
    text_ << "sublet: ";
    if (at == no_step) text_ << "before any step, ";
    else text_ << "at step " << at << ", ";
    text_ << what_happened.text();
    detail::write_cause(text_, cause);
}

SUBLET_DECL clobbered_value::clobbered_value(clobbered_value::finding const& what)
    : run_error(what.reader, nullptr, {}), what_(what)
{
    text_ = {};
    text_ << "sublet: value " << what.value;
    if (what.producer == no_step) text_ << ", which was given,";
    else text_ << ", made by step " << what.producer << ',';
    text_ << " is not what it was when ";
    if (what.reader == no_step) text_ << "the run ends";
    else text_ << "step " << what.reader << " needs it";
    if (what.culprit != no_value) text_ << ": value " << what.culprit << " lies over it";
    else text_ << ": nothing is planned over it, so a kernel wrote beyond its results";
    if (what.culprit_step != no_step) text_ << ", since step " << what.culprit_step;
}

} // namespace sublet
