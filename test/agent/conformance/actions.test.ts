import { mastraTools } from '@inlay/mastra'
import { createTool } from '@mastra/core/tools'
import { describe, test } from 'vitest'
import { z } from 'zod'
import { actionConformance, actionSourceConformance, type MakeAction, type MakeActionSource } from '@inlay/conformance'
import { createAddMemory } from '@inlay/agent/internal/actions/add-memory'
import { createGenerateImage } from '@inlay/agent/internal/actions/generate-image'
import type { MadeImage } from '@inlay/agent'
import { createInternalSearch } from '@inlay/agent/internal/actions/internal-search/search-action'
import { createOpenUrl } from '@inlay/agent/internal/actions/open-url'
import { createReadFile } from '@inlay/agent/internal/actions/read-file'
import { createRunPython } from '@inlay/agent/internal/actions/run-python'
import type { CodeFile } from '@inlay/agent'
import { createWebSearch } from '@inlay/agent/internal/actions/web-search'
import type { Action } from '@inlay/agent'
import { defineAction } from '@inlay/agent/host-actions'
import { createMemories } from '@inlay/conversations/internal/memories/manage-memories'
import type { ConversationDatabase } from '@inlay/conversations/internal/tables/database'
import { createOpenApiActions } from '@inlay/conversations/internal/custom-tools/openapi-actions'
import { createActionSwitches } from '@inlay/conversations/internal/custom-tools/manage-tools'
import { createStoredTools } from '@inlay/conversations/internal/custom-tools/manage-tools'
import { InlayError } from '@inlay/protocol'
import { heldFiles } from '../action-turn.ts'
import { ana, newDatabase, newPassage } from '../setting.ts'
import { kennelDocument } from '../../conversations/custom-tools/kennel.ts'

