import * as v from 'valibot'
import { createSlices, type Slices } from '@inlay/scheduling'
import { InlayError, isInlayError, validationFailed, type ValidationIssue } from '../errors/error-codes.ts'
import { storable } from '../fields.ts'
import { parseWith, tooManyValues, maxValues } from '../invalid-request.ts'
import { readJson } from '../json.ts'
import { ingestionRequestSchema, sectionSchema, type IngestionRequest } from './ingestion-document.ts'
import { setTextPieces } from './text-pieces.ts'

/** Bytes processed without yielding, and the approximate length of a text piece. */
const stepBytes = 65_536

/**
 * Reads an ingestion request of any size from a stream, with the same result and errors as `parseJsonBody`. Section
 * texts are never held in memory as one string: a long one has {@link textPieces}. Yields to the event loop in between.
 * @throws VALIDATION_FAILED, also for bytes that are not UTF-8; PAYLOAD_TOO_LARGE for more than 100,000 values, or 8
 * MiB besides the texts
 */
export async function readLargeRequest(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<IngestionRequest> {
  const slices = createSlices()
  const reader = new RequestReader()
  let failure: unknown
  for await (const chunk of chunks) {
    // Clients read the response only after sending the whole body, so read it to the end.
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

/** Validates a request section by section, as there may be tens of thousands. */
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
      if (faulty.length < maxFaulty) faulty.push(at)
      continue
    }
    const pieces = 'text' in section ? texts.get(section.text) : undefined
    if (pieces && pieces.length > 1) setTextPieces(section, pieces)
    // The schema just created this section, so it can be changed.
    else if (pieces) Object.assign(section, { text: pieces[0] ?? '' })
    sections.push(section)
  }
  const document = { ...given.document, sections: faulty.map((at) => all[at]) }
  try {
    const request = parseWith(ingestionRequestSchema, { ...given, document }, 'body')
    // The schema just created this document, without sections.
    Object.assign(request.document, { sections })
    return request
  } catch (error) {
    throw isInlayError(error) && faulty.length > 0 ? atTheirPlaces(error, faulty) : error
  }
}

/** At most this many invalid sections are reported. */
const maxFaulty = 100

/** Issues of individually validated sections, mapped back to their positions. */
function atTheirPlaces({ data }: InlayError, faulty: readonly number[]): InlayError {
  // Set by `validationFailed`.
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

/** Section texts in pieces, by their placeholder in the JSON. */
type Texts = ReadonlyMap<string, readonly string[]>

const [quote, backslash, comma, colon, letterU] = [0x22, 0x5c, 0x2c, 0x3a, 0x75]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Path of section texts, as the keys of the enclosing objects; a list has no key. */
const textPath = ['document', 'sections', undefined, 'text'] as const
/** One more than the longest key of the path with each character escaped. */
const maxKeyLength = 49
/** Maximum bytes besides section texts: titles, links, metadata. They are parsed at once. */
const maxBesideTexts = 8 * 2 ** 20

/** Extracts section texts from JSON while it arrives. */
class RequestReader {
  readonly #mark = crypto.randomUUID()
  readonly #texts = new Map<string, readonly string[]>()
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  readonly #textDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  #json = ''
  #besideTexts = 0
  #values = 0
  #depth = 0
  /** Key of the next value by depth; deeper objects are not tracked. */
  readonly #keys: (string | undefined)[] = []
  #isInString = false
  /** Start of the last string that was not a section text. */
  #string = ''
  /** Bytes of an escape still expected, and bytes already read. */
  #escape: readonly [left: number, read: number] = [0, 0]
  #text: TextReader | undefined

  take(bytes: Uint8Array): void {
    let from = 0
    for (let at = 0; at < bytes.byteLength; at++) {
      if (this.#isInString) {
        const start = at
        at = this.#endOfString(bytes, start)
        if (!this.#text && this.#string.length < maxKeyLength)
          this.#string += String.fromCharCode(...bytes.subarray(start, Math.min(at, start + maxKeyLength)))
        this.#isInString = at === bytes.byteLength
        if (this.#isInString || !this.#text) continue
        this.#text.take(bytes.subarray(from, at), 0, true)
        this.#text = undefined
        from = at
      } else if (bytes[at] !== quote) this.#readStructure(bytes[at]!)
      else {
        this.#isInString = true
        this.#string = ''
        if (!this.#isText()) continue
        this.#add(bytes.subarray(from, at))
        from = at + 1
        this.#beginText()
      }
    }
    if (this.#text) this.#text.take(bytes.subarray(from), this.#escape[1], false)
    else this.#add(bytes.subarray(from))
  }

  /** The JSON with a short unguessable placeholder for each section text. */
  end(): { readonly json: string; readonly texts: Texts } {
    return { json: this.#json + decoded(this.#decoder, new Uint8Array(), true), texts: this.#texts }
  }

  #add(bytes: Uint8Array): void {
    this.#besideTexts += bytes.byteLength
    if (this.#besideTexts > maxBesideTexts)
      throw new InlayError('PAYLOAD_TOO_LARGE', {
        message:
          'A document may have 8 MiB in addition to the texts of its sections, such as titles, links and metadata.',
      })
    this.#json += decoded(this.#decoder, bytes, false)
  }

  #beginText(): void {
    const name = `${this.#mark}${this.#texts.size}`
    this.#json += `"${name}`
    this.#text = createTextReader(this.#textDecoder)
    this.#texts.set(name, this.#text.pieces)
  }

  /** Whether a value at this position is a section text. */
  #isText(): boolean {
    return this.#depth === textPath.length && textPath.every((name, at) => this.#keys[at + 1] === name)
  }

  #readStructure(byte: number): void {
    const keys = this.#keys
    if (byte === comma || byte === openBracket || byte === openBrace) {
      if (++this.#values > maxValues) throw tooManyValues()
      if (byte !== comma) this.#depth++
      keys.length = Math.min(keys.length, this.#depth)
    } else if (byte === closeBrace || byte === closeBracket) {
      keys.length = Math.min(keys.length, this.#depth)
      // More brackets closed than opened: invalid JSON, which is detected at the end.
      this.#depth = Math.max(this.#depth - 1, 0)
    } else if (byte === colon && this.#depth <= textPath.length) keys[this.#depth] = keyOf(this.#string)
  }

  /** Position of the closing quote; the number of bytes if it is not in this chunk. */
  #endOfString(bytes: Uint8Array, start: number): number {
    let [left, read] = this.#escape
    let at = start
    for (; at < bytes.byteLength; at++) {
      const byte = bytes[at]
      if (left > 0) {
        // Four hex digits follow \u.
        left += read === 1 && byte === letterU ? 3 : -1
        read = left === 0 ? 0 : read + 1
      } else if (byte === backslash) left = read = 1
      else if (byte === quote) break
    }
    this.#escape = [left, read]
    return at
  }
}

/** The unescaped key; undefined for a truncated or invalid one. */
function keyOf(raw: string): string | undefined {
  return raw.includes('\\') ? (readJson(`"${raw}"`) as string | undefined) : raw
}

interface TextReader {
  readonly pieces: readonly string[]
  /** @param open number of trailing bytes that belong to an escape continued in the next call */
  take(bytes: Uint8Array, open: number, isLast: boolean): void
}

/** @param decoder without pending input of another text */
function createTextReader(decoder: TextDecoder): TextReader {
  const pieces: string[] = []
  /** A truncated escape, or the first half of a split surrogate pair. */
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
