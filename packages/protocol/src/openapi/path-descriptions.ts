/** What parameters mean wherever a path or query has them. */
export const pathWords: Readonly<Record<string, string>> = {
  api_key_id: 'Number of the key, as the list of keys tells it.',
  cc_pair_id: 'Number of the connector/credential pair.',
  chat_message_id: 'Number of the answer.',
  cursor: 'Number of the last line seen; 0 asks for all lines.',
  document_id: 'Id of the document, percent-encoded once.',
  document_set_id: 'Number of the document set.',
  file_id: 'Id of the file, as its upload tells it.',
  memory_id: 'Number of the memory.',
  parsed: 'Whether a spreadsheet is answered as CSV, sheet by sheet.',
  persona_id: 'Number of the agent; 0 is the default one.',
  project_id: 'Number of the project.',
  session_id: 'Id of the chat session.',
  tool_id: 'Number of the action.',
}

/** Headers that answers of a status have, and what they tell. */
export const errorHeaders: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  401: { 'www-authenticate': 'How to authenticate, and whether the key was refused.' },
  405: { allow: 'The methods that this address takes.' },
  415: { 'accept-encoding': 'The compressions that are taken.' },
  429: { 'retry-after': 'Seconds to wait.' },
  503: { 'retry-after': 'Seconds to wait, where that is known.' },
}
