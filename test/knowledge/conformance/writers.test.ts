import type { ModelProvider } from '@inlay/agent'
import type { ImageDescriber, Summarizer } from '@inlay/knowledge'
import { imageDescriberConformance, summarizerConformance, type SampleImage } from '@inlay/conformance'
import { scriptedModel } from '@inlay/agent/testing'
import { describe, test } from 'vitest'
import { imageDescriber, modelSummarizer } from 'inlay/internal/parts/document-models'
import { testMutants } from '../../mutants.ts'

const wait = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    setImmediate(resolve)
  })

const summarize: Summarizer = async (request, signal) => {
  await wait(signal)
  const text = request.kind === 'document' ? request.document : request.chunk
  return `About: ${text.slice(0, 80).toWellFormed()}`
}
const saying =
  (change: (text: string) => unknown): Summarizer =>
  async (request, signal) =>
    // Input that a host without types may return.
    change(await summarize(request, signal)) as string
let shared: Parameters<Summarizer>[0] | undefined
const byTitle = new Map<string, string>()
const byBeginning = new Map<string, string>()
let summaryBefore: string | undefined
let firstSummary: string | undefined

testMutants<Summarizer>('summarizer', (writer) => summarizerConformance(() => writer, { patienceMs: 50 }), {
  sound: summarize,
  mutants: {
    'gives nothing': saying(() => undefined),
    'gives null': saying(() => null),
    'gives the reply of its model': saying((text) => ({ text })),
    'gives parts': saying((text) => [text]),
    'says nothing of a plain document': saying(() => ''),
    'cuts pairs of surrogates': saying((text) => text.replace('🦀', '🦀'.slice(0, 1))),
    'ends with NUL': saying((text) => `${text}\0`),
    'gives the whole document back': async (request, signal) => (await summarize(request, signal)) && request.document,
    'mixes calls up': async (request, signal) => {
      shared = request
      await wait(signal)
      return summarize(shared, signal)
    },
    'remembers summaries by their title': async (request, signal) => {
      const text = await summarize(request, signal)
      if (!byTitle.has(request.title)) byTitle.set(request.title, text)
      return byTitle.get(request.title)!
    },
    'remembers summaries by the beginning of a document': async (request, signal) => {
      const key = request.document.slice(0, 10)
      const text = byBeginning.get(key) ?? (await summarize(request, signal))
      byBeginning.set(key, text)
      return text
    },
    'gives the summary before': async (request, signal) => {
      const text = await summarize(request, signal)
      const before = summaryBefore ?? text
      summaryBefore = text
      return before
    },
    'gives its first summary for ever': async (request, signal) => (firstSummary ??= await summarize(request, signal)),
    'fails on a document without a title': async (request, signal) => {
      if (request.title === '') throw new Error('no title')
      return summarize(request, signal)
    },
    'changes what it was given': async (request, signal) => {
      Object.assign(request, { title: 'changed' })
      return summarize(request, signal)
    },
    'ignores its signal': (request) => summarize(request, new AbortController().signal),
    'waits for ever once it was stopped': async (request, signal) =>
      signal.aborted ? new Promise<never>(() => {}) : summarize(request, signal),
    'throws a bare string when stopped': (request, signal) =>
      summarize(request, signal).catch((error: unknown) => Promise.reject(signal.aborted ? 'aborted' : error)),
  },
})

const images: readonly [SampleImage, SampleImage] = [
  { bytes: Uint8Array.from({ length: 40 }, (_, at) => at), mediaType: 'image/png', word: 'heron' },
  { bytes: Uint8Array.from({ length: 50 }, (_, at) => 200 - at), mediaType: 'image/jpeg', word: 'otter' },
]
const describeImage: ImageDescriber = async (bytes, mediaType, signal) => {
  await wait(signal)
  const image = images.find(
    (sample) => sample.mediaType === mediaType && sample.bytes.every((byte, at) => bytes[at] === byte),
  )
  return image && image.bytes.length === bytes.length ? `A ${image.word.toUpperCase()}.` : ''
}
const describing =
  (change: (text: string) => unknown): ImageDescriber =>
  async (bytes, mediaType, signal) =>
    change(await describeImage(bytes, mediaType, signal)) as string
