import { describe, expect, it, onTestFinished, test, vi } from 'vitest'
import {
  actionConformance,
  actionSourceConformance,
  modelProviderConformance,
  type ActionFixture,
} from '@inlay/conformance'
import { scriptedModel } from '@inlay/agent/testing'
import type { Action, ActionSource, ActionTurn, InputSchema, ModelProvider } from '@inlay/agent'
import { InlayError } from '@inlay/protocol'
import type { PacketBody } from '@inlay/protocol'
import { testMutants } from '../../mutants.ts'
import { newDoc } from '../setting.ts'

interface Words {
  queries: string[]
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === 'string')

const queriesInput: InputSchema<Words> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      typeof value === 'object' && value !== null && isTexts((value as Words).queries)
        ? { value: value as Words }
        : { issues: [{ message: 'queries is a list' }] },
    jsonSchema: {
      input: () => ({ type: 'object', properties: { queries: { type: 'array' } }, required: ['queries'] }),
    },
  },
}

const untilAborted = async (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

/** The plainest search there can be. */
const sound: Action<Words> = {
  id: 1,
  name: 'look_up',
  displayName: 'Look up',
  description: 'Looks words up.',
  builtIn: 'SearchTool',
  input: queriesInput,
  start: () => ({ type: 'search_tool_start', is_internet_search: false }),
  run: async ({ queries }, turn) => {
    const [word = ''] = queries
    turn.emit({ type: 'search_tool_queries_delta', queries })
    if (word === 'broken') throw new InlayError('BAD_GATEWAY')
    if (word === 'endless') await untilAborted(turn.signal)
    const document = newDoc(word)
    turn.emit({ type: 'search_tool_documents_delta', documents: [document] })
    const [number] = turn.cite([document])
    const room = (turn.resultTokens ?? 4_000) * 2
    const content = (word === 'long' ? 'long '.repeat(10_000) : `about ${word}`).slice(0, room)
    return { text: JSON.stringify({ results: [{ document: number, content }] }) }
  },
}

function fixture(change: Partial<Action<Words>>): ActionFixture {
  return {
    // The tests give arguments as JSON, which the schema makes fit.
    action: { ...sound, ...change } as unknown as Action,
    works: [{ queries: ['leave'] }, { queries: ['pay'] }],
    misfits: [{ queries: {} }],
    fails: { queries: ['broken'] },
    lasts: { queries: ['endless'] },
    long: { queries: ['long'] },
  }
}

type Run = Action<Words>['run']

/** A run that changes the output or the result of the sound one. */
const changed =
  (change: { emit?: (packet: PacketBody, turn: ActionTurn) => void; text?: (text: string) => string }): Run =>
  async (input, turn) => {
    const emit = (packet: PacketBody): void => (change.emit ? change.emit(packet, turn) : turn.emit(packet))
    const result = await sound.run(input, { ...turn, emit })
    return { ...result, text: change.text ? change.text(result.text) : result.text }
  }

const rejecting =
  (error: (word: string) => Error): Run =>
  async (input, turn) => {
    if (input.queries[0] === 'broken') throw error('broken')
    return sound.run(input, turn)
  }

describe('conformance of an action', () => {
  for (const [title, run] of actionConformance(() => fixture({}))) test(title, run)

  it('have titles that differ', () => {
    const titles = actionConformance(() => fixture({})).map(([title]) => title)
    expect(new Set(titles).size).toBe(titles.length)
  })
})

describe('an action that breaks its contract', () => {
  let shared = ''
  let starts = 0
  let firstWord: string | undefined
  let stale: string[] | undefined
  const byKind = new Map<string, string>()
  const faults: Record<string, Partial<Action<Words>>> = {
    'has a name with a blank': { name: 'look up' },
    'has the id 0': { id: 0 },
    'says nothing of itself': { description: ' ' },
    'takes a list': { input: schemaOf({ type: 'array' }) },
    'has a schema that is no JSON': { input: schemaOf({ type: 'object', default: () => 1 }) },
    'starts otherwise each time': {
      start: () => ({ type: 'search_tool_start', is_internet_search: starts++ % 2 === 0 }),
    },
    'takes whatever it is given': {
      input: { '~standard': { ...queriesInput['~standard'], validate: () => ({ value: { queries: ['x'] } }) } },
      run: async ({ queries }, turn) => sound.run({ queries }, turn),
    },
    'changes its arguments': { run: async (input, turn) => (input.queries.push('more'), sound.run(input, turn)) },
    'tells documents before queries': {
      run: changed({
        emit: (packet, turn) => {
          if (packet.type === 'search_tool_queries_delta')
            turn.emit({ type: 'search_tool_documents_delta', documents: [] })
          turn.emit(packet)
        },
      }),
    },
    'ends itself': {
      run: async (input, turn) => {
        const result = await sound.run(input, turn)
        turn.emit({ type: 'section_end' })
        return result
      },
    },
    'has no start': { start: () => undefined },
    'tells packets that do not fit': {
      // Input that a host without types may send.
      run: changed({ emit: (packet, turn) => turn.emit({ ...packet, queries: 7 } as unknown as PacketBody) }),
    },
    'gives nothing to read': { run: changed({ text: () => ' ' }) },
    'loses its order over long words': {
      run: async (input, turn) => {
        if ((input.queries[0] ?? '').length > 1_000) turn.emit({ type: 'search_tool_documents_delta', documents: [] })
        return sound.run(input, turn)
      },
    },
    'gives bare text': { run: changed({ text: () => 'Nothing but text' }) },
    'gives more than there is room for': {
      run: async (input, turn) => sound.run(input, { ...turn, resultTokens: 1_000_000 }),
    },
    'makes numbers up': { run: changed({ text: (text) => text.replace(/"document":\d+/, '"document":77') }) },
    'mixes calls up': {
      run: async (input, turn) => {
        shared = input.queries[0] ?? ''
        await Promise.resolve()
        return sound.run({ queries: [shared] }, turn)
      },
    },
    'does not heed its signal': {
      run: async (input, turn) =>
        input.queries[0] === 'endless'
          ? new Promise<never>(() => {})
          : sound.run(input, { ...turn, signal: new AbortController().signal }),
    },
    'tells its stack': {
      builtIn: null,
      run: rejecting(() => new Error('x\n    at look (/srv/look.ts:1:2)')),
    },
    'tells results and fails': {
      run: async (input, turn) => {
        const result = await sound.run(input.queries[0] === 'broken' ? { queries: ['leave'] } : input, turn)
        if (input.queries[0] === 'broken') throw new InlayError('BAD_GATEWAY')
        return result
      },
    },
    'hides that it failed': {
      run: async (input, turn) => sound.run(input.queries[0] === 'broken' ? { queries: ['leave'] } : input, turn),
    },
    'throws a bare string': {
      run: async (input, turn) => {
        if (input.queries[0] === 'broken') throw 'The service is down.'
        return sound.run(input, turn)
      },
    },
    'throws an object without a message': {
      run: async (input, turn) => {
        if (input.queries[0] === 'broken') throw { status: 503 }
        return sound.run(input, turn)
      },
    },
    'gives everybody its first result': {
      run: async (input, turn) => sound.run({ queries: [(firstWord ??= input.queries[0] ?? '')] }, turn),
    },
    'gives the result of the call before': {
      run: async (input, turn) => {
        const queries = stale ?? input.queries
        stale = input.queries
        return sound.run({ queries }, turn)
      },
    },
    'remembers results by the length of a word': {
      run: async (input, turn) => {
        const [word = ''] = input.queries
        if (word === 'leave' || word === 'pay') {
          const known = byKind.get('word') ?? word
          await Promise.resolve()
          byKind.set('word', known)
          return sound.run({ queries: [known] }, turn)
        }
        return sound.run(input, turn)
      },
    },
    'says more after its end': {
      run: async (input, turn) => {
        const result = await sound.run(input, turn)
        setTimeout(() => turn.emit({ type: 'search_tool_documents_delta', documents: [] }))
        return result
      },
    },
  }
  test('one that goes on for seconds after its signal aborts is caught, also without arguments that last', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const deaf: Action<Words> = { ...sound, run: () => new Promise(() => {}) }
    const suite = actionConformance(() => ({ action: deaf as unknown as Action, works: [{ queries: ['heron'] }] }))
    const [, run] = suite.find(([title]) => title === 'a call ends soon after its signal aborts')!
    const outcome = run().then(
      () => 'passes',
      () => 'is caught',
    )
    await vi.advanceTimersByTimeAsync(7_000)
    expect(await outcome).toBe('is caught')
  })

  testMutants<Partial<Action<Words>>>(
    'action',
    (change) => actionConformance(() => fixture(change), { patienceMs: 50 }),
    {
      sound: {},
      mutants: faults,
    },
  )
})

