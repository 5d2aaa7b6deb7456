/** How much an installed host holds, and what must not be in it. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const maxPackages = 120
/** Bytes beside LanceDB's native part. */
const maxOtherBytes = 60e6
/** Companions of LanceDB that its own package brings. */
const unwanted = /^(@huggingface\/|onnxruntime|sharp$|@img\/|openai$|@lancedb\/lancedb$|apache-arrow$)/
const installScripts = ['preinstall', 'install', 'postinstall']

interface InstalledPackage {
  readonly name: string
  readonly bytes: number
  readonly hasInstallScript: boolean
}

const packageFolder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/

/** Paths of the files below a folder. Links are not followed: with pnpm, all packages are linked. */
function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesBelow(path)
    return entry.isFile() ? [path] : []
  })
}

/** Every package below `node_modules`. */
function installedPackages(project: string): readonly InstalledPackage[] {
  const bytes = new Map<string, number>()
  for (const path of filesBelow(join(project, 'node_modules'))) {
    const folder = packageFolder.exec(path)?.[0]
    if (folder) bytes.set(folder, (bytes.get(folder) ?? 0) + statSync(path).size)
  }
  return [...bytes].flatMap(([folder, size]) => {
    const manifest = join(folder, 'package.json')
    if (!existsSync(manifest)) return []
    const { name, scripts = {} } = JSON.parse(readFileSync(manifest, 'utf8'))
    return [{ name, bytes: size, hasInstallScript: installScripts.some((script) => script in scripts) }]
  })
}

/** Prints size and count of what a host installed, and fails when there is too much of it. */
export function checkSize(label: string, project: string): void {
  const packages = installedPackages(project)
  const bytesOf = (list: readonly InstalledPackage[]): number => list.reduce((sum, { bytes }) => sum + bytes, 0)
  const [all, native] = [bytesOf(packages), bytesOf(packages.filter(({ name }) => name.startsWith('@lancedb/')))]
  const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`
  console.log(`  ${label}: ${packages.length} packages, ${megabytes(all)}, of it LanceDB ${megabytes(native)}`)
  const faults = [
    ...(packages.length > maxPackages ? [`more than ${maxPackages} packages`] : []),
    ...(all - native > maxOtherBytes ? [`more than ${megabytes(maxOtherBytes)} beside LanceDB`] : []),
    ...packages.filter(({ name }) => unwanted.test(name)).map(({ name }) => `${name} is installed`),
    ...packages.filter((each) => each.hasInstallScript).map(({ name }) => `${name} has an install script`),
  ]
  if (faults.length > 0) throw new Error(`${label}: ${faults.join(', ')}`)
}
