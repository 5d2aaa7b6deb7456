import assert from 'node:assert/strict'
import { runTool } from './tools.ts'

const unit = 'docs/deploy/systemd/inlay.service'
/** Of ten; ten is a service without any protection. */
const maxExposure = 1.5

/** Checks the words of the unit, and how much of the system a broken into process would reach. */
export function checkUnit(): string {
  // Fails on warnings, too.
  runTool('systemd-analyze', ['verify', '--recursive-errors=no', unit])
  const report = runTool('systemd-analyze', ['security', '--offline=true', '--no-pager', unit])
  const exposure = Number(/exposure level for inlay\.service: ([\d.]+)/.exec(report)?.[1])
  assert(exposure <= maxExposure, report)
  return `verified, exposure ${exposure} of 10`
}
