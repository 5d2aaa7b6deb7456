import { existsSync } from 'node:fs'
import { mkdir, rmdir } from 'node:fs/promises'
import { chromium, type Browser } from 'playwright-core'
import { until } from '../package/installation.ts'

/** Paths of installed Chromium browsers. */
const installed = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome-stable',
  '/usr/bin/google-chrome',
  '/usr/bin/microsoft-edge',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
]

/** A browser, or why none can be had here. */
export type BrowserOrReason = { readonly browser: Browser } | { readonly reason: string }

/**
 * Launches a browser: the one named by CHROME_PATH, an installed one, or the one that comes as an npm package with the
 * libraries it needs (Linux on x64).
 */
export async function launchBrowser(flags: readonly string[] = []): Promise<BrowserOrReason> {
  const reasons: string[] = []
  for (const find of [findInstalled, findPackaged]) {
    try {
      const executable = await find()
      if (executable !== undefined) return { browser: await launch(executable, flags) }
    } catch (error) {
      reasons.push(String(error).split('\n')[0] ?? '')
    }
  }
  return { reason: reasons.length > 0 ? reasons.join('; ') : 'no Chromium is installed; name one by CHROME_PATH' }
}

interface Found {
  readonly path: string
  readonly env: NodeJS.Dict<string>
}

async function findInstalled(): Promise<Found | undefined> {
  const path = process.env.CHROME_PATH ?? installed.find((candidate) => existsSync(candidate))
  return path === undefined ? undefined : { path, env: process.env }
}

async function findPackaged(): Promise<Found | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  const before = { AWS_EXECUTION_ENV: process.env.AWS_EXECUTION_ENV, TMPDIR: process.env.TMPDIR }
  // The package unpacks its shared libraries only where it believes to be on the platform it was made for, and its font
  // settings name /tmp.
  Object.assign(process.env, { AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x', TMPDIR: '/tmp' })
  try {
    const { default: packaged } = await import('@sparticuz/chromium')
    const path = await inTurn('/tmp/inlay-chromium.lock', () => packaged.executablePath())
    return { path, env: { ...process.env, TMPDIR: before.TMPDIR } }
  } finally {
    for (const [name, value] of Object.entries(before))
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  }
}

/** The package takes for whole what another process is still unpacking; such a browser starts without fonts. */
async function inTurn<Result>(lock: string, work: () => Promise<Result>): Promise<Result> {
  await until('the lock', () => mkdir(lock).then(() => true), 60_000).catch(() => undefined)
  try {
    return await work()
  } finally {
    // A process that was killed leaves its lock.
    await rmdir(lock).catch(() => undefined)
  }
}

function launch({ path, env }: Found, flags: readonly string[]): Promise<Browser> {
  return chromium.launch({
    executablePath: path,
    headless: true,
    env: Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined)),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...flags,
    ],
  })
}
