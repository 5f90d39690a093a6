"""Container images: reads them from what people have, checks and keeps them, each as one squashfs file."""
