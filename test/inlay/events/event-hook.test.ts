import { defineAction, type InlayEvent, type InlayOptions } from 'inlay'
import { scriptedModel } from '@inlay/agent/testing'
import { nodeSqlite } from '@inlay/drivers/node-sqlite'
import type { Principal } from '@inlay/protocol'
import { eventParts } from 'inlay/internal/parts/event-parts'
import type { AnyDatabase } from '@inlay/records'
import { migrateAll } from 'inlay/internal/parts/open-tables'
import { Kysely } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { toRequest } from '../../agent/setting.ts'
import { scripted } from '../../life/serve.ts'
import { accept, folder, open, receiver, secrets, until, waiting } from './setting.ts'

const caller: Principal = { id: 'ana', scopes: ['chat'] }
const pay = defineAction({
  name: 'pay',
  description: 'Pays an invoice.',
  input: z.object({}),
  needsApproval: true,
  run: () => 'Paid.',
})

test('the hook gets each event that a webhook gets, with its id', async () => {
  const { url, got } = await receiver()
  const events: InlayEvent[] = []
  const model = scriptedModel(() => [{ call: { name: 'pay', input: {} } }])
  const inlay = open(folder(), {
    webhooks: [{ url, secrets }],
    hooks: { onEvent: (event) => void events.push(event) },
    actions: [pay],
    model: { resolve: async () => ({ ...scripted, model, grounding: 'tools' }), list: async () => [] },
  })
  await accept(inlay, 'leave')
  const run = await inlay.agent.send(toRequest({ message: 'Pay it.' }), { caller })
  await run.whole()
  await inlay.agent.sessions.rate(
    { messageId: run.messageId, isPositive: false, text: null, predefined: 'slow' },
    caller,
  )
  await until(() => expect(events.length).toBe(4))
  await until(() => expect(got.length).toBe(4))
  const byId = (a: { id: string }, b: { id: string }): number => a.id.localeCompare(b.id)
  const sent = got.map(({ headers, body }) => ({ id: String(headers['webhook-id']), ...JSON.parse(body) }))
  expect(new Set(events.map(({ type }) => type))).toEqual(
    new Set(['document.indexed', 'answer.finished', 'feedback.given', 'approval.requested']),
  )
  // A webhook and the hook are two receivers of one event.
  expect(events.toSorted(byId)).toEqual(sent.toSorted(byId))
})

test('what a hook throws goes to onError and breaks nothing; the event comes again after a restart', async () => {
  const clock = { time: Date.now() }
  const dataFolder = folder()
  const [errors, ids]: [unknown[], string[]] = [[], []]
  const options: InlayOptions = { now: () => clock.time, onError: (error) => errors.push(error) }
  const fault = new Error('The mail server is away.')
  const onEvent = ({ id }: InlayEvent): void => {
    ids.push(id)
    throw fault
  }
  const first = open(dataFolder, { ...options, hooks: { onEvent } })
  expect(await accept(first, 'leave')).toMatchObject({ alreadyExisted: false })
  await until(() => expect(waiting(dataFolder)).toMatchObject([{ attempts: 1, claim: null }]))
  expect(errors).toContain(fault)
  await first.close()
  clock.time += 5_000
  await open(dataFolder, { ...options, hooks: { onEvent: async ({ id }) => void ids.push(id) } }).start()
  await until(() => expect(waiting(dataFolder)).toEqual([]))
  expect(ids).toEqual([ids[0], ids[0]])
})

test('closing waits for no hook that it comes before; the event is kept', async () => {
  const db: AnyDatabase = new Kysely({ dialect: nodeSqlite({ file: ':memory:' }) })
  onTestFinished(() => db.destroy())
  await migrateAll(db, 'expand')
  const closing = Promise.withResolvers<void>()
  // Asked once events were found, before they are delivered.
  const isPaused = async (): Promise<boolean> => {
    closing.resolve(delivery.close())
    return false
  }
  const hooks = { onEvent: () => new Promise<void>(() => {}) }
  const delivery = (await eventParts({ hooks }, { db, now: Date.now, onError: () => {}, isPaused }))!
  const event = { type: 'document.indexed', data: { document_id: 'leave', revision: 1, chunk_count: 1 } } as const
  await db.transaction().execute((records) => delivery.recordEvents(records, [event]))
  delivery.start()
  await closing.promise
  expect(await db.selectFrom('inlay_outbox').select(['attempts', 'claim']).execute()).toEqual([
    { attempts: 0, claim: null },
  ])
})
