// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_ERRORS_HPP
#define SUBLET_EXECUTION_ERRORS_HPP

/// What can go wrong when a plan is run, each with the ids that tell where.
///
///     before a run   unsound_plan       the plan, or the order, does not hold: here is a witness
///                    unusable_value     storage that the caller owes for a value is not there
///     in a run       run_error          a kernel threw: at which step, and what
///                    allocation_error   a run_error: how many bytes could not be had
///                    clobbered_value    a run_error: whose bytes changed, who found out, who lies over them
///
/// The first two are broken preconditions, and nothing has run.

#include <sublet/checking/witness.hpp>
#include <sublet/contract.hpp>
#include <sublet/execution/sentence.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <exception>

namespace sublet {

namespace detail {

/// The words of an exception, if it has any.
void write_cause(sentence& out, std::exception_ptr const& cause);

} // namespace detail

/// Something that no executor can run: the witness says what is wrong with the plan or the order.
class unsound_plan : public precondition_error {
public:
    explicit unsound_plan(witness const& why) : precondition_error("sublet: a plan is not sound"), why_(why)
    {
        bool const is_order = why.what == fault::used_undefined || why.what == fault::write_moved;
        text_ << (is_order                            ? "sublet: a program cannot run in this order"
                  : why.what == fault::oversized_view ? "sublet: a program cannot run"
                                                      : precondition_error::what())
              << ": " << why;
    }
    char const* what() const noexcept override { return text_.text(); }
    [[nodiscard]] witness const& why() const noexcept { return why_; }

private:
    witness why_;
    detail::sentence text_;
};

/// The caller owes storage for a value, or its contents.
class unusable_value : public precondition_error {
public:
    unusable_value(value_id v, char const* what_is_wrong) : precondition_error(what_is_wrong), value_(v)
    {
        text_ << "sublet: value " << v << ' ' << what_is_wrong;
    }
    char const* what() const noexcept override { return text_.text(); }
    [[nodiscard]] value_id value() const noexcept { return value_; }

private:
    value_id value_;
    detail::sentence text_;
};

/// A run ended at a step. All storage of the run has been given back, and the executor may run again; what
/// state values hold may be half updated.
class run_error : public std::exception {
public:
    run_error(step_id at, std::exception_ptr cause)
        : run_error(at, cause, detail::sentence() << "a kernel threw")
    {
    }
    char const* what() const noexcept override { return text_.text(); }

    /// The program's step; `no_step`: before the first, for an arena or an input.
    [[nodiscard]] step_id step() const noexcept { return step_; }
    /// What was thrown; null where nothing was.
    [[nodiscard]] std::exception_ptr cause() const noexcept { return cause_; }
    /// So many steps that ran at the same time have failed too.
    [[nodiscard]] std::size_t later_failures() const noexcept { return later_failures_; }
    void add_later_failures(std::size_t count) noexcept
    {
        later_failures_ += count;
        if (count != 0) text_ << "; and after it " << count << " more that ran at the same time";
    }

protected:
    run_error(step_id at, std::exception_ptr cause, detail::sentence const& what_happened);
    detail::sentence text_;

private:
    step_id step_;
    std::exception_ptr cause_;
    std::size_t later_failures_ = 0;
};

class allocation_error : public run_error {
public:
    allocation_error(step_id at, byte_count bytes, std::exception_ptr cause)
        : run_error(at, cause, detail::sentence() << bytes << " bytes could not be had"), bytes_(bytes)
    {
    }
    /// That were asked for.
    [[nodiscard]] byte_count bytes() const noexcept { return bytes_; }

private:
    byte_count bytes_;
};

/// The bytes of a value are not what its producer left there.
struct clobbering {
    value_id value = no_value;
    step_id producer = no_step;  ///< `no_step`: it was given
    step_id reader = no_step;    ///< the first to touch it since; `no_step`: found at the end
    value_id culprit = no_value; ///< lies over those bytes; `no_value`: nothing does, a kernel wrote too far
    step_id culprit_step = no_step; ///< that writes it, or during which it happened
    friend bool operator==(clobbering const&, clobbering const&) = default;
};

class clobbered_value : public run_error {
public:
    explicit clobbered_value(clobbering const& what);
    [[nodiscard]] clobbering const& details() const noexcept { return what_; }

private:
    clobbering what_;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/errors.ipp>
#endif

#endif
