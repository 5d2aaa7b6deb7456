import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { isInlayError } from '@inlay/protocol'
import { setup } from '../fakes.ts'

describe('a request that holds the main thread', () => {
  let now = 0
  let isStarved = false
  beforeEach(() => {
    now = 0
    isStarved = false
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    vi.spyOn(process, 'threadCpuUsage').mockImplementation(() => ({ user: isStarved ? 0 : now * 1000, system: 0 }))
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  /** Lets the tick come that the blocked thread kept back. */
  const thaw = (): void => void vi.advanceTimersByTime(100)
  const pass = (ms: number): void => {
    for (let passed = 0; passed < ms; passed += 100) {
      now += 100
      vi.advanceTimersByTime(100)
    }
  }

  const blocking = (ms: number) => {
    const reports: { error: unknown; request: object }[] = []
    const { agent, ask } = setup({ onError: (error, request) => void reports.push({ error, request }) })
    const list = async (): Promise<object> => {
      now += ms
      return { sessions: [], hasMore: false }
    }
    Object.assign(agent, { sessions: { list } })
    return { ask, agent, reports }
  }
  const sentences = (reports: readonly { error: unknown }[]): string[] =>
    reports.map(({ error }) => (isInlayError(error) ? error.message : ''))

  test('for over a second is reported with its route, time and id', async () => {
    const { ask, reports } = blocking(1400)
    const response = await ask('/chat/get-user-chat-sessions')
    expect(response.status).toBe(200)
    thaw()
    const requestId = response.headers.get('x-request-id')
    expect(sentences(reports)).toEqual([
      `The main thread was held for 1300 ms, so nothing else was served. Handled meanwhile: GET /chat/get-user-chat-sessions (${requestId}).`,
    ])
    expect(reports[0]).toMatchObject({
      error: { data: { isExpected: true } },
      request: { requestId, method: 'GET', route: '/chat/get-user-chat-sessions' },
    })
  })

  test('for less is not reported, and requests that only wait are none', async () => {
    const { ask, agent, reports } = blocking(900)
    await ask('/chat/get-user-chat-sessions')
    thaw()
    const waiting = Promise.withResolvers<never>()
    Object.assign(agent, { sessions: { list: () => waiting.promise } })
    const answer = ask('/chat/get-user-chat-sessions')
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1))
    pass(5000)
    waiting.reject(new Error('over'))
    expect((await answer).status).toBe(500)
    expect(sentences(reports)).toEqual([''])
  })

  test('is told from those that came before and after it', async () => {
    const { ask, reports } = blocking(1400)
    await ask('/auth/type')
    now += 100
    await ask('/chat/get-user-chat-sessions')
    await ask('/version')
    thaw()
    expect(sentences(reports)).toEqual([
      expect.stringContaining('Handled meanwhile: GET /chat/get-user-chat-sessions ('),
    ])
  })

  test('is not one to which the machine gave no time', async () => {
    const { ask, reports } = blocking(1400)
    isStarved = true
    await ask('/chat/get-user-chat-sessions')
    thaw()
    expect(reports).toEqual([])
  })

  test('leaves no timer behind', async () => {
    const { ask } = blocking(0)
    await ask('/chat/get-user-chat-sessions')
    expect(vi.getTimerCount()).toBe(1)
    pass(100)
    expect(vi.getTimerCount()).toBe(0)
  })
})
