import type { Command } from './command.ts'
import { commandTable } from './command-table.ts'
import { withInlay } from './with-inlay.ts'
import { option } from './shared-options.ts'

export const serve: Command = {
  ...commandTable.serve,
  isLocal: 'inlay serve is the server; set its address with --host and --port',
  details: ['Ctrl+C stops the server after everything is written. Settings: inlay help settings.'],
  words: [0, 0],
  options: {
    port: option('number', 'port; 0 for any free port (default: PORT, otherwise 3000)'),
    host: option('name', 'name or address to listen on (default: HOST, otherwise 127.0.0.1)'),
  },
  async run(context) {
    const { serveTelemetry } = await import('./serve-telemetry.ts')
    const { log, isOn: telemetry, end } = await serveTelemetry(context)
    try {
      const { serveUntilInterrupted } = await import('./serve-until-interrupted.ts')
      const {
        findsLocalModels: localModels,
        options: { retention },
      } = context.settings
      const options = { onError: undefined, log, telemetry, localModels, retention }
      return await withInlay(context, (inlay) => serveUntilInterrupted(context, inlay, log), options)
    } finally {
      await end()
    }
  },
}
