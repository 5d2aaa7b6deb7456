import * as v from 'valibot'
import { createSlices, type Slices } from '../concurrency.ts'
import { InlayError, isInlayError, validationFailed, type ValidationIssue } from '../errors/error-codes.ts'
import { storable } from '../fields.ts'
import { parseWith, tooManyValues, mostValues } from '../invalid-request.ts'
import { ingestionRequestSchema, sectionSchema, type IngestionRequest } from './ingestion-document.ts'
import { setTextPieces } from './text-pieces.ts'

/** Bytes that are read without a pause, and about the length of a piece of text. */
const stepBytes = 65_536

/**
 * Reads an ingestion request of any size as it arrives, with the result and the errors of `parseJsonBody`. The texts of
 * sections never stand in memory as one: a long one has {@link textPieces}. The event loop gets its turn in between.
 * @throws VALIDATION_FAILED, also for bytes that are not UTF-8; PAYLOAD_TOO_LARGE for more than 100,000 values, or 8 MiB
 * beside the texts
 */
export async function readLargeRequest(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<IngestionRequest> {
  const slices = createSlices()
  const reader = new RequestReader()
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

const [quote, backslash, comma, colon, letterU] = [0x22, 0x5c, 0x2c, 0x3a, 0x75]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Where the texts of sections are, by the keys of the objects around them; a list has none. */
const textPath = ['document', 'sections', undefined, 'text'] as const
/** One more than any key of the path has, with each character written as an escape. */
const longestKey = 49
/** Most bytes that are no texts of sections: titles, links, metadata. They are read in one go. */
const mostBesideTexts = 8 * 2 ** 20

/** Takes the texts of sections out of a JSON text while it arrives. */
class RequestReader {
  readonly #mark = crypto.randomUUID()
  readonly #texts = new Map<string, readonly string[]>()
  readonly #decoder = new TextDecoder('utf-8', { fatal: true })
  readonly #textDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  #json = ''
  #besideTexts = 0
  #values = 0
  #depth = 0
  /** Key of the next value, by depth; of objects further in nothing is kept. */
  readonly #keys: (string | undefined)[] = []
  #isInString = false
  /** The beginning of the last string that was no text. */
  #string = ''
  /** Bytes of an escape that are still to come, and that came already. */
  #escape: readonly [left: number, read: number] = [0, 0]
  #text: TextReader | undefined

  take(bytes: Uint8Array): void {
    let from = 0
    for (let at = 0; at < bytes.byteLength; at++) {
      if (this.#isInString) {
        const start = at
        at = this.#endOfString(bytes, start)
        if (!this.#text && this.#string.length < longestKey)
          this.#string += String.fromCharCode(...bytes.subarray(start, Math.min(at, start + longestKey)))
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

  /** The JSON text with something short and unguessable in place of each text of a section. */
  end(): { readonly json: string; readonly texts: Texts } {
    return { json: this.#json + decoded(this.#decoder, new Uint8Array(), true), texts: this.#texts }
  }

  #add(bytes: Uint8Array): void {
    this.#besideTexts += bytes.byteLength
    if (this.#besideTexts > mostBesideTexts)
      throw new InlayError('PAYLOAD_TOO_LARGE', {
        message: 'A document may have 8 MiB beside the texts of its sections, such as titles, links and metadata.',
      })
    this.#json += decoded(this.#decoder, bytes, false)
  }

  #beginText(): void {
    const name = `${this.#mark}${this.#texts.size}`
    this.#json += `"${name}`
    this.#text = createTextReader(this.#textDecoder)
    this.#texts.set(name, this.#text.pieces)
  }

  /** Whether a value here would be the text of a section. */
  #isText(): boolean {
    return this.#depth === textPath.length && textPath.every((name, at) => this.#keys[at + 1] === name)
  }

  #readStructure(byte: number): void {
    const keys = this.#keys
    if (byte === comma || byte === openBracket || byte === openBrace) {
      if (++this.#values > mostValues) throw tooManyValues()
      if (byte !== comma) this.#depth++
      keys.length = Math.min(keys.length, this.#depth)
    } else if (byte === closeBrace || byte === closeBracket) {
      keys.length = Math.min(keys.length, this.#depth)
      // More are closed than were opened: no JSON, as is found out at the end.
      this.#depth = Math.max(this.#depth - 1, 0)
    } else if (byte === colon && this.#depth <= textPath.length) keys[this.#depth] = keyOf(this.#string)
  }

  /** Where the quote is that closes the string; the number of bytes when it is not among them. */
  #endOfString(bytes: Uint8Array, start: number): number {
    let [left, read] = this.#escape
    let at = start
    for (; at < bytes.byteLength; at++) {
      const byte = bytes[at]
      if (left > 0) {
        // Four digits follow \u.
        left += read === 1 && byte === letterU ? 3 : -1
        read = left === 0 ? 0 : read + 1
      } else if (byte === backslash) left = read = 1
      else if (byte === quote) break
    }
    this.#escape = [left, read]
    return at
  }
}

/** A key as it is meant; of one that was cut, or is no JSON, nothing is asked. */
function keyOf(raw: string): string | undefined {
  if (!raw.includes('\\')) return raw
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    return undefined
  }
}

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
