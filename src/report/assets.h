// page.css and page.js, embedded when the build is configured.
#pragma once

#include <string_view>

namespace rnnsearch::report {

struct Asset {
  std::string_view text;
  std::string_view sha256;  // of the text, hexadecimal: the page's policy names it
};
Asset page_style();
Asset page_script();

}  // namespace rnnsearch::report
