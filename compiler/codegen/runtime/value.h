/// Declarations that a kernel makes before the runtime: its value type and the functions of libm for it. For
/// editors and tests; no kernel prints it.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(VALUE_IS_INTEGER)
typedef int64_t value;
typedef uint64_t value_word;
#define VALUE_BYTES 8
#define VALUE_LARGEST INT64_MAX
#define VALUE_SMALLEST INT64_MIN
#elif defined(VALUE_IS_COMPLEX) && defined(VALUE_IS_FLOAT)
typedef float _Complex value;
typedef float value_part;
typedef uint64_t value_word;
#define VALUE_BYTES 8
#define MATH(name) name##f
#elif defined(VALUE_IS_COMPLEX)
typedef double _Complex value;
typedef double value_part;
typedef uint64_t value_word;
#define VALUE_BYTES 16
#define MATH(name) name
#elif defined(VALUE_IS_FLOAT)
typedef float value;
typedef uint32_t value_word;
#define VALUE_BYTES 4
#define MATH(name) name##f
#else
typedef double value;
typedef uint64_t value_word;
#define VALUE_BYTES 8
#define MATH(name) name
#endif
