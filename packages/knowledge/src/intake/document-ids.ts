import { validationFailed } from '@inlay/protocol'
import { nextSlice } from '@inlay/scheduling'

/**
 * The id under which a document is stored: its own, or one generated from the given parts, so that sending it again
 * updates it.
 * @throws VALIDATION_FAILED for an id that cannot be stored or addressed
 */
export async function keptId(
  own: string | null | undefined,
  parts: readonly (string | number)[],
  hash?: Sha256,
): Promise<string> {
  const id = own || (await generatedId(parts, hash))
  const fault = idFault(id)
  if (fault) throw validationFailed([{ loc: ['body', 'document', 'id'], msg: fault, type: 'value_error' }])
  return id
}

/** Generates the id of a document sent without one: the same for the same parts. */
export async function generatedId(parts: readonly (string | number)[], hash: Sha256 = sha256): Promise<string> {
  return `ingestion_api_${(await hash(JSON.stringify(parts))).slice(0, 32)}`
}

/** SHA-256 of UTF-8 text, as hexadecimal digits. */
export type Sha256 = (text: string) => string | Promise<string>

/** Longer texts are hashed on another thread. */
const maxHashedHere = 65_536

/** Uses a synchronous hash for texts short enough for it. */
export function withSyncHash(hash: ((text: string) => string) | undefined): Sha256 {
  return hash ? (text) => (text.length > maxHashedHere ? sha256(text) : hash(text)) : sha256
}

const encoder = new TextEncoder()

/** {@link Sha256} by WebCrypto, which every runtime has. */
export async function sha256(text: string): Promise<string> {
  const encoded = encoder.encode(text)
  // Hashing copies the bytes.
  if (encoded.byteLength > 2 ** 20) await nextSlice()
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', encoded))
  let digits = ''
  for (const byte of bytes) digits += hexadecimal[byte]
  return digits
}

const hexadecimal = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Reason why an id is invalid; undefined if it is valid. */
function idFault(id: string): string | undefined {
  if (!id.isWellFormed() || id.includes('\0')) return 'must not contain NUL characters or unpaired surrogates'
  // Clients and proxies remove these segments from a path, even if encoded, so the document could never be requested.
  if (id === '.' || id === '..') return 'must not be "." or "..", which URLs cannot contain: choose another id'
  if (id.length > maxIdLength) return `must not be longer than ${maxIdLength} characters, to fit into a URL`
  return undefined
}

/** Servers accept URLs of 8 to 16 KiB. */
const maxIdLength = 8000
