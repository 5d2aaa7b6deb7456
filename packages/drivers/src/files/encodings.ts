import { isUtf8 } from 'node:buffer'

/** Encodings in which other scripts are written with ASCII bytes only, so that they pass for UTF-8. */
const asciiBytesOnly = /^(?:iso-2022|hz-gb|utf-7)/i

/** A byte order mark wins, then valid UTF-8, then `declared` if known, then windows-1252, which reads any bytes. */
export function decodeText(bytes: Uint8Array, declared?: string): string {
  return new TextDecoder(knownEncoding(bytes, declared) ?? 'windows-1252').decode(bytes)
}

export interface FoundEncoding {
  readonly encoding: string
  /** Notes a guess other than Western European in the metadata of the document. */
  readonly facts: { readonly guessed_encoding?: string }
}

/** Like {@link decodeText}, but guesses the encoding of a text that names none and is not UTF-8. */
export async function decodeUnnamed(
  bytes: Uint8Array,
  declared?: string,
): Promise<Pick<FoundEncoding, 'facts'> & { text: string }> {
  const { encoding, facts } = await findEncoding(bytes, declared)
  return { text: new TextDecoder(encoding).decode(bytes), facts }
}

/** The encoding that bytes or their sender tell, else the likeliest. */
export async function findEncoding(bytes: Uint8Array, declared?: string): Promise<FoundEncoding> {
  const known = knownEncoding(bytes, declared)
  if (known) return { encoding: known, facts: {} }
  const encoding = await (await import('./encoding-guess.ts')).guessEncoding(bytes)
  return { encoding, facts: encoding === 'windows-1252' ? {} : { guessed_encoding: encoding } }
}

/** Text in UTF-16 as UTF-8; undefined for any other. */
export function recodeUtf16(bytes: Uint8Array): string | undefined {
  const encoding = markedEncoding(bytes) ?? unmarkedUtf16(bytes)
  return encoding?.startsWith('utf-16') ? new TextDecoder(encoding).decode(bytes) : undefined
}

function knownEncoding(bytes: Uint8Array, declared: string | undefined): string | undefined {
  const marked = markedEncoding(bytes) ?? unmarkedUtf16(bytes)
  if (marked) return marked
  const named = declared === undefined ? undefined : encodingNamed(declared)
  if (named && asciiBytesOnly.test(declared ?? '')) return named
  if (isUtf8(bytes)) return startsJapanese(bytes) ? 'iso-2022-jp' : 'utf-8'
  // A wrong claim of UTF-8 would turn every accent into a replacement character.
  return named && named !== 'utf-8' ? named : isDamagedUtf8(bytes) ? 'utf-8' : undefined
}

/** The sequence that begins Japanese in ISO-2022-JP; logs of terminals hold others. */
function startsJapanese(bytes: Uint8Array): boolean {
  if (!bytes.includes(0x1b)) return false
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return text.includes('\x1b$B') || text.includes('\x1b$@')
}

/** UTF-8 with few wrong bytes, as where a file was cut off: one wrong byte must not garble all other letters. */
function isDamagedUtf8(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes.subarray(0, 262_144))
  const damage = text.match(/\ufffd/g)?.length ?? 0
  return damage * 10 <= (text.match(/[^\0-\x7f\ufffd]/g)?.length ?? 0)
}

function markedEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return undefined
}

/** Shows as zeros in every other byte, as no other text has: of Latin letters, else of blanks and line ends. */
function unmarkedUtf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const sample = bytes.subarray(0, Math.min(bytes.length - (bytes.length % 2), 4096))
  const zeros = [0, 0]
  const leading = [new Set<number>(), new Set<number>()]
  for (const [at, byte] of sample.entries()) {
    if (byte === 0) zeros[at % 2]!++
    leading[at % 2]!.add(byte)
  }
  for (const [order, at] of [
    ['utf-16le', 1],
    ['utf-16be', 0],
  ] as const) {
    if (zeros[1 - at]! > sample.length * 0.01) continue
    if (zeros[at]! > sample.length * 0.2) return order
    // Each alphabet has one leading byte. Ideographs have many; those bytes are no UTF-8.
    const isOtherScript = zeros[at]! > sample.length * 0.005 && (leading[at]!.size <= 4 || !isUtf8(bytes))
    if (isOtherScript && zeros[1 - at] === 0 && isPlainText(sample, order)) return order
  }
  return undefined
}

/** Whether all characters are assigned ones, and none of them a control character but those of the layout. */
function isPlainText(bytes: Uint8Array, encoding: string): boolean {
  return bytes.length >= 16 && !/[^\P{C}\p{Cf}\t\r\n\f]/u.test(new TextDecoder(encoding).decode(bytes))
}

export function encodingNamed(label: string): string | undefined {
  try {
    return new TextDecoder(label.trim()).encoding
  } catch {
    // The only failure is an unknown name.
    return undefined
  }
}

export function declaredCharset(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 2048))
  const match =
    /<meta[^<>]+charset\s*=\s*(?:["']\s*)?([\w:.-]+)/i.exec(start) ??
    /^\s*<\?xml[^>]+encoding\s*=\s*["']([\w:.-]+)/i.exec(start)
  return match?.[1]
}

export function charsetOf(mediaType: string | undefined): string | undefined {
  return /;\s*charset\s*=\s*"?([\w:.-]+)/i.exec(mediaType ?? '')?.[1]
}

/** Whether bytes are not text: many control characters, or zero bytes outside of UTF-8. */
export function isBinary(bytes: Uint8Array): boolean {
  if (markedEncoding(bytes) ?? unmarkedUtf16(bytes)) return false
  const sample = bytes.subarray(0, 65_536)
  let controls = 0
  for (const byte of sample) if (byte < 32 && !isLayout(byte)) controls++
  // A single zero byte, as broken logs have, makes no binary.
  return controls > sample.length * 0.1 || (sample.includes(0) && !isUtf8(bytes))
}

/** Tab, line feed, vertical tab, form feed, carriage return, escape (of ISO-2022 and of terminal logs). */
function isLayout(byte: number): boolean {
  return (byte >= 9 && byte <= 13) || byte === 27
}

// oxlint-disable-next-line no-control-regex -- control characters are what it is about
const unwanted = /\r\n?|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ufeff\ufffe\uffff]/g

/** Line ends become `\n`, control characters and stray byte order marks go, halves of surrogate pairs become U+FFFD. */
export function cleanText(text: string): string {
  return text.replace(unwanted, (match) => (match.startsWith('\r') || match === '\f' ? '\n' : '')).toWellFormed()
}
