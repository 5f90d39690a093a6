"""What labs are made of: the kernel, the first process, the image, layers of projects, and the cache that keeps them."""
