import { createConversation, type ConversationService } from '@inlay/client/conversation'
import { InlayError, type ChatSessionDetail, type PacketBody, type StreamLine } from '@inlay/protocol'
import { afterEach, expect, test, vi } from 'vitest'
import { message, said, storedAnswer, storedSession } from './stored-answer.ts'

interface How {
  readonly agentId?: number
  readonly tone?: string
}
type Asked = Parameters<ConversationService<How>['ask']>

const packet = (obj: PacketBody, model: number | null = null): StreamLine => ({
  placement: { turn_index: 0, tab_index: 0, sub_turn_index: null, model_index: model },
  obj,
})
const begun: PacketBody = { type: 'message_start', final_documents: null, pre_answer_processing_seconds: null }
const say = (content: string): StreamLine[] => [packet(begun), packet({ type: 'message_delta', content })]
const session: StreamLine = { chat_session_id: 's', incognito: false }
const end = (reason: 'user_cancelled' | null = null): StreamLine => packet({ type: 'stop', stop_reason: reason })
const ids = (question: number, answer: number): StreamLine => ({
  user_message_id: question,
  reserved_assistant_message_id: answer,
})

/** A stream that a test writes line by line. */
function stream(): {
  lines: AsyncIterable<StreamLine>
  write(...lines: StreamLine[]): void
  end(error?: unknown): void
} {
  const { readable, writable } = new TransformStream<StreamLine, StreamLine>(undefined, undefined, {
    highWaterMark: 100,
  })
  const writer = writable.getWriter()
  return {
    lines: readable,
    write: (...lines) => lines.forEach((line) => void writer.write(line)),
    end: (error) => void (error === undefined ? writer.close() : writer.abort(error)),
  }
}

/** A conversation with a service whose answers the test writes. */
function start(
  stored: readonly (ChatSessionDetail | Error | Promise<ChatSessionDetail>)[] = [],
  rate?: () => Promise<void>,
  onSessionChange: (id: string) => void = () => {},
) {
  const questions: Asked[] = []
  const calls: string[] = []
  const answers: ReturnType<typeof stream>[] = []
  const reads = [...stored]
  const openAnswer = (): AsyncIterable<StreamLine> => {
    const answer = stream()
    answers.push(answer)
    return answer.lines
  }
  const note =
    (name: string) =>
    async (...given: unknown[]): Promise<void> => {
      calls.push(`${name} ${given.join(' ')}`)
    }
  const conversation = createConversation<How>({
    service: {
      ask: (...given) => {
        questions.push(given)
        calls.push(`ask ${given[0].question}`)
        return openAnswer()
      },
      follow: (id) => {
        calls.push(`follow ${id}`)
        return openAnswer()
      },
      chat: async (id) => {
        calls.push(`chat ${id}`)
        const read = reads.shift()
        if (read === undefined || read instanceof Error) throw read ?? new Error('not stored')
        return read
      },
      stop: note('stop'),
      selectBranch: note('select'),
      keepAnswer: note('keep'),
      rate: rate ?? note('rate'),
    },
    texts: { connectionEnded: 'It ended.', neverAnswered: 'Nobody answered.', file: 'File' },
    toFailure: (error) => ({
      message: error instanceof Error ? error.message : '?',
      retryable: true,
      ...(error instanceof InlayError && { waitSeconds: 7 }),
    }),
    onChange: () => {},
    onBegin: (id, question, isShown) => calls.push(`begin ${id} ${question}${isShown ? '' : ', left'}`),
    onSessionChange: (id) => onSessionChange(id),
  })
  const shown = (): unknown[] =>
    conversation.state.turns.map(({ question, phase, fold }) => [question, phase, fold.answer])
  return { conversation, questions, calls, answers, shown }
}

const question = (words: string) => ({ question: words, files: [] })

afterEach(() => vi.useRealTimers())

test('an answer is read into its turn, and its session continues with the next question', async () => {
  const { conversation, questions, answers, calls, shown } = start()
  conversation.ask(question('One?'), { agentId: 4 })
  expect(conversation.state).toMatchObject({ isAnswering: true, agentId: 4, sessionId: null })
  answers[0]!.write(session, ids(1, 2), ...say('Yes.'), end())
  answers[0]!.end()
  await expect.poll(shown).toEqual([['One?', 'finished', 'Yes.']])
  await expect.poll(() => conversation.state.isAnswering).toBe(false)
  expect(calls).toContain('begin s One?')
  conversation.ask(question('Two?'), {})
  expect(questions.map(([, { sessionId }]) => sessionId)).toEqual([null, 's'])
})

