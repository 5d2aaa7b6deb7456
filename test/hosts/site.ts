import type { Serving } from '../package/installation.ts'
import { holdMessage, type HostModel } from './model.ts'

export const key = 'inlay_host_check_key_0123456789'

/** A running app with Inlay in it. */
export interface Site {
  readonly origin: string
  readonly model: HostModel
  /** Headers of every request. */
  readonly programHeaders: Readonly<Record<string, string>>
  serving: Serving
  /** Starts the app again after it has ended. */
  restart(): Promise<void>
}

/** Calls the mounted API with the key of the settings. */
export function call(site: Site, path: string, { headers, ...init }: RequestInit = {}): Promise<Response> {
  const all = new Headers({ ...site.programHeaders, ...Object.fromEntries(new Headers(headers)) })
  if (!all.has('cookie')) all.set('authorization', `Bearer ${key}`)
  return fetch(`${site.origin}/assistant${path}`, { ...init, headers: all })
}

/** Sends JSON. */
export function post(site: Site, path: string, body: unknown, init: RequestInit = {}): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(init.headers as Record<string, string>) }
  return call(site, path, { ...init, method: 'POST', headers, body: JSON.stringify(body) })
}

/** An answer of JSON; fails with what came instead. */
export async function json<T = Record<string, unknown>>(response: Response, status = 200): Promise<T> {
  const text = await response.text()
  if (response.status !== status) throw new Error(`answered ${response.status}: ${text.slice(0, 300)}`)
  return JSON.parse(text) as T
}

/** An answer in progress, read as far as its first word. */
export interface HeldAnswer {
  readonly sessionId: string
  readonly response: Response
  readonly leave: () => void
  /** Reads on until a text has come; returns all that came. */
  read(until?: string): Promise<string>
}

/** Asks for an answer that waits after its first word. */
export async function heldAnswer(site: Site, id: string): Promise<HeldAnswer> {
  const session = await json<{ chat_session_id: string }>(await post(site, '/chat/create-chat-session', {}))
  const leaving = new AbortController()
  const message = { message: holdMessage(id), chat_session_id: session.chat_session_id }
  const response = await post(site, '/chat/send-chat-message', message, { signal: leaving.signal })
  if (response.body === null) throw new Error('there is no stream')
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const read = async (until?: string): Promise<string> => {
    while (until === undefined || !text.includes(until)) {
      const { done, value } = await withinSeconds(60, `"${until ?? 'the end'}" of the stream`, reader.read())
      if (done && until !== undefined) throw new Error(`the stream ended without "${until}": ${text.slice(-500)}`)
      if (done) break
      text += value
    }
    return text
  }
  await read('"one')
  return { sessionId: session.chat_session_id, response, leave: () => leaving.abort(), read }
}

/** Fails when something takes longer. */
export async function withinSeconds<T>(seconds: number, what: string, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no ${what} within ${seconds} s`)), seconds * 1000)
  return Promise.race([work, promise]).finally(() => clearTimeout(timer))
}
