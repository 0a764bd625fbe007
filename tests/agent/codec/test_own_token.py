"""The token of the agent's own port is a secret: whoever has it may do all that the user may."""

from codec.agent.file_texts import is_secret_name
from transports.agent.secret import TOKEN_FILE


def test_no_model_reads_the_token_of_the_port_that_serves_it() -> None:
    assert is_secret_name(TOKEN_FILE)
