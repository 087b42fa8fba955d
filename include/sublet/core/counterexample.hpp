// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_COUNTEREXAMPLE_HPP
#define SUBLET_CORE_COUNTEREXAMPLE_HPP

/// Why there is no result: the rule that is violated, and what shows it. One type for everything that plans,
/// orders, colours, places or checks.
///
///     values 3 and 5 are both alive at position 12 and share bytes [0, 64) of pool 0        one order
///
///     step 7 need not wait for step 9, and writes value 5 over bytes [0, 64) of pool 0, where value 3 lies,
///     which step 9 touches                                                                  every order
///
///     schedule  0 1 2 6 7 3 4 5 8 9     is a valid order; 7 precedes 9 and follows the def of value 3
///                       ↑         ↑
///
///     if (sublet::verdict valid = sublet::check_plan(program, plan, options); !valid) {
///         std::cout << valid.error() << '\n';                                 // one sentence
///         if (auto const* two = valid.error().as<sublet::counterexample::overlap>())  // data
///             std::cout << two->value << ' ' << two->other << ' ' << two->begin << '\n';
///     }

#include <sublet/core/errors.hpp>
#include <sublet/core/fault.hpp>
#include <sublet/core/ids.hpp>
#include <sublet/core/internal/one_of.hpp>
#include <sublet/core/units.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet {

namespace detail {

/// Both are null, or the same text.
[[nodiscard]] bool is_same_text(char const* a, char const* b) noexcept;

} // namespace detail

