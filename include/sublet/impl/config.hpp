// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_CONFIG_HPP
#define SUBLET_IMPL_CONFIG_HPP

/// What every header needs first: C++20, and how the definitions in impl/*.ipp are compiled.
///
///     nothing defined                    each header includes its definitions, which are inline
///     SUBLET_SEPARATE_COMPILATION        headers only declare; one source file of a program, or the CMake
///                                        target sublet::compiled, includes sublet/src.hpp
///
/// Use one form per program. If both meet by mistake, the linker keeps one of two equal functions
/// (Microsoft's refuses them), which is harmless if both were compiled with the same flags.

#if defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 202002L
#error "sublet needs C++20: compile with -std=c++20 (Microsoft's compiler: /std:c++20)"
#include "the error above ends this compilation" // compilers go on after #error, but not without a file
#endif

#if defined(SUBLET_SEPARATE_COMPILATION)
#define SUBLET_DECL

namespace sublet::detail {

/// Defined with the library's definitions. Every file refers to it, so that without them the linker names it.
extern char const link_libsublet_or_include_sublet_src_hpp_in_one_file;
#if defined(__GNUC__) && defined(__ELF__) && __has_cpp_attribute(gnu::retain)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes" // retain, for a linker that does not know it
[[gnu::used, gnu::retain]] inline constexpr char const* definitions =
    &link_libsublet_or_include_sublet_src_hpp_in_one_file;
#pragma GCC diagnostic pop
#endif

} // namespace sublet::detail

#else
#define SUBLET_DECL inline
#endif

// A definition that runs a few times in a plan, and calls what takes the time, is compiled for size.
#if defined(__has_cpp_attribute)
#if __has_cpp_attribute(gnu::cold)
#define SUBLET_COLD [[gnu::cold]]
#endif
#endif
#if !defined(SUBLET_COLD)
#define SUBLET_COLD
#endif
#define SUBLET_COLD_DECL SUBLET_COLD SUBLET_DECL

#endif
