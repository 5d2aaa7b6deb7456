/** Uses the installed packages as other kinds of hosts do: strict types, CommonJS, test runners, no LanceDB. */
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { installHost, run, type Packed } from './installation.ts'
import { checkSize } from './install-size.ts'

/** Sources of strict hosts, compiled against the declarations as they are packed. */
export const strictHosts: readonly string[] = globSync('test/package/strict-host/*.ts')
export const strictest = '--strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes --declaration'
/** Packages that declarations of a host may name: its dependencies. */
export const ownName: RegExp = /^(?:inlay|@inlay\/conformance)(?:\/|$)/
export const target = '--skipLibCheck false --target es2024 --types node'
export const resolutions: readonly string[] = [
  '--module nodenext',
  '--module node16',
  '--module esnext --moduleResolution bundler',
]

/** Compiles a host under the strictest settings. It is linked by pnpm, so declarations may name what it depends on alone. */
export function checkTypes(project: string, packed: readonly Packed[], example: string): void {
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  // Conformance tests are installed on their own, beside `inlay`.
  const conformance = packed.find(({ name }) => name === '@inlay/conformance')
  const schemas = ['@valibot/to-json-schema', 'arktype', 'valibot', 'zod'].map((name) => [name, devDependencies[name]])
  const dependencies = {
    typescript: '5.9.3',
    '@types/node': '24.10.1',
    ...Object.fromEntries(schemas),
    '@inlay/conformance': `file:${conformance?.file}`,
  }
  installHost(project, packed, { manager: 'pnpm', dependencies })
  writeFileSync(join(project, 'example.ts'), example)
  for (const file of strictHosts) cpSync(file, join(project, basename(file)))
  const files = ['example.ts', ...strictHosts.map((file) => basename(file))]
  for (const resolution of resolutions)
    run('node_modules/.bin/tsc', [...`${strictest} ${target} --outDir out ${resolution}`.split(' '), ...files], {
      cwd: project,
    })
  const declarations = readFileSync(join(project, 'out/host.d.ts'), 'utf8')
  const foreign = [...declarations.matchAll(/(?:from |import\()['"]([^'"]+)/g)].map(([, name]) => name!)
  const unnamed = foreign.filter((name) => !ownName.test(name))
  if (unnamed.length > 0) throw new Error(`declarations of a host name ${unnamed.join(', ')}`)
  console.log('  types: clean for strict hosts of bundlers, nodenext and node16')
}

/** A host whose package manager left out optional dependencies: small, with errors that name the missing package. */
export function checkWithoutLancedb(project: string, packed: readonly Packed[]): void {
  installHost(project, packed, { manager: 'npm', args: ['--omit=optional'] })
  checkSize('npm install inlay --omit=optional', project)
  const start = `import { createInlay } from 'inlay'; await createInlay().start()`
  const { stderr } = spawnSync('node', ['--input-type=module', '-e', start], { cwd: project, encoding: 'utf8' })
  const message = /LanceDB cannot be loaded.*npm install @lancedb\/lancedb-\S+@[\d.]+.*/.exec(stderr)?.[0]
  if (message === undefined) throw new Error(`what is missing is not told:\n${stderr}`)
  console.log(`  without LanceDB: ${message}`)
}

/** CommonJS apps can `require` it. */
export function checkCommonJs(project: string, node: string): void {
  const app = "const { createInlay } = require('inlay'); console.log(typeof createInlay)"
  writeFileSync(join(project, 'app.cjs'), app)
  if (run(node, ['app.cjs'], { cwd: project }).trim() !== 'function') throw new Error('require gives no createInlay')
  console.log('  CommonJS: require works')
}

/** Runs the tests of the page on tests, each in its runner, as a reader who copies them does. */
export function checkRunners(project: string, packed: readonly Packed[]): void {
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  const { express, vitest } = devDependencies
  installHost(project, packed, {
    manager: 'npm',
    dependencies: { express, vitest, jest: '30.5.2', supertest: '7.3.2' },
  })
  const page = readFileSync('docs/1.guide/22.testing.md', 'utf8')
  for (const [, name, code] of page.matchAll(/^```js \[(\S+)\]\n([^]*?)^```/gm)) {
    mkdirSync(dirname(join(project, name!)), { recursive: true })
    writeFileSync(join(project, name!), code!)
  }
  const env = { ...process.env, NODE_OPTIONS: '--experimental-vm-modules' }
  run('npx', ['vitest', 'run', '--dir', 'vitest'], { cwd: project })
  // Jest gives a test five seconds, which a busy machine takes to index.
  run('npx', ['jest', 'jest/', '--testTimeout=120000'], { cwd: project, env })
  run(process.execPath, ['--test', 'node/app.test.js'], { cwd: project })
  console.log('  tests of the docs: pass in Vitest, Jest and node:test')
}
