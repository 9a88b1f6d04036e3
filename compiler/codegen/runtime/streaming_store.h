/// clang has one builtin for all vectors, GCC one for each type and width.
#pragma once
#include "vector.h"
#define IS_ALIGNED(p) (((uintptr_t)(p) & (sizeof(vec) - 1)) == 0)
#if defined(__clang__)
#define STREAM(p, v) __builtin_nontemporal_store((v), (value_part __attribute__((vector_size(VECTOR_BYTES)))*)(p))
#elif defined(__SSE2__)
typedef double stream_double __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef float stream_float __attribute__((vector_size(VECTOR_BYTES), may_alias));
#if VECTOR_BYTES == 64
#define STREAM_AS(suffix) __builtin_ia32_movnt##suffix##512
#elif VECTOR_BYTES == 32
#define STREAM_AS(suffix) __builtin_ia32_movnt##suffix##256
#else
#define STREAM_AS(suffix) __builtin_ia32_movnt##suffix
#endif
#if VALUE_BYTES == 8
#define STREAM(p, v) STREAM_AS(pd)((void*)(p), (stream_double)(v))
#else
#define STREAM(p, v) STREAM_AS(ps)((void*)(p), (stream_float)(v))
#endif
#else
#define STREAM(p, v) (void)(*(vec*)(p) = (v))
#endif
#define STREAM_STORE(streaming, p, v) do { if (streaming) STREAM((p), (v)); else *(vec*)(p) = (v); } while (0)
#if defined(__SSE2__)
#define STREAM_FENCE __builtin_ia32_sfence()
#else
#define STREAM_FENCE (void)0
#endif
