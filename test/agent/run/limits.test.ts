import { expect, test } from 'vitest'
import { ana, ben, newSetting } from '../setting.ts'

const codeOf = (failing: Promise<unknown>): Promise<unknown> =>
  failing.then(
    () => 'nothing failed',
    ({ code, data }: { code?: unknown; data?: unknown }) => [code, data],
  )

test('a caller has so many answers made at the same time, and is told when to come back', async () => {
  const goOn = Promise.withResolvers<void>()
  const { agent, send } = await newSetting(() => [{ pause: () => goOn.promise }, 'Done.'], {
    limits: { maxCallerRuns: 2 },
  })
  const first = await send({})
  const second = await send({})
  const refused = ['RATE_LIMITED', { of: 'caller', retryAfterSeconds: expect.any(Number) }]
  expect(await codeOf(send({}))).toEqual(refused)
  expect((await agent.sessions.list(ana)).sessions).toHaveLength(2)
  const other = await send({}, { caller: ben })

  await agent.stop(first.sessionId, ana)
  const third = await send({})
  expect(await codeOf(send({}))).toEqual(refused)
  goOn.resolve()
  for (const run of [second, third, other]) expect((await run.whole()).answer).toBe('Done.')
  await (await send({})).whole()
})

test('what never became an answer takes no place, nor does the repeat of a message', async () => {
  const goOn = Promise.withResolvers<void>()
  const { send } = await newSetting(() => [{ pause: () => goOn.promise }, 'Done.'], { limits: { maxCallerRuns: 1 } })
  expect(await codeOf(send({ parent_message_id: 99 }))).toEqual(['VALIDATION_ERROR', expect.anything()])
  const run = await send({}, { idempotencyKey: 'k' })
  const again = await send({}, { idempotencyKey: 'k' })
  goOn.resolve()
  expect([again.messageId, (await again.whole()).answer]).toEqual([run.messageId, 'Done.'])
})