/// A rule that is violated, with what shows it. Which members of the payload count stands beside the rule;
/// the others keep their defaults.
struct counterexample {
    /// Two values in the same bytes. Where a step writes over what another one need not wait for, `schedule`
    /// has all steps in a possible order: needed_at follows step or equals it, or, where both only write,
    /// immediately precedes it.
    struct overlap {
        value_id value = no_value;   ///< the lower one, or the one that is lost
        value_id other = no_value;   ///< the other one, or the one that is written over it
        step_id step = no_step;      ///< at that position, if known, or the one that writes `other`
        step_id needed_at = no_step; ///< of what is lost: the last to touch it; `no_step`: an output
        /// In the order of the plan, or in `schedule`; none: both are given.
        position_id position = no_position;
        pool_id pool = 0;     ///< with these bytes
        byte_count begin = 0; ///< the first byte: an offset
        byte_count end = 0;   ///< behind the last byte
        friend bool operator==(counterexample::overlap const&, counterexample::overlap const&) = default;
    };
    /// A value or a block in a place where it may not be.
    struct place {
        value_id value = no_value; ///< none: the whole pool
        pool_id pool = 0;          ///< that is meant
        byte_count begin = 0;      ///< the first byte: an offset
        byte_count end = 0;        ///< behind the last byte
        byte_count needed = 0;     ///< what the rule requires: a size, an offset or an alignment
        friend bool operator==(counterexample::place const&, counterexample::place const&) = default;
    };
    /// A view, and what it is a view of; or what a body captures or a binding copies.
    struct view {
        value_id value = no_value; ///< the view
        value_id other = no_value; ///< its root
        step_id step = no_step;    ///< that shows it
        pool_id pool = 0;          ///< in which the view lies
        byte_count begin = 0;      ///< an offset
        byte_count end = 0;        ///< of the view: its end, or what it says
        byte_count needed = 0;     ///< of the root
        char const* fact = "";     ///< the member of plan_options that a rule compares
        friend bool operator==(counterexample::view const& a, counterexample::view const& b)
        {
            return a.value == b.value && a.other == b.other && a.step == b.step && a.pool == b.pool &&
                   a.begin == b.begin && a.end == b.end && a.needed == b.needed &&
                   detail::is_same_text(a.fact, b.fact);
        }
    };
    /// A read or a write that comes too early, or twice.
    struct access {
        value_id value = no_value;          ///< that is read or written
        value_id other = no_value;          ///< see the rule
        step_id step = no_step;             ///< that accesses it; none, without a position: an output
        position_id position = no_position; ///< of the access in the order
        byte_count begin = 0;               ///< the first byte in `other`
        byte_count end = 0;                 ///< behind the last byte
        bool is_given = false;              ///< the value is external or an input
        step_id maker = no_step;            ///< that makes `value` first, and is listed later than the access
        bool has_order = false;             ///< order() finds an order in which `maker` comes first
        friend bool operator==(counterexample::access const&, counterexample::access const&) = default;
    };
    /// Steps or positions that do not wait as they have to.
    struct waiting {
        step_id step = no_step;             ///< that waits for itself, or from which an edge leads back
        position_id position = no_position; ///< of the later access, or from which an edge leads back
        position_id earlier = no_position;  ///< for which `position` has to wait
        value_id value = no_value;          ///< that `earlier` touches; none: an edge or a hand-off
        value_id other = no_value;          ///< that `position` touches
        pool_id pool = 0;                   ///< with these bytes
        byte_count begin = 0;               ///< the first byte: an offset
        byte_count end = 0;                 ///< behind the last byte
        friend bool operator==(counterexample::waiting const&, counterexample::waiting const&) = default;
    };
    /// Steps of a schedule.
    struct timing {
        step_id step = no_step;  ///< that may not start then
        step_id other = no_step; ///< a second step
        std::uint64_t start = 0; ///< of `step`; of an order, its place in it
        std::uint64_t end = 0;   ///< of `other`, or a number that was found
        std::uint64_t most = 0;  ///< what the rule allows
        std::uint32_t of = 0;    ///< a worker, or the index of a group
        friend bool operator==(counterexample::timing const&, counterexample::timing const&) = default;
    };
    /// A value in a slot.
    struct slots {
        value_id value = no_value; ///< that is lost, or has no slot
        value_id other = no_value; ///< the content of the slot at `step`, or fixed to it, too
        slot_id slot = no_slot;    ///< that `value` has
        step_id step = no_step;    ///< reads, holds or writes `value`
        step_id written = no_step; ///< writes `other`; `no_step`: given
        friend bool operator==(counterexample::slots const&, counterexample::slots const&) = default;
    };
    /// A buffer of a placement problem, or a number of its solution.
    struct buffers {
        buffer_id buffer = no_buffer;       ///< that violates the rule
        buffer_id other = no_buffer;        ///< a second one
        position_id position = no_position; ///< at which both are live
        pool_id pool = 0;                   ///< of the buffer, or the one that is meant
        byte_count begin = 0;               ///< an offset: the first byte
        byte_count end = 0;                 ///< an offset: behind the last byte; or a number that was found
        byte_count needed = 0;              ///< what the rule requires
        friend bool operator==(counterexample::buffers const&, counterexample::buffers const&) = default;
    };
    /// The reason for a lower bound.
    struct proof {
        pool_id pool = 0;      ///< with that bound
        byte_count bytes = 0;  ///< the bound
        byte_count found = 0;  ///< live bytes, end of buffer or height of stacking; `no_limit`: interleaved
        char const* text = ""; ///< the end of the sentence, with % for `found`
        friend bool operator==(counterexample::proof const& a, counterexample::proof const& b)
        {
            return a.pool == b.pool && a.bytes == b.bytes && a.found == b.found &&
                   detail::is_same_text(a.text, b.text);
        }
    };
    /// A touch that is another one after values were renamed.
    struct renaming {
        /// What is read there: a touch of a step; without a step, a given value; or nothing.
        struct source {
            step_id step = no_step; ///< the step that writes it; `no_step`: a given value, or none
            std::uint32_t operand =
                no_value; ///< the index of the touch, or the given value; `no_value`: none
            friend bool operator==(counterexample::renaming::source,
                                   counterexample::renaming::source) = default;
        };
        step_id step = no_step;    ///< `no_step`: at the end, at the start, or in the graph
        std::uint32_t operand = 0; ///< index of the touch, or in edge_uses()
        value_id value = no_value; ///< in the program before
        value_id name = no_value;  ///< in the program after
        counterexample::renaming::source expected = {}; ///< before
        counterexample::renaming::source found = {};    ///< after
        friend bool operator==(counterexample::renaming const&, counterexample::renaming const&) = default;
    };
    /// Two commands on streams.
    struct commands {
        std::uint32_t first = no_step;    ///< commands; `no_step`: none
        std::uint32_t second = no_step;   ///< the later command
        std::uint32_t first_stream = 0;   ///< the stream of the first command
        std::uint32_t second_stream = 0;  ///< the stream of the second one
        step_id first_step = no_step;     ///< the steps of the commands
        step_id second_step = no_step;    ///< of the second command
        value_id first_value = no_value;  ///< the value that the first command touches the bytes as
        value_id second_value = no_value; ///< the value that the second one touches them as
        std::uint32_t block = no_step;    ///< or the event, or none
        byte_count begin = 0;             ///< the first byte in the block
        byte_count end = 0;               ///< behind the last byte
        friend bool operator==(counterexample::commands const&, counterexample::commands const&) = default;
    };
    /// The caller's name of a value or of a step.
    struct said_name {
        bool is_of_step = false;     ///< the name of a step, not of a value
        std::uint32_t id = 0;        ///< of the step or the value
        std::vector<char> text = {}; ///< ends with a null character
        friend bool operator==(counterexample::said_name const&, counterexample::said_name const&) = default;
    };
    fault what = fault::foreign_plan; ///< the rule that is violated
    /// What shows it: one of these, or nothing.
    detail::one_of<counterexample::overlap, counterexample::place, counterexample::view,
                   counterexample::access, counterexample::waiting, counterexample::timing,
                   counterexample::slots, counterexample::buffers, counterexample::proof,
                   counterexample::renaming, counterexample::commands>
        of = {};
    std::vector<step_id> schedule = {}; ///< of a step that overwrites: all steps; of a cycle: those that
                                        ///< wait; of an edge that goes backward: its two
    /// Of a plan for every shape: a shape that shows the fault; empty: validity for all of them is not
    /// proved.
    std::optional<std::vector<byte_count>> at_shape = std::nullopt;
    tree_value value_in_tree = {}; ///< of a nested plan: the program of value(), and its id there
    tree_value other_in_tree = {}; ///< the same of other()
    std::vector<counterexample::said_name> names = {}; ///< the names that name() and name_step() have given
    char const* unit = nullptr;                        ///< as in plan_report

