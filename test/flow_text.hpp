// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_FLOW_TEXT_HPP
#define SUBLET_TEST_FLOW_TEXT_HPP

/// A small control-flow program as text: a string for each node.
///
///     flow_text({"a= b= >1 >2",        node 0: def a, def b; leads to 1 and 2
///                "a c= >3",            node 1: use a, def c
///                "b! ; d= >3",         node 2: use b early; in the next step def d
///                "c@1 d@2 e= >3"})     node 3: e is a phi of c where 1 ends and d where 2 ends; leads to 3

#include "random_flow.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

/// Values are letters: a is 0; there are as many as the last letter used.
inline sublet::snapshot flow_text(std::vector<std::string_view> const& nodes)
{
    random_flow f;
    for (std::string_view line : nodes) {
        random_flow::node& node = f.nodes.emplace_back();
        while (!line.empty()) {
            std::string_view const word = line.substr(0, line.find(' '));
            line.remove_prefix(std::min(line.size(), word.size() + 1));
            auto number = [&] {
                std::uint32_t n = 0;
                for (std::size_t i = word[0] == '>' ? 1 : 2; i < word.size(); ++i)
                    n = 10 * n + static_cast<std::uint32_t>(word[i] - '0');
                return n;
            };
            if (word == ";") node.steps.emplace_back();
            else if (word[0] == '>') node.successors.push_back(number());
            else {
                auto const v = static_cast<std::uint32_t>(word[0] - 'a');
                f.values = std::max(f.values, v + std::size_t{1});
                char const how = word.size() == 1 ? ' ' : word[1];
                if (how == '@') node.operands.push_back({number(), v});
                else
                    (how == '='   ? node.steps.back().defs
                     : how == '!' ? node.steps.back().early
                                  : node.steps.back().uses)
                        .push_back(v);
            }
        }
    }
    return f.program();
}

#endif
