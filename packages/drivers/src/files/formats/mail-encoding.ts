import { declaredCharset, findEncoding, type FoundEncoding } from '../encodings.ts'

/** The header of a mail or of a part: lines without a blank one among them. */
const header = /(?:^[^\r\n]+(?:\r?\n|$))+/gm
const textType = /^content-type:[ \t]*text\/(?:plain|html)[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/im
const charset = /;\s*charset\s*=\s*(?:"[^"\r\n]*"|[^\s;]*)/i

/** A mail that was saved as UTF-16, as UTF-8: what its parts name is no longer true, but of those in base64 and the like. */
export function recodedMail(text: string): Uint8Array {
  const recoded = text.replace(header, (lines) =>
    /^content-transfer-encoding:[ \t]*(?:base64|quoted-printable)/im.test(lines)
      ? lines
      : lines.replace(textType, (type) => `${type.replace(charset, '')}; charset=utf-8`),
  )
  return new TextEncoder().encode(recoded.replace(/^\ufeff/, ''))
}

/** Maps bytes to characters of their own, and so keeps them. */
const keepingBytes = 'x-user-defined'

/** Names the likeliest encoding where headers or parts name none. @param textsOf the subject and texts of a mail */
export async function withGuessedEncoding(
  bytes: Uint8Array,
  textsOf: (mail: Uint8Array) => Promise<readonly string[]>,
): Promise<{ mail: Uint8Array } & Pick<FoundEncoding, 'facts'>> {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const end = /\r?\n\r?\n/.exec(source)?.index ?? source.length
  const texts = await textsOf(Buffer.from(withCharset(source, keepingBytes), 'latin1'))
  const kept = Buffer.from([source.slice(0, end), ...texts].join('\n').replace(/[\uf780-\uf7ff]/g, byteOf), 'latin1')
  const { encoding, facts } = await findEncoding(kept, declaredCharset(kept))
  // The header of a mail is read as UTF-8.
  const head = new TextDecoder(encoding).decode(Buffer.from(source.slice(0, end), 'latin1'))
  const mail = withCharset(Buffer.from(head).toString('latin1') + source.slice(end), encoding)
  return { mail: Buffer.from(mail, 'latin1'), facts: mail === source ? {} : facts }
}

const byteOf = (character: string): string => String.fromCharCode(character.charCodeAt(0) & 0xff)

function withCharset(source: string, name: string): string {
  const named = source.replace(header, (lines) =>
    lines.replace(textType, (type) => (charset.test(type) ? type : `${type}; charset=${name}`)),
  )
  const end = /\r?\n\r?\n/.exec(named)?.index ?? named.length
  return /^content-type:/im.test(named.slice(0, end)) ? named : `Content-Type: text/plain; charset=${name}\r\n${named}`
}