test('questions during an answer wait for it, unless they are taken back', async () => {
  const { conversation, answers, calls } = start()
  for (const words of ['One?', 'Two?', 'Three?']) conversation.ask(question(words), {})
  conversation.unqueue(conversation.state.queue[0]!)
  expect(conversation.state.queue.map((waiting) => waiting.question)).toEqual(['Three?'])
  answers[0]!.write(session, ...say('Yes.'), end())
  answers[0]!.end()
  await expect.poll(() => calls.filter((call) => call.startsWith('ask'))).toEqual(['ask One?', 'ask Three?'])
  expect(conversation.state.queue).toEqual([])
})

test('a question waits while the answer before it has failed', async () => {
  const { conversation, answers, calls } = start()
  conversation.ask(question('One?'), {})
  conversation.ask(question('Two?'), {})
  answers[0]!.write(session, ...say('Half'))
  answers[0]!.end()
  await expect.poll(() => conversation.state.turns.at(-1)?.failure?.message).toBe('It ended.')
  expect(calls.filter((call) => call.startsWith('ask'))).toEqual(['ask One?'])
  expect(conversation.state.queue).toHaveLength(1)
})

test('a run that is stopped before its session is known ends as soon as it is', async () => {
  const { conversation, answers, calls, shown } = start()
  conversation.ask(question('One?'), {})
  conversation.stop()
  expect(shown()).toEqual([['One?', 'stopped', '']])
  expect(calls).not.toContain('stop s')
  answers[0]!.write(session)
  await expect.poll(() => calls).toContain('stop s')
  answers[0]!.write(ids(1, 2), end('user_cancelled'))
  answers[0]!.end()
  await expect.poll(() => conversation.state.sessionId).toBe('s')
  expect(shown()).toEqual([['One?', 'stopped', '']])
})

test('a question that the service refuses for a while is sent again by itself, as it was asked', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { conversation, questions, answers } = start()
  conversation.ask(question('One?'), { agentId: 4, tone: 'kind' })
  answers[0]!.end(new InlayError('RATE_LIMITED', { message: 'Too many.' }))
  await vi.waitFor(() => expect(conversation.state.turns[0]?.failure?.waitSeconds).toBe(7), { interval: 1 })
  vi.advanceTimersByTime(6_900)
  expect(questions).toHaveLength(1)
  vi.advanceTimersByTime(100)
  expect(questions).toHaveLength(2)
  expect(questions[1]).toMatchObject([{ question: 'One?' }, { agentId: 4, tone: 'kind', againId: null }])
  expect(conversation.state.turns).toHaveLength(1)
})

test('a retry is another answer to the same message; an edited question follows the answer before it', async () => {
  const { conversation, questions, answers } = start()
  const answer = async (at: number, ...lines: StreamLine[]): Promise<void> => {
    answers[at]!.write(...lines, end())
    answers[at]!.end()
    await expect.poll(() => conversation.state.turns.at(-1)?.phase).toBe('finished')
  }
  conversation.ask(question('One?'), {})
  await answer(0, session, ids(1, 2))
  conversation.ask(question('Two?'), {})
  await answer(1, ids(3, 4))
  conversation.retry(conversation.state.turns[1]!, { tone: 'short' })
  expect(questions[2]).toMatchObject([{ question: 'Two?' }, { againId: 3, sessionId: 's', tone: 'short' }])
  await answer(2, ids(3, 5))
  conversation.edit(conversation.state.turns[1]!, 'Three?', {})
  expect(questions[3]).toMatchObject([{ question: 'Three?' }, { againId: null, parentId: 2 }])
  await answer(3, ids(6, 7))
  conversation.edit(conversation.state.turns[0]!, 'Zero?', {})
  expect(questions[4]).toMatchObject([{ question: 'Zero?' }, { parentId: null }])
  expect(conversation.state.turns.map((turn) => turn.question)).toEqual(['Zero?'])
})

