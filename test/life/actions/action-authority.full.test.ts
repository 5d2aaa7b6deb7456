import type { ChatFullResponse, PersonalizationDetail } from '@inlay/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { startKennel } from '../../stand-in/kennel.ts'
import { calls, openActionHarness, says, type ActionHarness, type Script } from './action-harness.ts'

const json = { 'content-type': 'application/json' }

/** A key of its own owner, as a header. */
async function newCaller({ fetch }: ActionHarness, scopes: readonly string[]): Promise<Record<string, string>> {
  const created = await fetch('/admin/api-key', { method: 'POST', headers: json, body: JSON.stringify({ scopes }) })
  const { api_key: key } = (await created.json()) as { api_key: string }
  return { authorization: `Bearer ${key}` }
}

async function askAs(
  { fetch, script }: ActionHarness,
  caller: Record<string, string>,
  steps: Script,
  more: object = {},
): Promise<ChatFullResponse> {
  script(steps)
  const body = JSON.stringify({ message: 'Go on.', stream: false, ...more })
  const response = await fetch('/chat/send-chat-message', { method: 'POST', headers: { ...json, ...caller }, body })
  expect(response.status).toBe(200)
  return (await response.json()) as ChatFullResponse
}

const personalization = async ({ fetch }: ActionHarness, headers = {}): Promise<PersonalizationDetail> =>
  (await (await fetch('/user/personalization', { headers })).json()) as PersonalizationDetail

test('actions reach what belongs to who asks, and nothing else', async () => {
  const harness = await openActionHarness()
  const { fetch } = harness
  const file = await harness.upload('salaries.txt', 'The salary of the director is 12 herons.')
  await harness.upload('plan.txt', 'Nobody knows.')
  const kept = await fetch('/user/memories', {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ content: 'Directs the zoo.' }),
  })
  const { id: memory } = (await kept.json()) as { id: number }

  const ben = await newCaller(harness, ['chat'])
  const form = new FormData()
  form.append('files', new Blob(['Of ben.']), 'mine.txt')
  form.append('files', new Blob(['Also of ben.']), 'other.txt')
  const taken = await fetch('/user/projects/file/upload', { method: 'POST', headers: ben, body: form })
  const { user_files: own } = (await taken.json()) as { user_files: { file_id: string }[] }
  const whole = await askAs(
    harness,
    ben,
    [
      calls(
        ['read_file', { file_id: file }],
        ['add_memory', { memory: 'Directs nothing.', replaces: memory }],
        ['run_python', { code: 'import os; print(os.listdir())' }],
      ),
      says('Done.'),
    ],
    { file_descriptors: own.map(({ file_id: id }) => ({ id })) },
  )
  const received = JSON.stringify(whole)
  expect(received).not.toMatch(/herons|Directs the zoo|salaries|plan\.txt/)
  expect(whole.tool_calls.map(({ tool_result: result }) => result)).toEqual([
    expect.stringContaining('mine.txt'),
    expect.stringMatching(/^Tool failed with error: No memory has the id/),
    expect.stringContaining('mine.txt'),
  ])
  expect((await personalization(harness)).memories).toEqual([{ id: memory, content: 'Directs the zoo.' }])
  expect((await personalization(harness, ben)).memories).toEqual([])
  expect(JSON.stringify(harness.requests())).not.toMatch(/Directs the zoo/)
  const denied = await fetch(`/chat/file/${file}`, { headers: ben })
  expect(denied.status).toBe(404)
})

test('keys without the scope of chats have no actions, and only administrators make them', async () => {
  const harness = await openActionHarness()
  const chat = await newCaller(harness, ['chat'])
  const definition = { openapi: '3.1.0', info: { title: 'x', description: 'x', version: '1' }, servers: [], paths: {} }
  const custom = {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ name: 'x', definition, passthrough_auth: false, default_enabled: true }),
  }
  expect((await harness.fetch('/admin/tool/custom', { ...custom, headers: { ...json, ...chat } })).status).toBe(403)
  for (const scope of ['search', 'ingest']) {
    const caller = await newCaller(harness, [scope])
    const sent = { method: 'POST', headers: { ...json, ...caller }, body: JSON.stringify({ message: 'Go on.' }) }
    expect((await harness.fetch('/chat/send-chat-message', sent)).status).toBe(403)
    expect((await harness.fetch('/tool', { headers: caller })).status).toBe(403)
    expect((await harness.fetch('/user/memories', { headers: caller })).status).toBe(403)
  }
})

test.each([
  ['unless the host lets it pass', {}, []],
  ['but to an action that asks for it, where the host lets it pass', { passHeaders: ['authorization'] }, ['/v1/dogs']],
])('the key of a caller goes to no service %s', async (_case, options, paths) => {
  const kennel = await startKennel()
  onTestFinished(kennel.close)
  const harness = await openActionHarness({ egress: { allowHosts: ['127.0.0.1'] }, ...options })
  const body = JSON.stringify({
    name: 'Kennel',
    definition: kennel.document,
    passthrough_auth: true,
    default_enabled: true,
  })
  expect((await harness.fetch('/admin/tool/custom', { method: 'POST', headers: json, body })).status).toBe(200)
  const ben = await newCaller(harness, ['chat'])
  await askAs(harness, ben, [
    calls(['list_dogs', { limit: 5 }], ['open_url', { urls: [`${kennel.origin}/page`] }]),
    says('There are none.'),
  ])
  expect(kennel.requests).toHaveLength(2)
  const withKey = kennel.requests.filter(({ headers }) => JSON.stringify(headers).includes(ben['authorization']!))
  expect(withKey.map(({ request }) => new URL(request.split(' ')[1]!, kennel.origin).pathname)).toEqual(paths)
})
