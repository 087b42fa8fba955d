// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_ONE_OF_HPP
#define SUBLET_CORE_INTERNAL_ONE_OF_HPP

/// One of several classes as a value: its bytes and a number. What std::variant is, for trivially copyable
/// classes and at a tenth of its compile time.

#include <sublet/impl/config.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace sublet::detail {

/// One of several trivially copyable classes, or none of them. It is no std::variant because that adds 70 ms
/// to the 230 ms of a file that includes three standard headers (cmake -DONLY=std -P bench/build_cost.cmake).
template <class... T>
class one_of {
public:
    one_of() = default;
    template <class X>
        requires(std::same_as<X, T> || ...)
    one_of(X const& its) : which_(number_of<X>())
    {
        static_assert(std::is_trivially_copyable_v<X>);
        ::new (static_cast<void*>(bytes_)) X(its);
    }

    template <class X>
        requires(std::same_as<X, T> || ...)
    [[nodiscard]] X const* as() const noexcept
    {
        return which_ == number_of<X>() ? std::launder(reinterpret_cast<X const*>(bytes_)) : nullptr;
    }
    template <class X>
        requires(std::same_as<X, T> || ...)
    [[nodiscard]] X* as() noexcept
    {
        return const_cast<X*>(std::as_const(*this).template as<X>());
    }
    /// Calls visit(one) with the one that it is, if any.
    template <class Visit>
    void visit(Visit visit) const
    {
        static_cast<void>(((which_ == number_of<T>() && (visit(*as<T>()), true)) || ...));
    }

private:
    template <class X>
    static constexpr std::uint8_t number_of()
    {
        std::uint8_t number = 0;
        static_cast<void>(((++number, std::same_as<X, T>) || ...));
        return number;
    }
    static constexpr std::size_t most_bytes()
    {
        std::size_t most = 0;
        ((most = sizeof(T) > most ? sizeof(T) : most), ...);
        return most;
    }

    alignas(T...) unsigned char bytes_[most_bytes()] = {};
    std::uint8_t which_ = 0; // from 1; 0: none
};

} // namespace sublet::detail

#endif
