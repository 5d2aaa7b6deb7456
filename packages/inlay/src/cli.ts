#!/usr/bin/env node
import { runCommandLine } from './cli/command-line.ts'
import { readEnvironment } from './settings/environment.ts'

// Whoever reads us (`inlay … | head`) has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

const interruption = new AbortController()
process.once('SIGINT', () => interruption.abort())
process.once('SIGTERM', () => interruption.abort())

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: readEnvironment,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: interruption.signal,
})
