import { isJsonObject, readJson } from '@inlay/protocol'
import { call, fieldOf, refused, type Answer, type Installation } from './installation.ts'

/** A request of existing clients, sent once as a check. */
export interface ClientCheck {
  /** Clients that send it. */
  readonly client: string
  readonly what: string
  /** Advice if the check fails. */
  readonly mend: string
  /** @returns the fault as a sentence; undefined for success */
  readonly run: (installation: Installation) => Promise<string | undefined>
}

const smallClients = 'command line, widget, load test'
const linesMend =
  'Set INLAY_STREAM_FORMAT=lines for all callers, or create a key for these clients: inlay keys create --stream-format lines.'

/** The checks, in the order of the output. */
export const clientChecks: readonly ClientCheck[] = [
  {
    client: 'all',
    what: 'the service responds at this URL',
    mend: 'Specify the URL including its path, such as http://localhost:3000/api (INLAY_BASE_PATH).',
    run: async (installation) => refused(await call(installation, 'GET', '/health')),
  },
  {
    client: 'all',
    what: 'the key is accepted',
    mend: 'Create a key with inlay keys create, with the scopes chat and ingest, and send it as "Authorization: Bearer <key>".',
    run: async (installation) => refused(await call(installation, 'GET', '/me')),
  },
  {
    client: 'command line',
    what: 'the version is 3.0.0 or newer',
    mend: 'Update this installation.',
    run: async (installation) => {
      const version = fieldOf(await call(installation, 'GET', '/version'), 'backend_version')
      return /^([3-9]|\d\d+)\.\d+\.\d+$/.test(String(version)) ? undefined : `It says ${JSON.stringify(version)}.`
    },
  },
  {
    client: 'Python, mobile',
    what: 'ids of people are UUIDs',
    mend: 'Update this installation.',
    run: async (installation) => {
      const id = String(fieldOf(await call(installation, 'GET', '/me'), 'id'))
      return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? undefined : 'The id in GET /me is not a UUID.'
    },
  },
  {
    client: smallClients,
    what: 'a streamed answer has one JSON object per line',
    mend: linesMend,
    run: (installation) =>
      withSession(installation, async (sessionId) => {
        const stream = await call(installation, 'POST', '/chat/send-chat-message', message(sessionId, { stream: true }))
        return refused(stream) ?? faultOfLines(stream)
      }),
  },
  {
    client: 'Python',
    what: 'a complete answer without streaming',
    mend: 'Give the key the scope chat: inlay keys create --scope chat.',
    run: (installation) =>
      withSession(installation, async (sessionId) => {
        const whole = await call(installation, 'POST', '/chat/send-chat-message', message(sessionId, { stream: false }))
        return refused(whole) ?? missing(whole, ['answer', 'message_id', 'citation_info', 'top_documents'])
      }),
  },
  {
    client: 'shell scripts, low-code tools',
    what: 'numbers and booleans are accepted as text',
    mend: 'Update this installation.',
    run: (installation) =>
      withSession(installation, async (sessionId) => {
        const texts = message(sessionId, { stream: 'false', parent_message_id: '-1', deep_research: '0' })
        const whole = await call(installation, 'POST', '/chat/send-chat-message', texts)
        return refused(whole) ?? missing(whole, ['answer', 'message_id'])
      }),
  },
  {
    client: smallClients,
    what: 'a page that cannot be read does not end the answer',
    mend: 'Update this installation: a failed action must not send an error packet.',
    run: (installation) =>
      withSession(installation, async (sessionId) => {
        const question = `What does ${installation.base}/inlay-client-check say?`
        const request = message(sessionId, { message: question, stream: true })
        const { text } = await call(installation, 'POST', '/chat/send-chat-message', request)
        return /"obj": ?\{"type": ?"error"/.test(text) ? 'The stream has an error packet.' : undefined
      }),
  },
  {
    client: 'web, SDKs',
    what: 'a refusal for too many calls names its scope',
    mend: 'Update this installation.',
    run: async (installation) => {
      const { text } = await call(installation, 'GET', '/openapi.json')
      const names = ['"scope"', '"reset_at"', '"retry_after_seconds"']
      return names.every((name) => text.includes(name)) ? undefined : 'The 429 of its API description has no scope.'
    },
  },
  {
    client: 'command line, web',
    what: 'agents, sessions, actions and models are listed',
    mend: 'Give the key the scope chat: inlay keys create --scope chat.',
    run: async (installation) => {
      for (const path of [
        '/persona',
        '/chat/get-user-chat-sessions',
        '/tool',
        '/llm/provider',
        '/settings',
        '/user/projects',
      ]) {
        const fault = refused(await call(installation, 'GET', path))
        if (fault !== undefined) return `GET ${path}: ${fault}`
      }
      return undefined
    },
  },
  {
    client: 'command line, MCP server',
    what: 'documents are searched without an answer',
    mend: 'Give the key the scope search or chat.',
    run: async (installation) => {
      const search = { query: 'inlay client check', skip_query_expansion: true }
      const response = await call(installation, 'POST', '/search', search)
      return refused(response) ?? missing(response, ['results'])
    },
  },
  {
    client: 'Python, importers',
    what: 'a document that was accepted is found at once',
    mend:
      'Documents are indexed after the 200 here: set INLAY_INGESTION_WAIT to some seconds, or have clients send ' +
      '"Prefer: wait=10". Give importers a key with the scope ingest.',
    run: checkIngestion,
  },
  {
    client: 'command line, web',
    what: 'a file is uploaded and removed',
    mend: 'Give the key the scope chat: inlay keys create --scope chat.',
    run: async (installation) => {
      const form = new FormData()
      form.append('files', new File(['Checked.'], 'inlay-client-check.txt', { type: 'text/plain' }))
      const upload = await call(installation, 'POST', '/user/projects/file/upload', form)
      const files = fieldOf(upload, 'user_files')
      const id = Array.isArray(files) && isJsonObject(files[0]) ? files[0]['id'] : undefined
      if (typeof id === 'string') await call(installation, 'DELETE', `/user/projects/file/${id}`)
      return refused(upload) ?? (typeof id === 'string' ? undefined : 'The upload was refused.')
    },
  },
  {
    client: 'widget, web',
    what: 'pages of another origin are allowed',
    mend: 'Add the origin of the page to INLAY_CORS_ORIGINS.',
    run: checkOrigin,
  },
]

function message(sessionId: string, more: object): object {
  // The widget's request for the first message of a session.
  return { message: 'Hello', chat_session_id: sessionId, parent_message_id: null, origin: 'widget', ...more }
}

async function withSession(
  installation: Installation,
  check: (sessionId: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  const session = await call(installation, 'POST', '/chat/create-chat-session', {
    persona_id: 0,
    description: 'Client check',
  })
  const id = fieldOf(session, 'chat_session_id')
  if (typeof id !== 'string') return refused(session) ?? 'The answer has no chat_session_id.'
  try {
    return await check(id)
  } finally {
    await call(installation, 'DELETE', `/chat/delete-chat-session/${id}?hard_delete=true`)
  }
}

/** Existing clients split at line breaks and parse each line that is not blank as JSON. */
function faultOfLines({ text }: Answer): string | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const wrong = lines.find((line) => !isJsonObject(readJson(line)))
  if (wrong !== undefined) return `A line is not a JSON object: ${JSON.stringify(wrong.slice(0, 60))}`
  const failure = lines.map((line) => readJson(line)).find((line) => isJsonObject(line) && 'error' in line)
  if (failure !== undefined) return `The answer failed: ${JSON.stringify(failure).slice(0, 200)}`
  return lines.length > 0 ? undefined : 'The stream was empty.'
}

function missing(answer: Answer, names: readonly string[]): string | undefined {
  const absent = names.filter((name) => fieldOf(answer, name) === undefined)
  return absent.length === 0 ? undefined : `The answer lacks ${absent.join(', ')}.`
}

async function checkIngestion(installation: Installation): Promise<string | undefined> {
  const word = `check${crypto.randomUUID().replaceAll('-', '')}`
  const document = { id: 'inlay-client-check', semantic_identifier: word, metadata: {}, sections: [{ text: word }] }
  const accepted = await call(installation, 'POST', '/onyx-api/ingestion', { document, cc_pair_id: null })
  const fault = refused(accepted) ?? missing(accepted, ['document_id', 'already_existed'])
  if (fault !== undefined) return fault
  try {
    const response = await call(installation, 'POST', '/search', { query: word, skip_query_expansion: true })
    const results = fieldOf(response, 'results')
    return Array.isArray(results) && results.length > 0
      ? undefined
      : 'It cannot be found yet when the response arrives.'
  } finally {
    await call(installation, 'DELETE', '/onyx-api/ingestion/inlay-client-check')
  }
}

async function checkOrigin({ base, origin, signal, fetch }: Installation): Promise<string | undefined> {
  if (origin === undefined) return undefined
  const response = await fetch(`${base}/chat/send-chat-message`, {
    method: 'OPTIONS',
    signal,
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, content-type',
    },
  })
  await response.body?.cancel()
  const allowed = response.headers.get('access-control-allow-origin')
  return allowed === origin || allowed === '*' ? undefined : `Pages of ${origin} are not allowed.`
}
