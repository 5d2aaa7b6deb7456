import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Environment } from './environment.ts'

/** Ends the name of a variable that names a file with the value. */
export const fileSuffix = '_FILE'

/** Files by the secret that was read from them: options carry secrets as plain texts. */
const files = new Map<string, string>()

/** Adds the secrets that are in files to the environment. Adds errors to `faults`. */
export function withSecretFiles(env: Environment, names: readonly string[], faults: string[]): Environment {
  const secrets: Record<string, string> = {}
  for (const name of names) {
    const path = env[name + fileSuffix]?.trim()
    if (!path) continue
    const fault = (what: string): unknown => faults.push(`${name}${fileSuffix}: ${what}.`)
    if (env[name]?.trim()) fault(`${name} is set, too; set only one of them`)
    else
      try {
        const secret = withoutNewline(readFileSync(path, 'utf8'))
        if (secret.trim() === '') fault(`the file ${path} is empty`)
        secrets[name] = secret
        files.set(secret.trim(), path)
      } catch (error) {
        // Node's errors have a `code`.
        fault(`the file ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`)
      }
  }
  return { ...env, ...secrets }
}

const withoutNewline = (text: string): string => text.replace(/\r?\n$/, '')

/**
 * What the file of a secret holds now. The secret itself if it came from no file, or while the file cannot be read, as
 * in the moment it is replaced.
 */
export async function currentSecret(secret: string): Promise<string> {
  const path = files.get(secret)
  if (path === undefined) return secret
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.trim() || secret
}

/** Reads the password of a database URL for each connection; undefined if the URL came from no file. */
export function passwordOf(url: string): (() => Promise<string>) | undefined {
  if (!files.has(url)) return undefined
  // The error of a wrong URL would hold the password.
  return async () => decodeURIComponent((URL.parse(await currentSecret(url)) ?? new URL(url)).password)
}

/** A `fetch` that sends what the file of a key holds now; undefined if the key came from no file. */
export function fetchWithCurrent(key: string | undefined): typeof globalThis.fetch | undefined {
  if (key === undefined || !files.has(key)) return undefined
  return async (input, init) => {
    const current = await currentSecret(key)
    const headers = [...new Headers(init?.headers)].map(([name, value]): [string, string] => [
      name,
      value.replaceAll(key, () => current),
    ])
    // oxlint-disable-next-line eslint/no-restricted-properties -- the address of a model, which the operator chose
    return globalThis.fetch(input, { ...init, headers })
  }
}
