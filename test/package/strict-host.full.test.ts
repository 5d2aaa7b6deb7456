import { execFile } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withUndefined } from '../../packages/inlay/scripts/optional-members.ts'
import { renamed } from 'inlay/internal/options/inlay-options'
import { ownName, resolutions, strictest, strictHosts, target } from './host-checks.ts'

/** A project within the workspace, so that it has what our packages depend on. */
let project: string

const tsc = (options: readonly string[]): Promise<string> =>
  new Promise((done) => {
    execFile('node_modules/.bin/tsc', [...options, '--pretty', 'false'], (_error, stdout) => done(stdout))
  })

// The declarations alone, as a host installs them, each package under its name.
beforeAll(async () => {
  project = mkdtempSync('test/package/.strict-host-')
  const settings = {
    extends: '../../../tsconfig.json',
    compilerOptions: { noEmit: false, emitDeclarationOnly: true, outDir: '.', rootDir: '../../..' },
    include: ['../../../packages/*/src'],
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(settings))
  expect(await tsc(['-p', project])).toBe('')
  rmSync(join(project, 'tsconfig.json'))
  for (const file of globSync('packages/*/src/**/*.d.{ts,cts}')) cpSync(file, join(project, file))
  for (const file of globSync(`${project}/packages/*/src/**/*.d.ts`))
    writeFileSync(file, withUndefined(readFileSync(file, 'utf8')))
  for (const file of globSync('packages/*/package.json')) {
    const manifest = readFileSync(file, 'utf8').replaceAll('./dist/', './src/')
    writeFileSync(join(project, file), manifest)
    const link = join(project, 'node_modules', (JSON.parse(manifest) as { name: string }).name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(resolve(project, dirname(file)), link)
  }
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(project, 'example.ts'), /```ts\n([^]*?)```/.exec(readFileSync('README.md', 'utf8'))![1]!)
  for (const file of strictHosts) cpSync(file, join(project, basename(file)))
}, 600_000)
afterAll(() => rmSync(project, { recursive: true, force: true, maxRetries: 10 }))

const optionsOf = (resolution: string): string[] =>
  `${strictest} ${target} ${resolution} --rootDir ${project} --outDir ${project}/out --ignoreConfig`.split(' ')

test.each(resolutions)('a strict host that checks our declarations compiles with %s', async (resolution) => {
  const files = ['example.ts', ...strictHosts.map((file) => basename(file))].map((name) => join(project, name))
  expect((await tsc([...optionsOf(resolution), ...files])).split('\n').filter((line) => line !== '')).toEqual([])
  const declarations = readFileSync(join(project, 'out/host.d.ts'), 'utf8')
  const foreign = [...declarations.matchAll(/(?:from |import\()['"]([^'"]+)/g)].map(([, name]) => name!)
  expect(foreign.filter((name) => !ownName.test(name))).toEqual([])
})

test('an option by its old name is an error that says the new one', async () => {
  const calls = Object.keys(renamed).map((name) => `createInlay({ ${name}: {} })`)
  const file = join(project, 'old-names.ts')
  writeFileSync(file, ["import { createInlay } from 'inlay'", ...calls].join('\n'))
  const errors = (await tsc([...optionsOf(resolutions[0]!), file])).split('\n').filter((line) => line !== '')
  const expected = Object.values(renamed).map((words, at) => [`old-names.ts(${at + 2},`, `"${words}"`])
  expect(errors.map((error, at) => expected[at]?.every((part) => error.includes(part)))).toEqual(
    expected.map(() => true),
  )
})