test('a retry before there is a session starts it as the question would have', async () => {
  const { conversation, questions, answers } = start()
  conversation.ask(question('One?'), { agentId: 4, tone: 'kind' })
  answers[0]!.end(new Error('Away.'))
  await expect.poll(() => conversation.state.turns[0]?.failure?.message).toBe('Away.')
  conversation.retry(conversation.state.turns[0]!, { tone: 'short' })
  expect(questions[1]?.[1]).toMatchObject({ agentId: 4, tone: 'short', againId: null, sessionId: null })
})

test('the first whole answer of a comparison left undecided is kept before the next question', async () => {
  const { conversation, answers, calls } = start()
  conversation.ask(question('One?'), {})
  const responses = [2, 3].map((id) => ({ message_id: id, model_name: `m${id}` }))
  answers[0]!.write(session, { user_message_id: 1, responses }, packet(begun, 1))
  answers[0]!.write(packet({ type: 'message_delta', content: 'B' }, 1), packet({ type: 'stop', stop_reason: null }, 1))
  answers[0]!.write(packet({ type: 'stop', stop_reason: null }, 0))
  answers[0]!.end()
  await expect.poll(() => conversation.state.turns[0]?.phase).toBe('finished')
  conversation.ask(question('Two?'), {})
  await expect.poll(() => calls).toContain('ask Two?')
  expect(calls.slice(-2)).toEqual(['keep 1 3', 'ask Two?'])
  expect(conversation.state.turns[0]).toMatchObject({ columns: null, modelName: 'm3' })
})

test('a run that ended before it could be followed shows what is stored of its answer', async () => {
  const gone = new InlayError('NOT_FOUND', { message: 'This chat session has no run that could be resumed.' })
  const { conversation, answers, calls, shown } = start([storedAnswer({ isRunning: true }), storedAnswer()])
  conversation.open('s')
  await expect.poll(() => answers.length).toBe(1)
  answers[0]!.end(gone)
  await expect.poll(shown).toEqual([['One?', 'finished', 'Stored.']])
  expect(calls).toEqual(['chat s', 'follow s', 'chat s'])
})

test('a run that is stored as running and cannot be followed twice can be tried again', async () => {
  const gone = new InlayError('NOT_FOUND', { message: 'This chat session has no run that could be resumed.' })
  const running = storedAnswer({ isRunning: true })
  const { conversation, answers } = start([running, running])
  conversation.open('s')
  for (const at of [0, 1]) {
    await expect.poll(() => answers.length).toBe(at + 1)
    answers[at]!.end(gone)
  }
  await expect.poll(() => conversation.state.turns.at(-1)?.failure?.retryable).toBe(true)
  expect(answers).toHaveLength(2)
})

test('a stored conversation is shown, and its running answer is followed', async () => {
  const { conversation, answers, calls, shown } = start([storedAnswer({ isRunning: true })])
  conversation.open('s')
  expect(conversation.state.isLoading).toBe(true)
  await expect.poll(() => calls).toContain('follow s')
  conversation.open('s')
  answers[0]!.write(session, ids(2, 3), ...say('Stored.'), end())
  answers[0]!.end()
  await expect.poll(shown).toEqual([['One?', 'finished', 'Stored.']])
  expect(calls).toEqual(['chat s', 'follow s'])
})

test('a question sent while a conversation loads is sent once it is there', async () => {
  const { conversation, calls, questions } = start([storedAnswer()])
  conversation.open('s')
  conversation.ask(question('Two?'), {})
  await expect.poll(() => calls).toEqual(['chat s', 'ask Two?'])
  expect(questions[0]?.[1].sessionId).toBe('s')
  expect(conversation.state.turns.map((turn) => turn.question)).toEqual(['One?', 'Two?'])
})

test('a conversation that is gone says so, and the next question starts another', async () => {
  const { conversation, questions } = start([
    new InlayError('SESSION_NOT_FOUND', { message: 'Gone.', data: { status: 404 } }),
  ])
  conversation.open('s')
  await expect.poll(() => conversation.state.failure?.message).toBe('Gone.')
  conversation.ask(question('One?'), {})
  expect(questions[0]?.[1].sessionId).toBe(null)
  expect(conversation.state.failure).toBe(null)
})

