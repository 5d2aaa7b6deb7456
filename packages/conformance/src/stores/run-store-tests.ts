import { must, mustEqual, mustReject, toTests, type Checks, type ConformanceTest } from '../contract.ts'
import { answer, call, everything, opening, type MakeStores, type StoresUnderTest } from './store-fixture.ts'

export type { MakeStores, StoresUnderTest } from './store-fixture.ts'

const key = { key: 'k', bodyHash: 'hash' }
const dayMs = 86_400_000

/** Tests of a `RunStore` together with its `ConversationStore`, as a list for any test runner. */
export function runStoreConformance(make: MakeStores): ConformanceTest[] {
  return toTests(checks, async (check) => check(await make()))
}

const checks: Checks<StoresUnderTest> = {
  async 'a send is found by its key and its owner'({ conversations, runs }) {
    mustEqual(await runs.find('ana', 'k'), undefined, 'before the send')
    const { sessionId, answerIds } = await conversations.open({ ...opening, key })
    const record = await runs.find('ana', 'k')
    mustEqual(
      [record?.bodyHash, record?.sessionId, record?.messageId, record?.openedSession],
      ['hash', sessionId, answerIds[0], true],
      'the record',
    )
    mustEqual(await runs.find('ben', 'k'), undefined, 'the key of another caller')
    const session = await conversations.session(sessionId, 'ana')
    await conversations.open({ ...opening, session, key: { ...key, key: 'second' } })
    mustEqual((await runs.find('ana', 'second'))?.openedSession, false, 'a send into a session')
  },
  async 'a key is taken once: a second send rejects and stores nothing'({ conversations, runs }) {
    const first = await conversations.open({ ...opening, key })
    const session = await conversations.session(first.sessionId, 'ana')
    const again = { ...opening, session, key: { ...key, bodyHash: 'other' } }
    await mustReject(() => conversations.open(again), undefined, 'a second send')
    const record = await runs.find('ana', 'k')
    mustEqual([record?.messageId, record?.bodyHash], [first.answerIds[0], 'hash'], 'the first send stays')
    const { messages } = await conversations.branch(first.sessionId, null, everything)
    mustEqual(messages.length, 2, 'messages of the session')
  },
  async 'a send takes the place of the one it replaces, once'({ conversations, runs }) {
    const first = await conversations.open({ ...opening, key })
    await conversations.finish(first.answerIds[0]!, answer)
    const session = await conversations.session(first.sessionId, 'ana')
    const again = {
      ...opening,
      session,
      parentId: first.userMessageId,
      key: { ...key, replaces: first.answerIds[0]! },
    }
    const second = await conversations.open(again)
    const record = await runs.find('ana', 'k')
    mustEqual([record?.messageId, record?.openedSession], [second.answerIds[0], true], 'the record')
    await mustReject(() => conversations.open(again), undefined, 'a third send in the same place')
  },
  async 'a key is kept for a day'({ conversations, runs, advance }) {
    await conversations.open({ ...opening, key })
    advance(dayMs - 1)
    must((await runs.find('ana', 'k')) !== undefined, 'the key is known until a day is over')
    advance(1)
    mustEqual(await runs.find('ana', 'k'), undefined, 'a day later')
  },
  async 'an answer is read back with its calls, those within others too'({ conversations, runs }) {
    const { answerIds, userMessageId } = await conversations.open(opening)
    const nested = { ...call, callId: 'inner', parentCallId: 'c', subTurnIndex: 3 }
    const error = { code: 'RATE_LIMITED', message: 'Later.' }
    await conversations.finish(answerIds[0]!, { ...answer, status: 'failed', error, toolCalls: [call, nested] })
    const stored = await runs.answer(answerIds[0]!)
    mustEqual(
      [stored.parentId, stored.status, stored.text, stored.error?.code, stored.error?.message, stored.documents],
      [userMessageId, 'failed', 'Hi.', 'RATE_LIMITED', 'Later.', null],
      'the answer',
    )
    const calls = stored.toolCalls.map(({ callId, failed, arguments: input, parentCallId, subTurnIndex }) => [
      callId,
      failed,
      input,
      parentCallId ?? null,
      subTurnIndex ?? null,
    ])
    const expected = [
      ['c', false, { at: 1 }, null, null],
      ['inner', false, { at: 1 }, 'c', 3],
    ]
    mustEqual(calls, expected, 'its calls')
  },
  async 'the lines of a finished answer are kept with it'({ conversations, runs }) {
    const { answerIds } = await conversations.open(opening)
    mustEqual((await runs.answer(answerIds[0]!)).lines, null, 'while it runs')
    const lines = ['{"a":"é\\n"}', '{"b":2}']
    await conversations.finish(answerIds[0]!, { ...answer, lines })
    mustEqual((await runs.answer(answerIds[0]!)).lines, lines, 'the lines')
  },
  async 'an unknown answer is refused'({ runs }) {
    await mustReject(() => runs.answer(4_711), 'SESSION_NOT_FOUND', 'an unknown answer')
  },
}
