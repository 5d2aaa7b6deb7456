/**
 * Packs every package, installs `inlay` into an empty project, then Mastra beside it; prints how many packages each
 * brings and their size. Needs the build and the registry.
 *
 *   npm run build && node --conditions=@inlay/source test/package/install-size.ts
 */
import { globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inFolder, install, pack } from './installation.ts'

function sizeLine(project: string): string {
  const folder = join(project, 'node_modules')
  const manifests = globSync('**/node_modules/{*,@*/*}/package.json', { cwd: project }).filter((file) => {
    const { name, version } = JSON.parse(readFileSync(join(project, file), 'utf8')) as Record<string, string>
    return name !== undefined && version !== undefined
  })
  let bytes = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size
  const hasMastra = manifests.some((file) => file.includes('@mastra/core/'))
  return `${manifests.length} packages, ${Math.round(bytes / 1e6)} MB, ${hasMastra ? 'with' : 'without'} @mastra/core`
}

await inFolder('size', async (work) => {
  const packed = pack(work)
  const own = packed.filter(({ name }) => name !== '@inlay/mastra').map(({ file }) => file)
  install(join(work, 'plain'), own)
  console.log(`npm install inlay: ${sizeLine(join(work, 'plain'))}`)
  install(join(work, 'mastra'), [...packed.map(({ file }) => file), '@mastra/core@1.71.0'])
  console.log(`npm install inlay @inlay/mastra @mastra/core: ${sizeLine(join(work, 'mastra'))}`)
})