function schemaOf(schema: Record<string, unknown>): InputSchema<Words> {
  return { '~standard': { ...queriesInput['~standard'], jsonSchema: { input: () => schema } } }
}

describe('a source of actions', () => {
  // A tool that is not built in validates its input with its own schema.
  const action = { ...sound, builtIn: null } as unknown as Action
  const listed = [
    { ...action, id: 1_001 },
    { ...action, id: 1_002, name: 'look_down' },
  ]
  const ofCaller = (id: string) => (id === 'ben' ? listed.slice(0, 1) : listed)
  let kept: readonly Action[] | undefined
  let lastId = ''
  const queue = [...listed]
  const honest: ActionSource = {
    list: async ({ caller }) => ofCaller(caller.id),
    holds: async (id) => listed.some((item) => item.id === id),
  }
  for (const [title, run] of actionSourceConformance(() => ({ source: honest }))) test(`holds that ${title}`, run)

  let count = 0
  const faults: Record<string, Partial<ActionSource>> = {
    'has names that no model can say': { list: async () => [{ ...action, id: 1_001, name: 'look up' }] },
    'lists an action twice': { list: async () => [...listed, ...listed] },
    'gives new ids each time': {
      list: async () => [{ ...action, id: 1_001 + count++ }],
      holds: async (id) => id > 1_000 && id < 10_000,
    },
    'holds nothing': { holds: async () => false },
    'holds the first one alone': { holds: async (id) => id === 1_001 },
    'holds what is near': { holds: async (id) => Math.round(id) >= -1 },
    'lists nothing': { list: async () => [], holds: async () => false },
    'gives ids as text': { list: async () => listed.map((each) => ({ ...each, id: String(each.id) as never })) },
    'counts from zero': {
      list: async () => listed.map((each, at) => ({ ...each, id: at })),
      holds: async (id) => id === 0 || id === 1,
    },
    'lists nothing to those who come without headers': {
      list: async ({ mcpHeaders }) => (mcpHeaders ? listed : (undefined as never)),
    },
    'lists in another order each time': { list: async () => (count++ % 2 === 0 ? listed : listed.toReversed()) },
    'holds whatever it is asked': { holds: async () => true },
    'keeps the list of who asked first': { list: async (asker) => (kept ??= await honest.list(asker)) },
    'lists what the last caller has': {
      list: async ({ caller }) => {
        lastId = caller.id
        await Promise.resolve()
        return ofCaller(lastId)
      },
    },
    'lists the actions of others': { list: async ({ caller }) => ofCaller(caller.id === 'ben' ? 'ana' : 'ben') },
    'lists everything to everybody': { list: async () => listed },
    'empties its list as it gives it': {
      list: async ({ caller }) => {
        const given = queue.splice(0)
        return given.length > 0 ? given : ofCaller(caller.id).slice(0, 0)
      },
    },
    'wants headers': {
      list: async ({ mcpHeaders }) => {
        if (mcpHeaders === undefined) throw new Error('No headers.')
        return listed
      },
    },
  }
  const asker = { caller: { id: 'ana', scopes: ['chat' as const] }, mcpHeaders: {} }
  const lists = [
    { asker, names: ['look_up', 'look_down'] },
    { asker: { caller: { id: 'ben', scopes: ['chat' as const] } }, names: ['look_up'] },
  ]
  testMutants<Partial<ActionSource>>(
    'action source',
    (change) => actionSourceConformance(() => ({ source: { ...honest, ...change }, asker, lists })),
    { sound: {}, mutants: faults },
  )
})

