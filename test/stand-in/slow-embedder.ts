import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

interface SlowEmbedderOptions {
  /** Requests with more texts are held and not answered. */
  readonly maxTexts: number
}

/** A server of embeddings that holds what is too much for it. */
export interface SlowEmbedder {
  /** Base URL for clients, ending in `/v1`. */
  readonly baseUrl: string
  /** Texts of each request. */
  sizes(): number[]
  set(options: SlowEmbedderOptions): void
  /** Answers what is held. */
  answerHeld(): Promise<void>
}

/** Starts one on a free port of the loopback; closed with the test. */
export async function startSlowEmbedder(options: SlowEmbedderOptions): Promise<SlowEmbedder> {
  let { maxTexts } = options
  const sizes: number[] = []
  const held: (() => void)[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    request.on('end', () => {
      const { input } = JSON.parse(body) as { input: string[] }
      sizes.push(input.length)
      const data = input.map((text, index) => ({ index, embedding: [text.length, index, 1, 0] }))
      const answer = (): void => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ object: 'list', data }))
      }
      if (input.length > maxTexts) held.push(answer)
      else answer()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    sizes: () => [...sizes],
    set: (changed) => void ({ maxTexts } = changed),
    answerHeld: async () => {
      for (const answer of held.splice(0)) answer()
    },
  }
}
