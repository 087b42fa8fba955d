// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_NAMES_HPP
#define SUBLET_REPORTING_NAMES_HPP

/// The names of values, kinds and steps that reports write, from any function that returns text or an
/// integer, or from a table of texts.
///
///     write_csv(file, planned, {.names = [&](auto v) -> auto& { return ir.tensors[v].name; }});
///     write_html(file, planned, {.names = list.names(), .steps = list.step_names(), .program = &program});
///     write_json(file, planned, {.names = std::vector<std::string>{"image", "blurred"}});

#include <sublet/core/internal/callables.hpp>
#include <sublet/core/internal/text.hpp>

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/reporting/detail/name_text.hpp>
#include <sublet/reporting/internal/printable_text.hpp>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet {

/// The names of values, `names_of<value_id>`, or of steps, `names_of<step_id>`: a callable or a table, tried
/// in this order.
///
///     .names = [&](auto v) -> auto& { return ir[v].name; }     returns text or an integer
///     .names = std::vector<std::string>{"image", "blurred"}    a table: anything with [] and size()
///
/// Text is what converts to `std::string_view`, or a range of char. Names come from files, so they may be any
/// bytes; a `char const*` that is null is refused. They are stored by value, so options can be stored, copied
/// and returned; a `std::span` refers to its table. The same value always has the same name.
template <class Id>
class names_of {
public:
    /// Not given: the number is the name.
    names_of() noexcept = default;
    /// A callable or a table, which is copied.
    template <class X>
        requires(!std::same_as<std::remove_cvref_t<X>, names_of> &&
                 !std::is_array_v<std::remove_reference_t<X>>)
    names_of(X&& x)
    {
        using held = std::decay_t<X>;
        constexpr bool is_readable = detail::names_callable<held, Id> || detail::names_table<held, Id>;
        static_assert(is_readable,
                      "sublet: names are a callable that takes the number of a value, or of a step, and "
                      "returns text or an integer; or a table of texts with [] and size()");
        static_assert(std::copy_constructible<held>,
                      "sublet: names are kept by value and copied, but this type cannot be copied");
        if constexpr (is_readable && std::copy_constructible<held>) {
            held_ = new held(std::forward<X>(x));
            actions_ = &actions_of<held>;
        }
    }
    /// A table, which is copied.
    template <class E>
    names_of(std::initializer_list<E> table) : names_of(std::vector<E>(table))
    {
    }
    /// A table, which is copied.
    template <class E, std::size_t N>
    names_of(E const (&table)[N]) : names_of(std::vector<E>(table, table + N))
    {
    }
    /// Afterwards the other one is not given.
    names_of(names_of&& other) noexcept
        : held_(std::exchange(other.held_, nullptr)), actions_(std::exchange(other.actions_, nullptr))
    {
    }
    names_of(names_of const& other)
        : held_(other.is_given() ? other.actions_->copy(other.held_) : nullptr), actions_(other.actions_)
    {
    }
    names_of& operator=(names_of other) // copying it may throw, so not noexcept
    {
        std::swap(held_, other.held_);
        std::swap(actions_, other.actions_);
        return *this;
    }
    ~names_of()
    {
        if (is_given()) actions_->destroy(held_);
    }

    /// There are names besides the numbers.
    [[nodiscard]] bool is_given() const noexcept { return actions_ != nullptr; }
    /// The text becomes the name of `of`.
    /// Throws: precondition_error if a table has no entry for it; whatever a callable throws; std::bad_alloc.
    void read(std::vector<char>& text, Id of) const
    {
        text.clear();
        if (is_given()) actions_->append(held_, text, of);
        else detail::append_name(text, of);
    }

private:
    struct actions {
        void (*append)(void const*, std::vector<char>&, Id);
        void* (*copy)(void const*);
        void (*destroy)(void*);
    };

    template <class X>
    static void append_one(X const& x, std::vector<char>& text, Id of)
    {
        if constexpr (detail::names_callable<X, Id>) {
            detail::append_name(text, detail::call_user(x, of));
        } else {
            SUBLET_EXPECTS(of < static_cast<std::size_t>(x.size()),
                           "sublet: a table of names has no entry for %, but % entries", of,
                           static_cast<std::size_t>(x.size()));
            detail::append_name(text, detail::look_up(x, of));
        }
    }

    template <class X>
    static constexpr actions actions_of{
        [](void const* x, std::vector<char>& text, Id of) {
            append_one(*static_cast<X const*>(x), text, of);
        },
        [](void const* x) -> void* { return new X(*static_cast<X const*>(x)); },
        [](void* x) { delete static_cast<X*>(x); }};

    void* held_ = nullptr;
    actions const* actions_ = nullptr;
};

/// Of reports that write names, and nothing else that can be chosen.
struct name_options {
    names_of<value_id> names = {}; ///< of values; default: their numbers
};

} // namespace sublet

#endif
