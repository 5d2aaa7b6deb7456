/** Names of the detector, in order of how common they are. */
const detected = (
  'windows-1252 windows-1250 windows-1251 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 cp932 ' +
  'euc-jp gb18030 big5 cp949 cp874 koi8-r koi8-u ibm866 iso-8859-2 iso-8859-5 iso-8859-7'
).split(' ')
/** Names of `TextDecoder` where they differ. */
const renamed: Readonly<Record<string, string>> = { cp932: 'shift_jis', cp949: 'euc-kr', cp874: 'windows-874' }
const western = 'windows-1252'
/** They share most of their accented letters with Western European ones. */
const latin: ReadonlySet<string> = new Set(['windows-1250', 'windows-1254', 'windows-1257', 'iso-8859-2'])

/** Few accents say little: in such a sample another Latin encoding has to be this much likelier than the Western one. */
const fewAccents = 12
const minLead = 1.3

/**
 * The likeliest encoding of a text that names none and is not UTF-8, as a name for `TextDecoder`. It takes 100 ms and 70 MB
 * the first time. On single lines of the translations of a large program 95 % are right, on three lines 98 %, on
 * twenty all; of Western European ones 99 % of the single lines, and all longer ones.
 */
export async function guessEncoding(bytes: Uint8Array): Promise<string> {
  const { detectAll } = await import('jschardet')
  const sample = linesBeyondAscii(bytes)
  const guesses = detectAll(sample, { detectEncodings: detected, minimumThreshold: 0 }).map(
    ({ encoding, confidence }) => {
      const name = encoding?.toLowerCase() ?? ''
      return { name: renamed[name] ?? (detected.includes(name) ? name : western), confidence }
    },
  )
  const [best] = guesses
  if (!best) return western
  const leadOver = (rival: string): number =>
    best.confidence / (guesses.find(({ name }) => name === rival)?.confidence ?? 0)
  if (best.name === 'gb18030' && leadOver('euc-jp') < 4 && isFirstLevelKanji(sample)) return 'euc-jp'
  if (best.name === western)
    return leadOver('windows-1254') < 1.25 && count(sample, turkish) >= 2 ? 'windows-1254' : western
  if (!latin.has(best.name)) return isWholeWords(sample, best.name) ? best.name : western
  return count(sample, (byte) => byte > 0x7f) > fewAccents || leadOver(western) >= minLead ? best.name : western
}

const count = (sample: Uint8Array, isCounted: (byte: number) => boolean): number =>
  sample.reduce((sum, byte) => (isCounted(byte) ? sum + 1 : sum), 0)

/** Ğ, İ, Ş, ğ, ı and ş, where Western encodings have letters of Icelandic. */
const turkish = (byte: number): boolean => [0xd0, 0xdd, 0xde, 0xf0, 0xfd, 0xfe].includes(byte)

/** The common characters of Japanese end where a fifth of those of Chinese are still to come. */
function isFirstLevelKanji(sample: Uint8Array): boolean {
  let kanji = 0
  for (let at = 0; at < sample.length; at++) {
    if (sample[at]! <= 0x80) continue
    if (sample[at]! > 0xcf) return false
    if (sample[at]! >= 0xb0) kanji++
    at++
  }
  return kanji >= 8
}

/** Letters of another script stand beside one another; misread accents stand alone among ASCII letters. */
function isWholeWords(sample: Uint8Array, encoding: string): boolean {
  const text = new TextDecoder(encoding).decode(sample)
  const pairs = text.match(/[\u0370-\u06ff\u0e00-\u0e7f\u3000-\uffef]{2}/g)?.length ?? 0
  const mixed = text.match(/[A-Za-z][\u0370-\u06ff\u0e00-\u0e7f]|[\u0370-\u06ff\u0e00-\u0e7f][A-Za-z]/g)?.length ?? 0
  return pairs > 0 && mixed <= pairs
}

const maxSampleBytes = 65_536
const maxLineBytes = 4096

/** Of a long text the first lines with other bytes than those of ASCII: they may come late. */
function linesBeyondAscii(bytes: Uint8Array): Buffer {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (text.length <= maxSampleBytes) return text
  const lines: Buffer[] = []
  let size = 0
  for (let at = 0; at < text.length && size < maxSampleBytes; at++) {
    if (text[at]! <= 0x7f) continue
    const start = text.subarray(Math.max(0, at - maxLineBytes), at).lastIndexOf(10) + 1
    const end = text.indexOf(10, at)
    const from = Math.max(0, at - maxLineBytes) + start
    const to = Math.min(end === -1 ? text.length : end + 1, at + maxLineBytes)
    lines.push(text.subarray(from, to))
    size += to - from
    at = to
  }
  return Buffer.concat(lines)
}
