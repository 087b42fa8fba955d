// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_ASKED_OPTIONS_HPP
#define SUBLET_CORE_INTERNAL_ASKED_OPTIONS_HPP

/// The options of a call in which each callable has become a table: it is asked once for each value. They are
/// copied only where there is a callable.

#include <sublet/core/plan.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

/// The options that a public call works with: those given or, if one of their properties is a callable, a
/// copy with the table of its results. So each callable is called once for each value, whatever the call
/// calls.
///
/// Requires:   the given options outlive it; they are not copied if no property is a callable.
/// Complexity: O(properties); with a callable O(count) for each property.
template <class Options>
class asked_options {
public:
    /// With these properties as tables, of `count` entries each.
    template <class... Property>
    explicit asked_options(Options const& given, [[maybe_unused]] std::size_t count = 0,
                           Property Options::*... properties)
        : given_(&given)
    {
        (ask(properties, count), ...);
    }
    /// The property is a table from here on.
    template <class T, class Id>
    void ask(per_value<T, Id> Options::* property, std::size_t count)
    {
        if ((given_->*property).is_callable()) own().*property = (given_->*property).tabulate(count);
    }
    [[nodiscard]] Options const& operator*() const { return own_.empty() ? *given_ : own_.front(); }
    [[nodiscard]] Options const* operator->() const { return &**this; }
    /// A copy that may be changed.
    [[nodiscard]] Options& own()
    {
        if (own_.empty()) own_.push_back(*given_);
        return own_.front();
    }

private:
    Options const* given_;
    std::vector<Options> own_; // at most one
};

} // namespace sublet::detail

#endif