describe('a provider of models', () => {
  const model = scriptedModel([])
  const listed = (name: string, isDefault = false) => ({
    provider: 'house',
    providerType: 'house',
    providerDisplayName: 'House',
    name,
    displayName: `House ${name}`,
    contextTokens: 32_000,
    takesImages: false,
    isDefault,
  })
  const models = [listed('one', true), listed('two')]
  const honest: ModelProvider = {
    list: async () => models,
    resolve: async (override) => {
      const name = override?.model_version ?? 'one'
      const match = models.find(
        (model) => model.name === name && (override?.model_provider ?? 'house') === model.provider,
      )
      if (!match) throw new InlayError('VALIDATION_ERROR')
      return { ...match, model, temperature: override?.temperature ?? undefined }
    },
  }
  for (const [title, run] of modelProviderConformance(() => honest)) test(`holds that ${title}`, run)

  let warmth: number | undefined
  let lastName: string | undefined
  const sharedModel = {} as Awaited<ReturnType<ModelProvider['resolve']>>
  const faults: Record<string, Partial<ModelProvider>> = {
    'has two defaults': { list: async () => models.map((model) => ({ ...model, isDefault: true })) },
    'lists a model twice': { list: async () => [...models, listed('two')] },
    'lists what it does not have': { list: async () => [...models, listed('three')] },
    'says otherwise in its list': { list: async () => models.map((model) => ({ ...model, contextTokens: 8_000 })) },
    'replaces what it does not have': {
      resolve: async (override) => honest.resolve({ ...override, model_version: 'one', model_provider: null }),
    },
    'has no default': { list: async () => models.map((each) => ({ ...each, isDefault: false })) },
    'answers null with a failure': {
      resolve: async (override) => {
        if (override === null) throw new TypeError('Cannot read properties of null')
        return honest.resolve(override)
      },
    },
    'gives the last of its models by default': {
      resolve: async (override) => honest.resolve({ ...override, model_version: override?.model_version ?? 'two' }),
    },
    'throws an error of its own': {
      resolve: (override) => honest.resolve(override).catch(() => Promise.reject(new Error('unknown model'))),
    },
    'knows models of every provider': {
      resolve: async (override) => honest.resolve({ ...override, model_provider: 'house' }),
    },
    'has a context without a number': {
      list: async () => models.map((each) => ({ ...each, contextTokens: Number.NaN })),
      resolve: async (override) => ({ ...(await honest.resolve(override)), contextTokens: Number.NaN }),
    },
    'keeps the temperature of another request': {
      resolve: async (override) => {
        warmth = override?.temperature ?? warmth
        return { ...(await honest.resolve(override)), temperature: warmth }
      },
    },
    'keeps the temperature 0 for later requests': {
      resolve: async (override) => {
        warmth = override?.temperature === 0 ? 0 : warmth === 0 ? 0 : undefined
        return { ...(await honest.resolve(override)), temperature: override?.temperature ?? warmth }
      },
    },
    'keeps a temperature until another is asked for': {
      resolve: async (override) => {
        warmth = override?.temperature ?? warmth
        await Promise.resolve()
        return { ...(await honest.resolve(override)), temperature: override?.temperature ?? warmth }
      },
    },
    'takes no temperature for 0': {
      resolve: async (override) => ({
        ...(await honest.resolve(override)),
        temperature: override?.temperature === undefined ? undefined : Number(override.temperature),
      }),
    },
    'takes the model asked for last for the default': {
      resolve: async (override) => {
        const resolved = await honest.resolve({ ...override, model_version: override?.model_version ?? lastName })
        lastName = resolved.name
        return resolved
      },
    },
    'mixes models up': {
      resolve: async (override) => {
        lastName = override?.model_version ?? 'one'
        await Promise.resolve()
        return honest.resolve({ ...override, model_version: lastName })
      },
    },
    'writes each model into the same object': {
      resolve: async (override) => Object.assign(sharedModel, await honest.resolve(override)),
    },
    'takes the temperature 0 for none': {
      resolve: async (override) => ({
        ...(await honest.resolve(override)),
        temperature: override?.temperature || undefined,
      }),
    },
    'forgets the temperature': {
      resolve: async (override) => ({ ...(await honest.resolve(override)), temperature: 1 }),
    },
  }
  testMutants<Partial<ModelProvider>>(
    'model provider',
    (change) => modelProviderConformance(() => ({ ...honest, ...change })),
    { sound: {}, mutants: faults },
  )
})
