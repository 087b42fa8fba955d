// SPDX-License-Identifier: BSL-1.0

/// Percents in integers: both numbers are halved until the product with 10,000 fits 64 bits, then divided
/// and rounded.

#include <sublet/core/internal/text.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/reporting/detail/table_cell.hpp>

namespace sublet::detail {

SUBLET_DECL void table_cell::operator<<(char const* ascii)
{
    for (; *ascii != '\0'; ++ascii) *this << *ascii;
}

SUBLET_DECL void write_percent(table_cell& cell, byte_count part, byte_count whole)
{
    for (; whole >> 49 != 0; whole >>= 1) part >>= 1; // room for the product
    byte_count const count = whole == 0 ? 0 : (10'000 * part + whole / 2) / whole;
    plain_text<table_cell> digits{cell};
    digits << count / 100 << '.' << count / 10 % 10 << count % 10;
}

} // namespace sublet::detail