let last: Uint8Array = new Uint8Array()
const seen = new Map<string, string>()
const byLength = new Map<string, string>()
let textBefore: string | undefined

testMutants<ImageDescriber>(
  'image describer',
  (describer) =>
    imageDescriberConformance(
      () => ({
        describe: describer,
        images: [
          { ...images[0], bytes: images[0].bytes.slice() },
          { ...images[1], bytes: images[1].bytes.slice() },
        ],
      }),
      { patienceMs: 50 },
    ),
  {
    sound: describeImage,
    mutants: {
      'says nothing': describing(() => ''),
      'gives nothing': describing(() => undefined),
      'gives the reply of its model': describing((text) => ({ text })),
      'ends with NUL': describing((text) => `${text}\0`),
      'cuts pairs of surrogates': describing((text) => `${text}\uD83E`),
      'takes every image for a PNG': (bytes, _, signal) => describeImage(bytes, 'image/png', signal),
      'sends the whole buffer of a view': (bytes, mediaType, signal) =>
        describeImage(new Uint8Array(bytes.buffer), mediaType, signal),
      'knows images by their first kilobyte of buffer': async (bytes, mediaType, signal) => {
        const key = String(new Uint8Array(bytes.buffer)[0])
        if (!seen.has(key)) seen.set(key, await describeImage(bytes, mediaType, signal))
        return seen.get(key) ?? ''
      },
      'empties the bytes': async (bytes, mediaType, signal) => {
        const text = await describeImage(bytes, mediaType, signal)
        bytes.fill(0)
        return text
      },
      'mixes calls up': async (bytes, mediaType, signal) => {
        last = bytes
        await wait(signal)
        return describeImage(last, mediaType, signal)
      },
      'remembers descriptions by the number of bytes': async (bytes, mediaType, signal) => {
        const key = `${mediaType} ${bytes.length > 0}`
        if (!byLength.has(key)) byLength.set(key, await describeImage(bytes, mediaType, signal))
        return byLength.get(key)!
      },
      'gives the description before': async (bytes, mediaType, signal) => {
        const text = await describeImage(bytes, mediaType, signal)
        const before = textBefore ?? text
        textBefore = text
        return before
      },
      'gives the bytes away': async (bytes, mediaType, signal) => {
        const text = await describeImage(bytes, mediaType, signal)
        structuredClone(bytes, { transfer: [bytes.buffer as ArrayBuffer] })
        return text
      },
      'ignores its signal': (bytes, mediaType) => describeImage(bytes, mediaType, new AbortController().signal),
      'waits for ever once it was stopped': async (bytes, mediaType, signal) =>
        signal.aborted ? new Promise<never>(() => {}) : describeImage(bytes, mediaType, signal),
      'throws a bare string when stopped': (bytes, mediaType, signal) =>
        describeImage(bytes, mediaType, signal).catch((error: unknown) =>
          Promise.reject(signal.aborted ? 'aborted' : error),
        ),
    },
  },
)

describe('the default model', () => {
  // Says what it is asked about, and of an image its media type.
  const model = scriptedModel([])
  const answering: typeof model = {
    ...model,
    doGenerate: async ({ prompt, abortSignal }) => {
      await wait(abortSignal ?? new AbortController().signal)
      const words = JSON.stringify(prompt)
      const text = /image\/(\w+)/.exec(words)?.[1] ?? /Title: (\w*)/.exec(words)?.[1] ?? 'nothing'
      return { content: [{ type: 'text', text: `About ${text}.` }], finishReason: { unified: 'stop' } } as never
    },
  }
  const listing = { isDefault: true, takesImages: true }
  // All that these two read of a provider.
  const models = {
    list: async () => [listing],
    resolve: async () => ({ model: answering }),
  } as unknown as ModelProvider
  const tests = [
    ...summarizerConformance(() => modelSummarizer(models)),
    ...imageDescriberConformance(async () => ({
      describe: (await imageDescriber(models))!,
      images: [
        { ...images[0], word: 'png' },
        { ...images[1], word: 'jpeg' },
      ],
    })),
  ]
  test.each(tests)('%s', (_title, run) => run())
})
