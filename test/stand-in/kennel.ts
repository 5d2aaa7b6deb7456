import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { kennelDocument } from '../conversations/custom-tools/kennel.ts'

/** A request that reached the kennel. */
export interface KennelRequest {
  readonly request: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A service with an OpenAPI document: dogs in JSON, as CSV and as a picture; it wants a key. */
export interface Kennel {
  readonly origin: string
  /** Address of its OpenAPI document. */
  readonly document: string
  readonly requests: readonly KennelRequest[]
  close(): Promise<void>
}

// One transparent pixel.
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** Starts it on a free port of this machine. */
export async function startKennel(): Promise<Kennel> {
  const requests: KennelRequest[] = []
  const dogs = new Map([['7', { id: 7, name: 'Rex' }]])
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const body = Buffer.concat(parts).toString()
      const { pathname, searchParams } = new URL(request.url ?? '/', origin)
      const say = (status: number, type: string, content: string | Buffer): unknown =>
        response.writeHead(status, { 'content-type': type }).end(content)
      const json = (status: number, value: unknown): unknown => say(status, 'application/json', JSON.stringify(value))
      if (pathname === '/openapi.json') return json(200, kennelDocument(`${origin}/v1`))
      requests.push({ request: `${request.method} ${request.url}`, headers: request.headers, body })
      if (request.headers['x-kennel-key'] !== 'bone') return json(401, { message: 'Who are you?' })
      const dog = dogs.get(decodeURIComponent(pathname.slice('/v1/dogs/'.length)))
      if (request.method === 'POST') return json(201, { id: 8, ...(JSON.parse(body) as object) })
      if (searchParams.getAll('state').includes('csv')) return say(200, 'text/csv', 'id,name\n7,Rex\n')
      if (searchParams.getAll('state').includes('picture')) return say(200, 'image/png', picture)
      if (pathname === '/v1/dogs') return json(200, [...dogs.values()])
      return dog ? json(200, dog) : json(404, { message: 'No such dog.' })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    document: `${origin}/openapi.json`,
    requests,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
