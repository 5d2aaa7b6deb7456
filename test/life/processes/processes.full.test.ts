import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres, type PostgresServer } from '../../knowledge/postgres-server.ts'
import { eventually, startService, temporaryFolder, type Service } from '../process.ts'
import { lastMessage, resume, send, textOf } from './talk.ts'

let postgres: PostgresServer
beforeAll(async () => void (postgres = await startPostgres()))
afterAll(() => postgres.stop())

describe.each(['SQLite', 'Postgres'] as const)('three processes over %s', (kind) => {
  const start = async (words: number): Promise<[Service, Service, Service]> => {
    const folder = temporaryFolder()
    process.env['INLAY_TEST_WORDS'] = String(words)
    if (kind === 'Postgres') process.env['INLAY_TEST_POSTGRES'] = await postgres.takeDatabase()
    else delete process.env['INLAY_TEST_POSTGRES']
    const services: Service[] = []
    onTestFinished(async () => {
      await Promise.all(services.map((service) => service.kill()))
      folder.remove()
    })
    for (let count = 0; count < 3; count++)
      services.push(await startService(folder.path, { program: 'processes/talking.ts' }))
    return services as [Service, Service, Service]
  }

  test('an answer is resumed on the others from every cursor, while it is made and afterwards', async () => {
    const [first, second, third] = await start(60)
    const sent = await send(first)
    await sent.until('word5 ')
    const early = await Promise.all(
      [0, 1, 5, 10].map(async (cursor) => [cursor, await resume(second, sent.session, cursor)] as const),
    )
    await sent.ended
    for (const [cursor, stream] of early) {
      await stream.ended
      expect(stream.lines).toEqual(sent.lines.slice(cursor))
    }
    expect(textOf(sent.lines)).toMatch(/^word0 .*word59 $/)
    for (const { id } of sent.lines.slice(0, -1)) {
      const stream = await resume(third, sent.session, id)
      await stream.ended
      expect(stream.lines).toEqual(sent.lines.slice(id))
    }
  })

  test('an answer is stopped from another process', async () => {
    const [first, second, third] = await start(3_000)
    const sent = await send(first)
    const resumed = await resume(second, sent.session)
    await resumed.until('word3 ')
    const stopped = await third.fetch(`/chat/stop-chat-session/${sent.session}`, { method: 'POST' })
    expect(stopped.status).toBe(200)
    await Promise.all([sent.ended, resumed.ended])
    expect(resumed.lines).toEqual(sent.lines)
    expect(sent.lines.at(-1)?.data).toContain('user_cancelled')
    const { message, error } = await lastMessage(third, sent.session)
    expect([message, error]).toEqual([textOf(sent.lines), null])
  })

  test('an answer whose process is killed ends on the others with what was said', async () => {
    const [first, second, third] = await start(3_000)
    const sent = await send(first)
    const resumed = await resume(second, sent.session)
    await resumed.until('word20 ')
    await first.kill()
    await resumed.ended
    expect(resumed.lines.at(-1)?.data).toContain('SERVICE_UNAVAILABLE')
    const message = await eventually('the end of the answer', async () => {
      const last = await lastMessage(third, sent.session)
      return last.error === null ? undefined : last
    })
    expect(message.message).toBe(textOf(resumed.lines))
    expect(message.message).toContain('word20 ')
    const again = await resume(third, sent.session)
    await again.ended
    expect(again.lines).toEqual(resumed.lines)
  })
})
