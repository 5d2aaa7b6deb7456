import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInlay, type Inlay } from 'inlay'
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
  /** Calls as administrator unless another key is named. Every body has to be JSON. */
  call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: object | FormData,
    key?: string,
  ): Promise<Answered<Body>>
}

export const adminKey = 'the-key-of-the-administrator'

export async function newInstallation(): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'inlay-administration-'))
  const errors: unknown[] = []
  const inlay = createInlay({
    dataFolder: folder,
    apiKey: adminKey,
    ingestionWaitMs: 5000,
    onError: (error) => errors.push(error),
  })
  onTestFinished(async () => {
    await inlay.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    inlay,
    errors,
    async call(method, path, body, key = adminKey) {
      const init = body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }
      const headers = { authorization: `Bearer ${key}` }
      const response = await inlay.fetch(new Request(`http://host.example/api${path}`, { method, headers, ...init }))
      return { status: response.status, body: (await response.json()) as never }
    },
  }
}
