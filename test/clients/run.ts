// Generates clients in three ways from the API's own document, and makes the main calls with each against a running
// Inlay; then makes calls with Python's clients of OpenAI's API: `PYTHON=/path/to/python npm run check:clients`. Needs
// the npm registry, and a Python that has what is to be checked of openapi-python-client, openai, langchain-openai,
// llama-index-llms-openai-like, llm and aider-chat: `python3 -m venv venv && venv/bin/pip install openapi-python-client openai`.
import { spawn } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startScripted } from './scripted.ts'
import { startService } from './service.ts'

const packages = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', '@hey-api/openapi-ts@0.99.0', 'typescript@5.9.3']
const python = process.env['PYTHON'] ?? 'python3'
/** Lines of JSON are bytes to a generator that does not know them. */
const pythonConfig = 'post_hooks: []\ncontent_type_overrides:\n  application/x-ndjson: application/octet-stream\n'
const compile =
  '--strict --target es2024 --lib es2024,dom,dom.iterable --module commonjs --moduleResolution node10 --skipLibCheck'

const installed = (name: string): string => join(folder, 'node_modules', '.bin', name)

const service = await startService()
const folder = await mkdtemp(join(tmpdir(), 'inlay-clients-'))
try {
  const file = join(folder, 'openapi.json')
  await writeFile(file, await (await fetch(`${service.base}/openapi.json`)).text())
  await writeFile(join(folder, 'package.json'), '{"private": true}')
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages])
  for (const name of ['openapi-fetch.ts', 'hey-api.ts', 'python_client.py'])
    await cp(fileURLToPath(new URL(`calls/${name}`, import.meta.url)), join(folder, name))

  await quietly(installed('openapi-typescript'), [file, '-o', 'schema.ts', '--default-non-nullable=false'])
  await quietly(installed('openapi-ts'), ['-i', file, '-o', 'hey', '-c', '@hey-api/client-fetch'])
  await run(installed('tsc'), [...compile.split(' '), '--outDir', 'out', 'openapi-fetch.ts', 'hey-api.ts'])
  for (const name of ['openapi-fetch', 'hey-api']) {
    const call = `require('./out/${name}.js').callAll(...process.argv.slice(1)).catch((error) => { console.error(error); process.exit(1) })`
    await run(process.execPath, ['-e', call, service.base, service.key])
  }

  if (await has('openapi_python_client')) {
    await writeFile(join(folder, 'python.yml'), pythonConfig)
    const generate = ['-m', 'openapi_python_client', 'generate', '--path', file, '--config', 'python.yml']
    await quietly(python, [...generate, '--meta', 'none', '--output-path', 'inlay_client'])
    await run(python, ['python_client.py', service.base, service.key])
  } else process.stdout.write('openapi-python-client: not installed, so not checked\n')

  const scripted = await startScripted()
  try {
    const calls = fileURLToPath(new URL('calls/openai_python.py', import.meta.url))
    await run(python, [calls, `${new URL(scripted.base).origin}/v1`, scripted.key])
  } finally {
    await scripted.close()
  }
} finally {
  await service.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
}

/** Whether Python has a module. */
async function has(module: string): Promise<boolean> {
  const find = `import importlib.util; print(importlib.util.find_spec('${module}') is not None)`
  return (await run(python, ['-c', find])).includes('True')
}

/** Runs a program in the folder; its output is shown. Rejects when it fails. */
async function run(program: string, options: readonly string[]): Promise<string> {
  const child = spawn(program, options, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += String(chunk)
      process.stdout.write(chunk as Uint8Array)
    })
  const code = await new Promise((resolve) => child.once('exit', resolve))
  if (code !== 0) throw new Error(`${program} failed.`)
  return output
}

/** The same for a generator, which must have nothing to complain about. */
async function quietly(program: string, options: readonly string[]): Promise<void> {
  const complaint = /^.*(?:warn|error|unsupported).*$/im.exec(await run(program, options))
  if (complaint !== null) throw new Error(`${program} complains: ${complaint[0]}`)
}
