"""Lines of JSON, which Schemathesis does not know by itself: the document says they are text."""

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(ctx, value):
    return value.encode() if isinstance(value, str) else b""
