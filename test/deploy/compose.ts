import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runTool } from './tools.ts'

/** What is read of a compose file. */
interface Composition {
  readonly services: Readonly<Record<string, Service>>
}

interface Service {
  readonly image: string
  readonly volumes?: readonly { readonly type: string; readonly source: string }[]
}

const folder = 'docs/deploy'

/** Its defaults filled in, and a value for each variable that has none: the command of the reader knows no environment. */
const filled = (text: string): string =>
  text.replace(/\$\{\w+:([-?])([^}]*)\}/g, (_, kind, word) => (kind === '-' ? word : 'x'))

/** Reads the compose files as Docker does: each image has a version, what is mounted exists, and no secret is in a file. */
export function checkCompose(): string {
  const work = mkdtempSync(join(tmpdir(), 'inlay-compose-'))
  try {
    const counts = ['compose.yaml', 'compose.full.yaml'].map((name) => {
      const text = readFileSync(join(folder, name), 'utf8')
      for (const [line] of text.matchAll(/^.*(?:PASSWORD|SECRET\w*|API_KEY):.*$/gm))
        assert.match(line, /\$\{\w+:\?set it in \.env\}/, `${name} holds a secret`)
      const file = join(work, name)
      writeFileSync(file, filled(text))
      const printed = runTool('compose-spec', ['--no-path-resolution', '--format', 'json', file])
      const { services } = JSON.parse(printed) as Composition
      for (const { image, volumes = [] } of Object.values(services)) {
        assert.match(image, /:v?\d[\w.-]*$/, `${name} names no version of ${image}`)
        for (const { type, source } of volumes)
          assert(type !== 'bind' || existsSync(join(folder, source)), `${name} mounts ${source}, which is not there`)
      }
      return Object.keys(services).length
    })
    return `${counts.join(' and ')} services are valid`
  } finally {
    rmSync(work, { recursive: true })
  }
}

/** Checks what is scraped, except the key, which is there only in the container, and what the alerts fire at. */
export function checkPrometheus(): string {
  runTool('promtool', ['check', 'config', '--syntax-only', 'docs/deploy/full/prometheus.yml'])
  runTool('promtool', ['test', 'rules', 'test/deploy/alerts.test.yml'])
  return runTool('promtool', ['check', 'rules', 'docs/1.guide/observe/alerts.yml']).replace(/\s+/g, ' ').trim()
}
