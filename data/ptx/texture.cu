// SPDX-License-Identifier: Apache-2.0
// An image read through a texture at places between its pixels: the texture unit finds the neighbours, keeps to the
// edges and weighs them.
extern "C" __global__ void resample(cudaTextureObject_t image, int width, float step_x, float step_y,
                                    float* __restrict__ out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  out[(size_t)y * width + x] = tex2D<float>(image, (x + 0.5f) * step_x, (y + 0.5f) * step_y);
}
