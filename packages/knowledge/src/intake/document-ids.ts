import { validationFailed } from '@inlay/protocol'
import { nextSlice } from '@inlay/protocol/concurrency'

/**
 * The id that a document is kept under: its own, or one of the parts it stands for, so that sending it again updates it.
 * @throws VALIDATION_FAILED for an id that cannot be stored or addressed
 */
export async function keptId(own: string | null | undefined, parts: readonly (string | number)[]): Promise<string> {
  const id = own || (await generatedId(parts))
  const fault = idFault(id)
  if (fault) throw validationFailed([{ loc: ['body', 'document', 'id'], msg: fault, type: 'value_error' }])
  return id
}

/** The id of a document that came without one: the same for the same parts. */
export async function generatedId(parts: readonly (string | number)[]): Promise<string> {
  return `ingestion_api_${(await sha256(JSON.stringify(parts))).slice(0, 32)}`
}

const encoder = new TextEncoder()

/** SHA-256 of UTF-8 text, as hexadecimal digits. */
export async function sha256(text: string): Promise<string> {
  const encoded = encoder.encode(text)
  // To digest copies them.
  if (encoded.byteLength > 2 ** 20) await nextSlice()
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', encoded))
  let digits = ''
  for (const byte of bytes) digits += hexadecimal[byte]
  return digits
}

const hexadecimal = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Why a document cannot have an id; undefined when it can. */
function idFault(id: string): string | undefined {
  if (!id.isWellFormed() || id.includes('\0')) return 'must not hold NUL characters or unpaired surrogates'
  // Clients and proxies take these out of a path, however they are encoded: the document could never be asked for.
  if (id === '.' || id === '..') return 'must not be "." or "..", which no address can name: choose another id'
  if (id.length > longestId) return `must not be longer than ${longestId}: no address can hold it`
  return undefined
}

/** Servers take addresses of 8 to 16 KiB. */
const longestId = 8000
