// Elementary functions of doubles whose results are the same bits on every processor and with every C library, unlike
// those of <cmath>: they only add, multiply and divide, in a fixed order (CMakeLists.txt forbids the compiler to fuse).
// log and exp are wrong by less than a unit in the last place. Thread-safe.
#pragma once

namespace rnnsearch::portable {

/// The natural logarithm of x. 0: -infinity; negative or NaN: NaN.
double log(double x);
/// e to the power of x.
double exp(double x);
/// x >= 0 to the power of y, which is above 0 if x is 0, with an error of |y log(x)| units in the last place.
double power(double x, double y);
/// cos(2 pi x) for 0 <= x <= 1, with an error below 2^-52.
double cos_of_turn(double x);

}  // namespace rnnsearch::portable
