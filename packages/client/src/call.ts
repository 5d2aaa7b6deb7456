import { InlayError, parseAnswer, type WireSchema } from '@inlay/protocol'
import { lost, type Call, type Transport } from './transport.ts'

export interface CallOptions {
  readonly signal?: AbortSignal
}

/** @throws BAD_GATEWAY if the body does not match the schema */
export async function bodyOf<Body>(schema: WireSchema<Body>, response: Response): Promise<Body> {
  return parseAnswer(schema, await jsonOf(response))
}

/** Undefined for anything but JSON, which is refused like an invalid shape. An abort stays what it is. */
function jsonOf(response: Response): Promise<unknown> {
  return response.json().catch((cause: Partial<Error> | undefined) => {
    if (cause?.name === 'SyntaxError') return undefined
    throw cause?.name === 'AbortError' || cause?.name === 'TimeoutError' ? cause : lost(cause)
  })
}

export async function read<Body>(schema: WireSchema<Body>, answer: Promise<Response>): Promise<Body> {
  return bodyOf(schema, await answer)
}

export async function readList<Item>(schema: WireSchema<Item>, answer: Promise<Response>): Promise<readonly Item[]> {
  const body = await jsonOf(await answer)
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
