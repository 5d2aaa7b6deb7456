import { onTestFinished } from 'vitest'
import type { ConversationsOptions } from '@inlay/conversations'
import type { Script } from '@inlay/agent/testing'
import type { ServerOptions } from '@inlay/server'
import { newSetting, type Setting } from '../agent/setting.ts'
import { setup, type Setup } from './fakes.ts'

/** A server over a real agent that answers by a script. */
export interface Service extends Pick<Setup, 'server' | 'ask'> {
  readonly setting: Setting
  readonly errors: unknown[]
  /** Asks and reads the answer. */
  fetchJson(
    path: string,
    init?: Parameters<Setup['ask']>[1],
  ): Promise<{ readonly status: number; readonly body: unknown }>
  /** Sends a message as alice, waits for its answer; returns ids. */
  say(message: string, more?: object): Promise<{ readonly session: string; readonly answer: number }>
}

/** Makes a server over an agent with a scripted model; both end with the test. */
export async function newService(
  script: Script,
  options: Partial<ConversationsOptions> = {},
  server: Partial<ServerOptions> = {},
): Promise<Service> {
  const setting = await newSetting(script, options)
  const { ask, server: served, errors } = setup({ agent: setting.agent, ...server })
  onTestFinished(async () => {
    await setting.agent.close()
  })
  const fetchJson: Service['fetchJson'] = async (path, init) => {
    const response = await ask(path, init)
    return { status: response.status, body: await response.json() }
  }
  return {
    setting,
    errors,
    server: served,
    ask,
    fetchJson,
    say: async (message, more) => {
      const { body } = await fetchJson('/chat/send-chat-message', { json: { message, stream: false, ...more } })
      const whole = body as { chat_session_id: string; message_id: number }
      return { session: whole.chat_session_id, answer: whole.message_id }
    },
  }
}
