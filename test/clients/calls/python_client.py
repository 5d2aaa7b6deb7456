"""The main calls, with the client of openapi-python-client."""

import io
import json
import sys

from inlay_client import AuthenticatedClient
from inlay_client.api.chat import send_chat_message
from inlay_client.api.chat_sessions import list_chat_sessions
from inlay_client.api.files import fetch_file, upload_files
from inlay_client.api.ingestion import get_document_state, ingest_batch, ingest_document
from inlay_client.api.search import search
from inlay_client.models import (
    IngestionDocument,
    IngestionDocumentMetadata,
    IngestionRequest,
    SearchRequest,
    SendMessageRequest,
    TextSection,
    UploadForm,
)
from inlay_client.types import File

base_url, key = sys.argv[1:]
client = AuthenticatedClient(base_url=base_url, token=key, raise_on_unexpected_status=True)

document = IngestionDocument(
    id="python/opening-hours",
    semantic_identifier="Opening hours of the workshop",
    sections=[TextSection(text="The workshop is open from 8:00 to 16:00.")],
    metadata=IngestionDocumentMetadata.from_dict({"area": "tools"}),
)
request = IngestionRequest(document=document)
taken = ingest_document.sync(client=client, body=request, prefer="wait=20")
assert taken.document_id == document.id, taken
state = get_document_state.sync(client=client, document_id=document.id)
assert state.state == "indexed", state

found = search.sync(client=client, body=SearchRequest(query="workshop opening hours"))
assert any(result.title == document.semantic_identifier for result in found.results), found

whole = send_chat_message.sync(client=client, body=SendMessageRequest(message="When is it open?", stream=False))
assert isinstance(whole.answer, str), whole

# A stream is read by hand: generated methods know whole bodies alone.
message = SendMessageRequest(message="When is the workshop open?").to_dict()
with client.get_httpx_client().stream("POST", "/chat/send-chat-message", json=message) as response:
    lines = [json.loads(line[6:]) for line in response.iter_lines() if line.startswith("data: ")]
assert lines[-1]["obj"]["type"] == "stop", lines

sessions = list_chat_sessions.sync(client=client)
assert len(sessions.sessions) >= 2, sessions

text = File(payload=io.BytesIO(b"Minutes of the board."), file_name="minutes.txt", mime_type="text/plain")
upload = upload_files.sync(client=client, body=UploadForm(files=[text]))
file_id = upload.user_files[0].file_id
assert fetch_file.sync(client=client, file_id=file_id).payload.read() == b"Minutes of the board."
