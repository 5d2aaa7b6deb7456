import { InlayError, storable } from '@inlay/protocol'
import type { FileReader } from './contracts.ts'

/** Reads files that are text already: plain text, Markdown, CSV, source code. The default reader. */
export const readTextFile: FileReader = async ({ bytes }, { signal } = {}) => {
  signal?.throwIfAborted()
  const text = decodeUnicode(bytes)?.trim()
  if (text === undefined) {
    throw new InlayError('INVALID_INPUT', {
      message: 'Files of this type cannot be read here: send plain text, Markdown or CSV, in UTF-8 or UTF-16.',
    })
  }
  return { sections: text === '' ? [] : [{ text }] }
}

/** Bytes as text, by their byte order mark, else as UTF-8; undefined when they are neither. */
export function decodeUnicode(bytes: Uint8Array): string | undefined {
  const encoding = markedEncoding(bytes)
  if (encoding) return storable(new TextDecoder(encoding).decode(bytes))
  if (bytes.subarray(0, 65_536).includes(0)) return undefined
  try {
    return storable(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

function markedEncoding([first, second]: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}
