import { EventEmitter } from 'node:events'
import { createConnection } from '@inlay/drivers/internal/redis/connection'
import type { RedisClient } from '@inlay/drivers/internal/redis/client'
import { expect, test } from 'vitest'

/** Clients of a server that can fall silent, as those of `redis` behave then. */
function createServer() {
  const server = { isSilent: false, clients: [] as (RedisClient & { isDestroyed: boolean })[] }
  const createClient = async (): Promise<RedisClient> => {
    const events = new EventEmitter()
    const client = {
      isReady: false,
      isDestroyed: false,
      on: events.on.bind(events),
      once: events.once.bind(events),
      connect: async () => {
        if (server.isSilent) return new Promise(() => {})
        client.isReady = true
        return events.emit('ready')
      },
      ping: () => (server.isSilent ? new Promise(() => {}) : Promise.resolve('PONG')),
      destroy: () => {
        if (client.isDestroyed) throw new Error('The client is closed')
        Object.assign(client, { isReady: false, isDestroyed: true })
      },
    }
    server.clients.push(client as unknown as (typeof server.clients)[number])
    return client as unknown as RedisClient
  }
  return { server, createClient }
}

const patience = { quietMs: 5, answerMs: 20, reachMs: 40 }
const unavailable = { code: 'SERVICE_UNAVAILABLE' }

test('a silent server has what waits for it rejected, and is reached again', async () => {
  const { server, createClient } = createServer()
  const connection = createConnection(createClient, patience)
  const first = await connection.client()
  server.isSilent = true
  expect(await connection.client()).toBe(first)
  // Ends what was sent and not answered.
  await expect.poll(() => server.clients[0]!.isDestroyed).toBe(true)
  await expect(connection.client()).rejects.toMatchObject(unavailable)
  server.isSilent = false
  // The client that was made meanwhile waits for an answer that never comes; another one takes its place.
  await expect
    .poll(() =>
      connection
        .client()
        .then(({ isReady }) => isReady)
        .catch(() => false),
    )
    .toBe(true)
  expect(server.clients.filter(({ isDestroyed }) => !isDestroyed)).toHaveLength(1)
  await connection.close()
})

test('a server that answers is asked once for many uses, and keeps its client', async () => {
  const { server, createClient } = createServer()
  const connection = createConnection(createClient, { ...patience, answerMs: 60_000 })
  const client = await connection.client()
  let pings = 0
  const { promise, resolve } = Promise.withResolvers<unknown>()
  Object.assign(client, { ping: () => (pings++, promise) })
  await expect.poll(() => pings).toBe(1)
  expect(await Promise.all([connection.client(), connection.client()])).toEqual([client, client])
  resolve('PONG')
  await promise
  expect(await connection.client()).toBe(client)
  expect([pings, server.clients.length]).toEqual([1, 1])
  await connection.close()
})

test('callers that give a server up at the same time end one client once', async () => {
  const { server, createClient } = createServer()
  server.isSilent = true
  const connection = createConnection(createClient, { ...patience, reachMs: 0 })
  const calls = await Promise.allSettled([connection.client(), connection.client(), connection.client()])
  expect(calls).toEqual(calls.map(() => ({ status: 'rejected', reason: expect.objectContaining(unavailable) })))
  expect(server.clients.map(({ isDestroyed }) => isDestroyed)).toEqual([true])
})
