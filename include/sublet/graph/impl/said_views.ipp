// SPDX-License-Identifier: BSL-1.0

/// One pass over what steps say, against a copy of what options said: the first to speak of a view is
/// believed, and all others have to agree.

#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL table<value_id, byte_count> add_said_views(snapshot const& p, table<value_id, value_id>& of)
{
    table<value_id, value_id> const of_options = of;
    table<value_id, byte_count> offset(p.values(), no_offset); // as a step says it
    for (said_view const& say : p.said_views()) {
        bool const is_new = offset[say.value] == no_offset && of_options[say.value] == no_value;
        bool const is_same =
            of[say.value] == say.of && (offset[say.value] == no_offset || offset[say.value] == say.offset);
        SUBLET_EXPECTS(is_new || is_same,
                       "sublet: step % says that value % is a view of value % from byte % on, and something "
                       "else is said of it by another step or by options",
                       say.step, say.value, say.of, say.offset);
        of[say.value] = say.of;
        offset[say.value] = say.offset;
    }
    return offset;
}

} // namespace sublet::detail
