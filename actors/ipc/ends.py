"""Why an end of ours does not work, for whoever shows how the desk is."""

from actors.ipc.command import SERVER_REPORTS
from actors.ipc.messages import CLIENT_END
from actors.kernel import Registry


def troubles_of_the_ends(registry: Registry) -> tuple[str, ...]:
    """As sentences. Of a folder that another server has, both ends say the same."""
    ends = [registry.find(CLIENT_END), registry.find(SERVER_REPORTS)]
    troubles = dict.fromkeys(end.statistics().trouble for end in ends if end is not None)
    return tuple(f"{each[:1].upper()}{each[1:]}." for each in troubles if each)
