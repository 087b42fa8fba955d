// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_ERRORS_HPP
#define SUBLET_EXECUTION_ERRORS_HPP

/// The errors of a run, with the ids of the step and the values.
///
///     before a run   unsound_plan       the plan or the order is invalid, with a counterexample
///                    unusable_value     the caller has not supplied storage or contents of a value
///     in a run       run_error          a kernel threw: the step and the exception
///                    allocation_error   a run_error: an allocation failed, with its bytes
///                    clobbered_value    a run_error: a value changed: its reader and the culprit
///
/// The first two are broken preconditions, and no step has run. Exceptions allocate nothing.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/errors.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/bounded_text.hpp>

#include <cstddef>
#include <exception>
#include <memory>

namespace sublet {

/// The plan is not valid, or the program cannot run in its order; no step has run.
class unsound_plan : public precondition_error {
public:
    /// Copies the counterexample.
    explicit unsound_plan(counterexample const& why)
        : precondition_error("sublet: a plan is not sound"), why_(std::make_shared<counterexample const>(why))
    {
        bool const is_order = why.what == fault::used_undefined || why.what == fault::write_moved;
        text_ << (is_order                            ? "sublet: a program cannot run in this order"
                  : why.what == fault::oversized_view ? "sublet: a program cannot run"
                                                      : precondition_error::what())
              << ": " << why;
    }
    char const* what() const noexcept override { return text_.text(); }
    /// The counterexample; it lives as long as the exception or a copy.
    [[nodiscard]] counterexample const& why() const noexcept { return *why_; }

private:
    std::shared_ptr<counterexample const> why_; // so that copies of the exception do not throw
    detail::bounded_text text_;
};

/// The caller has not supplied a value, or not as the program requires; no step has run.
class unusable_value : public precondition_error {
public:
    /// `what_is_wrong` completes the sentence.
    unusable_value(value_id v, char const* what_is_wrong) : precondition_error(what_is_wrong), value_(v)
    {
        text_ << "sublet: value " << v << ' ' << what_is_wrong;
    }
    char const* what() const noexcept override { return text_.text(); }
    /// The value that is meant.
    [[nodiscard]] value_id value() const noexcept { return value_; }

private:
    value_id value_;
    detail::bounded_text text_;
};

/// A run ended at a step. All storage of the run is released, and the executor may run again; state values
/// may be partly updated.
class run_error : public std::exception {
public:
    /// A kernel threw at a step.
    run_error(step_id at, std::exception_ptr cause)
        : run_error(at, cause, detail::bounded_text() << "a kernel threw")
    {
    }
    char const* what() const noexcept override { return text_.text(); }

    /// A step of the program; `no_step`: before the first, for an arena or an input.
    [[nodiscard]] step_id step() const noexcept { return step_; }
    /// The exception that was thrown, or null.
    [[nodiscard]] std::exception_ptr cause() const noexcept { return cause_; }
    /// How many steps that ran at the same time failed too.
    [[nodiscard]] std::size_t later_failures() const noexcept { return later_failures_; }
    /// Counts failures of steps that ran at the same time.
    void add_later_failures(std::size_t count) noexcept
    {
        later_failures_ += count;
        if (count != 0) text_ << "; of the steps that ran at the same time, " << count << " more failed";
    }

protected:
    run_error(step_id at, std::exception_ptr cause, detail::bounded_text const& what_happened);
    detail::bounded_text text_;

private:
    step_id step_;
    std::exception_ptr cause_;
    std::size_t later_failures_ = 0;
};

/// An allocation failed, at construction or in a run.
class allocation_error : public run_error {
public:
    /// `cause` is what the source of memory threw, or null.
    allocation_error(step_id at, byte_count bytes, std::exception_ptr cause)
        : run_error(at, cause, detail::bounded_text() << bytes << " bytes could not be allocated"),
          bytes_(bytes)
    {
    }
    /// How many bytes were asked for.
    [[nodiscard]] byte_count bytes() const noexcept { return bytes_; }

private:
    byte_count bytes_;
};

/// A value changed between the step that wrote it and a step that reads it.
class clobbered_value : public run_error {
public:
    /// The bytes of a value have changed since its producer wrote them.
    struct finding {
        value_id value = no_value;      ///< the value that has changed
        step_id producer = no_step;     ///< `no_step`: the value was given
        step_id reader = no_step;       ///< the first to touch it since; `no_step`: found at the end
        value_id culprit = no_value;    ///< overlaps those bytes; `no_value`: none, a kernel wrote too far
        step_id culprit_step = no_step; ///< writes the culprit, or ran when the bytes changed
        friend bool operator==(clobbered_value::finding const&, clobbered_value::finding const&) = default;
    };

    /// Made by a run with executor_options::checks::digest.
    explicit clobbered_value(clobbered_value::finding const& what);
    /// What is known of it.
    [[nodiscard]] clobbered_value::finding const& details() const noexcept { return what_; }

private:
    clobbered_value::finding what_;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/errors.ipp>
#endif

#endif
