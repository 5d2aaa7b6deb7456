import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { must, mustEqual, mustSettle, toTests, withClosing, type Checks, type ConformanceTest } from '../contract.ts'
import type { HostAgent, ResponderPart, ResponderTool, ResponderTurn } from '@inlay/agent'
import { mustBeParts, textOf } from './responder-parts.ts'

/** A message, and a word that its answer contains. */
export interface HostAgentExchange {
  readonly message: string
  readonly word: string
}

/** An agent to test, with test messages. */
export interface HostAgentUnderTest {
  readonly agent: HostAgent
  /** Neither answer contains the word of the other. */
  readonly answers: readonly [HostAgentExchange, HostAgentExchange]
  /** A message that can only be answered after an earlier exchange. Absent: the agent stores conversations itself. */
  readonly recalls?: HostAgentExchange & { readonly earlier: { readonly message: string; readonly answer: string } }
  /** A message for which the agent calls its own tool. Absent: it has none. */
  readonly calls?: string
  /**
   * A message for which the agent calls this action of Inlay and repeats the result. Absent: it does not call actions.
   */
  readonly searches?: { readonly message: string; readonly action: string }
  /** A message whose answer fails. Absent: no answer fails. */
  readonly fails?: string
  /** A message whose answer runs until it is stopped. Absent: answers are short. */
  readonly lasts?: string
  /** Called at the end of each test. */
  readonly close?: () => Promise<void> | void
}

/** Creates an agent and its messages; called for each test. */
export type MakeHostAgent = () => HostAgentUnderTest | Promise<HostAgentUnderTest>

interface TurnOptions {
  readonly earlier?: { readonly message: string; readonly answer: string } | undefined
  readonly tools?: readonly ResponderTool[]
  readonly signal?: AbortSignal
}

let turns = 0

/** A turn in its own session, as a run passes it. */
function turnOf(message: string, { earlier, tools = [], signal }: TurnOptions = {}): ResponderTurn {
  const user = (text: string): LanguageModelV4Prompt[number] => ({ role: 'user', content: [{ type: 'text', text }] })
  const before: LanguageModelV4Prompt = earlier
    ? [user(earlier.message), { role: 'assistant', content: [{ type: 'text', text: earlier.answer }] }]
    : []
  turns++
  return {
    caller: { id: 'somebody', scopes: ['chat'] },
    sessionId: `00000000-0000-4000-8000-${String(turns).padStart(12, '0')}`,
    messageId: 2,
    prompt: [...before, user(message)],
    tools,
    citing: tools.length > 0 ? 'Cite results as [1].' : undefined,
    signal: signal ?? new AbortController().signal,
  }
}

async function answerOf(agent: HostAgent, turn: ResponderTurn): Promise<readonly ResponderPart[]> {
  const parts: ResponderPart[] = []
  for await (const part of agent.respond(turn)) parts.push(part)
  const ownNames = turn.tools.map(({ name }) => name)
  mustBeParts(parts, ownNames)
  must(textOf(parts).trim() !== '', 'the answer has text')
  return parts
}

/** Reads an answer until it fails; undefined if it succeeds. */
async function failureOf(agent: HostAgent, turn: ResponderTurn): Promise<{ readonly error: unknown } | undefined> {
  try {
    for await (const _ of agent.respond(turn));
  } catch (error) {
    return { error }
  }
  return undefined
}

/**
 * Requirements of every `HostAgent`, as a list for any test runner.
 * @param patienceMs maximum wait for something that has to happen soon
 * @example for (const [title, run] of hostAgentConformance(make)) test(title, run)
 */
export function hostAgentConformance(make: MakeHostAgent, patienceMs = 10_000): ConformanceTest[] {
  return [
    ...toTests(checks, (check) => withClosing(make, check)),
    ...toTests(endChecks, (check) => withClosing(make, (tested) => check({ tested, patienceMs }))),
  ]
}

function mustSay(parts: readonly ResponderPart[], { word }: HostAgentExchange, other?: HostAgentExchange): void {
  must(textOf(parts).includes(word), `the answer holds "${word}"`)
  if (other) must(!textOf(parts).includes(other.word), 'it holds nothing of another answer')
}

