import assert from 'node:assert/strict'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { runTool } from './tools.ts'

const chart = 'docs/deploy/chart'

/** Values that must be refused, with what the error says. */
const refusals: readonly (readonly [args: readonly string[], error: RegExp])[] = [
  [['--set', 'mode=several'], /needs INLAY_DATABASE_URL/],
  [['--set', 'mode=several', '--set', 'settings.INLAY_DATABASE_URL=postgres://db/inlay'], /needs INLAY_FILES_URL/],
  [['--set', 'autoscaling.enabled=true'], /autoscaling needs mode: several/],
  [['--set', 'serviceMonitor.enabled=true'], /serviceMonitor needs a key/],
  [['--set', 'ingress.enabled=true'], /'\/ingress\/hosts'/],
  [['--set-json', 'settings={"INLAY_MEMORIES":false}'], /INLAY_MEMORIES': got boolean, want string/],
  [['--set', 'settings.PORT=80'], /invalid propertyName 'PORT'/],
  [['--set', 'secretSettings.INLAY_LOG=json'], /INLAY_LOG is in settings and in secretSettings/],
  [['--set', 'replica=3'], /additional properties 'replica' not allowed/],
]

/** What a set of values must contain, after white space is made one space. */
const contents: Readonly<Record<string, readonly RegExp[]>> = {
  'the default': [/kind: StatefulSet.* replicas: 1 .*volumeClaimTemplates/, /storage: 20Gi/, /kind: NetworkPolicy/],
  several: [
    /kind: Deployment.* maxUnavailable: 0/,
    /image: ghcr\.io\/inlay\/inlay@sha256:/,
    /INLAY_MEMORIES: "?'?off/,
    /kind: Secret .*INLAY_REDIS_URL/,
    /kind: HorizontalPodAutoscaler/,
    /kind: PodDisruptionBudget/,
    /policyTypes: \[Ingress, Egress\]/,
  ],
  'ingress-and-monitoring': [
    /kind: Ingress .*host: "docs\.example\.com"/,
    /path: \/assistant\/api\/health\/ready/,
    /path: \/assistant\/api\/metrics .*credentials: \{ name: try-inlay, key: INLAY_API_KEY \}/,
  ],
  existing: [/replicas: 3/, /secretRef: \{ name: inlay-keys \}/, /key: METRICS_KEY/, /serviceAccountName: assistant/],
  claim: [/claimName: old-data/, /type: LoadBalancer/, /mountPath: \/models/],
}

const render = (args: readonly string[]): string => runTool('helm', ['template', 'try', chart, ...args])

/** Lints the chart, and checks what it makes of several sets of values against the schemas of Kubernetes. */
export function checkChart(): string {
  runTool('helm', ['lint', '--strict', chart])
  const folder = mkdtempSync(join(tmpdir(), 'inlay-chart-'))
  const files = ['', ...globSync('test/deploy/values/*.yaml').toSorted()]
  let resources = 0
  try {
    for (const file of files) {
      const name = file === '' ? 'the default' : basename(file, '.yaml')
      const text = render(file === '' ? [] : ['--values', file])
      const line = text.replace(/\s+/g, ' ')
      for (const form of contents[name] ?? [/^$/]) assert.match(line, form, name)
      const documents = text.split(/^---$/m).filter((document) => /^kind: /m.test(document))
      resources += documents.length
      // The schemas are of Kubernetes itself: a ServiceMonitor is not among them.
      const native = documents.filter((document) => !/^kind: ServiceMonitor$/m.test(document))
      writeFileSync(join(folder, `${name}.yaml`), native.join('---'))
    }
    const rendered = globSync(join(folder, '*.yaml'))
    for (const version of ['1.27', '1.37'])
      runTool('kubernetes-validate', ['--strict', '--quiet', '--kubernetes-version', version, ...rendered])
  } finally {
    rmSync(folder, { recursive: true })
  }
  for (const [args, error] of refusals) assert.throws(() => render(args), error)
  return `${resources} resources of ${files.length} sets of values are valid, ${refusals.length} sets are refused`
}
