"""The agent's contract for programs, as JSON Schemas and an OpenAPI document. `python -m tests.agent.schema_files`
makes them from the structs in codec/agent; nobody edits them."""
