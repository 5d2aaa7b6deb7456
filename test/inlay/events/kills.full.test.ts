import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { scriptedModel } from '@inlay/agent/testing'
import { InlayError } from '@inlay/protocol'
import { defineAction } from 'inlay'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { toRequest } from '../../agent/setting.ts'
import { startPostgres, type PostgresServer } from '../../knowledge/postgres-server.ts'
import { scripted } from '../../life/serve.ts'
import type { ChildTask } from './events-child.ts'
import { accept, folder, open, receiver, secrets, until, waiting, type Got } from './setting.ts'

let postgres: PostgresServer
beforeAll(async () => void (postgres = await startPostgres()))
afterAll(() => postgres.stop())

/** The same receiver under a name that only the child resolves. */
const renamed = (url: string): string => url.replace('127.0.0.1', 'receiver.test')

function start({ url, ...task }: Omit<ChildTask, 'secrets'>): ChildProcess {
  const program = join(import.meta.dirname, 'events-child.ts')
  const given = JSON.stringify({ ...task, url: renamed(url), secrets } satisfies ChildTask)
  const child = spawn(process.execPath, ['--conditions=@inlay/source', program, given], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, LANCEDB_LOG: 'error' },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

const idsOf = (got: readonly Got[]): Set<unknown> => new Set(got.map(({ headers }) => headers['webhook-id']))
const parse = ({ body }: Got) => JSON.parse(body) as { readonly type: string; readonly data: Record<string, unknown> }

test.each([
  { point: 'stored', attempts: 0, requests: 1 },
  { point: 'claimed', attempts: 1, requests: 1 },
  { point: 'sent', attempts: 1, requests: 2 },
] as const)('an event whose process is killed once it is $point comes after a restart', async (given) => {
  const { point, attempts, requests } = given
  const dataFolder = folder()
  const children: ChildProcess[] = []
  const { url, got } = await receiver((response, index) => {
    if (point === 'sent' && index === 0) children[0]?.kill('SIGKILL')
    else response.writeHead(204).end()
  })
  const child = start({ dataFolder, url, name: 'child', count: 1, kill: point === 'sent' ? undefined : point })
  children.push(child)
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
  expect(got).toHaveLength(requests - 1)
  const [event] = waiting(dataFolder)
  expect(event).toMatchObject({ attempts })
  // When the claim of the killed process has run out.
  const now = (): number => Date.now() + 61_000
  const inlay = open(dataFolder, {
    webhooks: [{ url: renamed(url), secrets }],
    egress: { allowHosts: ['receiver.test'], resolve: async () => ['127.0.0.1'] },
    now,
  })
  await inlay.start()
  await until(() => expect(waiting(dataFolder)).toEqual([]))
  expect(got).toHaveLength(requests)
  expect(idsOf(got)).toEqual(new Set([event?.event_id]))
  expect(got.map(parse)).toMatchObject(
    Array.from({ length: requests }, () => ({ type: 'document.indexed', data: { document_id: 'document0' } })),
  )
})

test.each(['SQLite', 'Postgres'] as const)('two processes over %s send each event once between them', async (kind) => {
  const dataFolder = folder()
  const connectionString = kind === 'Postgres' ? await postgres.takeDatabase() : undefined
  const senders = new Set<unknown>()
  const held: ServerResponse[] = []
  const { url, got } = await receiver((response, _, { headers }) => {
    senders.add(headers['user-agent'])
    held.push(response)
    // Each process has a claim before any of them is done.
    if (senders.size === 2) for (const each of held.splice(0)) each.writeHead(204).end()
  })
  const first = start({ dataFolder, connectionString, url, name: 'first', count: 0 })
  await once(first.stdout!, 'data')
  const second = start({ dataFolder, connectionString, url, name: 'second', count: 40 })
  await until(() => expect(got.length).toBeGreaterThanOrEqual(40))
  for (const child of [first, second]) {
    const exit = once(child, 'exit')
    child.stdin?.end()
    expect(await exit).toEqual([0, null])
  }
  expect(senders).toEqual(new Set(['first', 'second']))
  expect(got).toHaveLength(40)
  expect(idsOf(got).size).toBe(40)
  expect(new Set(got.map((each) => parse(each).data['document_id'])).size).toBe(40)
  if (kind === 'SQLite') expect(waiting(dataFolder)).toEqual([])
})

test('a receiver that hangs delays no other and counts as failed after 20 seconds', async () => {
  const hanging = await receiver(() => {})
  const other = await receiver()
  const errors: Error[] = []
  const dataFolder = folder()
  const inlay = open(dataFolder, {
    webhooks: [hanging, other].map(({ url }) => ({ url, secrets })),
    onError: (error) => errors.push(error as Error),
  })
  await accept(inlay, 'leave')
  await until(() => expect(hanging.got).toHaveLength(1))
  await accept(inlay, 'pay')
  await until(() => expect(other.got).toHaveLength(2))
  expect(errors).toEqual([])
  await until(() => expect(errors.map(({ message }) => message).join()).toContain('did not answer in time'))
  // The next event follows, or this one again.
  await until(() => expect(hanging.got.length).toBeGreaterThan(1))
  await inlay.close()
  expect(waiting(dataFolder).map(({ claim }) => claim)).toEqual([null, null])
})

test('a document that fails and a call that waits for approval are sent', async () => {
  const { url, got } = await receiver()
  const refusal = new InlayError('UNPROCESSABLE_ENTITY', { message: 'No vectors for this.', retryable: false })
  const remove = defineAction({
    name: 'remove',
    description: 'Removes a page.',
    input: z.object({ page: z.number() }),
    needsApproval: () => true,
    run: () => 'Removed.',
  })
  const model = scriptedModel(() => [{ call: { name: 'remove', input: { page: 7 } } }])
  const inlay = open(folder(), {
    webhooks: [{ url, secrets, events: ['document.failed', 'approval.requested'] }],
    embedder: { id: 'refusing@2', dimensions: 2, maxBatchSize: 10, embed: async () => Promise.reject(refusal) },
    actions: [remove],
    model: { resolve: async () => ({ ...scripted, model, grounding: 'tools' }), list: async () => [] },
  })
  await accept(inlay, 'leave')
  const run = await inlay.agent.send(toRequest({ message: 'Remove page 7.' }), {
    caller: { id: 'ana', scopes: ['chat'] },
  })
  await run.whole()
  await until(() => expect(got).toHaveLength(2))
  expect(got.map(parse).toSorted((a, b) => a.type.localeCompare(b.type))).toMatchObject([
    {
      type: 'approval.requested',
      data: { chat_session_id: run.sessionId, message_id: run.messageId, user_id: 'ana', tool_name: 'remove' },
    },
    {
      type: 'document.failed',
      data: { document_id: 'leave', reason: expect.stringContaining('No vectors for this.') },
    },
  ])
})
