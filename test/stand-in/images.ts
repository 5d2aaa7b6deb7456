import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ImageServiceMood } from '@inlay/conformance'
import { listen, send } from './loopback.ts'

/** A received request; for a form, its text fields, and the names, types and sizes of its files. */
export interface ImagesRequest {
  readonly path: string
  readonly authorization: string | undefined
  readonly values: Readonly<Record<string, unknown>>
  readonly files: readonly { readonly field: string; readonly type: string; readonly bytes: number }[]
}

/** A local server that draws as OpenAI's does: always the same picture. */
export interface ImagesStandIn {
  readonly baseUrl: string
  /** Name and port. */
  readonly host: string
  readonly seen: readonly ImagesRequest[]
  close(): Promise<void>
}

/** How a stand-in behaves. */
export interface ImagesOptions {
  readonly mood?: ImageServiceMood
  readonly png: Uint8Array
  readonly apiKey?: string
  /** Answers with the picture's address, as `response_format: url` does. */
  readonly asUrl?: boolean
  /** Told as `revised_prompt`. */
  readonly revisedPrompt?: string
  /** Waits for it before it answers. */
  readonly until?: Promise<void>
}

/** Starts a stand-in on a free port of the loopback. */
export async function startImages(options: ImagesOptions): Promise<ImagesStandIn> {
  const { mood = 'well', png, apiKey, asUrl, revisedPrompt } = options
  const seen: ImagesRequest[] = []

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/drawn/1.png') return void response.writeHead(200, { 'content-type': 'image/png' }).end(png)
    const requests = await toRequest(request)
    seen.push(requests)
    await options.until
    const isKnown = apiKey === undefined || requests.authorization === `Bearer ${apiKey}`
    if (mood === 'silent') return
    if (mood === 'bad key' || !isKnown)
      return refuse(response, 401, { message: `Incorrect API key ${requests.authorization}`, code: 'invalid_api_key' })
    if (mood === 'policy')
      return refuse(response, 400, { message: `${requests.values['prompt']} is not safe`, code: 'moderation_blocked' })
    if (mood === 'busy') return refuse(response, 429, { message: 'slow down' }, { 'retry-after': '7' })
    if (mood === 'failing') return refuse(response, 500, { message: `broken by ${requests.values['prompt']}` })
    if (mood === 'garbled') return void response.writeHead(200).end('<html>a secret prompt</html>')
    if (mood === 'other') return send(response, 200, { created: 1, data: [{ b64_json: btoa('a secret prompt') }] })
    const fault = faultOf(requests)
    if (fault !== undefined) return refuse(response, 400, { message: fault })
    const picture = asUrl
      ? { url: `http://${request.headers.host}/drawn/1.png` }
      : { b64_json: Buffer.from(png).toString('base64') }
    send(response, 200, {
      created: 1_762_000_000,
      data: [{ ...picture, ...(revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt }) }],
      usage: { total_tokens: 100, input_tokens: 50, output_tokens: 50 },
    })
  }

  const { origin, close } = await listen(answer)
  return {
    baseUrl: `${origin}/v1`,
    host: new URL(origin).host,
    seen,
    close,
  }
}

async function toRequest(request: IncomingMessage): Promise<ImagesRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  const type = request.headers['content-type'] ?? ''
  const shared = { path: request.url ?? '', authorization: request.headers.authorization }
  if (!type.startsWith('multipart/')) return { ...shared, values: JSON.parse(bytes.toString('utf8')), files: [] }
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData()
  const entries = [...form.entries()]
  return {
    ...shared,
    values: Object.fromEntries(entries.filter(([, value]) => typeof value === 'string')),
    files: entries.flatMap(([field, value]) =>
      typeof value === 'string' ? [] : [{ field, type: value.type, bytes: value.size }],
    ),
  }
}

/** Requests that OpenAI's endpoint refuses. */
function faultOf({ path, values, files }: ImagesRequest): string | undefined {
  const { model, prompt, size, response_format: format } = values
  if (path !== (files.length === 0 ? '/v1/images/generations' : '/v1/images/edits')) return `no ${path}`
  if (!model || !prompt) return 'missing field'
  if (typeof size !== 'string' || !/^\d+x\d+$/.test(size)) return 'bad size'
  return format !== undefined && String(model).startsWith('gpt-image') ? 'unknown parameter response_format' : undefined
}

function refuse(
  response: ServerResponse,
  status: number,
  error: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): void {
  send(response, status, { error: { type: 'invalid_request_error', param: null, code: null, ...error } }, headers)
}
