"""The components of labs: the kernel, the first process, the image, layers of projects, and the cache that keeps them."""
