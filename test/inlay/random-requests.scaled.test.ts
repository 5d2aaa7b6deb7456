import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scriptedModel } from '@inlay/agent/testing'
import { errorBodySchema, validationErrorBodySchema } from '@inlay/protocol'
import { createInlay, defineAction, type Inlay } from 'inlay'
import * as v from 'valibot'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { JsonSchema } from '../protocol/fixtures/json-schema.ts'
import { seededRandom } from '../life/random.ts'
import { valueMaker, type ValueMaker } from './random-values.ts'
import { cases } from '../cases.ts'

const seed = Number(process.env['INLAY_TEST_SEED'] ?? 20_261_121)
const times = Number(process.env['INLAY_ROUNDS'] ?? cases(0.5, 3))
const base = 'http://host.example/api'
const key = 'the-key-of-the-test'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: JsonSchema
}
interface Operation {
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly body: JsonSchema | undefined
  readonly statuses: readonly string[]
}

const folder = mkdtempSync(join(tmpdir(), 'inlay-random-'))
const errors: unknown[] = []
let inlay: Inlay
let operations: readonly Operation[] = []
let named: Readonly<Record<string, JsonSchema>> = {}
/** Existing ids, by the names of their fields. */
const known: Record<string, unknown[]> = {}

beforeAll(async () => {
  const ownModel = { provider: 'own', name: 'own-1', displayName: 'Own', contextTokens: 32_000, takesImages: true }
  inlay = createInlay({
    dataFolder: folder,
    apiKey: key,
    onError: (error) => void errors.push(error),
    model: {
      resolve: async () => ({
        ...ownModel,
        model: scriptedModel((call, index) =>
          index % 3 === 0 && call.tools?.length
            ? [{ call: { name: call.tools[0]?.name ?? '', input: { queries: ['leave'] } } }]
            : ['An answer.'],
        ),
      }),
      list: async () => [{ ...ownModel, providerType: 'own', providerDisplayName: 'Own', isDefault: true }],
    },
    actions: [
      defineAction({ name: 'look', description: 'Looks.', input: z.object({}), id: 77, run: async () => 'seen' }),
    ],
  })
  const document = (await (await ask('GET', '/openapi.json')).json()) as Document
  named = document.components.schemas
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody, responses }]) => ({
      method: method.toUpperCase(),
      path,
      parameters,
      body: requestBody?.content['application/json']?.schema,
      statuses: Object.keys(responses),
    })),
  )
  for (let count = 0; count < 3; count++) await addThings()
})
afterAll(async () => {
  await inlay.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
})

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly parameters?: readonly Parameter[]
            readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> }
            readonly responses: Readonly<Record<string, unknown>>
          }
        >
      >
    >
  >
}

async function ask(method: string, path: string, body?: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${key}` }
  const given = body === undefined ? {} : { body: JSON.stringify(body) }
  return inlay.fetch(new Request(base + path, { method, headers, ...given }))
}

/** Makes a session with a message, an agent, a project and a document, for requests to name. */
async function addThings(): Promise<void> {
  const json = async (response: Response): Promise<Record<string, unknown>> =>
    (await response.json()) as Record<string, unknown>
  const answer = await json(await ask('POST', '/chat/send-chat-message', { message: 'Hi', stream: false }))
  const persona = {
    name: 'Helper',
    description: '',
    document_set_ids: [],
    tool_ids: [],
    system_prompt: 'Be brief.',
    task_prompt: '',
    datetime_aware: true,
  }
  const { id: personaId } = await json(await ask('POST', '/persona', persona))
  const { id: projectId } = await json(await ask('POST', '/user/projects/create?name=Plans'))
  const documentId = `doc-${known['document_id']?.length ?? 0}`
  const sections = [{ text: 'Leave is 28 days.' }]
  const document = { id: documentId, semantic_identifier: 'Leave', sections, metadata: {} }
  await ask('POST', '/service-api/ingestion', { document })
  const message = Number(answer['message_id'])
  const add = (values: readonly unknown[], ...names: string[]): void => {
    for (const name of names) known[name] = [...(known[name] ?? []), ...values]
  }
  add([answer['chat_session_id']], 'session_id', 'chat_session_id')
  add([message, message - 1], 'message_id', 'parent_message_id', 'user_message_id', 'preferred_response_id')
  add([message], 'chat_message_id')
  add([personaId, 0], 'persona_id')
  add([projectId], 'project_id')
  add([documentId, 'id with / and %'], 'document_id', 'id')
  add([77, 1], 'allowed_tool_ids', 'forced_tool_id', 'tool_ids')
}

function requestOf(operation: Operation, values: ValueMaker): { path: string; body: unknown } {
  let path = operation.path
  const query = new URLSearchParams()
  for (const { name, in: place, schema } of operation.parameters) {
    if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(asText(values.make(schema, name))))
    if (place === 'query' && values.chance(0.5)) query.append(name, asText(values.make(schema, name)))
  }
  const body = operation.body && values.make(operation.body)
  return { path: `${path}${query.size > 0 ? `?${query}` : ''}`, body }
}

// A URL cannot carry halves of surrogate pairs.
const asText = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed() || 'x'

const isErrorBody = (status: number, body: unknown): boolean =>
  v.is(status === 422 ? validationErrorBodySchema : errorBodySchema, body)

test.each([
  ['requests as documented, now and then wrong in one place', 0.03, 4, 40],
  ['requests that are mostly wrong', 0.4, 3, 20],
])(
  '%s never break the service, and are answered as documented',
  async (_title, wrong, rounds, minGood) => {
    const values = valueMaker(named, () => known, { random: seededRandom(seed), wrong })
    const faults: string[] = []
    const counts = new Map<number, number>()
    for (let round = 0; round < Math.round(rounds * times); round++) {
      for (const operation of operations) {
        const repeats = operation.path === '/chat/send-chat-message' ? 25 : 1
        for (let repeat = 0; repeat < repeats; repeat++) {
          const { path, body } = requestOf(operation, values)
          const response = await ask(operation.method, path, body)
          const text = await response.text()
          const { status } = response
          counts.set(status, (counts.get(status) ?? 0) + 1)
          const prompt = `${operation.method} ${path} ${JSON.stringify(body)?.slice(0, 300)} → ${status} ${text.slice(0, 200)}`
          if (status === 500 || !operation.statuses.includes(String(status))) faults.push(prompt)
          else if (status >= 400 && !isErrorBody(status, JSON.parse(text))) faults.push(`no error body: ${prompt}`)
        }
      }
      await addThings()
    }
    expect(faults).toEqual([])
    expect(errors).toEqual([])
    // Enough of them reach what they ask for.
    expect(counts.get(200)).toBeGreaterThan(Math.round(rounds * times) * minGood * 0.9)
  },
  120_000,
)
