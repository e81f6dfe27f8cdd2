// A chart of any numbers: from a table in a text file to a picture that stands alone, in a README for instance.
#pragma once

#include <filesystem>
#include <string>

#include "rnnsearch/report/line_chart.h"

namespace rnnsearch::report {

/// Reads tab-separated values: a head with the name of the horizontal axis and the name of each line, then a row for
/// each place on the axis, in order, with the place and each line's number there; an empty field, or a row that ends
/// early, is a point that is not known. Lines that begin with # are comments. Every place has its label and all are
/// equally far apart. Throws Error naming file and line for a head without lines, a name that occurs twice, a row
/// without a place, one with too many fields, what is no number, and a file without rows.
LineChart read_chart(const std::filesystem::path& path);

/// An SVG file with the chart's title, its legend and colours for a light background, which needs no style sheet.
std::string svg_file_of(const LineChart& chart);

}  // namespace rnnsearch::report
