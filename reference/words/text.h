// The text form of a case: one line, the label of the test, the reproducer, the key of the record.
// README.md beside this file is the grammar.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "reference/words/op.h"

namespace plumb {

// Bad input. what() is one message: what was expected, the line, and a caret under the offending
// character.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// A control character is shown as a space: it would move the cursor. Of a text all but the ends of its lines,
// and those outside of ASCII (U+0080 to U+009F, and the ones that turn the direction of writing).
inline char printable(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c; }
std::string printable(std::string_view text);

BadInput bad_input(std::string_view message, std::string_view line, std::size_t at);

// What it says, without the excerpt and the caret: for who points at another text.
std::string without_excerpt(const std::exception&);

// Throws BadInput. Laws: parse_case(print(c)) == c for every case c; print(parse_case(line)) is the
// canonical line, and a fixed point.
Case parse_case(std::string_view line);
Mesh parse_mesh(std::string_view text);  // "dp=2,tp=4" with an optional " ids=..."
Spec parse_spec(std::string_view text, const Mesh&);

inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether it may be the name of an axis or of a dimension: [A-Za-z_][A-Za-z0-9_]*.
bool is_name(std::string_view);

std::string print(const Case&);
std::string print(const Mesh&);
std::string print(const Mesh&, const Spec&);
std::string print(const Slice&);     // "[0:4,2:8]"
std::string coordinates_text(const Mesh&, std::int64_t device);  // "dp=0,tp=1"
std::string dotted(const Mesh&, const std::vector<AxisId>& axes);  // "dp.tp"
std::string dotted(const std::vector<std::string>& names);
std::string print(const AxisRule&);  // "mlp:(fsdp.tp)"
std::string_view name(const Op&);    // reshard, einsum, grouped, resolve, quantize
std::string_view name(Fill);
std::string_view name(Rule);
std::string_view name(Reduce);
std::string_view name(Form);
std::string_view name(Scheme);

// "1 part", "3 parts", "2 meshes".
std::string counted(std::int64_t n, std::string_view noun);

}  // namespace plumb
