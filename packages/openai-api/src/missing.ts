import { InlayError } from '@inlay/protocol'

const conversations =
  'Use POST /v1/responses with the conversation of POST /v1/conversations, or a previous_response_id.'
const none = ['audio', 'images', 'videos', 'realtime', 'moderations', 'fine_tuning', 'containers', 'evals']

/** What to use in place of addresses that are not served. */
const instead: Readonly<Record<string, string>> = {
  completions: 'Use POST /v1/chat/completions; in LlamaIndex, set is_chat_model=True.',
  edits: 'Use POST /v1/chat/completions.',
  engines: 'Use GET /v1/models.',
  assistants: conversations,
  threads: conversations,
  uploads: 'Use POST /v1/files, which takes a whole file.',
  batches: 'Use POST /v1/chat/completions or /v1/responses for each request.',
}

export function missingAddress(path: string): InlayError {
  const [, , name = ''] = path.split('/', 3)
  const use = none.includes(name)
    ? 'Inlay answers from documents and does not offer this: use a service that does.'
    : Object.hasOwn(instead, name) && instead[name]
  return new InlayError('NOT_FOUND', use ? { message: `/v1/${name} is not served here. ${use}` } : {})
}
