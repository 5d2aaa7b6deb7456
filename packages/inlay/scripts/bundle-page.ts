/** Puts the built web page into the build of this package, where `inlay serve` finds it. */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const target = join(import.meta.dirname, '../dist/page')
rmSync(target, { recursive: true, force: true })
cpSync(join(import.meta.dirname, '../../page/dist'), target, {
  recursive: true,
  // The mark of what it was built from is for rebuilding only.
  filter: (file) => !file.endsWith('.built-from'),
})
