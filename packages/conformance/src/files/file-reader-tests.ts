import { isInlayError } from '@inlay/protocol'
import {
  must,
  mustAbort,
  mustEqual,
  rejectionOf,
  toTests,
  withClosing,
  type Checks,
  type ConformanceTest,
} from '../contract.ts'
import type { FileReader } from '@inlay/conversations'

export interface SampleFile {
  readonly name: string
  readonly mediaType?: string
  readonly bytes: Uint8Array
}

/** A file extractor to test, with sample files. */
export interface FileReaderUnderTest {
  readonly read: FileReader
  /** Readable files, each with passages of its text in order. Two or more with different texts allow more checks. */
  readonly readable: readonly [ReadableSample, ...ReadableSample[]]
  /** Files that it must refuse: broken, encrypted or of another type. Default: none. */
  readonly unreadable?: readonly SampleFile[]
  /** Called at the end of each test. */
  readonly close?: () => Promise<void> | void
}

/** A file, and passages of its text in their order. */
export interface ReadableSample extends SampleFile {
  readonly passages: readonly [string, ...string[]]
}

/** Returns the extractor to test; it may be the same each time. */
export type MakeFileReader = () => FileReaderUnderTest | Promise<FileReaderUnderTest>

/**
 * Tests of a `FileReader`, as a list for any test runner.
 * @param options `patienceMs`: maximum wait for an aborted call, in milliseconds; default 10 000
 */
export function fileReaderConformance(
  make: MakeFileReader,
  { patienceMs = 10_000 }: { readonly patienceMs?: number } = {},
): ConformanceTest[] {
  return [
    ...toTests(checks, (check) => withClosing(make, check)),
    ...toTests(abortCheck, (check) => withClosing(make, (reader) => check({ reader, patienceMs }))),
  ]
}

async function textOf({ read }: FileReaderUnderTest, { name, mediaType, bytes }: SampleFile): Promise<string> {
  const { sections } = await read({ name, bytes, ...(mediaType === undefined ? {} : { mediaType }) })
  return sections.map(({ text }) => text).join('\n')
}

function mustHoldPassages(text: string, { name, passages }: ReadableSample): void {
  let from = 0
  for (const passage of passages) {
    const at = text.indexOf(passage, from)
    must(at >= 0, `the text of ${name} has "${passage}" in its place`)
    from = at + passage.length
  }
}

const checks: Checks<FileReaderUnderTest> = {
  async 'a file is read as what it says, in its order'(reader) {
    for (const sample of reader.readable) mustHoldPassages(await textOf(reader, sample), sample)
  },
  async 'sections hold text that can be stored, and none is blank'({ read, readable }) {
    for (const { name, mediaType, bytes } of readable) {
      const { sections } = await read({ name, bytes, ...(mediaType === undefined ? {} : { mediaType }) })
      must(Array.isArray(sections), 'sections are a list')
      for (const section of sections as readonly { text: unknown; heading?: unknown }[]) {
        const { text, heading } = section
        must(typeof text === 'string' && text.trim() !== '', `each section of ${name} has text`)
        must(heading === undefined || typeof heading === 'string', 'a heading is text')
        for (const part of [text, String(heading ?? '')])
          must(part.isWellFormed() && !part.includes('\0'), 'no half of a surrogate pair, and no NUL')
      }
    }
  },
  async 'a file is read alike again, and beside others'(reader) {
    const many = [...reader.readable, ...reader.readable, ...reader.readable]
    const texts = await Promise.all(many.map(async (sample) => textOf(reader, sample)))
    for (const [at, sample] of many.entries()) mustEqual(texts[at], await textOf(reader, sample), sample.name)
  },
  async 'the bytes of the caller stay as they are'(reader) {
    for (const sample of reader.readable) {
      const bytes = sample.bytes.slice()
      await textOf(reader, { ...sample, bytes })
      mustEqual(bytes.byteLength, sample.bytes.byteLength, 'length of the bytes afterwards')
      must(
        bytes.every((byte, at) => byte === sample.bytes[at]),
        'the bytes afterwards',
      )
    }
  },
  async 'a file in the midst of a larger buffer is read without the rest of it'(reader) {
    for (const sample of reader.readable) {
      const buffer = new Uint8Array(sample.bytes.length + 64).fill(0x41)
      buffer.set(sample.bytes, 32)
      const bytes = buffer.subarray(32, 32 + sample.bytes.length)
      mustEqual(await textOf(reader, { ...sample, bytes }), await textOf(reader, sample), 'the text of such a file')
    }
  },
  async 'a name may be a path, or of any length and characters'(reader) {
    for (const sample of reader.readable)
      for (const before of ['../../etc/', 'C:\\temp\\', `${'long '.repeat(100)}`, '図書館 🦀\n']) {
        const name = before + sample.name
        mustHoldPassages(await textOf(reader, { ...sample, name }), { ...sample, name })
      }
  },
  async 'a file that cannot be read is refused in words for people'({ read, unreadable = [] }) {
    for (const file of unreadable) {
      const refusal = await rejectionOf(read(file))
      must(isInlayError(refusal), `${file.name} is refused with an InlayError`)
      must(['INVALID_INPUT', 'PAYLOAD_TOO_LARGE'].includes(refusal.code), `${file.name}: ${refusal.code}`)
      must(/\p{L}{2}/u.test(refusal.message), 'the message says something')
      must(!/\n[^\S\n]+at .+:\d+/.test(refusal.message), 'the message holds no stack')
    }
  },
  async 'a file that is cut off or empty is read as far as it goes, or refused'({ read, readable }) {
    for (const { name, mediaType, bytes, passages } of readable)
      for (const share of [1, 0, 0.5, 0.9]) {
        const part = bytes.slice(0, Math.floor(bytes.length * share))
        const refusal = await rejectionOf(
          read({ name, bytes: part, ...(mediaType === undefined ? {} : { mediaType }) }).then(({ sections }) => {
            must(
              sections.every(({ text }) => text.trim() !== '' && text.isWellFormed()),
              'sections of a file that is cut off hold text',
            )
            must(share > 0 || !sections.some(({ text }) => text.includes(passages[0])), 'an empty file says nothing')
          }),
        )
        const isRefused = isInlayError(refusal) && ['INVALID_INPUT', 'PAYLOAD_TOO_LARGE'].includes(refusal.code)
        must(refusal === undefined || isRefused, `${share * 100} % of ${name}: ${String(refusal)}`)
      }
  },
  async 'a refused file leaves the next one readable'(reader) {
    const { readable, unreadable = [] } = reader
    const [sample] = readable
    for (const file of unreadable) {
      const [text] = await Promise.all([textOf(reader, sample), rejectionOf(reader.read(file))])
      mustHoldPassages(text, sample)
      mustHoldPassages(await textOf(reader, sample), sample)
    }
  },
}

const abortCheck: Checks<{ readonly reader: FileReaderUnderTest; readonly patienceMs: number }> = {
  async 'an aborted call rejects with the reason, and one that is aborted later ends'({ reader, patienceMs }) {
    const [{ name, bytes }] = reader.readable
    await mustAbort((signal) => reader.read({ name, bytes }, { signal }), { patienceMs, mayEnd: true })
  },
}
