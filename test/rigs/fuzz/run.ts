// Fuzzes the whole API by its own document: `SCHEMATHESIS=/path/to/schemathesis npm run -w test/rigs check:fuzz -- [options]`.
// As a key of some scopes alone: `KEY_SCOPES=chat npm run -w test/rigs check:fuzz`. Default: as an administrator.
// Needs Schemathesis from PyPI: `python3 -m venv venv && venv/bin/pip install schemathesis`.
import { spawn } from 'node:child_process'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from '../../clients/service.ts'

interface Operation {
  responses: Record<string, unknown>
}

const program = process.env['SCHEMATHESIS'] ?? 'schemathesis'
const options = process.argv.slice(2)
const checks = ['not_a_server_error', 'status_code_conformance', 'content_type_conformance']

const service = await startService()
const key = await keyOf(process.env['KEY_SCOPES']?.split(','))
const folder = await mkdtemp(join(tmpdir(), 'inlay-fuzz-'))
const document = (await (await fetch(`${service.base}/openapi.json`)).json()) as {
  paths: Record<string, Record<string, Operation>>
}
// `default` would make every status a documented one.
for (const methods of Object.values(document.paths))
  for (const operation of Object.values(methods)) delete operation.responses['default']
const file = join(folder, 'openapi.json')
await writeFile(file, JSON.stringify(document))
await copyFile(new URL('hooks.py', import.meta.url), join(folder, 'hooks.py'))

const fuzz = spawn(
  program,
  [
    'run',
    file,
    `--url=${service.base}`,
    `--header=Authorization: Bearer ${key}`,
    `--checks=${checks.join(',')}`,
    '--continue-on-failure',
    '--suppress-health-check=all',
    '--request-timeout=60',
    // A limit of nothing would have all further calls answered with 429.
    '--exclude-operation-id=changeLimits',
    ...(options.length > 0 ? options : ['--max-examples=150', '--workers=2']),
  ],
  { stdio: 'inherit', cwd: folder, env: { ...process.env, SCHEMATHESIS_HOOKS: 'hooks' } },
)
const code = await new Promise<number>((resolve) => fuzz.once('exit', (ended) => resolve(ended ?? 1)))
if (code !== 0) process.stderr.write(`\nWhat the server wrote:\n${service.log().slice(-20_000)}\n`)
await service.close()
await rm(folder, { recursive: true, force: true })
process.exitCode = code

/** A key of these scopes; without any the one of the administrator. */
async function keyOf(scopes: readonly string[] | undefined): Promise<string> {
  if (!scopes) return service.key
  const response = await fetch(`${service.base}/admin/api-key`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'fuzz', scopes }),
  })
  const created = (await response.json()) as { readonly api_key: string }
  return created.api_key
}