test('a question follows the answer that is shown above it', async () => {
  const { conversation, questions, answers } = start([storedAnswer()])
  conversation.open('s')
  await expect.poll(() => conversation.state.turns.length).toBe(1)
  conversation.ask(question('Two?'), {})
  answers[0]!.end(new Error('No.'))
  await expect.poll(() => conversation.state.turns.at(-1)?.phase).toBe('failed')
  conversation.ask(question('Three?'), {})
  // Nothing was stored for the failed one to follow.
  expect(questions.map(([, { parentId }]) => parentId)).toEqual([3, undefined])
})

test('a conversation that is left stays away when it arrives', async () => {
  const { conversation, calls } = start([storedAnswer()])
  conversation.open('s')
  conversation.leave()
  await expect.poll(() => calls).toEqual(['chat s'])
  expect(conversation.state).toMatchObject({ turns: [], sessionId: null, isLoading: false })
})

test('feedback that the service refuses is taken back', async () => {
  const refused = Promise.withResolvers<void>()
  const { conversation } = start([storedAnswer()], () => refused.promise)
  conversation.open('s')
  await expect.poll(() => conversation.state.turns.length).toBe(1)
  conversation.rate(conversation.state.turns[0]!, 'like')
  expect(conversation.state.turns[0]?.feedback).toBe('like')
  refused.reject(new Error('No.'))
  await expect.poll(() => conversation.state.turns[0]?.feedback).toBe(null)
})

test('feedback that the service refuses leaves that on another version of the answer alone', async () => {
  const { messages } = storedAnswer()
  const other = storedSession({
    messages: [
      ...messages.map((each) => (each.message_id === 2 ? { ...each, latest_child_message: 4 } : each)),
      message({
        message_id: 4,
        parent_message: 2,
        message_type: 'assistant',
        current_feedback: 'like',
        time_sent: '2026-01-02T00:00:00Z',
      }),
    ],
    packets: [said('Stored.'), said('Another.')],
  })
  const refused = Promise.withResolvers<void>()
  const { conversation } = start([storedAnswer(), other], () => refused.promise)
  conversation.open('s')
  await expect.poll(() => conversation.state.turns.length).toBe(1)
  conversation.rate(conversation.state.turns[0]!, 'dislike')
  conversation.changedElsewhere('s')
  await expect.poll(() => conversation.state.turns[0]?.feedback).toBe('like')
  refused.reject(new Error('No.'))
  await refused.promise.catch(() => {})
  await Promise.resolve()
  expect(conversation.state.turns[0]?.feedback).toBe('like')
})

test('a stopped question that the service then refuses is not asked again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { conversation, questions, answers, shown } = start()
  conversation.ask(question('One?'), {})
  conversation.stop()
  answers[0]!.end(new InlayError('RATE_LIMITED', { message: 'Too many.' }))
  await vi.waitFor(() => expect(conversation.state.isAnswering).toBe(false), { interval: 1 })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(shown()).toEqual([['One?', 'stopped', '']])
  expect(questions).toHaveLength(1)
})

test('a refused question is not sent again once the conversation has changed elsewhere', async () => {
  const { conversation, questions, answers, calls, shown } = start([storedAnswer(), storedAnswer()])
  conversation.open('s')
  await expect.poll(() => conversation.state.turns).toHaveLength(1)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  conversation.ask(question('Two?'), {})
  answers[0]!.end(new InlayError('RATE_LIMITED', { message: 'Too many.' }))
  await vi.waitFor(() => expect(conversation.state.turns.at(-1)?.failure?.waitSeconds).toBe(7), { interval: 1 })
  conversation.changedElsewhere('s')
  await vi.waitFor(() => expect(calls.filter((call) => call === 'chat s')).toHaveLength(2), { interval: 1 })
  await vi.waitFor(() => expect(conversation.state.turns).toHaveLength(1), { interval: 1 })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(shown().map((turn) => (turn as string[])[0])).toEqual(['One?'])
  expect(questions).toHaveLength(1)
})

