// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_KNOWN_PROPERTY_HPP
#define SUBLET_CORE_INTERNAL_KNOWN_PROPERTY_HPP

/// A property of values as a call works with it: a table of what options say; or a constant, as most are,
/// which needs no memory.

#include <sublet/core/plan.hpp>

#include <cstddef>
#include <utility>

namespace sublet::detail {

template <class T>
class known_property {
public:
    using cell = typename per_value<T>::cell;

    known_property() = default;
    /// Throws: as per_value::tabulate().
    known_property(per_value<T> const& said, std::size_t values, char const* name) : values_(values)
    {
        if (said.is_constant()) of_all_ = said[0];
        else table_ = said.tabulate(values, name);
    }
    known_property(table<value_id, cell> table) : table_(std::move(table)), values_(table_.size()) {}

    [[nodiscard]] T operator[](value_id v) const
    {
        return table_.empty() ? of_all_ : static_cast<T>(table_[v]);
    }
    void set(value_id v, T its)
    {
        if (table_.empty()) table_.assign(values_, static_cast<cell>(of_all_));
        table_[v] = static_cast<cell>(its);
    }

private:
    T of_all_{}; // without a table
    table<value_id, cell> table_;
    std::size_t values_ = 0;
};

} // namespace sublet::detail

#endif
