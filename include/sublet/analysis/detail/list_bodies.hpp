// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DETAIL_LIST_BODIES_HPP
#define SUBLET_ANALYSIS_DETAIL_LIST_BODIES_HPP

/// Makes a tree of a program with bodies: each listed program appends its bodies, with the function that
/// lists theirs, so nothing is recursive, and a type may contain itself.

#include <sublet/analysis/program_tree.hpp>
#include <sublet/core/errors.hpp>

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet::detail {

template <class P>
concept lasting_bodies =
    std::is_lvalue_reference_v<body_list<P>> || std::ranges::enable_borrowed_range<body_list<P>> ||
    std::is_pointer_v<std::remove_cvref_t<decltype(std::declval<body_item<P> const&>().program)>>;

/// A program with bodies still to be listed. Its type is erased, because programs of one type may contain
/// programs of another type, and these again programs of the first.
struct unlisted_program {
    void const* at;
    program_id number;
    void (*list)(unlisted_program, program_tree&, std::vector<unlisted_program>&);
};

template <class P>
void list_bodies(unlisted_program of, program_tree& tree, std::vector<unlisted_program>& open)
{
    if constexpr (nested_program<P>) {
        static_assert(lasting_bodies<P>, "sublet: bodies(n) returns programs that do not outlive the call: "
                                         "return a reference or a span, or bodies that hold pointers");
        P const& p = *static_cast<P const*>(of.at);
        std::size_t const count = tree.program_of(of.number).nodes();
        for (node_id n = 0; n != count; ++n) {
            for (auto&& b : p.bodies(n)) {
                auto const steps = tree.program_of(of.number).steps_of(n);
                step_id step = steps.first;
                if constexpr (requires { to_number(+b.step); }) step += to_number(+b.step);
                else
                    SUBLET_EXPECTS(steps.last - steps.first == 1,
                                   "sublet: a body does not say in which step of its node it is nested");
                SUBLET_EXPECTS(step >= steps.first && step < steps.last,
                               "sublet: a body is nested in step %, but its node has steps % to %", step,
                               steps.first, steps.last - 1);
                std::vector<program_body::capture> captures;
                std::vector<program_body::binding> bindings;
                for (program_body::capture c : b.captures) captures.push_back(c);
                for (program_body::binding i : b.bindings) bindings.push_back(i);
                auto const& body = body_program(b.program);
                program_id const number = tree.add_body(of.number, step, b.kind, body, captures, bindings);
                open.push_back({&body, number, &list_bodies<std::remove_cvref_t<decltype(body)>>});
            }
        }
    }
}

} // namespace sublet::detail

#endif
