"""Pages of equal images, and pages whose first paint waits, served by nginx."""

from slownet.services.https import HttpsServer

IMAGE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><rect width="16" height="16" fill="teal"/><!--{}--></svg>'
)
HEAD = "<!DOCTYPE html><title>A page</title>"


def page_of_images(number, size):
    """Return the files of a page with so many images of so many bytes."""
    pad = "x" * (size - len(IMAGE.format("")))
    images = "".join(f"<img src=i.svg?{each} width=16 height=16>" for each in range(number))
    return {"page.html": f"{HEAD}<p>Text{images}".encode(), "i.svg": IMAGE.format(pad).encode()}


class TwoPorts(HttpsServer):
    """nginx that also listens on port 444: another origin, with connections of its own."""

    def site(self):
        return [*super().site(), "listen 444 ssl"]
