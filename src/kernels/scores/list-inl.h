// The list of scores. To add one, write a file beside this one, a line below, and its equation in
// tests/support/scores.cpp: options, help, error messages, checkpoints and all tests of scores follow from this list.
#include "kernels/scores/additive-inl.h"
#include "kernels/scores/concat-inl.h"
#include "kernels/scores/dot-inl.h"
#include "kernels/scores/general-inl.h"
#include "kernels/scores/l2-inl.h"
#include "kernels/scores/mlp-inl.h"
#include "kernels/scores/scaled_dot-inl.h"
