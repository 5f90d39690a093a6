"""A server whose port another program has does not start: that one's answers would look like its own."""

import pytest

from slownet.model.errors import ServiceError
from slownet.services.memcached import Memcached
from slownet.services.sshd import Sshd
from slownet.services.unbound import Unbound

KINDS = {
    11211: Memcached,
    22: Sshd,
    53: lambda host, folder: Unbound(host, folder, records={"page.example": ["10.0.0.2"]}),
}


@pytest.mark.parametrize("port", KINDS)
def test_a_second_one_on_a_host_is_refused(net, tmp_path, port):
    make = KINDS[port]
    with make(net["web"], tmp_path) as first:
        second = make(net["web"], tmp_path)
        with pytest.raises(ServiceError, match=f"port {port} is taken, so {second.name} cannot have it, host 'web': stop the"):
            second.start()
        assert first.running
        with make(net["db"], tmp_path) as elsewhere:
            assert elsewhere.running
    with make(net["web"], tmp_path) as again:
        assert again.running
