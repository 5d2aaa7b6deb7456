/** What parameters mean wherever a path or query has them. */
export const pathWords: Readonly<Record<string, string>> = {
  api_key_id: 'Number of the key, as the list of keys tells it.',
  cc_pair_id: 'Number of the connector/credential pair.',
  chat_message_id: 'Number of the answer.',
  connector_id: 'Number of the connector.',
  credential_id: 'Number of the credential.',
  cursor: 'Number of the last line seen; 0 asks for all lines.',
  document_id: 'Id of the document, percent-encoded once.',
  document_set_id: 'Number of the document set.',
  file_id: 'Id of the file, as its upload tells it.',
  get_editable: 'Whether only those are listed that the caller may change.',
  include_default: 'Whether the default agent is listed too.',
  include_deleted: 'Whether those that were removed are listed too.',
  label_id: 'Number of the label.',
  memory_id: 'Number of the memory.',
  notification_id: 'Number of the notification.',
  page_num: 'Number of the page, from 0.',
  page_size: 'How many a page has.',
  parsed: 'Whether a spreadsheet is answered as CSV, sheet by sheet.',
  persona_id: 'Number of the agent; 0 is the default one.',
  project_id: 'Number of the project.',
  provider_id: 'Number of the provider.',
  q: 'Words of a name or an address.',
  session_id: 'Id of the chat session.',
  token_id: 'Number of the token.',
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
