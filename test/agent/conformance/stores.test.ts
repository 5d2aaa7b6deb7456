import { inMemoryStores, type ConversationStore, type RunStore } from '@inlay/agent'
import { conversationStoreConformance, runStoreConformance, type StoresUnderTest } from '@inlay/conformance'
import { testMutants } from '../../mutants.ts'

function newStores(): StoresUnderTest {
  let time = 1_000
  const stores = inMemoryStores({ now: () => time, newId: () => crypto.randomUUID() })
  return { ...stores, advance: (milliseconds) => void (time += milliseconds) }
}

type Conversations = (base: ConversationStore) => Partial<ConversationStore>

const withConversations = (change: Conversations) => (): StoresUnderTest => {
  const stores = newStores()
  return { ...stores, conversations: { ...stores.conversations, ...change(stores.conversations) } }
}

testMutants<Conversations>('conversation store', (change) => conversationStoreConformance(withConversations(change)), {
  sound: () => ({}),
  mutants: {
    'shows sessions to everybody': (base) => ({ session: (id) => base.session(id, 'ana') }),
    'answers with one model alone': (base) => ({
      open: async (opening) => {
        const opened = await base.open(opening)
        return { ...opened, answerIds: opened.answerIds.slice(0, 1) }
      },
    }),
    'takes a new session for an old one': (base) => ({
      open: async (opening) => ({ ...(await base.open(opening)), isNewSession: false }),
    }),
    'opens a session for each message': (base) => ({ open: (opening) => base.open({ ...opening, session: null }) }),
    'appends whatever the parent is': (base) => ({ open: (opening) => base.open({ ...opening, parentId: -1 }) }),
    'throws what its database throws': (base) => ({
      open: (opening) => base.open(opening).catch(() => Promise.reject(new Error('FOREIGN KEY constraint failed'))),
    }),
    'loses files': (base) => ({ open: (opening) => base.open({ ...opening, files: [] }) }),
    'loses calls': (base) => ({ finish: (id, answer) => base.finish(id, { ...answer, toolCalls: [] }) }),
    'lists nested calls at the top': (base) => ({
      finish: (id, answer) =>
        base.finish(id, {
          ...answer,
          toolCalls: answer.toolCalls.map((call) => ({ ...call, parentCallId: undefined })) as typeof answer.toolCalls,
        }),
    }),
    'shows calls that are to be left out': (base) => ({
      branch: (id, end, limits) => base.branch(id, end, { ...limits, withoutCallsOf: [] }),
    }),
    'knows no limit of characters': (base) => ({
      branch: (id, end, limits) => base.branch(id, end, { ...limits, chars: 1_000_000 }),
    }),
    'gives half of the history': (base) => ({
      branch: (id, end, limits) => base.branch(id, end, { ...limits, chars: Math.min(limits.chars, 500) }),
    }),
    'gives results as long as they are': (base) => ({
      branch: (id, end, limits) => base.branch(id, end, { ...limits, shorten: (result) => result }),
    }),
    'gives the mainline for any branch': (base) => ({ branch: (id, _end, limits) => base.branch(id, null, limits) }),
    'passes by an answer that is unknown': (base) => ({
      finish: (id, answer) => base.finish(id, answer).catch(() => {}),
    }),
    'cuts off an answer that has ended': (base) => ({
      finish: (id, { status, ...outcome }) =>
        base.finish(id, { ...outcome, status: status === 'terminated' ? 'failed' : status }),
    }),
    'says that nothing runs': () => ({ running: async () => [] }),
    'names one answer of several that run': (base) => ({
      running: async () => [...new Map((await base.running()).map((each) => [each.parentId, each])).values()],
    }),
    'says that ended answers run': (base) => {
      const opened: Awaited<ReturnType<typeof base.running>>[number][] = []
      return {
        running: async () => {
          const now = await base.running()
          opened.push(...now.filter(({ answerId }) => opened.every((each) => each.answerId !== answerId)))
          return opened
        },
      }
    },
    'knows no time of an answer': (base) => ({
      running: async () => (await base.running()).map((each) => ({ ...each, openedAt: 0 })),
    }),
    'keeps no summary': () => ({ saveSummary: async () => {} }),
    'lists generated files oldest first': (base) => ({
      generatedFileIds: async (ids) => (await base.generatedFileIds!(ids)).toReversed(),
    }),
  },
})

