import type { HostAgent, ResponderPart, ResponderTurn } from '@inlay/agent'
import type { HostAgentUnderTest } from '@inlay/conformance'

/** The texts of a conversation, oldest first. */
export function textsOf({ prompt }: Pick<ResponderTurn, 'prompt'>): string[] {
  return prompt.map(({ content }) =>
    typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
  )
}

/** The message to answer. */
export const messageOf = (turn: Pick<ResponderTurn, 'prompt'>): string => textsOf(turn).at(-1) ?? ''

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

/** Goes on talking until it is stopped. */
async function* talk(signal: AbortSignal): AsyncGenerator<ResponderPart> {
  for (;;) {
    yield { type: 'text', delta: 'And on. ' }
    await Promise.race([untilAborted(signal), new Promise((resolve) => setImmediate(resolve))])
  }
}

async function* showCalls(): AsyncGenerator<ResponderPart> {
  yield { type: 'reasoning', delta: 'The gauge knows.' }
  yield { type: 'call', callId: 'own-1', name: 'gauge', input: { town: 'Oslo' } }
  yield { type: 'call', callId: 'own-2', name: 'gauge', input: { town: 'Atlantis' } }
  yield { type: 'failure', callId: 'own-2', message: 'No station.' }
  yield { type: 'result', callId: 'own-1', text: '12 mm' }
  yield { type: 'call', callId: 'sub-1', name: 'reader', input: {}, task: 'Read the gauge.' }
  yield { type: 'text', delta: 'I read it.', parentId: 'sub-1' }
  yield { type: 'call', callId: 'sub-2', name: 'gauge', input: {}, parentId: 'sub-1' }
  yield { type: 'result', callId: 'sub-2', text: '12 mm', parentId: 'sub-1' }
  yield { type: 'result', callId: 'sub-1', text: 'It says 12 mm.' }
  yield { type: 'step' }
  yield { type: 'text', delta: 'There were 12 mm.' }
}

async function* search({ tools }: ResponderTurn): AsyncGenerator<ResponderPart> {
  const results = await Promise.all(
    ['code', 'number'].map((query, at) => tools[0]?.run(`call-${at}`, { queries: [query] })),
  )
  yield { type: 'text', delta: `I read: ${results.join(' ')}` }
}

async function* respond(turn: ResponderTurn): AsyncGenerator<ResponderPart> {
  turn.signal.throwIfAborted()
  yield { type: 'step' }
  const message = messageOf(turn)
  if (message === 'Fail') throw new Error('The model is away.')
  if (message === 'Talk') return yield* talk(turn.signal)
  if (message === 'Call') return yield* showCalls()
  if (message === 'Search') return yield* search(turn)
  if (message === 'Who am I?')
    yield { type: 'text', delta: `You are ${/I am (\w+)/.exec(textsOf(turn)[0] ?? '')?.[1]}.` }
  // The event loop turns, so that other messages come in between.
  await new Promise((resolve) => setImmediate(resolve))
  if (message !== 'Who am I?')
    yield { type: 'text', delta: message === 'Sky?' ? 'The sky is blue.' : 'Grass is green.' }
  yield { type: 'usage', inputTokens: 10, outputTokens: 4, reasoningTokens: null, cachedInputTokens: null }
}

export const sampleAgent: HostAgent = {
  name: 'Gauge',
  description: 'Knows the rain.',
  actions: ['internal_search'],
  respond,
}

/** The question for the sample agent. */
export const sampleMessages: Omit<HostAgentUnderTest, 'agent'> = {
  answers: [
    { message: 'Sky?', word: 'blue' },
    { message: 'Grass?', word: 'green' },
  ],
  recalls: { earlier: { message: 'I am Zora.', answer: 'Hello!' }, message: 'Who am I?', word: 'Zora' },
  calls: 'Call',
  searches: { message: 'Search', action: 'internal_search' },
  fails: 'Fail',
  lasts: 'Talk',
}
