// Texts of others are cleaned of what acts on a terminal.
#include "compiler/support/printable.h"

#include <gtest/gtest.h>

namespace schaas::support {
namespace {

TEST(Printable, KeepsWordsOfAllLanguages) {
  for (const char* text :
       {"", "a\tb\n", "Größe 5 µs", "行列", "\xf0\x9f\x98\x80", "\xff\xc2", "\xe2\x80\x94"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ReplacesWhatActsOnATerminal) {
  EXPECT_EQ(printable("\x1b]0;title\x07\x1b[2J\rok"), "?]0;title??[2J?ok");
  EXPECT_EQ(printable(std::string_view("a\0b\x7f", 4)), "a?b?");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m \xc2\x85 \xc2\xa0"),
            "?31m ? \xc2\xa0");
}

TEST(Printable, ReplacesWhatReversesTheOrderOfWriting) {
  for (const char* mark :
       {"\xe2\x80\xae", "\xe2\x80\xaa", "\xe2\x81\xa6", "\xe2\x81\xa9", "\xe2\x80\x8f", "\xd8\x9c"})
    EXPECT_EQ(printable("a" + std::string(mark) + "b"), "a?b");
}

TEST(ValidUtf8, ReplacesStrayBytesAlone) {
  for (const char* text : {"", "B(i,j)", "Größe", "行列", "\xf0\x9f\x98\x80"})
    EXPECT_EQ(valid_utf8(text), text);
  EXPECT_EQ(valid_utf8("a\xff"
                       "b\xc3"),
            "a?b?");
  EXPECT_EQ(valid_utf8("\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80"), "?? ??? ????")
      << "overlong, surrogate, beyond the last";
}

}  // namespace
}  // namespace schaas::support
