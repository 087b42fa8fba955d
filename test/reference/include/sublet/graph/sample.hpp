// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_SAMPLE_HPP
#define SUBLET_GRAPH_SAMPLE_HPP

/// An essay, with a picture and `code`. It is the text of the page: sample.hpp.
///
///     a ──► b
///
///     int x = f(1);
///
/// Sizes are < 2^64, at 100 % of #1.

#include <vector>

// --- section ---------------------------------------------------------------------------------------------

/// An essay of a section.

namespace sublet {
namespace detail {

/// Hidden.
struct base {
    /// Inherited.
    int inherited() const;

private:
    int hidden_;
};

} // namespace detail

/// A function.
///
/// Requires:   x is odd,
///             and so on.
/// Ensures:    it is even.
/// Complexity: O(1).
/// Throws:     nothing.
template <detail::integer I>
    requires(sizeof(I) == 4)
[[nodiscard]] constexpr I function(I x, I y = {1, 2})
{
    return x + y;
}

/// Semantics:     none.
/// Minimal model: int.   Ordinary models: long; short.
template <class T>
concept thing = !detail::integer<T> && requires(T t) {
    { t } -> detail::integer;
};

/// The essay of a type, if the type has no other text.

struct fields {
    int a = 0, b = 0;           ///< two fields
    std::vector<int> list = {}; // not a comment of the reference

    friend bool operator==(fields const&, fields const&) = default;
};

/// A class with the public members of its base.
class derived : public detail::base {
public:
    derived(derived const&) = delete;
    /// Makes it.
    explicit derived(std::vector<int> const& the_first_of_two_lists, std::vector<int> const& the_other_list)
        : hidden_(the_first_of_two_lists.size()), also_(the_other_list.size())
    {
        ++hidden_;
    }
    void function(detail::base) = delete;
    void without_text();

private:
    /// Not here.
    int secret() const;
    struct inner {
        int x;
    };
    int hidden_, also_;
};

} // namespace sublet

#endif
