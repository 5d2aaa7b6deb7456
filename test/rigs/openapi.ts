/**
 * Reads each OpenAPI document of a folder as a custom action, chooses an operation that reads and one that writes, and
 * calls both at a server of this machine: `npm run -w test/rigs check:openapi -- <folder>`. Fails when a document gives
 * no call.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { FetchAddress, StoredTool } from '@inlay/conversations'
import type { MethodSpec } from '@inlay/protocol'
import { createOpenApiActions } from '@inlay/conversations/internal/custom-tools/openapi-actions'
import { openApiThread } from 'inlay/internal/parts/openapi-thread'
import { newTurn } from '../agent/action-turn.ts'

type Schema = { readonly [Name in string]?: unknown }

/** A value that a schema takes, with what is required and one field more. */
function exampleOf(schema: Schema, depth = 0): unknown {
  const { enum: choices, const: only, default: usual, type, anyOf, oneOf, allOf, items } = schema
  const [variant] = [anyOf, oneOf, allOf].filter(Array.isArray)
  const value = usual ?? only ?? (Array.isArray(choices) ? (choices[0] as unknown) : undefined)
  if (value !== undefined) return value
  if (variant !== undefined && schema['properties'] === undefined) return exampleOf(Object(variant[0]), depth)
  const [kind] = [type].flat()
  if (kind === 'array') return [exampleOf(Object(items), depth + 1)]
  if (kind === 'object' || schema['properties'] !== undefined) {
    const properties = Object(schema['properties']) as Record<string, Schema>
    const required = Array.isArray(schema['required']) ? (schema['required'] as string[]) : []
    const names = new Set([...required, ...(depth < 2 ? Object.keys(properties).slice(0, 1) : [])])
    return Object.fromEntries([...names].map((name) => [name, exampleOf(properties[name] ?? {}, depth + 1)]))
  }
  return { integer: 7, number: 1.5, boolean: true, null: null }[String(kind)] ?? 'a text'
}

const requests: string[] = []
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString()
    requests.push(`${request.method} ${request.url} ${request.headers['content-type'] ?? ''} ${body}`.slice(0, 160))
    response.setHeader('content-type', 'application/json')
    response.end('{"answered":true}')
  })
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** Whatever server a document names, this one answers. */
const fetchAddress: FetchAddress = async (url, { method = 'GET', headers = {}, body } = {}) => {
  const { pathname, search } = new URL(url)
  const response = await fetch(origin + pathname + search, { method, headers, ...(body === undefined ? {} : { body }) })
  return { status: response.status, headers: response.headers, bytes: await response.bytes() }
}

async function call(definition: StoredTool['definition'], name: string): Promise<string> {
  const fields = { id: 1_001, name: 'x', description: '', definition, customHeaders: [], passesAuth: false }
  const tool = { ...fields, isForAll: true, ownerId: '', isEnabled: true, updatedAt: 0 }
  const action = (await createOpenApiActions(tool, { fetchAddress })).find((known) => known.name === name)!
  const standard = action.input['~standard']
  const checked = await standard.validate(exampleOf(standard.jsonSchema.input({ target: 'draft-07' })))
  if (checked.issues) return `REFUSED ${checked.issues.map(({ message }) => message).join(', ')}`
  const { text } = await action.run(checked.value, newTurn().turn)
  return text.includes('answered') ? requests.at(-1)! : `FAILED ${text.slice(0, 100)}`
}

/** The longest that the main thread was held while something ran, in milliseconds. */
async function withStall<Result>(run: () => Promise<Result>): Promise<{ result: Result; ms: number; stall: number }> {
  const startMs = performance.now()
  let [last, stall] = [startMs, 0]
  const beat = setInterval(() => {
    const now = performance.now()
    stall = Math.max(stall, now - last)
    last = now
  }, 5)
  const result = await run().finally(() => clearInterval(beat))
  return { result, ms: Math.round(performance.now() - startMs), stall: Math.round(stall) }
}

const write = (line: string): void => void process.stdout.write(`${line}\n`)
const reader = openApiThread()!
const folder = process.argv[2]
if (folder === undefined) throw new Error('Name a folder of OpenAPI documents.')
for (const file of readdirSync(folder).toSorted()) {
  const document = readFileSync(join(folder, file), 'utf8')
  const { result, ms, stall } = await withStall(() => reader.listOperations({ document }))
  const { methods, skipped, servers } = result
  const read = methods.find(({ method }) => method === 'GET')
  const written = methods.find(({ method }) => method !== 'GET' && method !== 'DELETE')
  const chosen = [read, written].filter((known): known is MethodSpec => known !== undefined)
  const reduced = await reader.reduceDocument({
    document,
    operations: chosen.map(({ name }) => name),
    serverUrl: servers[0] ?? origin,
  })
  const megabytes = (document.length / 1e6).toFixed(1)
  const stored = Math.ceil(JSON.stringify(reduced.definition).length / 1_000)
  write(`${file}: ${megabytes} MB, ${methods.length} functions, ${skipped.length} skipped`)
  write(`  read in ${ms} ms, main thread held at most ${stall} ms, ${stored} kB stored`)
  for (const { method, path, reason } of skipped.slice(0, 3)) write(`  skipped ${method} ${path}: ${reason}`)
  const lines = []
  for (const { name } of chosen) lines.push(await call(reduced.definition, name))
  for (const line of lines) write(`  ${line}`)
  if (lines.length === 0 || lines.some((line) => /^(?:REFUSED|FAILED)/.test(line))) process.exitCode = 1
}
server.close()