/** Does what a word asks for: `broken` fails, `endless` waits until it is aborted, all else works at once. */
async function obey<Result>(word: string, signal: AbortSignal | undefined, result: () => Result): Promise<Result> {
  if (word.includes('broken')) throw new InlayError('BAD_GATEWAY', { message: 'The service behind it is down.' })
  if (!word.includes('endless')) return result()
  return new Promise((_resolve, reject) => {
    const abort = (): void => reject(signal?.reason)
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** Actions with inputs of their own are one kind here, since the tests give them arguments as JSON. */
const any = <Input>(action: Action<Input>): Action => action as unknown as Action

const queries = (...words: string[]): object => ({ queries: words })
/** Long in every way: letters that are a token each, characters that JSON escapes, surrogate pairs. */
const wordy = (text: string): string => `${text} "図書館は九時に開きます。🦀"\n`.repeat(300)

const searches = {
  works: [queries('leave'), queries('pay', 'bonus')],
  misfits: [{ queries: {} }, { queries: [] }, { queries: [{}] }],
  fails: queries('broken'),
  lasts: queries('endless'),
  long: queries('long'),
} as const

const internalSearch: MakeAction = () => ({
  ...searches,
  action: any(
    createInternalSearch({
      search: async ({ text, signal }) =>
        obey(text, signal, () =>
          Array.from({ length: text === 'long' ? 50 : 2 }, (_, at) =>
            newPassage(
              `${text}-${'ab'[at % 2]}${at}`,
              text === 'long' ? wordy(text) : `About ${text}.`,
              text === 'long' ? { metadata: { notes: wordy(text) } } : {},
            ),
          ),
        ),
    }),
  ),
})

const webSearch: MakeAction = () => ({
  ...searches,
  action: any(
    createWebSearch({
      search: async ({ text, signal, limit }) =>
        obey(text, signal, () =>
          Array.from({ length: text === 'long' ? limit : 2 }, (_, at) => ({
            title: text === 'long' ? wordy(text) : `About ${text}`,
            url: `https://web.example/${text}/${at}`,
            snippet: text === 'long' ? wordy(text) : `It says ${text}.`,
          })),
        ),
    }),
  ),
})

const urls = (...names: string[]): object => ({ urls: names.map((name) => `https://web.example/${name}`) })
const openUrl: MakeAction = () => ({
  action: any(
    createOpenUrl({
      readPage: async (url, { signal } = {}) =>
        obey(url, signal, () => ({
          url,
          title: url.includes('long') ? wordy(url) : `Page ${url}`,
          text: url.includes('long') ? wordy(url).repeat(10) : `This is "${url}".\n`,
        })),
    }),
  ),
  works: [urls('leave'), urls('pay', 'broken')],
  misfits: [{ urls: {} }, { urls: [] }],
  fails: urls('broken'),
  lasts: urls('endless'),
  long: urls('long', 'long-too'),
})

const generateImage: MakeAction = () => ({
  action: any(
    createGenerateImage({
      generate: async ({ prompt, signal }) =>
        obey(prompt, signal, (): MadeImage[] => [
          { bytes: new Uint8Array([1, 2, 3]), mediaType: 'image/png', revisedPrompt: `${prompt}, in oil` },
        ]),
    }),
  ),
  works: [{ prompt: 'a heron' }, { prompt: 'an otter', shape: 'portrait' }],
  misfits: [{ prompt: ' ' }, { prompt: 'a heron', shape: 'round' }],
  fails: { prompt: 'broken' },
  lasts: { prompt: 'endless' },
  long: { prompt: wordy('a heron') },
  turn: { files: heldFiles() },
})

const readFile: MakeAction = () => {
  const files = heldFiles(
    { name: 'leave.md', text: 'Everybody gets 25 days.' },
    { name: 'pay.md', text: 'Pay comes on the last day.' },
    { name: 'long.md', text: wordy('A line').repeat(10) },
    { name: 'plan.png', kind: 'image', text: '' },
    { name: 'endless.pdf', text: '' },
  )
  const read: typeof files.read = async (id, signal) =>
    id.startsWith('endless') ? obey('endless', signal, () => []) : files.read(id, signal)
  return {
    action: any(createReadFile()),
    works: [{ file_id: 'leave.md-file' }, { file_id: 'pay.md-file', start_char: 4, num_chars: 5 }],
    misfits: [{ file_id: '' }, { file_id: 'leave.md', start_char: -1 }, { file_id: 'leave.md', num_chars: 0 }],
    fails: { file_id: 'plan.png-file' },
    lasts: { file_id: 'endless.pdf-file' },
    long: { file_id: 'long.md-file' },
    turn: { files: { ...files, read } },
  }
}

const runPython: MakeAction = () => ({
  action: any(
    createRunPython({
      runner: {
        run: async ({ code, signal, onOutput }) =>
          obey(code, signal, () => {
            onOutput?.({ stream: 'stdout', text: code.includes('long') ? wordy(code).repeat(10) : `${code} ran.` })
            if (code.includes('long')) onOutput?.({ stream: 'stderr', text: wordy(code) })
            const created: CodeFile[] = [{ name: `${code}.txt`, bytes: new TextEncoder().encode(code) }]
            return { exitCode: 0, timedOut: false, error: null, files: created, droppedFiles: [], isOutputCut: false }
          }),
      },
    }),
  ),
  works: [{ code: 'heron' }, { code: 'otter' }],
  misfits: [{ code: ' ' }, { code: {} }],
  fails: { code: 'broken' },
  lasts: { code: 'endless' },
  long: { code: 'long' },
  turn: {
    files: heldFiles(
      ...Array.from({ length: 60 }, (_, at) => ({ name: `${wordy('x').slice(0, 90)}${at}`, text: 'x' })),
    ),
  },
})

const addMemory: MakeAction = async () => {
  const db = await newDatabase()
  const memories = createMemories({
    db: db as unknown as ConversationDatabase,
    now: () => 1,
    isOn: true,
  })
  return {
    action: any(createAddMemory(memories)),
    works: [{ memory: 'Works in optics.' }, { memory: 'Has a dog.', replaces: null }],
    misfits: [{ memory: '' }, { memory: 'x'.repeat(501) }, { memory: 'Has a dog.', replaces: 'the first' }],
    fails: { memory: 'Has a cat.', replaces: 99 },
    close: () => db.destroy(),
  }
}

const openApi: MakeAction = async () => {
  const [action] = await createOpenApiActions(
    {
      id: 1_001,
      name: 'Kennel',
      description: '',
      definition: {
        openapi: '3.1.0',
        info: { title: 'Kennel', description: 'Dogs.', version: '1' },
        servers: [{ url: 'https://kennel.example' }],
        paths: {
          '/dogs/{name}': {
            get: {
              operationId: 'show_dog',
              summary: 'Shows a dog.',
              parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
            },
          },
        },
      },
      customHeaders: [],
      passesAuth: false,
      isForAll: true,
      ownerId: 'ana',
      isEnabled: true,
      updatedAt: 0,
    },
    {
      fetchAddress: async (url, { signal } = {}) =>
        obey(url, signal, () => ({
          status: 200,
          headers: new Headers({ 'content-type': 'application/json' }),
          bytes: new TextEncoder().encode(
            JSON.stringify({ dog: url, notes: url.includes('long') ? wordy('It barks.').repeat(10) : 'It barks.' }),
          ),
        })),
    },
  )
  return {
    action: any(action!),
    works: [{ name: 'rex' }, { name: 'bella' }],
    misfits: [{}],
    fails: { name: 'broken' },
    lasts: { name: 'endless' },
    long: { name: 'long' },
  }
}

const ofHost: MakeAction = () => ({
  action: any(
    defineAction({
      name: 'order_state',
      description: 'Tells how far an order is.',
      input: z.object({ number: z.string() }),
      run: async ({ number }, { signal }) => obey(number, signal, () => `Order ${number} is packed.`),
    }),
  ),
  works: [{ number: 'heron' }, { number: 'otter' }],
  misfits: [{ number: {} }],
  fails: { number: 'broken' },
  lasts: { number: 'endless' },
})

const weather = createTool({
  id: 'weather',
  description: 'Tells the weather.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }, context) =>
    obey(city, context?.abortSignal, () => ({ city, weather: city === 'Bergen' ? 'rain' : 'sun' })),
})

const ofMastra: MakeAction = () => ({
  action: mastraTools(weather)[0]!,
  works: [{ city: 'Bergen' }, { city: 'Nice' }],
  misfits: [{ city: {} }],
  fails: { city: 'broken' },
  lasts: { city: 'endless' },
})

describe.each<[string, MakeAction]>([
  ['internal_search', internalSearch],
  ['web_search', webSearch],
  ['open_url', openUrl],
  ['generate_image', generateImage],
  ['run_python', runPython],
  ['read_file', readFile],
  ['add_memory', addMemory],
  ['a function of a stored tool', openApi],
  ['an action of a host', ofHost],
  ['a tool of Mastra', ofMastra],
])('%s holds that', (_name, make) => {
  for (const [title, run] of actionConformance(make)) test(title, run)
})

describe('stored tools as a source hold that', () => {
  const make: MakeActionSource = async () => {
    const db = await newDatabase()
    const { tools, source } = createStoredTools({
      db,
      fetchAddress: async () => Promise.reject(new Error('Nothing is fetched.')),
      switches: createActionSwitches(db),
      holds: async () => false,
      now: () => 1_000,
      newId: () => crypto.randomUUID(),
      onError: () => {},
    })
    const fields = { description: '', definition: kennelDocument(), customHeaders: [], passesAuth: false }
    await tools.create({ ...fields, name: 'Kennel' }, ana)
    await tools.create({ ...fields, name: 'Other kennel' }, ana)
    return { source, close: () => db.destroy() }
  }
  for (const [title, run] of actionSourceConformance(make)) test(title, run)
})
