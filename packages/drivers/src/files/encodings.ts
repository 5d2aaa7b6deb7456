import { isUtf8 } from 'node:buffer'

/** Encodings in which other scripts are written with ASCII bytes only, so that they pass for UTF-8. */
const asciiBytesOnly = /^(?:iso-2022|hz-gb|utf-7)/i

/**
 * Decodes text: a byte order mark wins, then UTF-8 if the bytes are valid UTF-8, then the declared charset, then
 * windows-1252, which reads any bytes.
 * @param declared charset that the file or its sender names; unknown names are ignored
 */
export function decodeText(bytes: Uint8Array, declared?: string): string {
  const marked = markedEncoding(bytes) ?? unmarkedUtf16(bytes)
  if (marked) return new TextDecoder(marked).decode(bytes)
  const named = declared === undefined ? undefined : decoderFor(declared)
  if (named && asciiBytesOnly.test(declared ?? '')) return named.decode(bytes)
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes)
  // A wrong claim of UTF-8 would turn every accent into a replacement character.
  const decoder = named && named.encoding !== 'utf-8' ? named : new TextDecoder('windows-1252')
  return decoder.decode(bytes)
}

function markedEncoding(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return undefined
}

/** UTF-16 without a mark shows as zeros in every other byte, which no other text has. */
function unmarkedUtf16(bytes: Uint8Array): string | undefined {
  const sampleBytes = Math.min(bytes.length - (bytes.length % 2), 4096)
  const zeros = [0, 0]
  for (let at = 0; at < sampleBytes; at++) if (bytes[at] === 0) zeros[at % 2]!++
  const many = sampleBytes * 0.2
  const few = sampleBytes * 0.01
  if (zeros[1]! > many && zeros[0]! <= few) return 'utf-16le'
  if (zeros[0]! > many && zeros[1]! <= few) return 'utf-16be'
  return undefined
}

function decoderFor(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label.trim())
  } catch {
    // The only failure is an unknown name.
    return undefined
  }
}

/** Charset that an HTML or XML file names near its start; undefined when it names none. */
export function declaredCharset(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 2048))
  const match =
    /<meta[^>]+charset\s*=\s*["']?\s*([\w:.-]+)/i.exec(start) ??
    /^\s*<\?xml[^>]+encoding\s*=\s*["']([\w:.-]+)/i.exec(start)
  return match?.[1]
}

/** Charset parameter of a media type, e.g. of `text/csv; charset=koi8-r`. */
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
