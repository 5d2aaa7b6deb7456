/**
 * Checks the files of docs/deploy without a container or a cluster. The image is built and run at night
 * (`npm run -w test/rigs check:image`).
 *
 *   npm run check:deploy
 *
 * A tool that cannot be installed is named, and what it checks is skipped.
 */
import { checkChart } from './chart.ts'
import { checkCompose, checkPrometheus } from './compose.ts'
import { hasTool, runTool, type Tool } from './tools.ts'
import { checkUnit } from './unit.ts'

const checks: readonly (readonly [what: string, tools: readonly Tool[], check: () => string])[] = [
  ['the Containerfile', ['hadolint'], () => runTool('hadolint', ['docs/deploy/image/Containerfile']) || 'no remarks'],
  ['the chart', ['helm', 'kubernetes-validate'], checkChart],
  ['the compose files', ['compose-spec'], checkCompose],
  ['the settings of Prometheus', ['promtool'], checkPrometheus],
  ['the unit of systemd', ['systemd-analyze'], checkUnit],
]

for (const [what, tools, check] of checks) {
  const missing = tools.find((tool) => !hasTool(tool))
  console.log(`  ${what}: ${missing === undefined ? check() : `not checked, since there is no ${missing}`}`)
}
