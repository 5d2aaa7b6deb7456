import type { HostAgent, ResponderPart, ResponderTurn } from '@inlay/agent'
import { hostAgentConformance } from '@inlay/conformance'
import { testMutants } from '../../mutants.ts'
import { messageOf, sampleAgent, sampleMessages } from './sample-agent.ts'

type Change = (base: HostAgent) => Partial<HostAgent>

/** Changes parts as they come. */
const eachPart =
  (change: (part: ResponderPart) => readonly unknown[]): Change =>
  (base) => ({
    async *respond(turn) {
      // Wrong on purpose.
      for await (const part of base.respond(turn)) yield* change(part) as readonly ResponderPart[]
    },
  })

/** Answers some turns differently. */
const instead =
  (
    isMeant: (turn: ResponderTurn) => boolean,
    respond: (turn: ResponderTurn, base: HostAgent) => AsyncIterable<ResponderPart>,
  ): Change =>
  (base) => ({ respond: (turn) => (isMeant(turn) ? respond(turn, base) : base.respond(turn)) })

const always = (): boolean => true
const says =
  (message: string) =>
  (turn: ResponderTurn): boolean =>
    messageOf(turn) === message

/** Gives the actions of Inlay another way to run. */
const withRun = (
  run: (run: ResponderTurn['tools'][number]['run'], callId: string, input: unknown) => Promise<string>,
) =>
  instead(always, (turn, base) =>
    base.respond({
      ...turn,
      tools: turn.tools.map((tool) => ({ ...tool, run: (callId, input) => run(tool.run, callId, input) })),
    }),
  )

const never = new AbortController().signal
const forEver = (): Promise<never> => new Promise(() => {})

async function* failing(error: unknown): AsyncGenerator<ResponderPart> {
  yield { type: 'step' }
  throw error
}

const nameless: Readonly<Record<string, Change>> = {
  'has no name': () => ({ name: '' }),
  'has a name of blanks': () => ({ name: '  ' }),
  'takes the id of the default persona': () => ({ id: 0 }),
  'has half an id': () => ({ id: 1.5 }),
  'names an action by its number': () => ({ actions: [7] as never }),
}

const wrongParts: Readonly<Record<string, Change>> = {
  'says nothing': eachPart((part) => (part.type === 'text' ? [] : [part])),
  'says blanks': eachPart((part) => (part.type === 'text' ? [{ ...part, delta: ' ' }] : [part])),
  'sends text as an object': eachPart((part) =>
    part.type === 'text' ? [{ ...part, delta: { text: part.delta } }] : [part],
  ),
  'sends parts of its framework': eachPart((part) => [part, { type: 'text-delta', textDelta: 'x' }]),
  'counts tokens as text': eachPart((part) => (part.type === 'usage' ? [{ ...part, inputTokens: '10' }] : [part])),
  'counts tokens that are not there': eachPart((part) =>
    part.type === 'usage' ? [{ ...part, outputTokens: NaN }] : [part],
  ),
  'gives its calls no id': eachPart((part) => (part.type === 'call' ? [{ ...part, callId: '' }] : [part])),
  'gives all calls the same id': eachPart((part) => ('callId' in part ? [{ ...part, callId: 'call' }] : [part])),
  'leaves calls open': eachPart((part) => (part.type === 'failure' ? [] : [part])),
  'ends calls twice': eachPart((part) => (part.type === 'result' ? [part, part] : [part])),
  'ends calls that nobody began': eachPart((part) => (part.type === 'call' ? [] : [part])),
  'sends what a sub-agent says after its end': eachPart((part) =>
    part.type === 'result' && part.callId === 'sub-1'
      ? [part, { type: 'text', delta: 'Late.', parentId: 'sub-1' }]
      : [part],
  ),
  'shows calls of a sub-agent as its own': eachPart((part) =>
    part.type === 'result' && part.callId === 'sub-2' ? [{ ...part, parentId: undefined }] : [part],
  ),
}

