import manifest from '../../package.json' with { type: 'json' }
import { createRepetitions, type LogEntry } from '../log.ts'
import { readEnvironment } from '../settings/environment.ts'
import type { CommandContext } from './command.ts'

/** Longest wait for a collector that does not answer, in milliseconds. */
const endMs = 3_000

/** Starts OpenTelemetry if `OTEL_EXPORTER_OTLP_ENDPOINT` is set, and telemetry is not turned off. */
export async function serveTelemetry({ settings, output }: CommandContext): Promise<{
  readonly log: ((entry: LogEntry) => void) | undefined
  readonly isOn: boolean
  end(): Promise<unknown>
}> {
  const { log, telemetry: isOn = true } = settings.options
  const variables = Object.entries(readEnvironment()).filter(([name, value]) => name.startsWith('OTEL_') && value)
  const env = Object.fromEntries(variables)
  if (!isOn || env['OTEL_EXPORTER_OTLP_ENDPOINT'] === undefined || env['OTEL_SDK_DISABLED'] === 'true')
    return { log, isOn, end: async () => {} }
  // The SDK reads the variables of the process, and some may come from a file.
  Object.assign(process.env, env)
  const note = (report: string): void => (log ? log({ event: 'note', report }) : output.note(report))
  const repetitions = createRepetitions(note)
  const { startOtlp } = await import('@inlay/telemetry/otlp')
  const otlp = await startOtlp(manifest.version, (line) => (repetitions.isFirst(line) ? note(line) : undefined))
  if (!otlp) return { log, isOn, end: async () => {} }
  const write = (entry: LogEntry): void => {
    otlp.log(entry)
    if (log) log(entry)
    else if ('report' in entry) output.note(`inlay: ${entry.report}`)
  }
  const end = async (): Promise<void> => {
    // The SDK goes on trying, which keeps the process up.
    if (!(await otlp.shutdown(endMs))) setTimeout(() => process.exit(), 1_000).unref()
  }
  return { log: write, isOn, end }
}
