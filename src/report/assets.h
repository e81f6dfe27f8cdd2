// page.css and page.js, which CMake embeds into the program.
#pragma once

#include <string_view>

namespace rnnsearch::report {

struct Asset {
  std::string_view text;
  std::string_view sha256;  // hexadecimal digest of the text, which the security policy of the page names
};
Asset page_style();
Asset page_script();

}  // namespace rnnsearch::report
