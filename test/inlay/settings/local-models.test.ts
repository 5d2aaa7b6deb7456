import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { findLocalModels, localModelLines } from 'inlay/internal/settings/local-models'
import { afterEach, expect, test } from 'vitest'

const open: Server[] = []
afterEach(() => {
  for (const server of open.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

/** A server that answers one path; `undefined` never answers. */
async function serving(path: string, answer: unknown): Promise<{ port: number; requests: string[] }> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    if (answer === undefined) return
    const isKnown = request.url === path
    response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' })
    response.end(isKnown ? JSON.stringify(answer) : '{}')
  }).listen(0, '127.0.0.1')
  open.push(server)
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, requests }
}

/** A port where nobody listens. */
async function closedPort(): Promise<number> {
  const { port } = await serving('/', {})
  const server = open.pop()!
  server.close()
  await once(server, 'close')
  return port
}

// Responses from the documentation of each server.
const ollama = {
  models: [
    {
      name: 'nomic-embed-text:latest',
      model: 'nomic-embed-text:latest',
      size: 274302450,
      details: { format: 'gguf', family: 'nomic-bert', families: ['nomic-bert'], parameter_size: '137M' },
    },
    {
      name: 'gemma3',
      model: 'gemma3',
      modified_at: '2025-10-03T23:34:03.409490317-07:00',
      size: 3338801804,
      details: { format: 'gguf', family: 'gemma', families: ['gemma'], parameter_size: '4.3B' },
    },
  ],
}
const lmStudio = {
  object: 'list',
  data: [
    { id: 'qwen2-vl-7b-instruct', object: 'model', type: 'vlm', state: 'not-loaded', max_context_length: 32768 },
    { id: 'meta-llama-3.1-8b-instruct', object: 'model', type: 'llm', state: 'loaded', max_context_length: 131072 },
    { id: 'text-embedding-nomic-embed-text-v1.5', object: 'model', type: 'embeddings', state: 'not-loaded' },
  ],
}
const llamaCpp = {
  object: 'list',
  data: [{ id: '../models/qwen2.5-1.5b.gguf', object: 'model', owned_by: 'llamacpp', meta: { n_ctx_train: 32768 } }],
}

test('servers of this machine are found by their lists, and nothing else is requests of them', async () => {
  const servers = {
    ollama: await serving('/api/tags', ollama),
    lmStudio: await serving('/api/v0/models', lmStudio),
    llamaCpp: await serving('/v1/models', llamaCpp),
  }
  const ports = { ollama: servers.ollama.port, lmStudio: servers.lmStudio.port, llamaCpp: servers.llamaCpp.port }
  expect(await findLocalModels({ ports, timeoutMs: 5000 })).toEqual([
    { name: 'Ollama', baseUrl: `http://127.0.0.1:${ports.ollama}/v1`, models: ['gemma3'] },
    {
      name: 'LM Studio',
      baseUrl: `http://127.0.0.1:${ports.lmStudio}/v1`,
      models: ['meta-llama-3.1-8b-instruct', 'qwen2-vl-7b-instruct'],
    },
    { name: 'llama.cpp', baseUrl: `http://127.0.0.1:${ports.llamaCpp}/v1`, models: ['../models/qwen2.5-1.5b.gguf'] },
  ])
  expect(Object.values(servers).map(({ requests }) => requests)).toEqual([
    ['GET /api/tags'],
    ['GET /api/v0/models'],
    ['GET /v1/models'],
  ])
})

test('nobody, somebody else and somebody slow are no servers', async () => {
  const elsewhere = { object: 'list', data: [{ id: 'x', owned_by: 'somebody' }] }
  const ports = {
    ollama: await closedPort(),
    lmStudio: (await serving('/api/v0/models', undefined)).port,
    llamaCpp: (await serving('/v1/models', elsewhere)).port,
  }
  expect(await findLocalModels({ ports, timeoutMs: 100 })).toEqual([])
})

test('what is found is told with the settings that use it, safe to paste', () => {
  const baseUrl = 'http://127.0.0.1:11434/v1'
  expect(localModelLines([{ name: 'Ollama', baseUrl, models: ['gemma3', 'qwen3'] }], 'npm start')).toEqual([
    'Ollama is running on this machine with gemma3 and 1 more, but it is not used. To use it: ' +
      'INLAY_MODEL=gemma3 INLAY_MODEL_BASE_URL=http://127.0.0.1:11434/v1 npm start',
  ])
  const [line] = localModelLines([{ name: 'Ollama', baseUrl, models: ["x'; rm -rf /; \u001b[2J"] }], 'npm start')
  expect(line).toContain(`INLAY_MODEL='x'\\''; rm -rf /; ?[2J'`)
})
