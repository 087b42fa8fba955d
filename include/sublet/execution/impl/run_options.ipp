// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/run_options.hpp>
#include <sublet/impl/config.hpp>

// --- bounded text ----------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL bounded_text& bounded_text::operator<<(char const* more) noexcept
{
    for (; *more != '\0'; ++more) *this << *more;
    return *this;
}

// --- errors ----------------------------------------------------------------------------------------------

SUBLET_DECL void write_cause(bounded_text& out, std::exception_ptr const& cause)
{
    if (!cause) return;
    try {
        std::rethrow_exception(cause);
    } catch (std::exception const& e) {
        out << ": " << e.what();
    } catch (...) {
        out << ": something that is no std::exception";
    }
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL run_error::run_error(step_id at, std::exception_ptr cause,
                                 detail::bounded_text const& what_happened)
    : step_(at), cause_(cause)
{
    text_ << "sublet: ";
    if (at == no_step) text_ << "before any step, ";
    else text_ << "at step " << at << ", ";
    text_ << what_happened.text();
    detail::write_cause(text_, cause);
}

SUBLET_DECL clobbered_value::clobbered_value(clobbered_value::finding const& what)
    : run_error(what.reader, nullptr, {}), what_(what)
{
    text_ = {};
    text_ << "sublet: value " << what.value;
    if (what.producer == no_step) text_ << ", which was given,";
    else text_ << ", made by step " << what.producer << ',';
    text_ << " is not what it was when ";
    if (what.reader == no_step) text_ << "the run ends";
    else text_ << "step " << what.reader << " needs it";
    if (what.culprit != no_value) text_ << ": value " << what.culprit << " lies over it";
    else text_ << ": nothing is planned over it, so a kernel wrote beyond its results";
    if (what.culprit_step != no_step) text_ << ", since step " << what.culprit_step;
}

// --- memory ----------------------------------------------------------------------------------------------

namespace detail {

SUBLET_DECL void* memory_source::allocate_free(void*, std::size_t bytes, std::size_t alignment)
{
    if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return ::operator new(bytes);
    return ::operator new(bytes, std::align_val_t{alignment});
}

SUBLET_DECL void memory_source::deallocate_free(void*, void* block, std::size_t, std::size_t alignment)
{
    if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return ::operator delete(block);
    ::operator delete(block, std::align_val_t{alignment});
}

SUBLET_DECL void counted_memory::share() noexcept { is_shared_ = true; }

SUBLET_DECL void* counted_memory::allocate(byte_count bytes, byte_count alignment)
{
    detail::scoped_lock const guard(lock());
    if (bytes > limit_ || use_.bytes.live > limit_ - bytes)
        throw memory_limit_exceeded(bytes, use_.bytes.live, limit_);
    if (bytes > ~std::size_t{0}) throw std::bad_alloc(); // more than can be addressed
    void* const block = source_.allocate(to_size(bytes), to_size(alignment));
    if (block == nullptr && bytes != 0) throw std::bad_alloc(); // a resource should not return null
    for (memory_use* use : {&use_, &since_mark_}) {
        use->bytes.add(bytes);
        use->allocations.add(1);
    }
    return block;
}

SUBLET_DECL void counted_memory::deallocate(void* block, byte_count bytes, byte_count alignment)
{
    detail::scoped_lock const guard(lock());
    source_.deallocate(block, to_size(bytes), to_size(alignment));
    for (memory_use* use : {&use_, &since_mark_}) {
        use->bytes.remove(bytes);
        use->allocations.remove(1);
    }
}

SUBLET_DECL void counted_memory::mark() noexcept
{
    detail::scoped_lock const guard(lock());
    std::uint64_t const bytes = use_.bytes.live, blocks = use_.allocations.live;
    since_mark_ = {.bytes = {bytes, bytes, 0}, .allocations = {blocks, blocks, 0}};
}

} // namespace detail

} // namespace sublet
