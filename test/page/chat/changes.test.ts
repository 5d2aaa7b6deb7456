import { createConversation } from '@inlay/client/conversation'
import type { ChatMessageDetail, ChatSessionDetail } from '@inlay/protocol'
import { expect, test } from 'vitest'
import { readChanges } from '../../../packages/page/src/chat/conversation.ts'
import type { AskHow } from '../../../packages/page/src/service/service.ts'
import { message, said, storedSession } from '../../client/conversation/stored-answer.ts'

const question = (id: number, child: number | null, parent = 1): ChatMessageDetail =>
  message({ message_id: id, parent_message: parent, latest_child_message: child, message_type: 'user', message: 'Q' })
const answer = (id: number, question: number, child: number | null = null): ChatMessageDetail =>
  message({ message_id: id, parent_message: question, latest_child_message: child, message_type: 'assistant' })
const session = (chosen: number, ...messages: ChatMessageDetail[]): ChatSessionDetail =>
  storedSession({
    messages: [message({ message_id: 1, latest_child_message: chosen }), ...messages],
    packets: messages.filter(({ message_type: type }) => type === 'assistant').map(() => said('A')),
  })
// At another time: it is none of several models.
const again = { ...answer(6, 2), time_sent: '2026-01-02T00:00:00Z' }
const olderShown = session(2, question(2, 3), answer(3, 2), question(4, 5), answer(5, 4))

/** A conversation that shows a session, its service, and how often that was read. */
async function shown(stored: ChatSessionDetail) {
  const service = { stored, reads: 0, questions: 0, chat: async () => (service.reads++, service.stored) }
  const refuse = async (): Promise<never> => Promise.reject(new Error('Refused.'))
  const core = createConversation<AskHow>({
    service: {
      chat: service.chat,
      ask: async function* () {
        service.questions++
        yield { user_message_id: 6, reserved_assistant_message_id: 7 }
        throw new Error('The model is down.')
      },
      follow: () => {
        throw new Error('Nothing runs.')
      },
      stop: refuse,
      selectBranch: refuse,
      keepAnswer: refuse,
      rate: refuse,
    },
    texts: { connectionEnded: '', neverAnswered: '', file: '' },
    toFailure: () => ({ message: 'Refused.', retryable: true }),
    onChange: () => {},
  })
  core.open('s')
  await expect.poll(() => core.state.isLoading).toBe(false)
  service.reads = 0
  return { core, service }
}

test('an older version that is shown stays as it is when the person comes back', async () => {
  const { core, service } = await shown(olderShown)
  const { turns } = core.state
  await readChanges(core, service)
  expect(service.reads).toBe(1)
  expect(core.state.turns).toBe(turns)
})

test.each([
  [
    'the first version',
    session(2, question(2, 3), answer(3, 2, 6), question(4, 5), answer(5, 4), question(6, 7, 3), answer(7, 6)),
  ],
  [
    'another version',
    session(4, question(2, 3), answer(3, 2), question(4, 5), answer(5, 4, 6), question(6, 7, 5), answer(7, 6)),
  ],
  ['the same question', session(2, question(2, 6), answer(3, 2), question(4, 5), answer(5, 4), again)],
])('what was asked elsewhere after %s is shown', async (_, changed) => {
  const { core, service } = await shown(olderShown)
  service.stored = changed
  await readChanges(core, service)
  await expect.poll(() => core.state.turns.at(-1)?.fold.state.messageId).toBe(changed.messages.at(-1)!.message_id)
})

test('a question that waits behind a failed one is not sent when the person comes back', async () => {
  const { core, service } = await shown(olderShown)
  const settings = { modelId: null } as AskHow['settings']
  for (const words of ['One?', 'Two?']) core.ask({ question: words, files: [] }, { isResearch: false, settings })
  await expect.poll(() => core.state.turns.at(-1)?.phase).toBe('failed')
  service.stored = session(2, question(2, 3), answer(3, 2, 8), question(8, 9, 3), answer(9, 8))
  await readChanges(core, service)
  await expect.poll(() => core.state.queue.length).toBe(1)
  expect(service).toMatchObject({ questions: 1, reads: 0 })
})
