import type { ChatSessionDetail } from '@inlay/protocol'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { eventually, startService, temporaryFolder } from '../process.ts'

test('an answer whose process is killed ends with what was said, and its session goes on', async () => {
  const folder = temporaryFolder()
  const start = () => startService(folder.path, { program: 'kills/answering.ts' })
  try {
    const first = await start()
    const response = await first.fetch('/chat/send-chat-message', { method: 'POST', body: '{"message":"Hi"}' })
    let text = ''
    const reader = response.body?.getReader()
    while (!text.includes('so far')) text += new TextDecoder().decode((await reader?.read())?.value)
    const session = /"chat_session_id":"([^"]+)"/.exec(text)?.[1]
    const read = async (service: typeof first) =>
      (await (await service.fetch(`/chat/get-chat-session/${session}`)).json()) as ChatSessionDetail
    expect((await read(first)).current_run).not.toBeNull()
    // The lines so far are stored every second.
    await eventually('lines in the database', async () => {
      const db = new DatabaseSync(join(folder.path, 'inlay.db'), { readOnly: true })
      const lines = db.prepare('select lines from inlay_chat_run_lines').all()
      db.close()
      return JSON.stringify(lines).includes('so far') || undefined
    })
    await first.kill()

    const second = await start()
    const answer = await eventually('the end of the answer', async () => {
      const { messages, current_run: run } = await read(second)
      expect(run).toBeNull()
      return messages.at(-1)?.error === null ? undefined : messages.at(-1)
    })
    expect(answer).toMatchObject({ message: 'What was said so far. ', message_type: 'assistant' })
    const body = JSON.stringify({ message: 'Go on.', chat_session_id: session })
    const next = await second.fetch('/chat/send-chat-message', { method: 'POST', body })
    expect(next.status).toBe(200)
    await second.stop()
  } finally {
    folder.remove()
  }
})
