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

/** By default V8 lets its young generation grow to 96 MB and never releases it. */
export const leanFlags: readonly string[] = ['--max-semi-space-size=16']

/** Restarts this program with settings that use less memory; does nothing if that is impossible or already done. */
export function startLean(): void {
  const { env, execArgv, execPath, argv, platform } = process
  // Started through a loader, `execPath` is the loader.
  if (!basename(execPath).startsWith('node')) return
  const isSet = Object.keys(leanEnvironment).some((name) => env[name] !== undefined) || env['GLIBC_TUNABLES']
  // A parent that communicates through an IPC channel would lose it.
  if (platform !== 'linux' || isSet || process.channel || typeof process.execve !== 'function') return
  const hasFlag = [...execArgv, env['NODE_OPTIONS'] ?? ''].some((flag) => flag.includes('semi-space-size'))
  const flags = hasFlag ? execArgv : [...leanFlags, ...execArgv]
  try {
    // `execve` would end the process if the program cannot be started.
    accessSync(execPath, constants.X_OK)
    process.execve(execPath, [execPath, ...flags, ...argv.slice(1)], { ...env, ...leanEnvironment })
  } catch {
    // Not permitted: continues without a restart.
  }
}
