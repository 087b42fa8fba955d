// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_SHAPE_CALLABLE_HPP
#define SUBLET_CORE_INTERNAL_SHAPE_CALLABLE_HPP

/// A size that a callable gives for each value and shape, stored by value.

#include <sublet/core/internal/callables.hpp>
#include <sublet/core/units.hpp>

#include <concepts>
#include <span>
#include <type_traits>
#include <utility>

namespace sublet::detail {

/// The bytes of a value for one shape: a callable of both, or none.
class bytes_by_shape {
public:
    /// None.
    bytes_by_shape() = default;
    /// `f(value, sizes)`, where `sizes` has one size for each open dimension.
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, bytes_by_shape>) &&
                    requires(F const& f, value_id v, std::span<byte_count const> sizes) {
                        { f(v, sizes) } -> integer_like;
                    }
    bytes_by_shape(F f) : held_(new F(std::move(f))), actions_(&actions_of<F>)
    {
    }
    bytes_by_shape(bytes_by_shape const& other)
        : held_(other.actions_ == nullptr ? nullptr : other.actions_->copy(other.held_)),
          actions_(other.actions_)
    {
    }
    bytes_by_shape(bytes_by_shape&& other) noexcept
        : held_(std::exchange(other.held_, nullptr)), actions_(std::exchange(other.actions_, nullptr))
    {
    }
    bytes_by_shape& operator=(bytes_by_shape other) noexcept
    {
        std::swap(held_, other.held_);
        std::swap(actions_, other.actions_);
        return *this;
    }
    ~bytes_by_shape()
    {
        if (actions_ != nullptr) actions_->destroy(held_);
    }

    /// There is a callable.
    explicit operator bool() const noexcept { return actions_ != nullptr; }
    /// Calls it. Requires: there is one.
    [[nodiscard]] byte_count operator()(value_id v, std::span<byte_count const> sizes) const
    {
        return actions_->call(held_, v, sizes);
    }

private:
    struct actions {
        byte_count (*call)(void const*, value_id, std::span<byte_count const>);
        void* (*copy)(void const*);
        void (*destroy)(void*);
    };
    template <class F>
    static constexpr actions actions_of{
        [](void const* f, value_id v, std::span<byte_count const> sizes) -> byte_count {
            return to_byte_count(call_user(*static_cast<F const*>(f), v, sizes));
        },
        [](void const* f) -> void* { return new F(*static_cast<F const*>(f)); },
        [](void* f) { delete static_cast<F*>(f); }};

    void* held_ = nullptr;
    actions const* actions_ = nullptr;
};

} // namespace sublet::detail

#endif
