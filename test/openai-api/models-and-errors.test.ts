import type { OpenApiDocument } from '@inlay/protocol/openapi'
import { expect, test } from 'vitest'
import { personaBody } from '../server/persona-body.ts'
import { apiKey, openAssistant } from './setting.ts'

const ask = (
  fetch: typeof globalThis.fetch,
  path: string,
  { headers, ...init }: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
): Promise<Response> =>
  fetch(`http://inlay.test${path}`, { ...init, headers: { authorization: `Bearer ${apiKey}`, ...headers } })

test('agents are models: the default one first, others by the words of their names', async () => {
  const { client, fetch } = openAssistant()
  for (const name of ['HR Résumé-Helper', 'hr resume helper', '人事'])
    await ask(fetch, '/api/persona', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...personaBody, name, is_public: true }),
    })
  const ids = (await client.models.list()).data.map(({ id }) => id)
  expect(ids).toEqual(['inlay', 'inlay/hr-resume-helper', 'inlay/hr-resume-helper-2', 'inlay/agent-3'])
  expect(await client.models.retrieve('inlay/hr-resume-helper')).toMatchObject({
    id: 'inlay/hr-resume-helper',
    object: 'model',
    name: 'HR Résumé-Helper',
  })
  expect(await client.models.retrieve('inlay@extractive')).toMatchObject({ name: expect.any(String) })
  await expect(client.models.retrieve('gpt-5')).rejects.toMatchObject({
    status: 404,
    code: 'model_not_found',
    param: 'model',
    message: expect.stringContaining('take one of "inlay", "inlay/hr-resume-helper"'),
  })
})

test('every failure below /v1 has the form that clients read', async () => {
  const { fetch } = openAssistant()
  const forms = await Promise.all(
    [
      ask(fetch, '/v1/nothing'),
      ask(fetch, '/v1/models', { method: 'DELETE' }),
      ask(fetch, '/v1/models', { headers: { authorization: 'Bearer no' } }),
      ask(fetch, '/api/v1/models/a%ZZ'),
    ].map(async (answer) => {
      const response = await answer
      const { error } = (await response.json()) as { error: Record<string, unknown> }
      return [response.status, error['type'], error['code'], Object.keys(error)]
    }),
  )
  const keys = ['message', 'type', 'param', 'code']
  expect(forms).toEqual([
    [404, 'invalid_request_error', null, keys],
    [405, 'invalid_request_error', null, keys],
    [401, 'invalid_request_error', 'invalid_api_key', keys],
    [400, 'invalid_request_error', 'invalid_value', keys],
  ])
})

test('it is served at both addresses, with slashes too many, and to pages of allowed origins', async () => {
  const { fetch } = openAssistant({ corsOrigins: ['https://app.example'] })
  for (const path of [
    '/v1/models',
    '/api/v1/models',
    '/v1//models',
    '//v1/models',
    '//api//v1/models',
    '/api/v1/models?after=x',
  ])
    expect(await ask(fetch, path).then(({ status }) => status), path).toBe(200)
  const preflight = await ask(fetch, '/v1/chat/completions', {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-stainless-os',
    },
  })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-headers')).toContain('x-stainless-os')
})

test('the routes are described by an OpenAPI document of their own', async () => {
  const { fetch } = openAssistant()
  const document = (await (await fetch('http://inlay.test/v1/openapi.json')).json()) as OpenApiDocument
  const addresses = Object.keys(document.paths)
  expect(addresses).toEqual(expect.arrayContaining(['/v1/chat/completions', '/v1/responses', '/v1/vector_stores']))
  expect(addresses.filter((path) => !path.startsWith('/v1/'))).toEqual([])
  const { responses, requestBody } = document.paths['/v1/chat/completions']!['post']!
  expect(JSON.stringify(requestBody)).toContain('max_completion_tokens')
  expect(JSON.stringify(responses)).not.toMatch(/error_code|"422"/)
})

test('no route is said to answer 409, for which clients send a request again', async () => {
  const { fetch } = openAssistant()
  const document = (await (await fetch('http://inlay.test/v1/openapi.json')).json()) as OpenApiDocument
  const responsesAt = (path: string, method: string) =>
    document.paths[path]![method]!['responses'] as Record<string, { description: string }>
  for (const [path, operations] of Object.entries(document.paths))
    for (const method of Object.keys(operations)) expect(Object.keys(responsesAt(path, method))).not.toContain('409')
  const changes = responsesAt('/v1/vector_stores/{vector_store_id}/files/{file_id}', 'post')
  expect(changes['400']!.description).toMatch(/`INVALID_INPUT`: .*`CONFLICT`: .* does not have this shape/)
  expect(responsesAt('/v1/conversations/{conversation_id}', 'delete')['400']!.description).toContain('`CONFLICT`')
})

test('a host can leave it out', async () => {
  const { fetch } = openAssistant({ openaiApi: false })
  const answer = await ask(fetch, '/v1/models')
  expect(answer.status).toBe(404)
  expect(await answer.json()).toHaveProperty('error_code', 'NOT_FOUND')
})
