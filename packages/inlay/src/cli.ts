#!/usr/bin/env node
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { startLean } from './lean-start.ts'

// Before anything else is loaded, since a restart would load it twice.
if (process.argv[2] === 'serve') startLean()

// Compiled code is kept for the next call: a fifth of the CPU time of a short command. Not every runtime has it. In a
// folder of the user: in the shared temporary folder, others could put code there.
module.enableCompileCache?.(join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'inlay'))

// A closed pipe (`inlay … | head`) ends the program.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

const interruption = new AbortController()
process.once('SIGINT', () => interruption.abort())
process.once('SIGTERM', () => interruption.abort())

const { runCommandLine } = await import('./cli/command-line.ts')
const { readEnvironment } = await import('./settings/environment.ts')
process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: readEnvironment,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: interruption.signal,
})
// Whatever the command has not waited for, such as a query behind a lock, ends with it.
if (interruption.signal.aborted) process.exit()
