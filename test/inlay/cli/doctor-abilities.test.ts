import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { createInlay } from 'inlay'
import { runCommandLine } from 'inlay/internal/cli/command-line'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../life/process.ts'
import { startOpenAi } from '../../stand-in/openai.ts'
import type { RecordedRequest, Reply, StandIn } from '../../stand-in/model-server.ts'

const call: Reply = [{ calls: [{ id: 'c1', name: 'look_up', input: { place: 'library' } }] }]

/** `native` calls and cites, `careless` calls and does not cite, `textual` writes its call as text, others fail. */
function reply({ body }: RecordedRequest): Reply {
  const isTrial = body['tools'] === undefined
  const hasResult = JSON.stringify(body['messages']).includes('"role":"tool"')
  switch (body['model']) {
    case 'native':
      return isTrial ? [{ text: 'ready' }] : hasResult ? [{ text: 'On the third floor [1].' }] : call
    case 'careless':
      return hasResult ? [{ text: 'On the third floor.' }] : call
    case 'textual':
      return [{ text: '<tool_call>{"name": "look_up", "arguments": {"place": "library"}}</tool_call>' }]
    default:
      return { status: 404, body: { error: { message: 'no such model' } } }
  }
}

async function start(others?: Readonly<Record<string, unknown>>): Promise<StandIn> {
  const server = await startOpenAi(reply, others)
  onTestFinished(() => server.close())
  return server
}

// Loads the code of all parts: on a busy machine, this alone takes longer than readiness waits for an opening process.
beforeAll(async () => {
  const inlay = createInlay({ dataFolder: temporaryFolder().path })
  await inlay.start()
  await inlay.close()
})

interface Finding {
  readonly status: string
  readonly message: string
  readonly advice?: string
}

async function doctor(folder: string, models: readonly object[], ...words: string[]): Promise<readonly Finding[]> {
  let text = ''
  await runCommandLine(['doctor', '--json', ...words], {
    env: () => ({ INLAY_DATA: folder, PORT: '0', INLAY_MODELS: JSON.stringify(models) }),
    stdout: { write: (part) => (text += part) },
    stderr: { write: () => {} },
    signal: new AbortController().signal,
  })
  const findings = JSON.parse(text) as (Finding & { check: string })[]
  return findings.flatMap(({ check, ...finding }) => (check === 'Tools' ? [finding] : []))
}

const probes = ({ requests }: StandIn): number => requests.filter(({ body }) => body['tools'] !== undefined).length

const advice = 'If it does call tools, set INLAY_MODEL_GROUNDING=tools, or grounding in INLAY_MODELS.'

test('doctor finds out what each model does by itself, records it, and tells the day from then on', async () => {
  const server = await start()
  const folder = temporaryFolder().path
  const at = { provider: 'p', base_url: `${server.origin}/v1` }
  const models = ['native', 'careless', 'textual'].map((name) => ({ name, ...at }))
  expect(await doctor(folder, models, '--offline')).toEqual(
    models.map(({ name }) => ({
      status: 'ok',
      message: `p/${name} is not probed yet: this is tried before its next answer`,
    })),
  )
  expect(server.requests).toEqual([])
  expect(await doctor(folder, models)).toEqual([
    { status: 'ok', message: 'p/native calls tools and cites (probed just now)' },
    { status: 'ok', message: 'p/careless calls tools, but does not cite (probed just now)' },
    { status: 'ok', message: 'p/textual calls no tools by itself (probed just now)', advice },
  ])
  expect(probes(server)).toBe(5)
  const database = new DatabaseSync(join(folder, 'inlay.db'))
  const yesterday = Date.now() - 86_400_000
  const day = new Date(yesterday).toISOString().slice(0, 10)
  database.exec(`update inlay_workspace set updated_at = ${yesterday} where kind = 'model_abilities'`)
  database.close()
  const recorded = [
    { status: 'ok', message: `p/native calls tools and cites (probed on ${day})` },
    { status: 'ok', message: `p/careless calls tools, but does not cite (probed on ${day})` },
    { status: 'ok', message: `p/textual calls no tools by itself (probed on ${day})`, advice },
  ]
  expect(await doctor(folder, models)).toEqual(recorded)
  expect(await doctor(folder, models, '--offline')).toEqual(recorded)
  expect(probes(server)).toBe(5)
})

test('doctor does not try a model with a setting, a known name or a server that tells, and warns of one that cannot be tried', async () => {
  const server = await start({
    '/v1/models': { data: [{ id: 'toolless', owned_by: 'library' }, { id: 'other' }] },
    '/api/show': { capabilities: ['completion'] },
  })
  const at = { provider: 'p', base_url: `${server.origin}/v1` }
  const models = [
    { name: 'gpt-4o', ...at },
    { name: 'toolless', ...at },
    { name: 'set', grounding: 'tools', ...at },
    { name: 'weak', grounding: 'search-first', ...at },
    { name: 'absent', ...at },
  ]
  expect(await doctor(temporaryFolder().path, models)).toEqual([
    { status: 'ok', message: 'p/gpt-4o calls tools and cites (known by name)' },
    { status: 'ok', message: 'p/toolless calls no tools by itself (told by its server)' },
    { status: 'ok', message: 'p/set calls tools and cites (set by you)' },
    { status: 'ok', message: 'p/weak calls no tools by itself (set by you)' },
    {
      status: 'warning',
      message: 'p/absent could not be probed yet: this is tried before its next answer',
    },
  ])
  expect(server.requests.filter(({ body }) => body['tools']).map(({ body }) => body['model'])).toEqual(['absent'])
})

test('without a model beside the built-in one, doctor has nothing to tell of tools', async () => {
  expect(await doctor(temporaryFolder().path, [{ name: 'extractive' }])).toEqual([])
})
