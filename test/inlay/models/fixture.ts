import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, type InlayOptions } from 'inlay'
import type { ChatFullResponse } from '@inlay/protocol'
import { onTestFinished } from 'vitest'
import type { RecordedRequest, Reply, ReplyPart, StandIn } from '../../stand-in/model-server.ts'

/** Text of the only document. */
export const fact = 'The keys hang behind the boiler.'

/** The texts of the newest prompt that hold what was found. */
export const hasResults = ({ body }: RecordedRequest): boolean => JSON.stringify(body['messages']).includes(fact)

/** Whether the newest question comes with what was found, and not only with what was answered before. */
export const hasNewResults = ({ body }: RecordedRequest): boolean => {
  const messages = body['messages'] as { role: string }[]
  return JSON.stringify(messages.slice(messages.findLastIndex(({ role }) => role === 'user'))).includes(fact)
}

/** A call of the search, as a model makes it. */
export const search: ReplyPart = { calls: [{ id: 'c1', name: 'internal_search', input: { queries: ['keys'] } }] }

/** An answer that cites what was found, after the parts before that. */
export const afterSearch =
  (first: Reply, answer = `${fact} [1]`) =>
  (request: RecordedRequest): Reply =>
    hasResults(request) ? [{ text: answer }] : first

export interface OverServer {
  readonly ask: (message: string, more?: object) => Promise<ChatFullResponse>
  readonly post: (path: string, body: object) => Promise<Response>
  readonly inlay: ReturnType<typeof createInlay>
  /** Closes it and its server. */
  close(): Promise<void>
}

/** Like {@link openOverServer}, closed at the end of the test. */
export async function overServer(...options: Parameters<typeof openOverServer>): Promise<OverServer> {
  const opened = await openOverServer(...options)
  onTestFinished(opened.close)
  return opened
}

/** Inlay with one document, answered for by a server of models. */
export async function openOverServer(
  server: StandIn,
  model: Exclude<NonNullable<InlayOptions['model']>, string | readonly unknown[]> = { name: 'm-1' },
): Promise<OverServer> {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-models-'))
  const inlay = createInlay({
    dataFolder: folder,
    apiKey: 'the-key-of-the-test',
    model: { baseUrl: `${server.origin}/v1`, ...model },
    searchHelp: { expand: false },
    memories: false,
    sessionNames: 'off',
    onError: () => {},
  })
  const close = async (): Promise<void> => {
    await inlay.close()
    await server.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  }
  const headers = { authorization: 'Bearer the-key-of-the-test', prefer: 'wait=60' }
  const post = async (path: string, body: object): Promise<Response> =>
    inlay.fetch(new Request(`http://host.example/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) }))
  const document = {
    id: 'keys',
    semantic_identifier: 'Keys',
    sections: [{ text: fact, link: 'https://docs.example/keys' }],
    source: 'ingestion_api',
    metadata: {},
  }
  const taken = await post('/service-api/ingestion', { document })
  if (taken.status !== 200) throw new Error(await taken.text())
  const ask = async (message: string, more: object = {}): Promise<ChatFullResponse> =>
    (await (await post('/chat/send-chat-message', { message, stream: false, ...more })).json()) as ChatFullResponse
  return { ask, post, inlay, close }
}