test('a stop in a session reaches the run once it has begun, and later questions wait for their turn', async () => {
  const { conversation, answers, calls } = start([storedAnswer()])
  conversation.open('s')
  await expect.poll(() => conversation.state.turns).toHaveLength(1)
  conversation.ask(question('Two?'), {})
  conversation.ask(question('Three?'), {})
  conversation.stop()
  conversation.ask(question('Four?'), {})
  expect(calls).not.toContain('stop s')
  answers[0]!.write(ids(4, 5))
  await expect.poll(() => calls).toContain('stop s')
  answers[0]!.write(end('user_cancelled'))
  answers[0]!.end()
  await expect.poll(() => calls).toContain('ask Three?')
  expect(calls).not.toContain('ask Four?')
  answers[1]!.write(ids(6, 7), ...say('Yes.'), end())
  answers[1]!.end()
  await expect.poll(() => calls).toContain('ask Four?')
})

test.each(['before', 'after'])('a question stopped %s the connection is lost is not sent later', async (order) => {
  const { conversation, questions, answers, calls, shown } = start()
  conversation.ask(question('One?'), {})
  const { signal, onConnectionChange } = questions[0]![1]
  signal.addEventListener('abort', () => answers[0]!.end(signal.reason))
  if (order === 'after') onConnectionChange?.(false)
  conversation.stop()
  conversation.ask(question('Two?'), {})
  if (order === 'before') onConnectionChange?.(false)
  await expect.poll(() => calls).toEqual(['ask One?', 'ask Two?'])
  expect(signal.aborted).toBe(true)
  expect(shown()).toEqual([
    ['One?', 'stopped', ''],
    ['Two?', 'answering', ''],
  ])
})

test('a new chat does not keep a run going that was to be stopped', async () => {
  const { conversation, questions, answers, calls } = start()
  conversation.ask(question('One?'), {})
  conversation.stop()
  conversation.leave()
  expect(questions[0]?.[1].signal.aborted).toBe(false)
  answers[0]!.write(session)
  await expect.poll(() => calls).toContain('stop s')
  expect(conversation.state).toMatchObject({ turns: [], sessionId: null })
})

test('questions keep their order after a conversation could not be loaded', async () => {
  const { conversation, answers, calls } = start([new Error('away')])
  conversation.open('s')
  conversation.ask(question('One?'), {})
  await expect.poll(() => conversation.state.failure?.message).toBe('away')
  conversation.ask(question('Two?'), {})
  answers[0]!.write(session, ids(1, 2), ...say('Yes.'), end())
  answers[0]!.end()
  await expect.poll(() => calls.filter((call) => call.startsWith('ask'))).toEqual(['ask One?', 'ask Two?'])
})

test('a retry of a question that was stopped early follows once its run has ended', async () => {
  const { conversation, questions, answers, calls, shown } = start([storedAnswer()])
  conversation.open('s')
  await expect.poll(() => conversation.state.turns).toHaveLength(1)
  conversation.ask(question('Two?'), {})
  conversation.stop()
  conversation.retry(conversation.state.turns.at(-1)!, {})
  expect(questions).toHaveLength(1)
  answers[0]!.write(ids(4, 5))
  await expect.poll(() => calls).toContain('stop s')
  answers[0]!.write(end('user_cancelled'))
  answers[0]!.end()
  await expect.poll(() => questions).toHaveLength(2)
  expect(questions[1]).toMatchObject([{ question: 'Two?' }, { sessionId: 's', againId: 4 }])
  answers[1]!.write(ids(4, 6), ...say('Yes.'), end())
  answers[1]!.end()
  await expect.poll(() => shown().at(-1)).toEqual(['Two?', 'finished', 'Yes.'])
})

/** A session `s` whose first question was asked twice, with an answer each; the newer one is shown unless `shown` is 2. */
const storedBranches = (shown: 2 | 4): ChatSessionDetail =>
  storedSession({
    messages: [
      message({ message_id: 1, latest_child_message: shown }),
      message({ message_id: 2, parent_message: 1, latest_child_message: 3, message_type: 'user', message: 'Old?' }),
      message({ message_id: 3, parent_message: 2, message_type: 'assistant' }),
      message({ message_id: 4, parent_message: 1, latest_child_message: 5, message_type: 'user', message: 'New?' }),
      message({ message_id: 5, parent_message: 4, message_type: 'assistant' }),
    ],
    packets: [said('Old.'), said('New.')],
  })

