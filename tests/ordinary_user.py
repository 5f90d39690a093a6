"""What an ordinary user may do, tried by a process of root's that becomes one."""

import os
import pickle
import traceback

NOBODY = 65534


def call(function, user=NOBODY):
    """Return what a function without arguments returns in a process of that user; raise AssertionError with its traceback."""
    answer, question = os.pipe()
    child = os.fork()
    if not child:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setresgid(user, user, user)
                os.setresuid(user, user, user)
            found = True, function()
        except BaseException:
            found = False, traceback.format_exc()
        os.write(question, pickle.dumps(found))
        os._exit(0)
    os.close(question)
    with os.fdopen(answer, "rb") as file:
        done, result = pickle.loads(file.read())
    os.waitpid(child, 0)
    assert done, result
    return result
