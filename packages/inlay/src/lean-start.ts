import { accessSync, constants } from 'node:fs'
import { basename } from 'node:path'

/**
 * Settings read by glibc at process start. By default each of some thirty index threads gets its own arena and keeps
 * freed memory, which doubles the memory left after ingesting many documents. Other allocators ignore it.
 */
export const leanEnvironment: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '1048576',
  MALLOC_TRIM_THRESHOLD_: '1048576',
}

/** V8 would let its young generation grow to 96 MB and never give that back. */
export const leanFlags: readonly string[] = ['--max-semi-space-size=16']

/** Replaces this program by itself, started with less memory; does nothing where that cannot be, or is set already. */
export function startLean(): void {
  const { env, execArgv, execPath, argv, platform } = process
  // Started through a loader, this is the loader.
  if (!basename(execPath).startsWith('node')) return
  const isSet = Object.keys(leanEnvironment).some((name) => env[name] !== undefined) || env['GLIBC_TUNABLES']
  // A parent that talks to this process by a channel would lose it.
  if (platform !== 'linux' || isSet || process.channel || typeof process.execve !== 'function') return
  const hasFlag = [...execArgv, env['NODE_OPTIONS'] ?? ''].some((flag) => flag.includes('semi-space-size'))
  const flags = hasFlag ? execArgv : [...leanFlags, ...execArgv]
  try {
    // A program that cannot be started would end the process.
    accessSync(execPath, constants.X_OK)
    process.execve(execPath, [execPath, ...flags, ...argv.slice(1)], { ...env, ...leanEnvironment })
  } catch {
    // Not permitted: it runs as it was started.
  }
}
