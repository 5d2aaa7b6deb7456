import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChatFullResponse, ChatSessionDetail } from '@inlay/protocol'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startPostgres, type PostgresServer } from '../../knowledge/postgres-server.ts'
import { startService, temporaryFolder, type Service } from '../process.ts'

let postgres: PostgresServer
beforeAll(async () => void (postgres = await startPostgres()))
afterAll(() => postgres.stop())

const send = (service: Service, body: object): Promise<Response> =>
  service.fetch('/chat/send-chat-message', { method: 'POST', body: JSON.stringify({ stream: false, ...body }) })
const answerOf = async (response: Response): Promise<ChatFullResponse> => (await response.json()) as ChatFullResponse

describe.each(['SQLite', 'Postgres'] as const)('processes over %s', (kind) => {
  const folder = temporaryFolder()
  afterAll(() => folder.remove())
  const start = async (): Promise<Service> => {
    const service = await startService(folder.path, { program: 'processes/approving.ts' })
    onTestFinished(() => service.kill())
    return service
  }
  const removed = (): string => readFileSync(join(folder.path, 'removed.txt'), 'utf8')

  test('a call that was requested in a killed process is approved in two others at once, and made once', async () => {
    if (kind === 'Postgres') process.env['INLAY_TEST_POSTGRES'] = await postgres.takeDatabase()
    else delete process.env['INLAY_TEST_POSTGRES']
    const first = await start()
    const waiting = await answerOf(await send(first, { message: 'Remove page 7' }))
    expect(waiting.tool_approvals).toMatchObject([{ tool_name: 'remove', arguments: { page: 7 } }])
    await first.kill()
    const [second, third] = await Promise.all([start(), start()])
    const path = `/chat/get-chat-session/${waiting.chat_session_id}`
    const session = (await (await second.fetch(path)).json()) as ChatSessionDetail
    expect(JSON.stringify(session.packets)).toContain('tool_approval_request')
    const approval = {
      message: '',
      chat_session_id: waiting.chat_session_id,
      parent_message_id: waiting.message_id,
      tool_approvals: waiting.tool_approvals?.map(({ tool_call_id: id }) => ({ tool_call_id: id, approved: true })),
    }
    const responses = await Promise.all([second, third, second].map((service) => send(service, approval)))
    for (const response of responses) expect([200, 409]).toContain(response.status)
    const answers = await Promise.all(responses.filter(({ status }) => status === 200).map(answerOf))
    expect(answers.map(({ answer }) => answer)).toContain('Page 7 is gone.')
    // Whoever was told to wait gets the same answer now.
    const again = await Promise.all([second, third].map(async (service) => answerOf(await send(service, approval))))
    expect(new Set([...answers, ...again].map(({ message_id: id }) => id)).size).toBe(1)
    expect(removed()).toBe('7\n')
    const declined = approval.tool_approvals?.map((each) => ({ ...each, approved: false }))
    expect((await send(third, { ...approval, tool_approvals: declined })).status).toBe(409)
  })
})
