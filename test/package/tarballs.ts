/**
 * Packs every package, checks each tarball, installs them as hosts do, with npm and pnpm, and runs the README's mounting
 * example there on each supported Node. Needs the build and the registry, so it is a check and not a test.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { note } from '../bench/figures.ts'
import { checkBundles } from './bundles.ts'
import { checkCommonJs, checkRunners, checkTypes, checkWithoutLancedb } from './host-checks.ts'
import { checkSize } from './install-size.ts'
import {
  askAbout,
  freePort,
  inFolder,
  install,
  installHost,
  pack,
  run,
  serve,
  until,
  type Packed,
} from './installation.ts'

const nodes = process.argv[2]?.split(',') ?? ['22.18.0', '24.21.0']
const key = 'inlay_tarball_check_key_0123456789'

/** Packs and checks. */
function checkedTarballs(work: string): readonly Packed[] {
  const packed = pack(work)
  for (const { name, file, entries, bytes } of packed) {
    run('publint', ['run', file, '--strict'])
    run('attw', [file, '--profile', 'esm-only', '--format', 'ascii'])
    const kilobytes = Math.round(bytes / 1000)
    note(`packed kB, ${name}`, kilobytes)
    console.log(`  ${name}: ${entries} files, ${kilobytes} kB packed`)
  }
  return packed
}

/** The README's first TypeScript block is the mounting example: what a newcomer pastes is what runs here. */
function mountingExample(): string {
  const block = /```ts\n(?<code>[\s\S]*?)```/.exec(readFileSync('README.md', 'utf8'))?.groups?.['code']
  if (!block) throw new Error('README.md has no ```ts block to mount')
  return block
}

async function mount(version: string, node: string, project: string): Promise<void> {
  const port = await freePort()
  const example = mountingExample().replace('listen(3000)', `listen(${port})`)
  if (!example.includes(String(port))) throw new Error('the example does not listen on 3000')
  writeFileSync(join(project, `app-${version}.js`), example)
  const serving = serve(node, [`app-${version}.js`], project, { INLAY_API_KEY: key })
  try {
    const answer = await askAbout(`http://127.0.0.1:${port}/api`, key)
    console.log(`  Node ${version}: the README's example answers: ${answer}`)
  } catch (error) {
    console.error(serving.output())
    throw error
  } finally {
    await serving.end()
  }
}

/** The installed command serves the page that ships with it. */
async function servePage(version: string, node: string, project: string): Promise<void> {
  const command = join(project, 'node_modules/inlay/dist/cli.js')
  const words = [command, 'serve', '--port', '0', '--json', '--data', join(project, `served-${version}`)]
  const serving = serve(node, words, project, {})
  try {
    const { address } = await until('inlay serve', async () => {
      const line = serving
        .output()
        .split('\n')
        .find((item) => item.startsWith('{'))
      return line === undefined ? undefined : (JSON.parse(line) as { address: string })
    })
    const page = await (await fetch(address)).text()
    const script = /src="([^"]+\.js)"/.exec(page)?.[1]
    if (script === undefined || !(await fetch(new URL(script, address))).ok)
      throw new Error(`no page at ${address}: ${page}`)
    const chat = await (await fetch(new URL('/api/inlay-chat.js', address))).arrayBuffer()
    const bytes = gzipSync(new Uint8Array(chat), { level: 9 }).length
    if (chat.byteLength < 20_000 || bytes > 40_000) throw new Error(`inlay-chat.js takes ${bytes} bytes, compressed`)
    console.log(`  Node ${version}: inlay serve shows its page, and inlay-chat.js takes ${bytes} bytes, compressed`)
  } finally {
    await serving.end()
  }
}

await inFolder('tarballs', async (work) => {
  console.log('tarballs')
  const packed = checkedTarballs(work)
  const project = join(work, 'npm')
  installHost(project, packed, { manager: 'npm' })
  checkSize('npm install inlay', project)
  installHost(join(work, 'pnpm'), packed, { manager: 'pnpm' })
  checkSize('pnpm add inlay', join(work, 'pnpm'))
  checkWithoutLancedb(join(work, 'small'), packed)
  checkTypes(join(work, 'types'), packed, mountingExample())
  for (const version of nodes) {
    install(join(work, `node-${version}`), [`node@${version}`])
    const node = join(work, `node-${version}`, 'node_modules/node/bin/node')
    await mount(version, node, project)
    await servePage(version, node, project)
    checkCommonJs(project, node)
  }
  checkRunners(join(work, 'runners'), packed)
  await checkBundles(join(work, 'bundles'), packed, process.execPath)
})