let newest = ''

const wrongTurns: Readonly<Record<string, Change>> = {
  'mixes messages': (base) => ({
    async *respond(turn) {
      newest = messageOf(turn)
      await new Promise((resolve) => setImmediate(resolve))
      const prompt = [
        ...turn.prompt.slice(0, -1),
        { role: 'user' as const, content: [{ type: 'text' as const, text: newest }] },
      ]
      yield* base.respond({ ...turn, prompt })
    },
  }),
  'adds instructions to the prompt': instead(always, (turn, base) => {
    const answer = base.respond({ ...turn, prompt: [...turn.prompt] })
    turn.prompt.unshift({ role: 'system', content: 'Be kind.' })
    return answer
  }),
  'forgets what was said before': instead(always, (turn, base) =>
    base.respond({ ...turn, prompt: turn.prompt.slice(-1) }),
  ),
  'needs an action of Inlay': instead(
    ({ tools }) => tools.length === 0,
    () => failing(new Error('There is no search.')),
  ),
  'does not name the action it calls': () => ({ actions: [] }),
  'calls no action': instead(says('Search'), (turn, base) =>
    base.respond({ ...turn, prompt: [{ role: 'user', content: [{ type: 'text', text: 'Sky?' }] }] }),
  ),
  'calls an action with a text': withRun((run, callId) => run(callId, 'code')),
  'calls an action with arguments of its own': withRun((run, callId) => run(callId, { query: 'code' })),
  'gives all calls of an action the same id': withRun((run, _, input) => run('call', input)),
  'does not wait for the result': withRun(async (run, callId, input) => {
    void run(callId, input)
    return 'pending'
  }),
}

const wrongEnds: Readonly<Record<string, Change>> = {
  'says its failure as an answer': instead(says('Fail'), async function* () {
    yield { type: 'text', delta: 'Sorry, something went wrong.' }
  }),
  'fails with a bare string': instead(says('Fail'), () => failing('The model is away.')),
  'fails without a word': instead(says('Fail'), () => failing(new Error(''))),
  'shows a stack': instead(says('Fail'), () => failing(new Error('Away.\n    at model (/srv/app/model.ts:10:5)'))),
  'fails for ever after': (base) => {
    let hasFailed = false
    return {
      async *respond(turn) {
        hasFailed ||= messageOf(turn) === 'Fail'
        if (hasFailed) throw new Error('The model is away.')
        yield* base.respond(turn)
      },
    }
  },
  'answers what was stopped before': instead(
    ({ signal }) => signal.aborted,
    (turn, base) => base.respond({ ...turn, signal: never }),
  ),
  'ends quietly when it is stopped': (base) => ({
    async *respond(turn) {
      try {
        yield* base.respond(turn)
      } catch (error) {
        if (!turn.signal.aborted) throw error
      }
    },
  }),
  'fails with an error of its own when it is stopped': (base) => ({
    async *respond(turn) {
      try {
        yield* base.respond(turn)
      } catch (error) {
        throw turn.signal.aborted ? new Error('fetch failed') : error
      }
    },
  }),
  'hangs when it is stopped': instead(says('Talk'), async function* () {
    yield { type: 'text', delta: 'And on.' }
    await forEver()
  }),
  'hangs when nobody reads on': (base) => ({
    async *respond(turn) {
      let isRead = false
      try {
        yield* base.respond(turn)
        isRead = true
      } catch (error) {
        isRead = true
        throw error
      } finally {
        if (!isRead) await forEver()
      }
    },
  }),
}

testMutants<Change>(
  'host agent',
  (change) =>
    hostAgentConformance(() => ({ ...sampleMessages, agent: { ...sampleAgent, ...change(sampleAgent) } }), 200),
  { sound: () => ({}), mutants: { ...nameless, ...wrongParts, ...wrongTurns, ...wrongEnds } },
)
