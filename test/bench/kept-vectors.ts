import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Embedder } from '@inlay/knowledge'

/** Length of a SHA-256. */
const keyBytes = 32

/**
 * Embeds no text twice: several systems embed the same ones.
 * @param folder keeps the vectors for later runs; absent: for this run only
 */
export function keptVectors(embedder: Embedder, folder?: string): Embedder {
  const kept = new Map<string, Float32Array>()
  const file = folder && join(folder, createHash('sha256').update(embedder.id).digest('hex').slice(0, 16))
  if (folder) mkdirSync(folder, { recursive: true })
  if (file && existsSync(file)) {
    const bytes = readFileSync(file)
    const size = keyBytes + 4 * embedder.dimensions
    for (let at = 0; at + size <= bytes.length; at += size)
      kept.set(
        bytes.toString('hex', at, at + keyBytes),
        new Float32Array(Uint8Array.from(bytes.subarray(at + keyBytes, at + size)).buffer),
      )
  }
  return {
    ...embedder,
    async embed(texts, use, signal) {
      const keys = texts.map((text) => createHash('sha256').update(`${use} ${text}`).digest())
      const missing = texts.map((_, at) => at).filter((at) => !kept.has(keys[at]!.toString('hex')))
      const vectors =
        missing.length === 0
          ? []
          : await embedder.embed(
              missing.map((at) => texts[at]!),
              use,
              signal,
            )
      for (const [index, at] of missing.entries()) {
        const vector = vectors[index]!
        kept.set(keys[at]!.toString('hex'), vector)
        if (file)
          appendFileSync(
            file,
            Buffer.concat([keys[at]!, new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)]),
          )
      }
      return keys.map((key) => kept.get(key.toString('hex'))!)
    },
  }
}
