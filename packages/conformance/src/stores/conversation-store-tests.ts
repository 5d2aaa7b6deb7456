import { must, mustEqual, mustReject, toTests, type Checks, type ConformanceTest } from '../contract.ts'
import type { BranchHistory } from '@inlay/agent'
import {
  answer,
  call,
  descriptor,
  everything,
  opening,
  type MakeStores,
  type StoresUnderTest,
} from './store-fixture.ts'

export type { MakeStores, StoresUnderTest } from './store-fixture.ts'

/** Tests of a `ConversationStore`, as a list for any test runner. */
export function conversationStoreConformance(make: MakeStores): ConformanceTest[] {
  return toTests(checks, async (check) => check(await make()))
}

const checks: Checks<StoresUnderTest> = {
  async 'a first message opens a session, with one answer for each model'({ conversations }) {
    const [model] = opening.models
    const models = [model!, model!]
    const opened = await conversations.open({ ...opening, models })
    must(opened.isNewSession, 'the session is new')
    mustEqual([opened.userText, opened.messages, opened.summary], ['Hello?', [], null], 'what was opened')
    const ids = [opened.userMessageId, ...opened.answerIds]
    mustEqual(ids.length, 3, 'a question and two answers')
    mustEqual(new Set(ids).size, 3, 'each has an id of its own')
    const { ownerId, personaId, projectId, hasFiles } = await conversations.session(opened.sessionId, 'ana')
    mustEqual([ownerId, personaId, projectId, hasFiles], ['ana', 0, null, false], 'the session')
  },
  async 'a session is known to its owner alone'({ conversations }) {
    const { sessionId } = await conversations.open(opening)
    const unknown = '00000000-0000-4000-8000-000000000000'
    await mustReject(() => conversations.session(sessionId, 'ben'), 'SESSION_NOT_FOUND', 'a session of another')
    await mustReject(() => conversations.session(unknown, 'ana'), 'SESSION_NOT_FOUND', 'an unknown session')
  },
  async 'a message goes to the end of the mainline, to the root, or under any message of the tree'({ conversations }) {
    const first = await conversations.open(opening)
    const session = await conversations.session(first.sessionId, 'ana')
    await conversations.finish(first.answerIds[0]!, answer)
    const appended = await conversations.open({ ...opening, session, text: 'And then?' })
    mustEqual(textsOf(appended), ['Hello?', 'Hi.'], 'before an appended message')
    const anew = await conversations.open({ ...opening, session, parentId: null })
    mustEqual(textsOf(anew), [], 'before a message under the root')
    const beside = await conversations.open({ ...opening, session, parentId: first.answerIds[0]! })
    mustEqual(textsOf(beside), ['Hello?', 'Hi.'], 'before a message on a branch that was left')
    const onward = await conversations.open({ ...opening, session })
    mustEqual(onward.messages.at(-1)?.id, beside.answerIds[0], 'the newest branch is the mainline')
  },
  async 'a parent outside of the session is refused, and nothing is stored'({ conversations }) {
    const first = await conversations.open(opening)
    const other = await conversations.open(opening)
    const session = await conversations.session(first.sessionId, 'ana')
    const foreign = { ...opening, session, parentId: other.userMessageId }
    await mustReject(() => conversations.open(foreign), 'VALIDATION_ERROR', 'a parent of another session')
    const { messages } = await conversations.branch(first.sessionId, null, everything)
    mustEqual(messages.length, 2, 'messages of the session')
  },
  async 'a question as parent is answered again'({ conversations }) {
    const first = await conversations.open({ ...opening, files: [descriptor] })
    const session = await conversations.session(first.sessionId, 'ana')
    const again = await conversations.open({ ...opening, session, parentId: first.userMessageId, text: 'ignored' })
    mustEqual(
      [again.userMessageId, again.userText, again.messages, again.files.map(({ id }) => id)],
      [first.userMessageId, 'Hello?', [], [descriptor.id]],
      'the question as it was stored',
    )
    must(again.answerIds[0] !== first.answerIds[0], 'the answer is a new one')
  },
  async 'messages sent at once all join the tree'({ conversations }) {
    const { sessionId } = await conversations.open(opening)
    const session = await conversations.session(sessionId, 'ana')
    const texts = ['a', 'b', 'c', 'd']
    const opened = await Promise.all(texts.map((text) => conversations.open({ ...opening, session, text })))
    const ids = opened.flatMap(({ userMessageId, answerIds }) => [userMessageId, ...answerIds])
    mustEqual(new Set(ids).size, 8, 'ids of their own')
    const { messages } = await conversations.branch(sessionId, null, everything)
    mustEqual(messages.length, 10, 'one after the other on the mainline')
  },
  async 'history holds what an answer left, with its calls at the top'({ conversations }) {
    const { sessionId, answerIds } = await conversations.open(opening)
    const nested = { ...call, callId: 'inner', parentCallId: 'c', subTurnIndex: 0 }
    const hidden = { ...call, callId: 'hidden', name: 'hidden' }
    await conversations.finish(answerIds[0]!, { ...answer, modelSteps: '{}', toolCalls: [call, nested, hidden] })
    const limits = { ...everything, withoutCallsOf: ['hidden'] }
    const { messages } = await conversations.branch(sessionId, null, limits)
    const { status, text, params, callCount, toolCalls, modelSteps } = messages[1]!
    mustEqual([status, text, params, callCount], ['done', 'Hi.', { model: 'n' }, 2], 'the answer')
    mustEqual(modelSteps, '{}', 'what its model has to get back')
    const past = { step: 0, callId: 'c', name: 'look', arguments: { at: 1 }, result: 'found' }
    mustEqual(
      toolCalls.map(({ step, callId, name, arguments: input, result }) => ({
        step,
        callId,
        name,
        arguments: input,
        result,
      })),
      [past],
      'its calls',
    )
  },
  async 'history holds the newest messages, about as many characters as the limit says, from a question on'({
    conversations,
  }) {
    const { sessionId, answerIds } = await conversations.open(opening)
    await conversations.finish(answerIds[0]!, answer)
    const session = await conversations.session(sessionId, 'ana')
    for (let turn = 0; turn < 50; turn++) {
      const next = await conversations.open({ ...opening, session, text: `Question ${turn}?` })
      await conversations.finish(next.answerIds[0]!, answer)
    }
    const all = await conversations.branch(sessionId, null, everything)
    mustEqual([all.messages.length, textsOf(all)[0]], [102, 'Hello?'], 'without a bound')
    const bounded = await conversations.branch(sessionId, null, { ...everything, chars: 18 })
    mustEqual(textsOf(bounded), ['Question 49?', 'Hi.'], 'with a bound of 18 characters')
  },
  async 'of results in the history counts what is kept of them'({ conversations }) {
    const { sessionId, answerIds } = await conversations.open(opening)
    await conversations.finish(answerIds[0]!, { ...answer, toolCalls: [{ ...call, result: 'found '.repeat(99) }] })
    const limits = { ...everything, chars: 20, shorten: (result: string) => result.slice(0, 5) }
    const { messages } = await conversations.branch(sessionId, null, limits)
    const read = messages.flatMap(({ text, toolCalls }) => [text, ...toolCalls.map(({ result }) => result)])
    mustEqual(read, ['Hello?', 'Hi.', 'found'], 'within 20 characters')
  },
  async 'a branch ends with the message that is asked for'({ conversations }) {
    const first = await conversations.open(opening)
    await conversations.finish(first.answerIds[0]!, answer)
    const session = await conversations.session(first.sessionId, 'ana')
    await conversations.open({ ...opening, session, text: 'Later?' })
    const branch = await conversations.branch(first.sessionId, first.answerIds[0]!, everything)
    mustEqual(textsOf(branch), ['Hello?', 'Hi.'], 'the branch')
  },
  async 'an answer that has ended is not cut off afterwards'({ conversations }) {
    const { sessionId, answerIds } = await conversations.open(opening)
    await conversations.finish(answerIds[0]!, answer)
    await conversations.finish(answerIds[0]!, { ...answer, status: 'terminated', text: 'H' })
    const { messages } = await conversations.branch(sessionId, null, everything)
    mustEqual([messages[1]?.status, messages[1]?.text], ['done', 'Hi.'], 'the answer')
  },
  async 'an answer of a session that is gone is refused'({ conversations }) {
    await mustReject(() => conversations.finish(4_711, answer), 'SESSION_NOT_FOUND', 'an unknown answer')
  },
  async 'a summary stands for the messages up to its own, on its branch alone; the first one stays'({ conversations }) {
    const first = await conversations.open({ ...opening, files: [descriptor] })
    await conversations.finish(first.answerIds[0]!, answer)
    const { sessionId } = first
    const session = await conversations.session(sessionId, 'ana')
    const summary = { sessionId, messageId: first.answerIds[0]!, text: 'They greeted.' }
    await conversations.saveSummary?.(summary)
    await conversations.saveSummary?.({ ...summary, text: 'Another.' })
    const next = await conversations.open({ ...opening, session, text: 'On?' })
    mustEqual([next.summary, textsOf(next)], ['They greeted.', []], 'after the summary')
    mustEqual(
      next.summaryFiles.map(({ id }) => id),
      [descriptor.id],
      'files of what is summed up',
    )
    const anew = await conversations.open({ ...opening, session, parentId: null })
    mustEqual(anew.summary, null, 'another branch')
  },
  async 'an answer runs until it has an outcome, and counts from its message on'({ conversations, advance }) {
    const first = await conversations.open(opening)
    advance(600)
    const second = await conversations.open({ ...opening, models: [opening.models[0]!, opening.models[0]!] })
    const running = await conversations.running()
    mustEqual(
      running.map(({ sessionId, answerId, parentId }) => [sessionId, answerId, parentId]),
      [first, second].flatMap(({ sessionId, answerIds, userMessageId }) =>
        answerIds.map((answerId) => [sessionId, answerId, userMessageId]),
      ),
      'the answers',
    )
    mustEqual(running[1]!.openedAt - running[0]!.openedAt, 600, 'milliseconds between them')
    await conversations.finish(second.answerIds[0]!, answer)
    const left = await conversations.running()
    mustEqual(
      left.map(({ answerId }) => answerId),
      [first.answerIds[0], second.answerIds[1]],
      'those that still run',
    )
  },
  async 'files come back with the message they were sent with'({ conversations }) {
    const { sessionId } = await conversations.open({ ...opening, files: [descriptor] })
    must((await conversations.session(sessionId, 'ana')).hasFiles === true, 'the session has files')
    const { messages } = await conversations.branch(sessionId, null, everything)
    mustEqual(messages[0]?.files, [descriptor], 'files of the question')
  },
  async 'files that actions made are found, the newest first'({ conversations }) {
    const { answerIds } = await conversations.open(opening)
    const image = { file_id: 'picture', url: '/picture', revised_prompt: '', shape: null }
    const output = { type: 'python_tool_delta', stdout: '', stderr: '', file_ids: ['table'] } as const
    const toolCalls = [
      { ...call, callId: 'a', images: [image] },
      { ...call, callId: 'b', packets: [output] },
    ]
    await conversations.finish(answerIds[0]!, { ...answer, toolCalls })
    mustEqual(await conversations.generatedFileIds?.(answerIds), ['table', 'picture'], 'their ids')
    mustEqual(await conversations.generatedFileIds?.([]), [], 'of no messages')
  },
}

const textsOf = ({ messages }: BranchHistory): string[] => messages.map(({ text }) => text)
