import type { FileReader } from '@inlay/conversations'
import { fileReaderConformance, type FileReaderUnderTest, type ReadableSample } from '@inlay/conformance'
import { readTextFile } from '@inlay/conversations/internal/files/text-reader'
import { fileExtractor } from '@inlay/drivers/file-extraction'
import { InlayError } from '@inlay/protocol'
import { afterAll, describe, test } from 'vitest'
import { docx, paragraph, pdf, pdfText, utf8 } from '../../drivers/files/samples.ts'
import { testMutants } from '../../mutants.ts'

/** Anew each time: some mutants destroy what they are given. */
const plain = (): readonly [ReadableSample, ...ReadableSample[]] => [
  {
    name: 'herons.txt',
    bytes: utf8('Herons wait. 図書館 🦀\n\nGrößer than ducks.'),
    passages: ['Herons wait. 図書館 🦀', 'Größer than ducks.'],
  },
  {
    name: 'otters.md',
    mediaType: 'text/markdown',
    bytes: utf8('# Otters\n\nOtters swim.'),
    passages: ['Otters', 'Otters swim.'],
  },
]
const binary = Uint8Array.from({ length: 4_000 }, (_, at) => (at * 31) % 251)

const extract = fileExtractor()
afterAll(() => extract.close())

const ofExtractor: FileReaderUnderTest = {
  read: extract,
  readable: [
    ...plain(),
    { name: 'a.pdf', bytes: pdf([pdfText([[72, 700, 12, 'A PDF speaks.']])]), passages: ['A PDF speaks.'] },
    { name: 'b.docx', bytes: docx(paragraph('A letter speaks.')), passages: ['A letter speaks.'] },
  ],
  unreadable: [
    { name: 'c.bin', bytes: binary },
    { name: 'd.pdf', bytes: utf8('%PDF-1.7 and nothing more') },
  ],
}
const ofText: FileReaderUnderTest = {
  read: readTextFile,
  readable: plain(),
  unreadable: [{ name: 'c.bin', bytes: binary }],
}
for (const [name, reader] of [
  ['the extractor', ofExtractor],
  ['the reader of text', ofText],
] as const)
  describe(name, () => {
    for (const [title, run] of fileReaderConformance(() => reader)) test(title, run)
  })

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const sound: FileReader = async ({ bytes }, options) => {
  options?.signal?.throwIfAborted()
  if (bytes.includes(0)) throw new InlayError('INVALID_INPUT', { message: 'This file is no text.' })
  return {
    sections: decode(bytes)
      .split('\n\n')
      .filter((text) => text.trim() !== '')
      .map((text) => ({ text })),
  }
}
const changed =
  (change: (text: string) => string): FileReader =>
  async (file, options) => ({
    sections: (await sound(file, options)).sections.map(({ text }) => ({ text: change(text) })),
  })
const refusing =
  (error: () => unknown): FileReader =>
  async (file, options) => {
    if (file.bytes.includes(0)) throw error()
    return sound(file, options)
  }
type Read = Awaited<ReturnType<FileReader>>
let last: Uint8Array = new Uint8Array()
const byName = new Map<string, Read>()
const sections: Read['sections'][number][] = []
let resultBefore: Read | undefined
let firstResult: Read | undefined

testMutants<FileReader>(
  'file reader',
  (read) =>
    fileReaderConformance(() => ({ read, readable: plain(), unreadable: [{ name: 'c.bin', bytes: binary }] }), {
      patienceMs: 50,
    }),
  {
    sound,
    mutants: {
      'reads Latin-1': async ({ bytes }) => ({ sections: [{ text: new TextDecoder('latin1').decode(bytes) }] }),
      'gives sections backwards': async (file, options) => ({
        sections: (await sound(file, options)).sections.toReversed(),
      }),
      'gives the first section alone': async (file, options) => ({
        sections: (await sound(file, options)).sections.slice(0, 1),
      }),
      'leaves blank sections in': async (file, options) => ({
        sections: [...(await sound(file, options)).sections, { text: ' ' }],
      }),
      'cuts pairs of surrogates': changed((text) =>
        text.replace('🦀', '🦀'.slice(0, 1)).replace(' \uD83E', ' 🦀\uD83E'),
      ),
      'ends texts with NUL': changed((text) => `${text}\0`),
      'goes by the extension alone': async (file, options) =>
        /^[\w.]+$/.test(file.name) ? sound(file, options) : { sections: [] },
      'reads the whole buffer of a view': async ({ bytes, ...file }, options) =>
        sound({ ...file, bytes: new Uint8Array(bytes.buffer) }, options),
      'empties the bytes it was given': async (file, options) => {
        const result = await sound(file, options)
        file.bytes.fill(0)
        return result
      },
      'takes the buffer away': async (file, options) => {
        const result = await sound(file, options)
        structuredClone(file.bytes.buffer, { transfer: [file.bytes.buffer as ArrayBuffer] })
        return result
      },
      'mixes files up': async (file, options) => {
        last = file.bytes
        await Promise.resolve()
        return sound({ ...file, bytes: last }, options)
      },
      'remembers files by their name': async (file, options) => {
        const kept = byName.get(file.name) ?? (await sound(file, options))
        options?.signal?.throwIfAborted()
        byName.set(file.name, kept)
        return kept
      },
      'gives the file before': async (file, options) => {
        const result = await sound(file, options)
        const before = resultBefore ?? result
        resultBefore = result
        return before
      },
      'gives the first file for ever': async (file, options) => (firstResult ??= await sound(file, options)),
      'joins files to one list of sections': async (file, options) => {
        sections.push(...(await sound(file, options)).sections)
        return { sections: [...sections] }
      },
      'reads binary files as text': async ({ bytes, ...file }, options) =>
        sound({ ...file, bytes: bytes.map((byte) => byte || 32) }, options),
      'gives nothing for what it cannot read': refusing(() => undefined),
      'throws a bare string': refusing(() => 'no text'),
      'throws what its library throws': refusing(() => new RangeError('offset is out of bounds')),
      'blames itself': refusing(() => new InlayError('INTERNAL_ERROR')),
      'refuses without a word': refusing(() => new InlayError('INVALID_INPUT', { message: '-' })),
      'shows its stack': refusing(
        () => new InlayError('INVALID_INPUT', { message: 'Bad\n    at read (/srv/a.ts:1:2)' }),
      ),
      'breaks on an empty file': async (file, options) => {
        if (file.bytes.length === 0) throw new TypeError('undefined is not an object')
        return sound(file, options)
      },
      'ignores its signal': (file) => sound(file),
      'waits for ever once it was stopped': (file, options) =>
        options?.signal ? new Promise(() => {}) : sound(file, options),
      'throws an error of its own when stopped': async (file, options) => {
        if (options?.signal?.aborted) throw new Error('aborted')
        return sound(file, options)
      },
    },
  },
)
