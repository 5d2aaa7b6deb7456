import { describe, expect, test } from 'vitest'
import { newService } from './conversation.ts'
import { scriptedAction } from '../agent/scripted-action.ts'

/** Reads a stream until it holds some words; returns all that was read, and a way to read the rest. */
async function readUntil(response: Response, words: string): Promise<{ text: string; rest: () => Promise<string> }> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const more = async (): Promise<boolean> => {
    const { done, value } = await reader.read()
    text += value ?? ''
    return !done
  }
  while (!text.includes(words) && (await more()));
  return {
    text,
    rest: async () => {
      const before = text.length
      while (await more());
      return text.slice(before)
    },
  }
}

const sessionOf = (text: string): string => /"chat_session_id":"([^"]+)"/.exec(text)?.[1] ?? ''
const deaf = () => new Promise<never>(() => {})
const look = { call: { name: 'look', input: {} } }

describe('a stop ends the run at once', () => {
  test.each([
    ['while the model says nothing yet', () => [{ pause: deaf }], 'user_message_id', ''],
    ['while the model speaks and never ends', () => ['So far', { pause: deaf }], 'So far', 'So far'],
    ['while an action never ends and heeds no signal', () => ['Let me look.', look], 'section_end', 'Let me look.'],
  ])('%s', async (_title, script, words, said) => {
    const { ask, fetchJson, setting } = await newService(script, {
      actions: [
        scriptedAction({
          id: 2_000_000,
          name: 'look',
          start: { type: 'custom_tool_start', tool_name: 'look', tool_id: 2_000_000 },
          result: deaf,
        }),
      ],
    })
    const isAction = words === 'section_end'
    const response = await ask('/chat/send-chat-message', { json: { message: 'Hi' } })
    const { text, rest } = await readUntil(response, isAction ? 'custom_tool_start' : words)
    const session = sessionOf(text)
    // Answered only once nothing runs any more.
    const stopped = await fetchJson(`/chat/stop-chat-session/${session}`, { method: 'POST' })
    expect(stopped.status).toBe(200)
    const { body } = await fetchJson(`/chat/get-chat-session/${session}`)
    expect(body).toMatchObject({ current_run: null })
    expect((body as { messages: unknown[] }).messages.at(-1)).toMatchObject({ message: said, error: null })
    const answer = await rest()
    expect(answer).toContain('"stop_reason":"user_cancelled"')
    // The section of the action is closed, like any other.
    expect(answer.includes('"section_end"')).toBe(isAction)
    expect(setting.errors).toEqual([])
  })

  test('and stopping again, or when nothing runs, changes nothing', async () => {
    const { fetchJson, say } = await newService([['Done.']])
    const { session } = await say('Hi')
    for (let times = 0; times < 2; times++) {
      const stopped = await fetchJson(`/chat/stop-chat-session/${session}`, { method: 'POST' })
      expect(stopped).toEqual({ status: 200, body: { message: expect.any(String) } })
    }
    const { body } = await fetchJson(`/chat/get-chat-session/${session}`)
    expect((body as { messages: unknown[] }).messages.at(-1)).toMatchObject({ message: 'Done.' })
  })
})