test('a chat that is left before its first line is told of, and read no further', async () => {
  const { conversation, questions, answers, calls } = start()
  conversation.ask(question('One?'), {})
  conversation.leave()
  expect(conversation.state).toMatchObject({ turns: [], isAnswering: false })
  answers[0]!.write(session)
  await expect.poll(() => calls).toContain('begin s One?, left')
  await expect.poll(() => questions[0]?.[1].signal.aborted).toBe(true)
  expect(calls).not.toContain('stop s')
  expect(conversation.state).toMatchObject({ turns: [], sessionId: null })
})

test('an answer that is left goes on at the service, and may be followed again', async () => {
  const { conversation, questions, answers, calls, shown } = start([storedAnswer({ isRunning: true })])
  conversation.ask(question('One?'), {})
  answers[0]!.write(session, ids(2, 3), ...say('Half'))
  await expect.poll(shown).toEqual([['One?', 'answering', 'Half']])
  conversation.leave()
  expect(questions[0]?.[1].signal.aborted).toBe(true)
  expect(conversation.state).toMatchObject({ turns: [], sessionId: null, isAnswering: false })
  conversation.open('s')
  await expect.poll(() => calls).toContain('follow s')
  answers[1]!.write(session, ids(2, 3), ...say('Half and half.'), end())
  answers[1]!.end()
  await expect.poll(shown).toEqual([['One?', 'finished', 'Half and half.']])
  expect(calls).not.toContain('stop s')
})

test('a message in a hidden branch is shown', async () => {
  const { conversation, calls, shown } = start([storedBranches(4), storedBranches(2)])
  conversation.open('s', 3)
  await expect.poll(shown).toEqual([['Old?', 'finished', 'Old.']])
  expect(calls).toEqual(['chat s', 'select 2', 'chat s'])
  // It is there already.
  conversation.open('s', 2)
  conversation.open('s', 3)
  expect(calls).toHaveLength(3)
  expect(conversation.state.isLoading).toBe(false)
})

test('a message in a hidden branch is shown, also if another tab changes the chat meanwhile', async () => {
  const slow = Promise.withResolvers<ChatSessionDetail>()
  const { conversation, calls, shown } = start([
    storedBranches(4),
    slow.promise,
    storedBranches(4),
    storedBranches(2),
    storedBranches(4),
  ])
  conversation.open('s')
  await expect.poll(shown).toEqual([['New?', 'finished', 'New.']])
  conversation.open('s', 3)
  conversation.changedElsewhere('s')
  slow.resolve(storedBranches(4))
  await expect.poll(shown).toEqual([['Old?', 'finished', 'Old.']])
  // What the other tab does later is followed.
  conversation.changedElsewhere('s')
  await expect.poll(shown).toEqual([['New?', 'finished', 'New.']])
  expect(calls.filter((call) => call.startsWith('select'))).toEqual(['select 2'])
})

test('another version is shown with what followed it, and other tabs learn of it', async () => {
  const changed: string[] = []
  const { conversation, calls, shown } = start([storedBranches(4), storedBranches(2)], undefined, (id) =>
    changed.push(id),
  )
  conversation.open('s')
  await expect.poll(() => conversation.state.turns[0]?.versions.questions).toEqual([2, 4])
  conversation.choose(2)
  await expect.poll(shown).toEqual([['Old?', 'finished', 'Old.']])
  expect(calls).toEqual(['chat s', 'select 2', 'chat s'])
  expect(changed).toEqual(['s'])
})

test('a session that is opened while a version is chosen in another one is shown', async () => {
  const { conversation, calls, shown } = start([storedBranches(4), storedBranches(2), storedBranches(4)])
  conversation.open('s')
  await expect.poll(shown).toEqual([['New?', 'finished', 'New.']])
  conversation.choose(2)
  conversation.open('other')
  await expect.poll(() => calls).toContain('select 2')
  await expect.poll(() => conversation.state.isLoading).toBe(false)
  expect(conversation.state.sessionId).toBe('other')
  expect(calls.filter((call) => call.startsWith('chat'))).toEqual(['chat s', 'chat other'])
})

test('no other version is chosen during an answer', async () => {
  const { conversation, answers, calls, shown } = start([storedBranches(4)])
  conversation.open('s')
  await expect.poll(() => conversation.state.turns).toHaveLength(1)
  conversation.ask(question('Two?'), {})
  answers[0]!.write(ids(6, 7), ...say('Half'))
  await expect.poll(() => shown().at(-1)).toEqual(['Two?', 'answering', 'Half'])
  conversation.choose(2)
  expect(calls).not.toContain('select 2')
})

