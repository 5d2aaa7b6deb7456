/**
 * Runs the conformance tests of a vector store, and of a whole index over it, against a real Chroma server:
 * `npm run -w test/rigs check:vector-store`. Installs `chromadb` from PyPI (some 500 MB) into a temporary folder, and needs `python3`
 * with `venv`; `CHROMA=/path/to/chroma` runs an installed one.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lancedbIndex } from '@inlay/drivers/lancedb'
import { vectorStoreIndex } from '@inlay/drivers/vector-store'
import { vectorStoreConformance, vectorIndexConformance } from '@inlay/conformance'
import { eventually } from '../../life/process.ts'
import { chromaStores } from './chroma-store.ts'
import { runAll } from './run-all.ts'

const folder = mkdtempSync(join(tmpdir(), 'inlay-chroma-'))
const port = 20_000 + (process.pid % 20_000)
const server = `http://127.0.0.1:${port}`

function installed(): string {
  if (process.env['CHROMA']) return process.env['CHROMA']
  process.stdout.write(`Installing chromadb into ${folder}\n`)
  execFileSync('python3', ['-m', 'venv', join(folder, 'python')])
  execFileSync(join(folder, 'python/bin/pip'), ['install', '-q', 'chromadb'], { stdio: 'inherit' })
  return join(folder, 'python/bin/chroma')
}

const chroma = spawn(
  installed(),
  ['run', '--host', '127.0.0.1', '--port', String(port), '--path', join(folder, 'data')],
  { stdio: 'ignore', env: { ...process.env, ANONYMIZED_TELEMETRY: 'False' } },
)
try {
  await eventually('Chroma answers', () => fetch(`${server}/api/v2/heartbeat`).catch(() => undefined))
  const version: unknown = await (await fetch(`${server}/api/v2/version`)).json()
  const vectors = chromaStores(server)
  await runAll(`Chroma ${String(version)}`, vectorStoreConformance(vectors))
  await runAll(
    'An index over Chroma, words in LanceDB',
    vectorIndexConformance((store) =>
      vectorStoreIndex({
        words: lancedbIndex({ folder: join(folder, 'words', store) }),
        vectors: ({ name, dimensions }) => vectors({ name: `${store}-${name}`, dimensions }),
      }),
    ),
  )
} finally {
  chroma.kill()
  rmSync(folder, { recursive: true, force: true })
}
