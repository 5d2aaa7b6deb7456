import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import { onTestFinished } from 'vitest'

/** An answer, read. */
export interface Answered<Body> {
  readonly status: number
  readonly body: Body
}

/** A whole assistant that clients call over HTTP, as they are written for the reference service. */
export interface Installation {
  readonly inlay: Inlay
  readonly errors: unknown[]
  /** Ends it and opens it again over what it kept; `inlay` stays the one that was ended. */
  restart(): Promise<void>
  /** Calls as administrator unless another key is named. Every body has to be JSON. */
  call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: object | FormData,
    key?: string,
  ): Promise<Answered<Body>>
}

export const adminKey = 'the-key-of-the-administrator'

export async function newInstallation(options: InlayOptions = {}): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-administration-'))
  const errors: unknown[] = []
  const open = (): Inlay =>
    createInlay({
      dataFolder: folder,
      apiKey: adminKey,
      ingestionWaitMs: 60_000,
      onError: (error) => errors.push(error),
      ...options,
    })
  const inlay = open()
  let current = inlay
  onTestFinished(async () => {
    await current.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  return {
    inlay,
    errors,
    async restart() {
      await current.close()
      current = open()
    },
    async call(method, path, body, key = adminKey) {
      const init = body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }
      const headers = { authorization: `Bearer ${key}` }
      const response = await current.fetch(new Request(`http://host.example/api${path}`, { method, headers, ...init }))
      return { status: response.status, body: (await response.json()) as never }
    },
  }
}
