import { must, mustAbort, toTests, type Checks, type ConformanceTest } from '../contract.ts'
import type { ImageDescriber, Summarizer, SummaryRequest } from '@inlay/knowledge'

/** Returns the implementation to test; it may be the same each time. */
export type MakeSummarizer = () => Summarizer | Promise<Summarizer>

/** A describer to test, with images and words of their descriptions. */
export interface ImageDescriberUnderTest {
  readonly describe: ImageDescriber
  /** Images, each with a word of its description, ignoring case. Two or more with different words allow more checks. */
  readonly images: readonly [SampleImage, ...SampleImage[]]
}

/** An image, and a word that its description contains. */
export interface SampleImage {
  readonly bytes: Uint8Array
  readonly mediaType: string
  readonly word: string
}

/** Returns the describer to test; it may be the same each time. */
export type MakeImageDescriber = () => ImageDescriberUnderTest | Promise<ImageDescriberUnderTest>

/** Maximum wait for an aborted call, in milliseconds; default 10 000. */
interface Patience {
  readonly patienceMs?: number
}

const documents: readonly SummaryRequest[] = [
  { kind: 'document', title: 'Herons', document: 'Grey herons nest from March to May. They eat fish.' },
  { kind: 'document', title: '', document: '図書館は九時に開きます。🦀 "odd" \\ {"json": true}\n\u2028' },
  { kind: 'chunk', title: 'Otters', document: 'Otters swim. They play.', summary: '', chunk: 'They play.' },
  { kind: 'chunk', title: 'Invoices', document: 'Invoices.', summary: 'About invoices.', chunk: 'Due in 30 days.' },
]

/**
 * Requirements of every `Summarizer`, as a list for any test runner.
 * @example for (const [title, run] of summarizerConformance(make)) test(title, run)
 */
export function summarizerConformance(make: MakeSummarizer, { patienceMs = 10_000 }: Patience = {}): ConformanceTest[] {
  return [
    ...toTests(summarizerChecks, async (check) => check(await make())),
    ...toTests(abortChecks, (check) =>
      check({ call: async (signal) => (await make())(documents[0]!, signal), patienceMs }),
    ),
  ]
}

const going = (): AbortSignal => new AbortController().signal

const ask = async (summarize: Summarizer, request: SummaryRequest): Promise<string> =>
  mustBeText(await summarize(Object.freeze(request), going()))

const summarizerChecks: Checks<Summarizer> = {
  async 'a document and a chunk are summed up in text'(summarize) {
    for (const request of documents) await ask(summarize, request)
    must((await ask(summarize, documents[0]!)).trim() !== '', 'something is said of a plain document')
  },
  async 'a summary is a few sentences, also of a long document'(summarize) {
    const document = 'Grey herons nest from March to May near the old mill. '.repeat(2_000)
    for (const request of [
      { kind: 'document', title: 'Herons', document },
      { kind: 'chunk', title: 'Herons', document, summary: 'About herons.', chunk: document.slice(0, 2_000) },
    ] as const)
      must((await ask(summarize, request)).length < 4_000, 'it is shorter than 4,000 characters')
  },
  async 'calls side by side do not mix'(summarize) {
    const words = ['herons', 'otters', 'invoices']
    const texts = await Promise.all(
      words.map(async (word) =>
        summarize({ kind: 'document', title: word, document: `All about ${word}. Only about ${word}.` }, going()),
      ),
    )
    for (const [at, text] of texts.entries())
      for (const [other, word] of words.entries())
        must(other === at || !mustBeText(text).toLowerCase().includes(word), 'a summary of another document')
    for (const [at, word] of words.entries()) {
      const request = { kind: 'document', title: 'Notes', document: `Only about ${word}.` } as const
      const text = mustBeText(await summarize(request, going())).toLowerCase()
      must(!text.includes(words.at(at - 1)!), 'a summary of another document of the same title')
    }
  },
}

/**
 * Requirements of every `ImageDescriber`, as a list for any test runner.
 * @example for (const [title, run] of imageDescriberConformance(make)) test(title, run)
 */
export function imageDescriberConformance(
  make: MakeImageDescriber,
  { patienceMs = 10_000 }: Patience = {},
): ConformanceTest[] {
  return [
    ...toTests(describerChecks, async (check) => check(await make())),
    ...toTests(abortChecks, async (check) => {
      const { describe, images } = await make()
      await check({ call: (signal) => describe(images[0].bytes, images[0].mediaType, signal), patienceMs })
    }),
  ]
}

async function mustDescribe(describe: ImageDescriber, { bytes, mediaType, word }: SampleImage): Promise<void> {
  const text = mustBeText(await describe(bytes, mediaType, going()))
  must(text.toLowerCase().includes(word.toLowerCase()), `the description of an image has "${word}"`)
}

const describerChecks: Checks<ImageDescriberUnderTest> = {
  async 'an image is described by what it shows, again and beside others'({ describe, images }) {
    for (const image of images) await mustDescribe(describe, image)
    await Promise.all([...images, ...images].map((image) => mustDescribe(describe, image)))
  },
  async 'the bytes stay as they are, also of an image in the midst of a larger buffer'({ describe, images }) {
    for (const image of images) {
      const buffer = new Uint8Array(image.bytes.length + 64).fill(0x41)
      buffer.set(image.bytes, 32)
      const bytes = buffer.subarray(32, 32 + image.bytes.length)
      await mustDescribe(describe, { ...image, bytes })
      must(bytes.length === image.bytes.length, 'the length of the bytes afterwards')
      must(
        bytes.every((byte, at) => byte === image.bytes[at]),
        'the bytes afterwards',
      )
    }
  },
}

function mustBeText(text: unknown): string {
  must(typeof text === 'string', `text, not ${typeof text}`)
  must(text.isWellFormed() && !text.includes('\0'), 'text has no half of a surrogate pair, and no NUL')
  return text
}

const abortChecks: Checks<{ readonly call: (signal: AbortSignal) => Promise<string>; readonly patienceMs: number }> = {
  async 'a call with a signal that has aborted rejects with its reason'({ call, patienceMs }) {
    await mustAbort(call, { when: ['before'], patienceMs })
  },
  async 'a call that is aborted later ends, with the reason or its answer'({ call, patienceMs }) {
    await mustAbort(call, { when: ['while'], patienceMs, mayEnd: true })
  },
}