interface RunMistake {
  readonly runs?: (base: RunStore) => Partial<RunStore>
  readonly conversations?: Conversations
  readonly advance?: (milliseconds: number) => number
}

testMutants<RunMistake>(
  'run store',
  ({ runs = () => ({}), conversations = () => ({}), advance = (milliseconds) => milliseconds }) =>
    runStoreConformance(() => {
      const stores = newStores()
      return {
        conversations: { ...stores.conversations, ...conversations(stores.conversations) },
        runs: { ...stores.runs, ...runs(stores.runs) },
        advance: (milliseconds) => stores.advance(advance(milliseconds)),
      }
    }),
  {
    sound: {},
    mutants: {
      'knows keys of every owner': { runs: (base) => ({ find: (_owner, key) => base.find('ana', key) }) },
      'knows no key': { runs: () => ({ find: async () => undefined }) },
      'forgets the body': { runs: (base) => changing(base, () => ({ bodyHash: '' })) },
      'says that each send opened its session': { runs: (base) => changing(base, () => ({ openedSession: true })) },
      'names the question for the answer': {
        runs: (base) => changing(base, ({ messageId }) => ({ messageId: messageId - 1 })),
      },
      'has lines before there are any': { runs: (base) => withLines(base, (lines) => lines ?? []) },
      'joins lines': { runs: (base) => withLines(base, (lines) => lines && [lines.join('')]) },
      'reads escapes of lines': {
        runs: (base) => withLines(base, (lines) => lines && lines.map((line) => line.replaceAll(String.raw`\n`, ' '))),
      },
      'keeps no lines': { runs: (base) => withLines(base, () => null) },
      'keeps keys for ever': { advance: () => 0 },
      'forgets keys after an hour': { advance: (milliseconds) => milliseconds * 24 },
      'takes a key twice': {
        conversations: (base) => ({
          open: (opening) =>
            base.open(opening).catch(() => base.open({ ...opening, key: undefined } as typeof opening)),
        }),
      },
      'lets a send take a place that is taken': {
        conversations: (base) => {
          let newest = 0
          return {
            open: async (opening) => {
              const key = opening.key?.replaces === undefined ? opening.key : { ...opening.key, replaces: newest }
              const opened = await base.open({ ...opening, key } as typeof opening)
              newest = opened.answerIds[0]!
              return opened
            },
          }
        },
      },
      'swallows a missing answer': {
        runs: (base) => ({ answer: async (id) => (await base.answer(id).catch(() => undefined)) as never }),
      },
      'throws a bare string': {
        runs: (base) => ({ answer: (id) => base.answer(id).catch(() => Promise.reject('none')) }),
      },
      'takes every answer for done': {
        runs: (base) => ({ answer: async (id) => ({ ...(await base.answer(id)), status: 'done' }) }),
      },
      'loses the code of an error': {
        runs: (base) => ({
          answer: async (id) => {
            const answer = await base.answer(id)
            return { ...answer, error: answer.error && { ...answer.error, code: null } }
          },
        }),
      },
      'loses nested calls': {
        runs: (base) => ({
          answer: async (id) => {
            const answer = await base.answer(id)
            return { ...answer, toolCalls: answer.toolCalls.filter(({ parentCallId }) => !parentCallId) }
          },
        }),
      },
    },
  },
)

type Lines = Awaited<ReturnType<RunStore['answer']>>['lines']

function withLines(base: RunStore, change: (lines: Lines) => Lines): Partial<RunStore> {
  return {
    answer: async (id) => {
      const answer = await base.answer(id)
      return { ...answer, lines: change(answer.lines) }
    },
  }
}

type Send = NonNullable<Awaited<ReturnType<RunStore['find']>>>

function changing(base: RunStore, change: (send: Send) => Partial<Send>): Partial<RunStore> {
  return {
    find: async (owner, key) => {
      const send = await base.find(owner, key)
      return send && { ...send, ...change(send) }
    },
  }
}
