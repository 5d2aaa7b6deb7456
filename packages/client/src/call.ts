import { InlayError, parseAnswer, type WireSchema } from '@inlay/protocol'
import type { Call, Transport } from './transport.ts'

/** Options of any request. */
export interface CallOptions {
  readonly signal?: AbortSignal
}

/**
 * The body of a good answer, checked.
 * @throws BAD_GATEWAY when it is not what the address answers
 */
export async function bodyOf<Body>(schema: WireSchema<Body>, response: Response): Promise<Body> {
  // A body that is no JSON is no more what it should be than one of another shape.
  const body: unknown = await response.json().catch(() => undefined)
  return parseAnswer(schema, body)
}

/** Reads the answer of a request that is on its way. */
export async function read<Body>(schema: WireSchema<Body>, answer: Promise<Response>): Promise<Body> {
  return bodyOf(schema, await answer)
}

/** Reads the answer of a request that lists things of one kind. */
export async function readList<Item>(schema: WireSchema<Item>, answer: Promise<Response>): Promise<readonly Item[]> {
  const body: unknown = await (await answer).json().catch(() => undefined)
  if (!Array.isArray(body)) throw new InlayError('BAD_GATEWAY', { message: 'The service did not answer with a list.' })
  return body.map((item) => parseAnswer(schema, item))
}

/** Sends a request whose answer says nothing more than that it went well. */
export async function submit(transport: Transport, path: string, call: Call): Promise<void> {
  const response = await transport.send(path, call)
  // Unread bodies keep their connections.
  await response.body?.cancel()
}

/** `?name=value…` of what is there; "" when nothing is. */
export function queryOf(values: Readonly<Record<string, string | number | boolean | null | undefined>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null)
  const parameters = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return given.length === 0 ? '' : `?${parameters.toString()}`
}
