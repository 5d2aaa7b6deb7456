import * as v from 'valibot'
import { createSlices, type Slices } from '../concurrency.ts'
import { InlayError, isInlayError, validationFailed, type ValidationIssue } from '../errors/errors.ts'
import { storable } from '../fields.ts'
import { parseWith, tooManyValues, mostValues } from '../validation.ts'
import { ingestionRequestSchema, sectionSchema, type IngestionRequest } from './ingestion.ts'
import { setTextPieces } from './text-pieces.ts'

/** Bytes that are read without a pause, and about the length of a piece of text. */
const stepBytes = 65_536

/**
 * Reads an ingestion request of any size as it arrives, with the result and the errors of `parseJsonBody`. The texts of
 * sections never stand in memory as one: a long one has {@link textPieces}. The event loop gets its turn in between.
 * @throws VALIDATION_FAILED, also for bytes that are not UTF-8; PAYLOAD_TOO_LARGE for more than 100,000 values
 */
export async function readLargeRequest(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<IngestionRequest> {
  const slices = createSlices()
  const reader = createReader()
  let failure: unknown
  for await (const chunk of chunks) {
    // Whoever sends a body looks for the answer when all of it is sent.
    if (failure !== undefined) continue
    try {
      for (let from = 0; from < chunk.byteLength; from += stepBytes) {
        reader.take(chunk.subarray(from, from + stepBytes))
        if (slices.isOver()) await slices.next()
      }
    } catch (error) {
      failure = error
    }
  }
  if (failure !== undefined) throw failure
  const { json, texts } = reader.end()
  if (slices.isOver()) await slices.next()
  let value: unknown
  try {
    value = json.trim() === '' ? undefined : JSON.parse(json)
  } catch {
    throw malformed()
  }
  if (slices.isOver()) await slices.next()
  return checked(value, texts, slices)
}

/** Reads a request section by section: there may be tens of thousands. */
async function checked(value: unknown, texts: Texts, slices: Slices): Promise<IngestionRequest> {
  const given: { readonly document?: { readonly sections?: unknown } } = Object(value)
  const all: unknown = given.document?.sections
  if (!Array.isArray(all)) return parseWith(ingestionRequestSchema, value, 'body')
  const sections: IngestionRequest['document']['sections'][number][] = []
  const faulty: number[] = []
  for (const [at, each] of all.entries()) {
    if (slices.isOver()) await slices.next()
    const { success, output: section } = v.safeParse(sectionSchema, each, { abortPipeEarly: true })
    if (!success) {
      if (faulty.length < mostFaulty) faulty.push(at)
      continue
    }
    const pieces = 'text' in section ? texts.get(section.text) : undefined
    if (pieces && pieces.length > 1) setTextPieces(section, pieces)
    // A section that the schema made just now.
    else if (pieces) Object.assign(section, { text: pieces[0] ?? '' })
    sections.push(section)
  }
  const document = { ...given.document, sections: faulty.map((at) => all[at]) }
  try {
    const request = parseWith(ingestionRequestSchema, { ...given, document }, 'body')
    // Made by the schema just now, with no section of its own.
    Object.assign(request.document, { sections })
    return request
  } catch (error) {
    throw isInlayError(error) && faulty.length > 0 ? atTheirPlaces(error, faulty) : error
  }
}

/** No more faults are told. */
const mostFaulty = 100

/** Issues of sections that were judged by themselves, at the places where they stood. */
function atTheirPlaces({ data }: InlayError, faulty: readonly number[]): InlayError {
  // What `validationFailed` put there.
  const issues = data.issues as readonly ValidationIssue[]
  return validationFailed(
    issues.map((issue) => {
      const [part, field, list, at, ...rest] = issue.loc
      if (list !== 'sections' || at === undefined) return issue
      return { ...issue, loc: [part!, field!, list, String(faulty[Number(at)]), ...rest] }
    }),
  )
}

function malformed(): InlayError {
  return validationFailed([{ loc: ['body'], msg: 'is not valid JSON', type: 'json_invalid' }])
}

/** Texts of sections in pieces, by what stands for them in the JSON. */
type Texts = ReadonlyMap<string, readonly string[]>

interface RequestReader {
  take(bytes: Uint8Array): void
  /** The JSON text with something short and unguessable in place of each text of a section. */
  end(): { readonly json: string; readonly texts: Texts }
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Where the texts of sections are, by the keys of the objects around them; a list has none. */
const textPath = ['document', 'sections', undefined, 'text'] as const

function createReader(): RequestReader {
  const mark = crypto.randomUUID()
  const texts = new Map<string, readonly string[]>()
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const textDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let json = ''
  let values = 0
  let depth = 0
  /** Key that a value would have, by depth; of objects further in nothing is kept. */
  const keys: (string | undefined)[] = []
  let isInString = false
  /** Bytes of an escape that are still to come, and that came already. */
  let [escapeLeft, escapeRead] = [0, 0]
  /** Of a string that may turn out to be a key: its bytes, as far as they matter. */
  let key = ''
  let text: TextReader | undefined

  function add(bytes: Uint8Array): void {
    json += decoded(decoder, bytes, false)
  }

  /** Whether a value here would be the text of a section. */
  const isText = (): boolean => depth === textPath.length && textPath.every((name, at) => keys[at + 1] === name)

  function readStructure(byte: number): void {
    if (byte === comma || byte === openBracket || byte === openBrace) {
      if (++values > mostValues) throw tooManyValues()
      if (byte !== comma) depth++
      keys.length = Math.min(keys.length, depth)
    } else if (byte === closeBrace || byte === closeBracket) keys.length = Math.min(keys.length, depth--)
    else if (byte === colon && depth <= textPath.length) keys[depth] = key
  }

  return {
    take: (bytes) => {
      let from = 0
      for (let at = 0; at < bytes.byteLength; at++) {
        const byte = bytes[at]!
        if (!isInString) {
          if (byte !== quote) readStructure(byte)
          else {
            isInString = true
            key = ''
            if (!isText()) continue
            add(bytes.subarray(from, at))
            from = at + 1
            const name = `${mark}${texts.size}`
            json += `"${name}`
            text = createTextReader(textDecoder)
            texts.set(name, text.pieces)
          }
        } else if (escapeLeft > 0) {
          // The four digits after \u.
          escapeLeft += escapeRead === 1 && byte === 0x75 ? 3 : -1
          escapeRead = escapeLeft === 0 ? 0 : escapeRead + 1
        } else if (byte === backslash) {
          ;[escapeLeft, escapeRead] = [1, 1]
          if (!text && key.length < longestKey) key += '\\'
        } else if (byte === quote) {
          isInString = false
          if (!text) continue
          text.take(bytes.subarray(from, at), 0, true)
          text = undefined
          from = at
        } else if (!text && key.length < longestKey) key += String.fromCharCode(byte)
      }
      if (text) text.take(bytes.subarray(from), escapeRead, false)
      else add(bytes.subarray(from))
    },
    end: () => ({ json: json + decoded(decoder, new Uint8Array(), true), texts }),
  }
}

const longestKey = 12

interface TextReader {
  readonly pieces: readonly string[]
  /** @param open how many bytes at the end belong to an escape that goes on in the next call */
  take(bytes: Uint8Array, open: number, isLast: boolean): void
}

/** @param decoder that has nothing of another text */
function createTextReader(decoder: TextDecoder): TextReader {
  const pieces: string[] = []
  /** An escape, or the first half of a surrogate pair, that was cut. */
  let [escape, half] = ['', '']
  return {
    pieces,
    take: (bytes, open, isLast) => {
      const raw = escape + decoded(decoder, bytes, isLast)
      escape = raw.slice(raw.length - open)
      const read = half + unescaped(raw.slice(0, raw.length - open))
      half = isLast ? '' : /[\uD800-\uDBFF]?$/.exec(read.slice(-1))![0]
      const piece = storable(read.slice(0, read.length - half.length))
      const last = pieces.at(-1)
      if (piece === '') return
      if (last !== undefined && last.length + piece.length <= stepBytes) pieces[pieces.length - 1] = last + piece
      else pieces.push(piece)
    },
  }
}

function unescaped(raw: string): string {
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    throw malformed()
  }
}

function decoded(decoder: TextDecoder, bytes: Uint8Array, isLast: boolean): string {
  try {
    return decoder.decode(bytes, { stream: !isLast })
  } catch {
    throw validationFailed([{ loc: ['body'], msg: 'is not valid UTF-8', type: 'json_invalid' }])
  }
}
