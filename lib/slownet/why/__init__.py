"""Where the time of an operation went: an account of waits, walked back across hosts from captures.

The doors of the package are `slownet.why.door`, for captures, and `slownet.why.live`, for a network that runs; nothing else of
it is imported from outside, and no other feature imports it. The module can be called: that is `slownet.why.live.why`.
"""

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from slownet.why.live import why

        return why(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
