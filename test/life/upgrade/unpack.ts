import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { unzipSync } from 'fflate'
import { testFolder } from '../harness.ts'
import type { Manifest } from './manifest.ts'

/** A copy of the data that an earlier version wrote. */
export function unpack(archive: string): { readonly dataFolder: string; readonly manifest: Manifest } {
  const folder = testFolder()
  const entries = Object.entries(unzipSync(readFileSync(archive)))
  for (const [name, bytes] of entries) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), bytes)
  }
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest
  return { dataFolder: join(folder, 'data'), manifest }
}