    /// The payload, if it is of this type, or null. It is part of this, also of a temporary.
    template <class P>
    [[nodiscard]] P const* as() const noexcept
        requires requires(counterexample const& why) { why.of.template as<P>(); }
    {
        return of.template as<P>();
    }
    /// The value that the rule is about; `no_value`: none.
    [[nodiscard]] value_id value() const noexcept;
    /// The second value; `no_value`: none.
    [[nodiscard]] value_id other() const noexcept;
    /// The step that shows it, or the later of two; `no_step`: none, or known by its position only.
    [[nodiscard]] step_id step() const noexcept;
    /// The steps that the sentence names.
    [[nodiscard]] std::vector<step_id> steps() const;
    /// Where it shows in an order; `no_position`: none.
    [[nodiscard]] position_id position() const noexcept;

    /// Gives a value the caller's name, text or a range of char, which is printed instead of its id and of a
    /// name that it had.
    template <class Text>
    void name(value_id v, Text const& text)
    {
        add_label(false, v, text);
    }
    /// The same for a step.
    template <class Text>
    void name_step(step_id s, Text const& text)
    {
        add_label(true, s, text);
    }
    /// The name, ending in '\0', or null.
    [[nodiscard]] char const* name_of(value_id v) const { return find_label(false, v); }
    /// The same for a step.
    [[nodiscard]] char const* name_of_step(step_id s) const { return find_label(true, s); }

