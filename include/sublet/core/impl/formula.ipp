// SPDX-License-Identifier: BSL-1.0

/// Functions of formulas: operands and results are tested here, all else is done on terms.

#include <sublet/core/formula.hpp>
#include <sublet/core/internal/formula_grid.hpp>
#include <sublet/core/internal/formula_terms.hpp>
#include <sublet/impl/config.hpp>

#include <utility>

namespace sublet {
namespace detail {

SUBLET_DECL polynomial_view formula_parts::of(formula const& f)
{
    SUBLET_EXPECTS(f.is_known(), "sublet: a formula has an operand that is unknown");
    SUBLET_EXPECTS(!f.is_by_shape(), "sublet: a formula has an operand that is known by its shape only");
    return f.sum_;
}

SUBLET_DECL formula formula_parts::made(formula_limit exceeded, polynomial&& from)
{
    SUBLET_EXPECTS(exceeded != formula_limit::number, "sublet: a coefficient of a formula reaches 2^63");
    SUBLET_EXPECTS(exceeded != formula_limit::terms, "sublet: a formula has more than % terms", most_terms);
    SUBLET_EXPECTS(exceeded != formula_limit::factors, "sublet: a term of a formula has more than % factors",
                   most_factors);
    SUBLET_EXPECTS(exceeded != formula_limit::depth,
                   "sublet: quotients and maxima of a formula are nested more than % deep", most_depth);
    formula f;
    f.sum_ = std::move(from);
    return f;
}

SUBLET_COLD_DECL formula formula_parts::unknown()
{
    formula f;
    f.sum_.constant = formula::no_constant;
    return f;
}

/// Its only word begins no term.
SUBLET_COLD_DECL formula formula_parts::by_shape()
{
    formula f;
    f.sum_.terms.push_back(0);
    return f;
}

/// Throws the sentence that says why there is no number.
SUBLET_COLD_DECL void refuse_shape(polynomial_view f, std::span<byte_count const> sizes)
{
    std::vector<std::uint32_t> dimensions;
    list_dimensions(f.terms, dimensions);
    for (std::uint32_t const d : dimensions)
        SUBLET_EXPECTS(d < sizes.size(), "sublet: a formula has dimension %, but the shape has % dimensions",
                       d, sizes.size());
    for (std::uint32_t const d : dimensions)
        SUBLET_EXPECTS(sizes[d] >> 63 == 0, "sublet: dimension % of a shape is %: it reaches 2^63", d,
                       sizes[d]);
    std::int64_t number = 0;
    SUBLET_EXPECTS(evaluate(f, sizes, number), "sublet: a formula or a part of it reaches 2^63 for a shape");
    SUBLET_EXPECTS(number >= 0, "sublet: a formula is negative for a shape: %", number);
}

} // namespace detail

SUBLET_DECL formula formula::unknown() { return detail::formula_parts::unknown(); }
SUBLET_DECL formula formula::by_shape() { return detail::formula_parts::by_shape(); }
SUBLET_DECL bool formula::is_by_shape() const noexcept { return sum_.terms.size() == 1; }

SUBLET_DECL byte_count formula::at(std::span<byte_count const> sizes) const
{
    if (!is_known()) return no_size;
    std::int64_t number = sum_.constant;
    if (!sum_.terms.empty()) {
        detail::polynomial_view const f = detail::formula_parts::of(*this);
        if (!detail::evaluate(f, sizes, number)) number = -1;
    }
    if (number < 0) detail::refuse_shape(sum_, sizes);
    return static_cast<byte_count>(number);
}

SUBLET_DECL formula formula::sum(formula const& a, formula const& b, std::int64_t times)
{
    detail::polynomial made;
    auto const exceeded =
        detail::add(detail::formula_parts::of(a), detail::formula_parts::of(b), times, made);
    return detail::formula_parts::made(exceeded, std::move(made));
}

SUBLET_DECL formula formula::product(formula const& a, formula const& b)
{
    detail::polynomial made;
    auto const exceeded = detail::multiply(detail::formula_parts::of(a), detail::formula_parts::of(b), made);
    return detail::formula_parts::made(exceeded, std::move(made));
}

SUBLET_DECL bool formula::is_equal(formula const& a, formula const& b) noexcept
{
    return a.sum_.constant == b.sum_.constant && a.sum_.terms == b.sum_.terms;
}

SUBLET_DECL formula symbol(std::uint32_t dimension)
{
    std::int64_t const key[] = {dimension};
    return detail::formula_parts::made(detail::formula_limit::none, detail::factor_alone({key, 1}));
}

SUBLET_DECL formula ceil_divide(formula const& a, byte_count divisor)
{
    detail::polynomial_view const dividend = detail::formula_parts::of(a);
    SUBLET_EXPECTS(divisor != 0, "sublet: a formula is divided by 0");
    SUBLET_EXPECTS(divisor >> 63 == 0, "sublet: a formula is divided by %: it reaches 2^63", divisor);
    detail::polynomial made;
    auto const exceeded = detail::divide_up(dividend, static_cast<std::int64_t>(divisor), made);
    return detail::formula_parts::made(exceeded, std::move(made));
}

SUBLET_DECL formula round_up(formula const& a, byte_count multiple)
{
    SUBLET_EXPECTS(multiple != 0, "sublet: a formula is rounded up to a multiple of 0");
    return multiple * ceil_divide(a, multiple);
}

SUBLET_DECL formula larger_of(formula const& a, formula const& b)
{
    detail::polynomial made;
    auto const exceeded =
        detail::take_larger(detail::formula_parts::of(a), detail::formula_parts::of(b), made);
    return detail::formula_parts::made(exceeded, std::move(made));
}

namespace detail {

SUBLET_DECL size_grid formula_parts::grid(polynomial_view a, polynomial_view b,
                                          std::span<dimension const> dims)
{
    std::vector<std::uint32_t> dimensions;
    list_dimensions(a.terms, dimensions);
    list_dimensions(b.terms, dimensions);
    size_grid grid;
    grid.reserve(dimensions.size());
    for (std::uint32_t const d : dimensions) {
        SUBLET_EXPECTS(d < dims.size(), "sublet: a formula has dimension %, but there are % dimensions", d,
                       dims.size());
        dimension const& its = dims[d];
        char const* const name = its.name.empty() ? "no name" : its.name.c_str();
        SUBLET_EXPECTS(its.stride >= 1, "sublet: dimension % (%) has a stride of 0", d, name);
        SUBLET_EXPECTS(its.least <= its.most, "sublet: dimension % (%) is at least % and at most %", d, name,
                       its.least, its.most);
        byte_count const steps = (its.most - its.least) / its.stride, last = its.least + steps * its.stride,
                         stride = steps == 0 ? 1 : its.stride;
        size_range range{d, static_cast<std::int64_t>(its.least), static_cast<std::int64_t>(stride),
                         static_cast<std::int64_t>(steps)};
        if (last >> 63 != 0) range.steps = -1;
        if (its.least >> 63 != 0 || stride >> 63 != 0) range = {d, 0, 0, -1};
        grid.push_back(range);
    }
    return grid;
}

} // namespace detail

SUBLET_DECL bool never_above(formula const& a, formula const& b, std::span<dimension const> dims)
{
    SUBLET_EXPECTS(a.is_known() && b.is_known(), "sublet: a formula that is unknown is compared");
    if (a.is_by_shape() || b.is_by_shape()) return false;
    detail::polynomial_view const of_a = detail::formula_parts::of(a), of_b = detail::formula_parts::of(b);
    if (of_a.terms.empty() && of_b.terms.empty()) return of_a.constant <= of_b.constant;
    detail::size_grid const grid = detail::formula_parts::grid(of_a, of_b, dims);
    detail::polynomial difference;
    return detail::add(of_b, of_a, -1, difference) == detail::formula_limit::none &&
           detail::is_never_negative(difference, grid);
}

} // namespace sublet
