import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createInlay, type Inlay, type InlayOptions } from 'inlay'
import { onTestFinished, vi } from 'vitest'

export const secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD3vXyBQGm1V4=']

export interface Got {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Answer = (response: ServerResponse, index: number, request: IncomingMessage) => void

/** Gives these statuses in turn, then 200; 0 closes the connection. */
export function statuses(...given: readonly number[]): Answer {
  return (response, index, { socket }) => {
    const status = given[index] ?? 200
    if (status === 0) socket.destroy()
    else response.writeHead(status, { 'retry-after': '3600' }).end()
  }
}

/** A receiver of events, until the end of the test. */
export async function receiver(answer: Answer = statuses()): Promise<{ readonly url: string; readonly got: Got[] }> {
  const got: Got[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const index =
        got.push({ path: request.url!, headers: request.headers, body: Buffer.concat(parts).toString() }) - 1
      answer(response, index, request)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  // The address of a server that listens on a port.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, got }
}

export function folder(): string {
  const dataFolder = mkdtempSync(join(tmpdir(), 'inlay-webhooks-'))
  onTestFinished(() => rmSync(dataFolder, { recursive: true, force: true, maxRetries: 10 }))
  return dataFolder
}

export function open(dataFolder: string, options: InlayOptions): Inlay {
  const inlay = createInlay({
    dataFolder,
    egress: { allowHosts: ['127.0.0.1'] },
    worker: { lingerMs: 1 },
    onError: () => {},
    ...options,
  })
  onTestFinished(() => inlay.close())
  return inlay
}

interface Waiting {
  readonly event_id: string
  readonly attempts: number
  readonly due_at: number
  readonly claim: string | null
}

/** Events that wait in the database. */
export function waiting(dataFolder: string): Waiting[] {
  const db = new DatabaseSync(join(dataFolder, 'inlay.db'), { readOnly: true })
  // Columns of the table, of these types.
  const rows = db.prepare('select event_id, attempts, due_at, claim from inlay_outbox').all() as unknown as Waiting[]
  db.close()
  return rows
}

export const accept = (inlay: Inlay, id: string) =>
  inlay.knowledge.accept({ document: { id, sections: [{ text: `Text of ${id}.` }] } }, { waitMs: 60_000 })

export const until = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 20 })