test('the answer that is kept of several continues the conversation, and other tabs learn of it', async () => {
  const changed: string[] = []
  const { conversation, answers, calls, shown } = start([], undefined, (id) => changed.push(id))
  conversation.ask(question('One?'), {})
  const responses = [2, 3].map((id) => ({ message_id: id, model_name: `m${id}` }))
  answers[0]!.write(session, { user_message_id: 1, responses })
  for (const model of [0, 1])
    answers[0]!.write(
      packet(begun, model),
      packet({ type: 'message_delta', content: `Answer ${model}.` }, model),
      packet({ type: 'stop', stop_reason: null }, model),
    )
  answers[0]!.end()
  await expect.poll(() => conversation.state.turns[0]?.phase).toBe('finished')
  expect(changed).toEqual(['s', 's'])
  const [turn] = conversation.state.turns
  conversation.keep(turn!, turn!.columns![1]!)
  await expect.poll(shown).toEqual([['One?', 'finished', 'Answer 1.']])
  expect(calls).toContain('keep 1 3')
  expect(conversation.state.turns[0]?.columns).toBe(null)
  expect(changed).toEqual(['s', 's', 's'])
})

test('other tabs learn of a question once it has reached its session, and of its answer', async () => {
  const changed: string[] = []
  const { conversation, answers, shown } = start([storedAnswer({ isRunning: true })], undefined, (id) =>
    changed.push(id),
  )
  conversation.ask(question('One?'), {})
  expect(changed).toEqual([])
  answers[0]!.write(session, ids(2, 3), ...say('Yes.'))
  await expect.poll(() => changed).toEqual(['s'])
  answers[0]!.write(end())
  answers[0]!.end()
  await expect.poll(() => changed).toEqual(['s', 's'])
  // An answer that is followed was not asked for here.
  conversation.leave()
  conversation.open('s')
  await expect.poll(() => answers).toHaveLength(2)
  answers[1]!.write(ids(2, 3), ...say('Yes.'), end())
  answers[1]!.end()
  await expect.poll(shown).toEqual([['One?', 'finished', 'Yes.']])
  expect(changed).toEqual(['s', 's'])
})

test('a stored conversation that cannot be read now says why, and opening it again reads it', async () => {
  const { conversation, shown } = start([new Error('Away.'), storedAnswer()])
  conversation.open('s')
  await expect.poll(() => conversation.state.failure?.message).toBe('Away.')
  expect(conversation.state).toMatchObject({ sessionId: 's', isLoading: false, turns: [] })
  conversation.changedElsewhere('s')
  await expect.poll(shown).toEqual([['One?', 'finished', 'Stored.']])
  expect(conversation.state.failure).toBe(null)
})

test('a chat that cannot be read again stays as it is shown', async () => {
  const { conversation, shown } = start([storedAnswer(), new Error('Away.')])
  conversation.open('s')
  await expect.poll(shown).toEqual([['One?', 'finished', 'Stored.']])
  conversation.changedElsewhere('s')
  await expect.poll(() => conversation.state.failure?.message).toBe('Away.')
  expect(shown()).toEqual([['One?', 'finished', 'Stored.']])
})

test('two tabs show the same: one reads the answer to what the other asks', async () => {
  const [asking, reading] = [start([storedAnswer()]), start([storedAnswer(), storedAnswer({ isRunning: true })])]
  for (const { conversation } of [asking, reading]) conversation.open('s')
  for (const { shown } of [asking, reading]) await expect.poll(shown).toHaveLength(1)
  asking.conversation.ask(question('Two?'), {})
  // Neither a change of another chat nor one during an answer loads anything.
  reading.conversation.changedElsewhere('another')
  asking.conversation.changedElsewhere('s')
  expect([asking, reading].map(({ calls }) => calls.filter((call) => call === 'chat s').length)).toEqual([1, 1])
  reading.conversation.changedElsewhere('s')
  await expect.poll(() => reading.calls).toContain('follow s')
  expect(reading.conversation.state.isAnswering).toBe(true)
})