const checks: Checks<HostAgentUnderTest> = {
  async 'people can choose it: it has a name, and an id if it gives one'({
    agent: { id, name, description = '', actions = [] },
  }) {
    must(typeof name === 'string' && name.trim() === name && name !== '', 'the name is not blank')
    must(id === undefined || (Number.isSafeInteger(id) && id > 0), 'the id is a whole number above 0')
    must(typeof description === 'string', 'the description is text')
    const areNames = actions === 'all' || actions.every((action) => typeof action === 'string' && action !== '')
    must(areNames, 'actions are "all" or names')
  },
  async 'a message is answered with text, in parts of the contract, also without any action of Inlay'({
    agent,
    answers: [first, second],
  }) {
    mustSay(await answerOf(agent, turnOf(first.message)), first, second)
    mustSay(await answerOf(agent, turnOf(second.message)), second, first)
  },
  async 'messages at the same time are kept apart'({ agent, answers: [first, second] }) {
    const exchanges = [first, second, first]
    const all = await Promise.all(exchanges.map(({ message }) => answerOf(agent, turnOf(message))))
    for (const [at, parts] of all.entries()) mustSay(parts, exchanges[at]!, at === 1 ? first : second)
  },
  async 'what it is given stays as it is'({ agent, answers: [{ message }] }) {
    const turn = turnOf(message, { earlier: { message: 'Good morning.', answer: 'Good morning!' } })
    const { prompt, tools, caller } = turn
    const before = JSON.stringify({ prompt, tools, caller })
    await answerOf(agent, turn)
    mustEqual(JSON.stringify({ prompt, tools, caller }), before, 'the turn afterwards')
  },
  async 'earlier messages of the conversation are read'({ agent, recalls }) {
    if (!recalls) return
    mustSay(await answerOf(agent, turnOf(recalls.message, { earlier: recalls.earlier })), recalls)
  },
  async 'each call of its own is shown with its result or failure'({ agent, calls }) {
    if (calls === undefined) return
    const parts = await answerOf(agent, turnOf(calls))
    must(
      parts.some(({ type }) => type === 'call'),
      'there is a call',
    )
  },
  async 'an action of Inlay is called by its schema, and its result is read'({ agent, searches }) {
    if (!searches) return
    const { message, action } = searches
    must(agent.actions === 'all' || agent.actions?.includes(action) === true, 'it names the action')
    const code = `heron-${turns}-${message.length}`
    const runs: { readonly callId: string; readonly input: unknown }[] = []
    const tool: ResponderTool = {
      name: action,
      description: 'Searches the documents.',
      inputSchema: {
        type: 'object',
        properties: { queries: { type: 'array', items: { type: 'string' }, minItems: 1 } },
        required: ['queries'],
        additionalProperties: false,
      },
      run: async (callId, input) => {
        runs.push({ callId, input })
        return `[1] The code is ${code}.`
      },
    }
    const parts = await answerOf(agent, turnOf(message, { tools: [tool] }))
    must(runs.length > 0, 'it is called')
    must(runs.every(isSearch), 'its arguments fit: queries is a list of texts')
    const ids = runs.map(({ callId }) => callId)
    must(new Set(ids).size === ids.length && ids.every((id) => id !== ''), 'each call has an id of its own')
    must(textOf(parts).includes(code), 'the answer holds what the result says')
  },
  async 'a failure ends the answer with an error in few words, and the next message is answered'({
    agent,
    fails,
    answers: [first],
  }) {
    if (fails === undefined) return
    const failure = await failureOf(agent, turnOf(fails))
    must(failure !== undefined, 'the answer fails')
    const { error } = failure
    must(error instanceof Error && error.message.trim() !== '', 'it fails with an error that says why')
    must(error.message.length <= 2_000 && !/\n[^\S\n]+at .+:\d+/.test(error.message), 'in few words, without a stack')
    mustSay(await answerOf(agent, turnOf(first.message)), first)
  },
}

const endChecks: Checks<{ readonly tested: HostAgentUnderTest; readonly patienceMs: number }> = {
  async 'a message that was stopped before is not answered'({
    tested: {
      agent,
      answers: [{ message }],
    },
    patienceMs,
  }) {
    const failing = failureOf(agent, turnOf(message, { signal: AbortSignal.abort(stopped) }))
    await mustSettle(failing, patienceMs, 'such a message')
    must((await failing)?.error === stopped, 'it fails with the reason of the signal')
  },
  async 'a stop ends the answer with the reason of the signal'({ tested: { agent, lasts }, patienceMs }) {
    if (lasts === undefined) return
    const stop = new AbortController()
    const parts = agent.respond(turnOf(lasts, { signal: stop.signal }))[Symbol.asyncIterator]()
    must((await nextText(parts)) !== undefined, 'there is some text before')
    stop.abort(stopped)
    const rest = failureOf({ name: 'rest', respond: () => ({ [Symbol.asyncIterator]: () => parts }) }, turnOf(lasts))
    await mustSettle(rest, patienceMs, 'a stopped answer')
    must((await rest)?.error === stopped, 'it fails with the reason of the signal')
  },
  async 'work ends when nobody reads on'({
    tested: {
      agent,
      lasts,
      answers: [first],
    },
    patienceMs,
  }) {
    if (lasts === undefined) return
    const parts = agent.respond(turnOf(lasts))[Symbol.asyncIterator]()
    must((await nextText(parts)) !== undefined, 'there is some text before')
    await mustSettle(Promise.resolve(parts.return?.()), patienceMs, 'an answer that nobody reads')
    mustSay(await answerOf(agent, turnOf(first.message)), first)
  },
}

function isSearch({ input }: { readonly input: unknown }): boolean {
  if (typeof input !== 'object' || input === null || Object.keys(input).join() !== 'queries') return false
  const { queries } = input as { queries: unknown }
  return Array.isArray(queries) && queries.length > 0 && queries.every((query) => typeof query === 'string')
}

const stopped = new Error('stopped')

/** The next text of an answer; undefined if it ends first. */
async function nextText(parts: AsyncIterator<ResponderPart>): Promise<string | undefined> {
  for (;;) {
    const { value, done } = await parts.next()
    if (done === true) return undefined
    if (value.type === 'text') return value.delta
  }
}
