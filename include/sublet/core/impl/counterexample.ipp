// SPDX-License-Identifier: BSL-1.0

/// What all payloads have in common: a member is read by a visitor that returns it from whichever payload has
/// one of that name and type. The sentence is written by detail/counterexample_text.hpp.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/detail/counterexample_text.hpp>
#include <sublet/impl/config.hpp>

#include <concepts>

namespace sublet {
namespace detail {

SUBLET_COLD_DECL std::vector<char> sentence_of(counterexample const& why)
{
    return counterexample_text(why).text();
}

SUBLET_DECL void set_step(counterexample& why, step_id s)
{
    why.of.visit([&]<class P>(P const&) {
        if constexpr (requires(P& its) { its.step; }) why.of.as<P>()->step = s;
    });
}

/// The member of the payload that `read` reads, if it has one of this type.
template <class Payload, class Id, class Read>
Id member_of(Payload const& of, Id none, Read read)
{
    of.visit([&](auto const& its) {
        if constexpr (requires {
                          { read(its) } -> std::same_as<Id>;
                      })
            none = read(its);
    });
    return none;
}

} // namespace detail

SUBLET_DECL value_id counterexample::value() const noexcept
{
    return detail::member_of(of, no_value, [](auto const& its) -> decltype(its.value) { return its.value; });
}

SUBLET_DECL value_id counterexample::other() const noexcept
{
    return detail::member_of(of, no_value, [](auto const& its) -> decltype(its.other) { return its.other; });
}

SUBLET_DECL step_id counterexample::step() const noexcept
{
    if (auto const* c = as<counterexample::commands>()) return c->second_step;
    return detail::member_of(of, no_step, [](auto const& its) -> decltype(its.step) { return its.step; });
}

SUBLET_DECL position_id counterexample::position() const noexcept
{
    return detail::member_of(of, no_position,
                             [](auto const& its) -> decltype(its.position) { return its.position; });
}

SUBLET_DECL bool counterexample::equals(counterexample const& other) const
{
    if (what != other.what || schedule != other.schedule || at_shape != other.at_shape ||
        names != other.names || value_in_tree != other.value_in_tree || other_in_tree != other.other_in_tree)
        return false;
    bool is_same = true, is_of_both = false;
    of.visit([&]<class P>(P const& its) {
        is_of_both = true;
        P const* const others = other.of.as<P>();
        is_same = others != nullptr && its == *others;
    });
    other.of.visit([&](auto const&) { is_same = is_same && is_of_both; });
    return is_same;
}

SUBLET_DECL std::vector<step_id> counterexample::steps() const
{
    std::vector<step_id> found;
    auto add = [&](step_id s) {
        if (s != no_step) found.push_back(s);
    };
    add(step());
    if (auto const* o = as<counterexample::overlap>()) add(o->needed_at);
    if (auto const* a = as<counterexample::access>()) add(a->maker);
    if (auto const* s = as<counterexample::slots>()) add(s->written);
    if (auto const* t = as<counterexample::timing>()) add(t->other);
    if (auto const* c = as<counterexample::commands>()) add(c->first_step);
    if (what == fault::cycle || what == fault::leads_back || what == fault::order_left_out)
        for (step_id s : schedule)
            if (s != step()) found.push_back(s);
    if (auto const* r = as<counterexample::renaming>()) {
        add(r->found.step);
        add(r->expected.step);
    }
    return found;
}

SUBLET_DECL verdict::verdict(counterexample why) : why_(new counterexample(std::move(why))), fails_(true) {}

SUBLET_DECL verdict::verdict(std::optional<counterexample> why)
    : why_(why ? new counterexample(*std::move(why)) : nullptr), fails_(why_ != nullptr)
{
}

SUBLET_DECL bool detail::is_same_text(char const* a, char const* b) noexcept
{
    if (a == nullptr || b == nullptr) return a == b;
    while (*a != '\0' && *a == *b) ++a, ++b;
    return *a == *b;
}

SUBLET_DECL counterexample* verdict::copy_of(counterexample const* why)
{
    return why == nullptr ? nullptr : new counterexample(*why);
}

SUBLET_DECL void verdict::destroy(counterexample* why) noexcept { delete why; }

SUBLET_DECL char const* counterexample::find_label(bool is_of_step, std::uint32_t id) const
{
    for (counterexample::said_name const& named : names)
        if (named.is_of_step == is_of_step && named.id == id) return named.text.data();
    return nullptr;
}

} // namespace sublet
