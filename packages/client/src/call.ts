import { InlayError, parseAnswer, type WireSchema } from '@inlay/protocol'
import type { Call, Transport } from './transport.ts'

export interface CallOptions {
  readonly signal?: AbortSignal
}

/** @throws BAD_GATEWAY if the body does not match the schema */
export async function bodyOf<Body>(schema: WireSchema<Body>, response: Response): Promise<Body> {
  // Invalid JSON is handled like an invalid shape.
  const body: unknown = await response.json().catch(() => undefined)
  return parseAnswer(schema, body)
}

export async function read<Body>(schema: WireSchema<Body>, answer: Promise<Response>): Promise<Body> {
  return bodyOf(schema, await answer)
}

export async function readList<Item>(schema: WireSchema<Item>, answer: Promise<Response>): Promise<readonly Item[]> {
  const body: unknown = await (await answer).json().catch(() => undefined)
  if (!Array.isArray(body)) throw new InlayError('BAD_GATEWAY', { message: 'The service did not answer with a list.' })
  return body.map((item) => parseAnswer(schema, item))
}

/** Sends a request and discards the response body. */
export async function submit(transport: Transport, path: string, call: Call): Promise<void> {
  const response = await transport.send(path, call)
  // An unread body would keep its connection open.
  await response.body?.cancel()
}

/** Query string of the values that are set; "" if there are none. */
export function queryOf(values: Readonly<Record<string, string | number | boolean | null | undefined>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null)
  const parameters = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return given.length === 0 ? '' : `?${parameters.toString()}`
}
