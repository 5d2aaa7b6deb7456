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
      destroy: () => Object.assign(client, { isReady: false, isDestroyed: true }),
    }
    server.clients.push(client as unknown as (typeof server.clients)[number])
    return client as unknown as RedisClient
  }
  return { server, createClient }
}

const patience = { answerMs: 10, restMs: 0, reachMs: 20 }
const unavailable = { code: 'SERVICE_UNAVAILABLE' }

test('a silent server rejects callers, drops what waits on its connection, and is reached again', async () => {
  const { server, createClient } = createServer()
  const connection = createConnection(createClient, patience)
  const first = await connection.client()
  expect(await connection.client()).toBe(first)
  server.isSilent = true
  await expect(connection.client()).rejects.toMatchObject(unavailable)
  expect(server.clients[0]!.isDestroyed).toBe(true)
  await expect(connection.client()).rejects.toMatchObject(unavailable)
  server.isSilent = false
  // The client that was made meanwhile waits for an answer that never comes; another one takes its place.
  await expect
    .poll(() =>
      connection
        .client()
        .then((client) => client.isReady)
        .catch(() => false),
    )
    .toBe(true)
  expect(server.clients.filter(({ isDestroyed }) => !isDestroyed)).toHaveLength(1)
})

test('callers at once ask the server once', async () => {
  const { server, createClient } = createServer()
  const connection = createConnection(createClient, { ...patience, answerMs: 60_000 })
  const client = await connection.client()
  let pings = 0
  const { promise, resolve } = Promise.withResolvers<unknown>()
  Object.assign(client, { ping: () => (pings++, promise) })
  const waiting = Promise.all([connection.client(), connection.client(), connection.client()])
  await expect.poll(() => pings).toBe(1)
  resolve('PONG')
  expect(await waiting).toEqual([client, client, client])
  expect([pings, server.clients.length]).toEqual([1, 1])
})