    friend bool operator==(counterexample const& a, counterexample const& b) { return a.equals(b); }

private:
    template <class Text>
    void add_label(bool is_of_step, std::uint32_t id, Text const& text)
    {
        counterexample::said_name named{is_of_step, id, {}};
        if constexpr (std::is_convertible_v<Text const&, char const*>) {
            for (char const* c = text; *c != '\0'; ++c) named.text.push_back(*c);
        } else {
            for (char c : text)
                if (c != '\0') named.text.push_back(c);
        }
        named.text.push_back('\0');
        for (counterexample::said_name& said : names)
            if (said.is_of_step == is_of_step && said.id == id) {
                said = std::move(named);
                return;
            }
        names.push_back(std::move(named));
    }
    [[nodiscard]] bool equals(counterexample const& other) const;
    [[nodiscard]] char const* find_label(bool is_of_step, std::uint32_t id) const;
};

namespace detail {

/// Of a rule with a step that is known by its position only.
void set_step(counterexample& why, step_id s);

/// One sentence, with names where there are some; the last character is '\0'.
[[nodiscard]] std::vector<char> sentence_of(counterexample const& why);

} // namespace detail

/// Writes one sentence to any stream that takes text.
template <class Stream>
    requires requires(Stream& out) { out << "text"; }
Stream& operator<<(Stream& out, counterexample const& why)
{
    out << static_cast<char const*>(detail::sentence_of(why).data());
    return out;
}

/// What everything that can fail returns, or derives its result from: true, or an error.
class verdict {
public:
    /// It holds.
    verdict() = default;
    /// It does not.
    verdict(counterexample why);
    /// It holds if there is none.
    verdict(std::optional<counterexample> why);
    verdict(verdict const& other) : why_(copy_of(other.why_)), fails_(other.fails_) {}
    /// The other one still fails if it did, without an error.
    verdict(verdict&& other) noexcept : why_(std::exchange(other.why_, nullptr)), fails_(other.fails_) {}
    verdict& operator=(verdict other) noexcept
    {
        std::swap(why_, other.why_);
        std::swap(fails_, other.fails_);
        return *this;
    }
    ~verdict()
    {
        if (why_ != nullptr) destroy(why_);
    }

    /// There is no error.
    explicit operator bool() const noexcept { return !fails_; }

    /// Why not.
    /// Requires: there is an error.
    [[nodiscard]] counterexample const& error() const&
    {
        expect_error();
        return *why_;
    }
    /// The same, to be given names.
    [[nodiscard]] counterexample& error() &
    {
        expect_error();
        return *why_;
    }
    /// The same of a temporary: a copy, which stays valid.
    [[nodiscard]] counterexample error() && { return std::as_const(*this).error(); }

    /// Fails with the error of another, or with a counterexample, if there is one: that replaces its own.
    /// Returns whether it holds.
    bool refute(verdict other)
    {
        if (other.fails_) *this = std::move(other);
        return !fails_;
    }

    /// Not of classes that derive from it: these have more than an error.
    template <std::same_as<verdict> V>
    friend bool operator==(V const& a, V const& b)
    {
        bool const have_both = a.why_ != nullptr && b.why_ != nullptr;
        return a.fails_ == b.fails_ && (have_both ? *a.why_ == *b.why_ : a.why_ == b.why_);
    }
    /// It has this error.
    template <std::same_as<verdict> V>
    friend bool operator==(V const& a, counterexample const& why)
    {
        return a.why_ != nullptr && *a.why_ == why;
    }

private:
    void expect_error() const
    {
        SUBLET_EXPECTS(fails_, "sublet: what has not failed has no error");
        SUBLET_EXPECTS(why_ != nullptr, "sublet: this has failed, and its error was moved away");
    }
    static counterexample* copy_of(counterexample const* why);
    static void destroy(counterexample* why) noexcept;

    counterexample* why_ = nullptr; // owned
    bool fails_ = false;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/counterexample.ipp>
#endif

#endif
